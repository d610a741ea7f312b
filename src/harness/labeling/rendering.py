"""Jinja templates, always escaped, and what every page knows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import jinja2
import orjson
from fastapi import Request
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse

from harness import report
from harness.exploring.opened import OpenedRun
from harness.labeling.summary import Dimension
from harness.runs.archive import IDENTITY, PHOTOS
from harness.runs.verdicts import TONES

FOLDER = Path(__file__).parent / "templates"
#: Parts that a page and a report share are those of the report.
REPORT_FOLDER = Path(report.__file__).parent / "templates"
NAVIGATION = (
    ("/", "Home"),
    ("/persons/", "By person"),
    ("/labels/", "Bibs"),
    ("/faces/labels/", "Faces"),
    ("/links/", "Links"),
    ("/people/", "People"),
    ("/find/", "Find"),
    ("/staging/", "Staging"),
    ("/runs/", "Runs"),
)
PAGES: dict[Dimension, str] = {"bibs": "/labels/", "faces": "/faces/labels/", "links": "/links/"}
#: Those of one dimension each, and all of them in one pass.
EDITORS: dict[Dimension, str] = {"persons": "/persons/", **PAGES}


def data_block(value: Any) -> Markup:
    """A value as JSON that can stand in a `<script type="application/json">`: nothing in it can end the element."""
    text = orjson.dumps(value).decode()
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _spoken(word: str) -> str:
    """`known_negative` -> `known negative`."""
    return word.replace("_", " ")


def _code(text: str) -> Markup:
    """Text whose words in backticks are code."""
    parts = (
        Markup("<code>{}</code>").format(part) if odd % 2 else escape(part) for odd, part in enumerate(text.split("`"))
    )
    return Markup().join(parts)


_TEMPLATES = jinja2.Environment(
    loader=jinja2.ChoiceLoader(
        [jinja2.FileSystemLoader(FOLDER), jinja2.PrefixLoader({"report": jinja2.FileSystemLoader(REPORT_FOLDER)})]
    ),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.filters |= {"code": _code, "data_block": data_block, "spoken": _spoken}


def run_pages(opened: OpenedRun, against: str = "") -> Iterator[tuple[str, str, bool]]:
    """The pages of one run: address, name, and whether the run has what they show."""
    run, address = opened.run, f"/runs/{opened.entry.run_id}"
    query = f"?{urlencode({'against': against})}" if against else ""
    tasks = run.tasks if run else {}
    yield f"{address}{query}", "Overview", True
    yield f"{address}/photos{query}", "Photos", PHOTOS in tasks
    yield f"{address}/people{query}", "People", IDENTITY in tasks
    yield f"{address}/items{query}", "Items", any(name not in (PHOTOS, IDENTITY) for name in tasks)
    yield f"{address}/report", "Report", run is not None


_TEMPLATES.globals |= {"navigation": NAVIGATION, "pages_of": EDITORS, "run_pages": run_pages, "verdicts": TONES}


def compile_templates() -> None:
    """Compile them all; a mistake in one is found now, and not by whoever opens its page."""
    for name in _TEMPLATES.list_templates():
        _TEMPLATES.get_template(name)


def render(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page."""
    source = request.app.state.context.source
    text = _TEMPLATES.get_template(template).render(path=request.url.path, source=source, **values)
    return HTMLResponse(text, status)

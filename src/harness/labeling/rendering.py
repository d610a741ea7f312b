"""Jinja templates, always escaped, and what every page knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jinja2
import orjson
from fastapi import Request
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse

from harness.labeling.summary import Dimension

FOLDER = Path(__file__).parent / "templates"
NAVIGATION = (
    ("/", "Home"),
    ("/labels/", "Bibs"),
    ("/faces/labels/", "Faces"),
    ("/links/", "Links"),
    ("/find/", "Find"),
    ("/staging/", "Staging"),
    ("/runs/", "Runs"),
)
PAGES: dict[Dimension, str] = {"bibs": "/labels/", "faces": "/faces/labels/", "links": "/links/"}


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
    loader=jinja2.FileSystemLoader(FOLDER),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.filters |= {"code": _code, "data_block": data_block, "spoken": _spoken}
_TEMPLATES.globals |= {"navigation": NAVIGATION, "pages_of": PAGES}


def compile_templates() -> None:
    """Compile them all; a mistake in one is found now, and not by whoever opens its page."""
    for name in _TEMPLATES.list_templates():
        _TEMPLATES.get_template(name)


def render(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page."""
    source = request.app.state.context.source
    text = _TEMPLATES.get_template(template).render(path=request.url.path, source=source, **values)
    return HTMLResponse(text, status)

"""Pages that need nothing but themselves: everything escaped, every picture inside, no script, no network."""

from __future__ import annotations

import base64
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

REPORT_FILE = "report.html"
#: Bytes of pictures in one page; those beyond it are named and not shown, so that the page stays below 10 MB.
MOST_PICTURE_BYTES = 8_000_000


class Inlined:
    """Pictures as data addresses, until there is no more room in the page."""

    def __init__(self, room: int = MOST_PICTURE_BYTES) -> None:
        self._room = room

    def jpeg(self, content: bytes) -> str | None:
        """The picture as an address; None where it does not fit any more."""
        address = f"data:image/jpeg;base64,{base64.b64encode(content).decode()}"
        if len(address) > self._room:
            return None
        self._room -= len(address)
        return address


def render(template: str, **values: Any) -> str:
    """A page of the package's templates. A value that a template asks for and does not get is an error."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("harness.report")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)

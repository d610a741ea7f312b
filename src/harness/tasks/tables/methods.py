"""What a method is, and the checks of a PDF that come before any method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from harness.base.errors import TableError
from harness.base.extras import need
from harness.tasks.tables.files import Bbox, Extraction, Line


class Method(Protocol):
    """One way to get tables out of PDF pages. Its fields are its settings; its class says what they may be."""

    @property
    def name(self) -> str:
        """What it is called in results and metrics."""

    def extract(self, content: bytes, pages: Sequence[int]) -> list[Extraction]:
        """The tables on the given pages, counted from 1, of a PDF that opens."""


def extraction(method: str, page: int, bbox: Bbox, lines: Sequence[Sequence[str | None]]) -> Extraction:
    """A table from its rows; the first of them is the header."""
    first, *rest = (_line(line) for line in lines) if lines else [()]
    return Extraction(method=method, headers=first, rows=tuple(rest), page=page, bbox=bbox)


def count_pages(content: bytes) -> int:
    """How many pages a PDF has. Raises TableError where it is broken or needs a password."""
    need("tables", "pypdfium2")
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise TableError("encrypted with a password; decrypt it first") from error
        raise TableError(f"not a PDF that can be read ({error})") from error
    with document:
        return len(document)


def _line(cells: Sequence[str | None]) -> Line:
    return tuple(cell or None for cell in cells)

"""Tables by how their text lines up, or by their rules in the rendered page: camelot."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from harness.base.extras import need
from harness.tasks.tables.files import Extraction
from harness.tasks.tables.methods import extraction

#: Settings that a flavor knows beside those that all know.
_TEXT = ("edge_tol", "row_tol", "column_tol")
_LINES = ("line_scale", "line_tol", "joint_tol")
_SETTINGS = {"network": _TEXT, "stream": _TEXT, "lattice": _LINES, "hybrid": _TEXT + _LINES}

#: Leaves out an order of text boxes that no parser uses and that takes minutes on a page of thousands of cells.
_LAYOUT = {"boxes_flow": None}

Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True)
class Camelot:
    """camelot with one of its parsers; settings that the parser does not know have no effect."""

    name: ClassVar[str] = "camelot"

    enabled: bool
    flavor: Literal["network", "stream", "lattice", "hybrid"]
    edge_tol: Count | None
    row_tol: Count
    column_tol: Count
    line_scale: Annotated[int, Field(ge=1)]
    line_tol: Count
    joint_tol: Count
    split_text: bool

    def extract(self, content: bytes, pages: Sequence[int]) -> list[Extraction]:
        """The tables of the pages, in camelot's order."""
        need("tables", "camelot")
        from camelot.io import read_pdf

        given = {key: getattr(self, key) for key in (*_SETTINGS[self.flavor], "split_text")}
        settings = {key: value for key, value in given.items() if value is not None}
        settings |= {"pages": ",".join(map(str, pages)), "flavor": self.flavor, "layout_kwargs": _LAYOUT}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of pages without a table, which the results show
            tables = read_pdf(content, suppress_stdout=True, **settings)
        return [self._extraction(table) for table in tables]

    def _extraction(self, table: Any) -> Extraction:
        height = table.pdf_size[1]
        (left, _), (_, right) = table.cols[0], table.cols[-1]
        (top, _), (_, bottom) = table.rows[0], table.rows[-1]
        bbox = (float(left), float(height - top), float(right), float(height - bottom))
        return extraction(self.name, table.page, bbox, table.df.to_numpy().tolist())

"""Tables by their rules: pdfplumber finds lines, or columns of words, and the cells between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from io import BytesIO
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from harness.base.extras import need
from harness.tasks.tables.files import Extraction
from harness.tasks.tables.methods import extraction

Strategy = Literal["lines", "lines_strict", "text"]
#: A distance in points.
Tolerance = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Words = Annotated[int, Field(ge=1)]


@dataclass(frozen=True)
class Pdfplumber:
    """pdfplumber with the settings of its table finder, under their own names."""

    name: ClassVar[str] = "pdfplumber"

    enabled: bool
    vertical_strategy: Strategy
    horizontal_strategy: Strategy
    snap_tolerance: Tolerance
    join_tolerance: Tolerance
    intersection_tolerance: Tolerance
    edge_min_length: Tolerance
    min_words_vertical: Words
    min_words_horizontal: Words
    text_x_tolerance: Tolerance
    text_y_tolerance: Tolerance

    def extract(self, content: bytes, pages: Sequence[int]) -> list[Extraction]:
        """The tables of the pages, in pdfplumber's order."""
        need("tables", "pdfplumber")
        import pdfplumber

        settings = {key: value for key, value in asdict(self).items() if key != "enabled"}
        found = []
        with pdfplumber.open(BytesIO(content), pages=list(pages)) as pdf:
            for page in pdf.pages:
                for table in page.find_tables(settings):
                    text = table.extract(x_tolerance=self.text_x_tolerance, y_tolerance=self.text_y_tolerance)
                    found.append(extraction(self.name, page.page_number, table.bbox, text))
                page.close()
        return found

"""Ground truth in public formats: CSV, HTML and PubTabNet's JSON Lines. `icdar` reads that of ICDAR 2013.

Each reader gives tables as lines of cells, the first of which is the header. Of a merged cell the first place has the
text and the others are empty. What is not understood is a ValueError that names the record.

- CSV: one table a file, UTF-8, comma-separated. Its id is the name of the file.
- HTML: every `table` of a file, with `rowspan`, `colspan` and `caption`. Its id is the attribute `id`, or the name of
  the file, with a number where there are several.
- PubTabNet: one table a line, put together from `html.structure.tokens` and `html.cells`. Its id is `filename`.

CSV and HTML files belong to the PDF of the same name, if it lies beside them.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import TypeAlias

Lines: TypeAlias = tuple[tuple[str | None, ...], ...]
Box: TypeAlias = tuple[float, float, float, float]

#: Wider or higher cells are mistakes.
MAX_SPAN = 1_000


@dataclass(frozen=True)
class FoundTable:
    """A table of a file; `record` says where in the file it stands."""

    record: str
    id: str
    lines: Lines
    page: int = 1
    caption: str = ""
    bbox: Box | None = None
    pdf: str | None = None


@dataclass(frozen=True)
class SpannedCell:
    """A cell with its text, and how many rows and columns it goes over."""

    text: str
    rowspan: int = 1
    colspan: int = 1


def read_csv(file: Path, text: str) -> Iterator[FoundTable]:
    """The table of a CSV file."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    lines = []
    try:
        for line in reader:
            lines.append(tuple(cell or None for cell in line))
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from error
    yield FoundTable("the table", file.stem, tuple(lines), pdf=_own_pdf(file))


def read_html(file: Path, text: str) -> Iterator[FoundTable]:
    """Every table of an HTML file."""
    found = parse_html(text)
    for number, table in enumerate(found, start=1):
        record = f"table {number}"
        name = table.id or (file.stem if len(found) == 1 else f"{file.stem}-{number}")
        yield FoundTable(record, name, _laid_out(record, table.rows), caption=table.caption, pdf=_own_pdf(file))


def read_pubtabnet(_: Path, text: str) -> Iterator[FoundTable]:
    """Every line of a JSON Lines file as PubTabNet has them."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield _pubtabnet_table(f"line {number}", line)


def _own_pdf(file: Path) -> str | None:
    own = file.with_suffix(".pdf")
    return own.name if own.is_file() else None


@dataclass
class HtmlTable:
    """A table of an HTML page as it is read: rows of cells with their spans."""

    id: str
    caption: str = ""
    rows: list[list[SpannedCell]] = field(default_factory=list)


def parse_html(text: str) -> list[HtmlTable]:
    """Every table of an HTML page. Raises ValueError on a table inside a table and on spans that are none."""
    parser = _TableParser()
    parser.feed(text)
    parser.close()
    return parser.tables


class _TableParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[HtmlTable] = []
        self._inside = False
        self._spans: tuple[int, int] | None = None
        self._texts: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "table":
            if self._inside:
                raise ValueError(f"table {len(self.tables)}: a table inside a table; expected one with text only")
            self._inside = True
            self.tables.append(HtmlTable(given.get("id", "")))
        elif self._inside and tag == "tr":
            self._end_cell()
            self.tables[-1].rows.append([])
        elif self._inside and tag in ("td", "th"):
            self._end_cell()
            self._spans = self._span(given, "rowspan"), self._span(given, "colspan")
            self._texts = []
        elif self._inside and tag == "caption":
            self._texts = []
        elif self._texts is not None and tag in ("br", "p", "div", "li"):
            self._texts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag == "caption" and self._inside and self._texts is not None and self._spans is None:
            self.tables[-1].caption, self._texts = " ".join("".join(self._texts).split()), None
        elif tag in ("td", "th", "tr", "table"):
            self._end_cell()
            self._inside = self._inside and tag != "table"

    def handle_data(self, data: str) -> None:
        if self._texts is not None:
            self._texts.append(data)

    def _end_cell(self) -> None:
        if self._spans is not None:
            if not self.tables[-1].rows:
                self.tables[-1].rows.append([])
            self.tables[-1].rows[-1].append(SpannedCell("".join(self._texts or ()), *self._spans))
        self._spans = self._texts = None

    def _span(self, given: dict[str, str], name: str) -> int:
        value = given.get(name, "1")
        if not value.isdecimal() or not 1 <= int(value) <= MAX_SPAN:
            raise ValueError(f'table {len(self.tables)}: {name}="{value}"; expected a number from 1 to {MAX_SPAN}')
        return int(value)


def _laid_out(record: str, rows: Sequence[Sequence[SpannedCell]]) -> Lines:
    """Rows of cells as a rectangle; a cell takes the first free place of its row."""
    taken: set[tuple[int, int]] = set()
    cells = []
    for row, line in enumerate(rows):
        column = 0
        for cell in line:
            while (row, column) in taken:
                column += 1
            height = min(cell.rowspan, len(rows) - row)
            taken |= {(row + down, column + right) for down in range(height) for right in range(cell.colspan)}
            cells.append((row, column, row + height - 1, column + cell.colspan - 1, cell.text))
    return placed(record, cells)


def placed(record: str, cells: Sequence[tuple[int, int, int, int, str]]) -> Lines:
    """Cells by first row, first column, last row and last column as a rectangle that begins with the first of them."""
    if not cells:
        raise ValueError(f"{record}: no cells")
    top, left = min(cell[0] for cell in cells), min(cell[1] for cell in cells)
    texts: dict[tuple[int, int], str] = {}
    for row, column, _, _, text in cells:
        if (row, column) in texts:
            raise ValueError(f"{record}: two cells begin in row {row}, column {column}")
        texts[row, column] = text
    rows = range(top, 1 + max(cell[2] for cell in cells))
    columns = range(left, 1 + max(cell[3] for cell in cells))
    return tuple(tuple(texts.get((row, column)) or None for column in columns) for row in rows)


def _pubtabnet_table(record: str, line: str) -> FoundTable:
    try:
        data = json.loads(line)
        name, structure = Path(data["filename"]).stem, data["html"]["structure"]["tokens"]
        contents = ["".join(filter(_is_text, cell["tokens"])) for cell in data["html"]["cells"]]
        (table,) = parse_html(f"<table>{_filled(structure, contents)}</table>")
    except (ValueError, KeyError, TypeError) as error:
        expected = "expected `filename`, `html.structure.tokens` and `html.cells` with their `tokens`"
        raise ValueError(f"{record}: {expected}; {type(error).__name__}: {error}") from error
    return FoundTable(record, name, _laid_out(record, table.rows))


def _is_text(token: str) -> bool:
    """Tags of PubTabNet's cells, such as `<b>`, are tokens of their own; all others are single characters."""
    return not (len(token) > 1 and token.startswith("<"))


def _filled(structure: Sequence[str], contents: Sequence[str]) -> str:
    """The structure as HTML with the texts of the cells in it."""
    ends = sum(token == "</td>" for token in structure)
    if ends != len(contents):
        raise ValueError(f"{len(contents)} cells for {ends} places in the structure")
    texts = iter(contents)
    return "".join(f"{escape(next(texts))}{token}" if token == "</td>" else token for token in structure)

"""Ground truth in public formats: CSV, HTML, PubTabNet's JSON Lines, and the XML of the ICDAR 2013 table competition.

Each reader gives tables as lines of cells, the first of which is the header. Of a merged cell the first place has the
text and the others are empty. What is not understood is a ValueError that names the record.

- CSV: one table a file, UTF-8, comma-separated. Its id is the name of the file.
- HTML: every `table` of a file, with `rowspan`, `colspan` and `caption`. Its id is the attribute `id`, or the name of
  the file, with a number where there are several.
- PubTabNet: one table a line, put together from `html.structure.tokens` and `html.cells`. Its id is `filename`.
- ICDAR 2013: `*-str.xml` has the cells of each table and `*-reg.xml`, where it lies beside it, the region. A table that
  goes on over pages is one table a region, because methods read page by page. Boxes there count from the lower left
  corner of the page, so that they are taken only where the PDF lies beside the file and tells its height.

CSV and HTML files belong to the PDF of the same name, if it lies beside them.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, TypeAlias
from xml.etree import ElementTree

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


def read_icdar(file: Path, text: str) -> Iterator[FoundTable]:
    """The tables of a structure file of ICDAR 2013; a region file only tells where they are."""
    root = _xml(text)
    regions = _regions(file.with_name(file.name.replace("-str.xml", "-reg.xml")))
    pdf = root.get("filename", "")
    beside = (file.parent / pdf).is_file() if pdf else False
    for table in root.iter("table"):
        parts = table.findall("region")
        for number, region in enumerate(parts, start=1):
            key = (table.get("id", ""), region.get("id", str(number)))
            record = f"table {key[0]}, region {key[1]}"
            page = _number(record, region, "page")
            box = regions.get(key) or _around([_box(f"{record}, cell", cell) for cell in region.findall("cell")])
            yield FoundTable(
                record,
                "-".join((Path(pdf or file.name.replace("-str.xml", "")).stem, *key[: 1 + (len(parts) > 1)])),
                _placed(record, [_icdar_cell(record, cell) for cell in region.findall("cell")]),
                page,
                bbox=_from_the_top(file.parent / pdf, page, box) if beside and box else None,
                pdf=pdf if beside else None,
            )


Reader: TypeAlias = Callable[[Path, str], Iterator[FoundTable]]
#: How a file is read, by the end of its name; a folder is read in the first of these formats that it has files of.
READERS: dict[str, Reader] = {
    ".csv": read_csv,
    ".html": read_html,
    ".htm": read_html,
    ".jsonl": read_pubtabnet,
    "-str.xml": read_icdar,
}


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
    return _placed(record, cells)


def _placed(record: str, cells: Sequence[tuple[int, int, int, int, str]]) -> Lines:
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


def _xml(text: str) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"not valid XML: {error}") from error


def _regions(file: Path) -> dict[tuple[str, str], Box]:
    """The box of each region by the ids of table and region, where there is a region file."""
    if not file.is_file():
        return {}
    found = {}
    try:
        root = _xml(file.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise ValueError(f"{file.name} beside it: {error}") from error
    for table in root.iter("table"):
        for number, region in enumerate(table.findall("region"), start=1):
            key = (table.get("id", ""), region.get("id", str(number)))
            box = _box(f"{file.name}, table {key[0]}, region {key[1]}", region)
            if box:
                found[key] = box
    return found


def _icdar_cell(record: str, cell: ElementTree.Element) -> tuple[int, int, int, int, str]:
    where = f"{record}, cell {cell.get('id', '?')}"
    row, column = _number(where, cell, "start-row"), _number(where, cell, "start-col")
    last_row, last_column = _number(where, cell, "end-row", row), _number(where, cell, "end-col", column)
    if last_row < row or last_column < column:
        raise ValueError(f"{where}: ends in row {last_row}, column {last_column}, before it begins in {row}, {column}")
    if max(last_row - row, last_column - column) >= MAX_SPAN:
        raise ValueError(f"{where}: more than {MAX_SPAN} rows or columns")
    return row, column, last_row, last_column, cell.findtext("content") or ""


def _number(where: str, element: ElementTree.Element, name: str, missing: int | None = None) -> int:
    value = element.get(name)
    if value is None and missing is not None:
        return missing
    if value is None or not value.strip().isdecimal():
        raise ValueError(f"{where}: {name} is {value!r}; expected a whole number")
    return int(value)


def _box(where: str, element: ElementTree.Element) -> Box | None:
    box = element.find("bounding-box")
    if box is None:
        return None
    try:
        x1, y1, x2, y2 = (float(box.get(name, "")) for name in ("x1", "y1", "x2", "y2"))
    except ValueError as error:
        raise ValueError(f"{where}: bounding-box with {dict(box.attrib)}; expected numbers x1, y1, x2, y2") from error
    return min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)


def _around(boxes: Sequence[Box | None]) -> Box | None:
    sides: Any = list(zip(*filter(None, boxes), strict=True))
    return (min(sides[0]), min(sides[1]), max(sides[2]), max(sides[3])) if sides else None


def _from_the_top(pdf: Path, page: int, box: Box) -> Box | None:
    """A box that counts from the lower left corner as one from the upper left; None where the PDF tells no height."""
    try:
        import pypdfium2
    except ImportError:
        return None
    try:
        with pypdfium2.PdfDocument(pdf.read_bytes()) as document:
            height = float(document[page - 1].get_height())
    except (pypdfium2.PdfiumError, IndexError):
        return None
    left, low, right, high = box
    return left, height - high, right, height - low

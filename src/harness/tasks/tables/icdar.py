"""Ground truth of the table competition of ICDAR 2013, in XML.

`*-str.xml` has the cells of each table and `*-reg.xml`, where it lies beside it, the region. A table that goes on over
pages is one table a region, because methods read page by page. Its id is the name of the PDF with the id of the table
and, where it has several regions, that of the region. Boxes count from the lower left corner of the page, so that they
are taken only where the PDF lies beside the file and tells its height.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from harness.tasks.tables.formats import MAX_SPAN, Box, FoundTable, placed


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
                placed(record, [_cell(record, cell) for cell in region.findall("cell")]),
                page,
                bbox=_from_the_top(file.parent / pdf, page, box) if beside and box else None,
                pdf=pdf if beside else None,
            )


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


def _cell(record: str, cell: ElementTree.Element) -> tuple[int, int, int, int, str]:
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

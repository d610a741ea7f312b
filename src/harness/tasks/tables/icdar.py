"""Ground truth of the table competition of ICDAR 2013, in XML.

`*-str.xml` has the cells of each table and `*-reg.xml`, where it lies beside it, the region. A table that goes on over
pages is one table a region, because methods read page by page. Its id is the name of the PDF with the number of the
table and, where it has several regions, that of the region. Boxes count from the lower left corner of the page, so that
they are taken only where the PDF lies beside the file and tells its height.

The published files have oddities, which are read and not refused, because else the set could not be used. `filename` is
often that of another XML file (`bm_eu-009-str.xml` in `eu-009a-str.xml`): the PDF is then the one with the name of the
file itself. Rows may begin at -1. A cell that ends before it begins has one place. Of two cells that begin in the same
place, the second takes the next free one to the right, so that no text is lost. A box without area is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias
from xml.etree import ElementTree

from harness.tasks.tables.formats import MAX_SPAN, Box, FoundTable, placed

#: First row and column, last row and column, and text.
Cell: TypeAlias = tuple[int, int, int, int, str]


def read_icdar(file: Path, text: str) -> Iterator[FoundTable]:
    """The tables of a structure file of ICDAR 2013; a region file only tells where they are."""
    root = _xml(text)
    regions = _regions(file.with_name(file.name[: -len("-str.xml")] + "-reg.xml"))
    name = _pdf_name(file, root.get("filename", ""))
    beside = _beside(file, name)
    for key, region, several in _parts(root):
        record = f"table {key[0]}, region {key[1]}"
        page = _number(record, region, "page")
        box = regions.get(key) or _around([_box(f"{record}, cell", cell) for cell in region.findall("cell")])
        yield FoundTable(
            record,
            "-".join((Path(name).stem, *key[: 1 + several])),
            placed(record, _apart([_cell(record, cell) for cell in region.findall("cell")])),
            page,
            bbox=_from_the_top(beside, page, box) if beside and box else None,
            pdf=beside.name if beside else None,
        )


def _pdf_name(file: Path, given: str) -> str:
    """The name of the PDF: the one that the document gives, if it is one, or that of the file itself."""
    own = file.name[: -len("-str.xml")] + ".pdf"
    return Path(given).name if given.lower().endswith(".pdf") else own


def _beside(file: Path, name: str) -> Path | None:
    """The PDF beside the file, whatever the case of its name; under its own name if the given one is not there."""
    there = {path.name.lower(): path for path in sorted(file.parent.glob("*.[pP][dD][fF]"))}
    return there.get(name.lower()) or there.get(_pdf_name(file, "").lower())


def _parts(root: ElementTree.Element) -> Iterator[tuple[tuple[str, str], ElementTree.Element, bool]]:
    """Every region with the ids of its table and its own, and whether its table has several.

    Ids that are missing or stand twice are numbers in their order.
    """
    tables = list(root.iter("table"))
    for table_id, table in zip(_ids(tables), tables, strict=True):
        regions = table.findall("region")
        for region_id, region in zip(_ids(regions), regions, strict=True):
            yield (table_id, region_id), region, len(regions) > 1


def _ids(elements: Sequence[ElementTree.Element]) -> list[str]:
    given = [element.get("id", "") for element in elements]
    return given if all(given) and len(set(given)) == len(given) else [str(i + 1) for i in range(len(given))]


def _apart(cells: Sequence[Cell]) -> list[Cell]:
    """The cells with each in a place of its own: the second of two that begin in one place goes to the right."""
    taken: set[tuple[int, int]] = set()
    found = []
    for row, column, last_row, last_column, text in cells:
        free = next(place for place in count(column) if (row, place) not in taken)
        taken.add((row, free))
        found.append((row, free, last_row, max(last_column, free), text))
    return found


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
    for key, region, _ in _parts(root):
        box = _box(f"{file.name}, table {key[0]}, region {key[1]}", region)
        if box:
            found[key] = box
    return found


def _cell(record: str, cell: ElementTree.Element) -> Cell:
    where = f"{record}, cell {cell.get('id', '?')}"
    row, column = _number(where, cell, "start-row"), _number(where, cell, "start-col")
    last_row = max(row, _number(where, cell, "end-row", row))
    last_column = max(column, _number(where, cell, "end-col", column))
    if max(last_row - row, last_column - column) >= MAX_SPAN:
        raise ValueError(f"{where}: more than {MAX_SPAN} rows or columns")
    return row, column, last_row, last_column, " ".join(part.text or "" for part in cell.findall("content"))


def _number(where: str, element: ElementTree.Element, name: str, missing: int | None = None) -> int:
    value = element.get(name)
    if value is None and missing is not None:
        return missing
    if value is None or not value.strip().removeprefix("-").isdecimal():
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
    found = min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)
    return found if found[0] < found[2] and found[1] < found[3] else None


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

"""Ground truth of the table competition of ICDAR 2013, in XML.

`*-str.xml` has the cells of each table and `*-reg.xml`, where it lies beside it, the region. A table that goes on over
pages is one table a region, because methods read page by page. Its id is the name of the PDF with the number of the
table and, where it has several regions, that of the region. Boxes count from the lower left corner of the page, so that
they are taken only where the PDF lies beside the file and tells its height.

The published files have oddities, which are read and not refused, because else the set could not be used. `filename` is
often that of another XML file (`bm_eu-009-str.xml` in `eu-009a-str.xml`), or of a PDF that is not there: the PDF is
then the one with the name of the file itself. Rows may begin at -1. A cell that ends before it begins has one place;
one that ends beyond the column in which the last cell begins ends there. Of two cells that begin in the same place, the
second takes the next free one to the right, so that no text is lost. A box that has no area or is not made of numbers
is none: it only helps to find the table.
"""

from __future__ import annotations

import math
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
    regions = _regions(file.with_name(_own_name(file) + "-reg.xml"))
    beside = _beside(file, root.get("filename", ""))
    for key, region, several in _parts(root):
        record = f"table {key[0]}, region {key[1]}"
        page = _number(record, region, "page")
        box = regions.get(key) or _around([_box(cell) for cell in region.findall("cell")])
        yield FoundTable(
            record,
            "-".join((beside.stem if beside else _own_name(file), *key[: 1 + several])),
            placed(record, _apart([_cell(record, cell) for cell in region.findall("cell")])),
            page,
            bbox=_from_the_top(beside, page, box) if beside and box else None,
            pdf=beside.name if beside else None,
        )


def _own_name(file: Path) -> str:
    return file.name[: -len("-str.xml")]


def _beside(file: Path, given: str) -> Path | None:
    """The PDF that the document names, if it lies beside the file, or else that of the file's own name; in any case."""
    there = {path.name.lower(): path for path in sorted(file.parent.glob("*.[pP][dD][fF]"))}
    return there.get(Path(given).name.lower()) or there.get(f"{_own_name(file)}.pdf".lower())


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
    """The cells with each in a place of its own, the second of two that begin in one place to the right of the first,
    and none that ends where no cell begins."""
    taken: set[tuple[int, int]] = set()
    rightmost = max((cell[1] for cell in cells), default=0)
    found = []
    for row, column, last_row, last_column, text in cells:
        free = next(place for place in count(column) if (row, place) not in taken)
        taken.add((row, free))
        found.append((row, free, last_row, max(min(last_column, rightmost), free), text))
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
        if box := _box(region):
            found[key] = box
    return found


def _cell(record: str, cell: ElementTree.Element) -> Cell:
    where = f"{record}, cell {cell.get('id', '?')}"
    row, column = _number(where, cell, "start-row"), _number(where, cell, "start-col")
    last_row = max(row, _number(where, cell, "end-row", row))
    last_column = max(column, _number(where, cell, "end-col", column))
    if max(last_row - row, last_column - column) >= MAX_SPAN:
        raise ValueError(f"{where}: more than {MAX_SPAN} rows or columns")
    return row, column, last_row, last_column, " ".join("".join(part.itertext()) for part in cell.findall("content"))


def _number(where: str, element: ElementTree.Element, name: str, missing: int | None = None) -> int:
    value = element.get(name)
    if value is None and missing is not None:
        return missing
    if value is None or not value.strip().removeprefix("-").isdecimal():
        raise ValueError(f"{where}: {name} is {value!r}; expected a whole number")
    return int(value)


def _box(element: ElementTree.Element) -> Box | None:
    box = element.find("bounding-box")
    if box is None:
        return None
    try:
        x1, y1, x2, y2 = (float(box.get(name, "")) for name in ("x1", "y1", "x2", "y2"))
    except ValueError:
        return None
    found = min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)
    return found if found[0] < found[2] and found[1] < found[3] and max(map(abs, found)) < math.inf else None


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

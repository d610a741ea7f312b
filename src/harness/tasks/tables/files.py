"""Ground truth and extractions as files, checked once on the way in.

Ground truth is JSON: a folder with one table a file, or one file with a table or a list of tables; or one of the public
formats of `formats` and `icdar`. A folder is read in one format: JSON if it has such files, else the first of those.
Extractions are JSON Lines: one table that one method extracted a line. Cells are strings, null is an empty cell; a
number is refused, because 0.10 and 0.1 are different texts. `headers` is the first row of the table as it stands on the
page; of a merged cell the first part has the text and the others are empty. A box is left, top, right, bottom in points
from the upper left corner of the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError

from harness.base.checks import first_error
from harness.base.errors import TableError
from harness.scoring.grids import Grid
from harness.tasks.tables.formats import FoundTable, read_csv, read_html, read_pubtabnet
from harness.tasks.tables.icdar import read_icdar

Line: TypeAlias = tuple[str | None, ...]
Point = Annotated[float, Field(allow_inf_nan=False)]
Bbox: TypeAlias = tuple[Point, Point, Point, Point]
PageNumber = Annotated[int, Field(ge=1)]
#: Method names are part of metric names.
MethodName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+$")]

Reader: TypeAlias = Callable[[Path, str], Iterator[FoundTable]]
#: How a file in a public format is read, by the end of its name; a folder is read in the first of these formats that it
#: has files of.
READERS: dict[str, Reader] = {
    ".csv": read_csv,
    ".html": read_html,
    ".htm": read_html,
    ".jsonl": read_pubtabnet,
    "-str.xml": read_icdar,
}


@dataclass(frozen=True)
class GroundTruthTable:
    """A table as it should come out. `pdf` is the file it stands in, relative to the ground truth's folder."""

    id: Annotated[str, Field(min_length=1)]
    headers: Line
    rows: tuple[Line, ...]
    page: PageNumber = 1
    caption: str = ""
    bbox: Bbox | None = None
    pdf: str | None = None

    def __post_init__(self) -> None:
        if not self.grid.cells():
            raise ValueError(f"table {self.id!r} has no cell with text; there is nothing to extract")
        check_bbox(self.bbox)

    @cached_property
    def grid(self) -> Grid:
        """Its normalised cells."""
        return Grid.of(f"table {self.id!r}", self.headers, self.rows)


@dataclass(frozen=True)
class Extraction:
    """A table that a method extracted; `table_id` is None where it stands for no table of the ground truth."""

    method: MethodName
    headers: Line
    rows: tuple[Line, ...]
    table_id: str | None = None
    page: PageNumber | None = None
    bbox: Bbox | None = None

    def __post_init__(self) -> None:
        check_bbox(self.bbox)

    @cached_property
    def grid(self) -> Grid:
        """Its normalised cells."""
        return Grid.of(f"extraction by {self.method}", self.headers, self.rows)


_TABLES = TypeAdapter(tuple[GroundTruthTable, ...])
_TABLE = TypeAdapter(GroundTruthTable)
_EXTRACTION = TypeAdapter(Extraction)


def check_bbox(bbox: Bbox | None) -> None:
    """Raise ValueError unless the box, if there is one, has an area."""
    if bbox and not (bbox[0] < bbox[2] and bbox[1] < bbox[3]):
        raise ValueError(f"bbox {list(bbox)}: expected left, top, right, bottom with left < right and top < bottom")


def read_ground_truth(path: Path) -> tuple[GroundTruthTable, ...]:
    """All tables of a file or of the files of a folder, in order; ids must differ."""
    files = _ground_truth_files(path) if path.is_dir() else [path]
    tables: dict[str, GroundTruthTable] = {}
    for file in files:
        for table in _read_tables(file):
            if table.id in tables:
                raise TableError(f"{file}: a second table with the id {table.id!r}; expected one table an id")
            tables[table.id] = table
    if not tables:
        ends = ", ".join(READERS)
        raise TableError(f"{path}: no tables; expected JSON files with a table or a list of tables, or one of {ends}")
    return tuple(tables.values())


def read_extractions(path: Path, known: Iterable[str]) -> tuple[Extraction, ...]:
    """The extractions of a JSON Lines file; each stands for one of the `known` tables, once a method, or for none."""
    ids, seen, extractions = set(known), set[tuple[str, str]](), []
    for number, line in enumerate(_read(path).split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            item = _EXTRACTION.validate_json(line, strict=True, extra="forbid")
        except ValidationError as error:
            raise TableError(f"{path}, line {number}: {first_error(error)}") from error
        if item.table_id is not None:
            key = (item.table_id, item.method)
            if item.table_id not in ids:
                raise TableError(f"{path}, line {number}: table_id {item.table_id!r} is not in the ground truth")
            if key in seen:
                raise TableError(f"{path}, line {number}: {item.method} has extracted {item.table_id!r} already")
            seen.add(key)
        extractions.append(item)
    if not extractions:
        raise TableError(f"{path}: no extractions; expected one JSON object a line")
    return tuple(extractions)


def write_extractions(path: Path, extractions: Iterable[Extraction]) -> None:
    """One line an extraction, as `read_extractions` takes it."""
    path.write_bytes(b"".join(_EXTRACTION.dump_json(item) + b"\n" for item in extractions))


def write_ground_truth(path: Path, tables: Sequence[GroundTruthTable]) -> None:
    """All tables in one file, as `read_ground_truth` takes it."""
    path.write_bytes(_TABLES.dump_json(tuple(tables), indent=1) + b"\n")


def _ground_truth_files(folder: Path) -> list[Path]:
    """Hidden files, such as those that archives of a Mac bring along, are none."""
    found = (sorted(folder.glob(f"[!.]*{end}")) for end in (".json", *READERS))
    return next(filter(None, found), [])


def _read_tables(file: Path) -> tuple[GroundTruthTable, ...]:
    content = _read(file)
    for end, reader in READERS.items():
        if file.name.lower().endswith(end):
            return tuple(_read_public(file, content, reader))
    if file.suffix.lower() == ".xml":
        raise TableError(f"{file}: expected a structure file of ICDAR 2013, with a name that ends in -str.xml")
    try:
        if content.lstrip().startswith(b"["):
            return _TABLES.validate_json(content, strict=True, extra="forbid")
        return (_TABLE.validate_json(content, strict=True, extra="forbid"),)
    except ValidationError as error:
        raise TableError(f"{file}: {first_error(error)}") from error


def _read_public(file: Path, content: bytes, reader: Reader) -> Iterator[GroundTruthTable]:
    record = ""
    try:
        for table in reader(file, content.decode("utf-8-sig")):
            record = f"{table.record}: "
            first, *rest = table.lines or ((),)
            given = {name: value for name, value in vars(table).items() if name not in ("record", "lines")}
            yield _TABLE.validate_python({**given, "headers": first, "rows": tuple(rest)})
            record = ""
    except UnicodeDecodeError as error:
        raise TableError(f"{file}: not UTF-8: {error}") from error
    except ValidationError as error:
        raise TableError(f"{file}: {record}{first_error(error)}") from error
    except ValueError as error:
        raise TableError(f"{file}: {record}{error}") from error


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise TableError(f"{path}: cannot be read: {error.strerror}") from error

"""Labels in a CSV file, one bib a line, in pixels: a start to build on.

    photo,x,y,w,h,number
    a.jpg,120,260,110,90,417

A photo without bibs has a line with its name alone. `read` says what stands in a file; `harness grade` uses it as it
is, and `read_set` makes labels of it for `harness import`.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from harness import HarnessError
from harness.formats import (
    AnnotationFile,
    Box,
    Document,
    Format,
    Image,
    ImportedPhoto,
    ImportedSet,
    ReferenceSetError,
    Shape,
    find_photo,
    labels_of,
    number,
    only_file,
    photo_folders,
    placed_record,
)

COLUMNS = ["photo", "x", "y", "w", "h", "number"]

Rows = list[dict[str, str | None]]


def load(file: Path, error: type[HarnessError]) -> Rows:
    """The lines of a file by their columns. What is wrong is raised as the kind of error that the caller wants."""
    try:
        with file.open(newline="", encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines, restkey="more"))
    except OSError as cause:
        raise error(f"{file}: cannot be read: {cause.strerror}") from cause
    except (UnicodeDecodeError, csv.Error) as cause:
        raise error(f"{file}: not a CSV file: {cause}") from cause
    if rows and not recognises(rows):
        raise error(f"{file}: line 1: expected the columns {','.join(COLUMNS)}, got {','.join(map(str, rows[0]))}")
    return rows


def recognises(rows: Rows) -> bool:
    """Whether a file is of this format, by its content."""
    return bool(rows) and [name for name in rows[0] if name != "more"] == COLUMNS


def read(rows: Rows, file: Path, error: type[HarnessError]) -> Document:
    """The photos of a file with their boxes. `where` names a line in errors."""
    shapes: dict[str, list[Shape]] = {}
    lines: dict[str, str] = {}
    for line, row in enumerate(rows, start=2):
        where = f"{file}: line {line}"
        if "more" in row or not row["photo"]:
            raise error(f"{where}: expected {','.join(COLUMNS)}")
        lines.setdefault(row["photo"], where)
        own = shapes.setdefault(row["photo"], [])
        if any(row[side] for side in "xywh"):
            own.append(_shape(row, where, error))
    images = (Image(name, lines[name], None, tuple(own)) for name, own in shapes.items())
    return Document(tuple(images), frozenset({"bib"}))


def _shape(row: Mapping[str, str | None], where: str, error: type[HarnessError]) -> Shape:
    sides = [number(row[side] or "", f"{where}: {side}", error) for side in "xywh"]
    attributes = {"number": row["number"]} if row["number"] else {}
    return Shape(where.rpartition(" ")[2], "bib", Box.of_size(sides, where, error), where, attributes)


def read_set(path: Path, photos: Path | None) -> ImportedSet:
    """A file, or a folder with one, and its photos: in the folder that the user names, else beside the file."""
    file = only_file(path, ".csv", "CSV")
    imported = []
    for image in FILES.read_file(file, ReferenceSetError).images:
        photo, size = find_photo(image, image.name, photo_folders(file, photos))
        # Labels of the kinds that the file speaks about: bibs. Its photos may show faces, and it does not say.
        records = [placed_record(shape, size) for shape in image.shapes]
        imported.append(ImportedPhoto(path=photo, where=image.where, **labels_of(records, {"bib"})))
    return ImportedSet(tuple(imported))


FILES = AnnotationFile(suffix=".csv", sign=",".join(COLUMNS), load=load, recognises=recognises, read=read)
FORMAT = Format(name="my_format", title="CSV of bibs", read_set=read_set, annotations=FILES)

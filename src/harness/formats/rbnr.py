"""The Racing Bib Number Recognition set of 2012: beside each photo `NAME.JPG.mat` with one row a runner.

`tagp` and `facep` are boxes [minRow maxRow minCol maxCol] in pixels, counted from 1, both ends inside; `number` is what
the bib says: a whole number or, where bibs have letters or leading zeros, a text. Row i of each is the same runner,
which gives the links. Boxes are cut at the border of the photo.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from harness.base.errors import ReferenceSetError
from harness.formats import Format
from harness.formats.document import Box
from harness.formats.labels import UnitBox, photo_size, unit_box
from harness.references.files import BibLabels, BibRecord, FaceLabels, FaceRecord
from harness.references.importing import ImportedPhoto, ImportedSet
from harness.references.photo_files import find_photos


def read_set(path: Path, photos: Path | None) -> ImportedSet:
    """Every photo in the folder and below it; the `.mat` files lie beside them."""
    found = list(find_photos(photos or path))
    if not found:
        raise ReferenceSetError(f"{path}: no photos here")
    return ImportedSet(tuple(_photo(photo) for photo in found))


def _photo(photo: Path) -> ImportedPhoto:
    where = photo.with_name(f"{photo.name}.mat")
    if not where.is_file():
        raise ReferenceSetError(f"{where}: not there; the photo {photo.name} has no labels")
    content = _load(where)
    tags, faces = _rows(content, "tagp", 4, where), _rows(content, "facep", 4, where)
    numbers = _numbers(content, where)
    if not len(tags) == len(faces) == len(numbers):
        raise ReferenceSetError(f"{where}: {len(tags)} tagp, {len(faces)} facep and {len(numbers)} number rows")
    size = photo_size(photo, str(where))
    bibs = [
        BibRecord(**_box(row, size, f"{where}: tagp row {i}"), number=number)
        for i, (row, number) in enumerate(zip(tags, numbers, strict=True), start=1)
    ]
    boxes = [FaceRecord(**_box(row, size, f"{where}: facep row {i}")) for i, row in enumerate(faces, start=1)]
    return ImportedPhoto(
        path=photo,
        where=str(where),
        bibs=BibLabels(labeled=True, boxes=bibs),
        faces=FaceLabels(labeled=True, boxes=boxes),
        links=[(i, i) for i in range(len(bibs))],
    )


def _load(path: Path) -> dict[str, Any]:
    from scipy.io import loadmat

    try:
        return dict(loadmat(path))
    except Exception as error:  # scipy raises whatever it stumbles over in a file that is not MATLAB's
        raise ReferenceSetError(f"{path}: not a MATLAB file: {error}") from error


def _numbers(content: dict[str, Any], where: Path) -> list[str]:
    """The numbers as texts: those that are texts keep their letters and leading zeros, the others are whole."""
    import numpy as np

    given = np.asarray(content.get("number", ()))
    if given.dtype.kind == "O":  # a cell array: each cell is an array of its own
        return [text for cell in given.ravel() for text in _numbers({"number": cell}, where)]
    if given.dtype.kind == "U":
        return [str(text).strip() for text in given.ravel()]
    rows = [row for (row,) in _rows(content, "number", 1, where)]
    if broken := [row for row in rows if not row.is_integer()]:
        raise ReferenceSetError(f"{where}: number: {broken[0]:g}: expected a whole number or a text")
    return [str(int(row)) for row in rows]


def _rows(content: dict[str, Any], name: str, columns: int, where: Path) -> list[list[float]]:
    """The rows of a matrix as numbers; a single column may also lie on its side."""
    import numpy as np

    try:
        matrix = np.asarray(content[name], dtype=float)
    except KeyError as error:
        raise ReferenceSetError(f"{where}: {name}: not there") from error
    except (TypeError, ValueError) as error:
        raise ReferenceSetError(f"{where}: {name}: not numbers: {error}") from error
    if columns == 1:
        matrix = matrix.reshape(-1, 1)
    if matrix.ndim != 2 or (matrix.size and matrix.shape[1] != columns) or not np.isfinite(matrix).all():
        raise ReferenceSetError(f"{where}: {name}: expected rows of {columns} numbers, got shape {matrix.shape}")
    rows: list[list[float]] = matrix.tolist()
    return rows if matrix.size else []


def _box(row: list[float], size: tuple[int, int], where: str) -> UnitBox:
    """The pixels that a row counts from 1, cut at the border however far they stick out."""
    min_row, max_row, min_col, max_col = row
    box = Box.of_edges((min_col - 1, min_row - 1, max_col, max_row), where, ReferenceSetError)
    return unit_box(box, size, where, tolerance=math.inf)


FORMAT = Format(name="rbnr", title="Racing Bib Number Recognition", read_set=read_set)

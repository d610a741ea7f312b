"""YOLO: one text file a photo, each line `class x_centre y_centre width height` in shares of the photo.

The classes are the lines of `classes.txt` or the `names` of `data.yaml`. Text files lie beside the photos, or in
`labels/` where the photos are in `images/`. An empty text file says that there is nothing in the photo; a photo
without one is not labelled.
"""

from __future__ import annotations

from pathlib import Path

from harness.base.errors import ReferenceSetError
from harness.references.files import BibRecord, FaceRecord
from harness.references.importing.records import (
    ImportedPhoto,
    ImportedSet,
    box_record,
    kind_of,
    labels_of,
    unit_box,
)
from harness.references.photo_files import find_photos


def read(path: Path, photos: Path | None) -> ImportedSet:
    """Every photo in the folder and below it."""
    classes = _classes(path)
    found = list(find_photos(photos or path))
    if not found:
        raise ReferenceSetError(f"{path}: no photos here")
    return ImportedSet(tuple(_photo(photo, path, classes) for photo in found))


def _classes(folder: Path) -> dict[int, str]:
    """Class number -> name."""
    text, config = folder / "classes.txt", folder / "data.yaml"
    if text.is_file():
        return dict(enumerate(text.read_text(errors="replace").splitlines()))
    if not config.is_file():
        raise ReferenceSetError(f"{folder}: expected classes.txt or data.yaml, which name the classes")
    import yaml

    try:
        names = yaml.safe_load(config.read_text())["names"]
        pairs = names.items() if isinstance(names, dict) else enumerate(names)
        return {int(number): str(name) for number, name in pairs}
    except (yaml.YAMLError, UnicodeDecodeError, KeyError, TypeError, ValueError) as error:
        raise ReferenceSetError(f"{config}: names: expected a list of class names: {error}") from error


def _photo(photo: Path, root: Path, classes: dict[int, str]) -> ImportedPhoto:
    file = _label_file(photo, root)
    if file is None:
        return ImportedPhoto(path=photo, where=str(photo))
    try:
        lines = file.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ReferenceSetError(f"{file}: cannot be read: {error}") from error
    records = [_record(line, classes, f"{file}: line {n}") for n, line in enumerate(lines, start=1) if line.strip()]
    kinds = {name.strip().lower() for name in classes.values()}
    return ImportedPhoto(path=photo, where=str(file), **labels_of(records, kinds))


def _label_file(photo: Path, root: Path) -> Path | None:
    """The text file of a photo: beside it, or in `labels/` for `images/`, the last such folder on the way to it."""
    parts = list(photo.relative_to(root).parts) if photo.is_relative_to(root) else [photo.name]
    candidates = [photo.with_suffix(".txt"), root / "labels" / f"{photo.stem}.txt"]
    if "images" in parts:
        place = len(parts) - 1 - parts[::-1].index("images")
        candidates.append(root.joinpath(*parts[:place], "labels", *parts[place + 1 :]).with_suffix(".txt"))
    return next((file for file in candidates if file.is_file()), None)


def _record(line: str, classes: dict[int, str], where: str) -> BibRecord | FaceRecord:
    fields = line.split()
    try:
        number, (x, y, w, h) = int(fields[0]), map(float, fields[1:])
    except ValueError as error:
        raise ReferenceSetError(f"{where}: expected class and four numbers, got {line!r:.80}") from error
    if number not in classes:
        raise ReferenceSetError(f"{where}: no class {number}; there are {len(classes)}")
    box = unit_box((x - w / 2, y - h / 2, x + w / 2, y + h / 2), (1, 1), where, tolerance=0.01)
    return box_record(kind_of(classes[number], where), box, {}, where)

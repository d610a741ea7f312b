"""YOLO: one text file a photo, each line a box or a polygon in shares of the photo.

    0 0.15 0.55 0.1 0.1                       class, x and y of the centre, width, height
    0 0.12 0.50 0.20 0.52 0.18 0.60           class, x and y of each point; three points or more

A polygon is read as the smallest box around it. One file may have both. A line with any other count of numbers is
refused, such as the detections of a model, which have a confidence at the end and are not labels.

The classes are the lines of `classes.txt` or the `names` of `data.yaml`. Text files lie beside the photos, or in
`labels/` where the photos are in `images/`. An empty text file says that there is nothing in the photo; a photo
without one is not labelled. A text file names neither its photo nor the size, so YOLO can be imported but not graded.
"""

from __future__ import annotations

from pathlib import Path

from harness.base.errors import ReferenceSetError
from harness.formats import Format
from harness.formats.document import Box, Shape
from harness.formats.labels import kinds_in, labels_of, placed_record
from harness.references.importing import ImportedPhoto, ImportedSet
from harness.references.photo_files import find_photos

#: How far a box may stick out of its photo, in shares of it, and still be a matter of rounding.
TOLERANCE = 0.01


def read_set(path: Path, photos: Path | None) -> ImportedSet:
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
        settings = yaml.safe_load(config.read_text())
        names = settings["names"]
        pairs = names.items() if isinstance(names, dict) else enumerate(names)
        classes = {int(number): str(name) for number, name in pairs}
    except (yaml.YAMLError, UnicodeDecodeError, KeyError, TypeError, ValueError) as error:
        raise ReferenceSetError(f"{config}: names: expected a list of class names: {error}") from error
    if "kpt_shape" in settings:  # a line then has a box and key points, which may be as many numbers as a polygon has
        raise ReferenceSetError(f"{config}: kpt_shape: this set has poses; only boxes and polygons can be imported")
    return classes


def _photo(photo: Path, root: Path, classes: dict[int, str]) -> ImportedPhoto:
    file = _label_file(photo, root)
    if file is None:
        return ImportedPhoto(path=photo, where=str(photo))
    records = [placed_record(shape, (1, 1), TOLERANCE) for shape in read_shapes(file, classes)]
    return ImportedPhoto(path=photo, where=str(file), **labels_of(records, kinds_in(classes.values())))


def _label_file(photo: Path, root: Path) -> Path | None:
    """The text file of a photo: beside it, or in `labels/` for `images/`, the last such folder on the way to it."""
    parts = list(photo.relative_to(root).parts) if photo.is_relative_to(root) else [photo.name]
    candidates = [photo.with_suffix(".txt"), root / "labels" / f"{photo.stem}.txt"]
    if "images" in parts:
        place = len(parts) - 1 - parts[::-1].index("images")
        candidates.append(root.joinpath(*parts[:place], "labels", *parts[place + 1 :]).with_suffix(".txt"))
    return next((file for file in candidates if file.is_file()), None)


def read_shapes(file: Path, classes: dict[int, str]) -> list[Shape]:
    """The lines of a text file, in shares of a photo whose size it does not say."""
    try:
        lines = file.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ReferenceSetError(f"{file}: cannot be read: {error}") from error
    return [
        _shape(line, place, classes, f"{file}: line {place}") for place, line in enumerate(lines, 1) if line.strip()
    ]


def _shape(line: str, place: int, classes: dict[int, str], where: str) -> Shape:
    first, *rest = line.split()
    try:
        number, numbers = int(first), [float(field) for field in rest]
        box = _box(numbers, where)
    except ValueError as error:
        raise ReferenceSetError(
            f"{where}: expected class and four numbers of a box, or class and the points of a polygon, x and y of at "
            f"least three, got {len(rest) + 1} fields: {line!r:.80}"
        ) from error
    if number not in classes:
        raise ReferenceSetError(f"{where}: no class {number}; there are {len(classes)}")
    return Shape(str(place), classes[number], box, where)


def _box(numbers: list[float], where: str) -> Box:
    """The box that the numbers of a line say. Raises ValueError where they are too few, too many or odd."""
    if len(numbers) == 4:
        x, y, w, h = numbers
        return Box.of_edges((x - w / 2, y - h / 2, x + w / 2, y + h / 2), where, ReferenceSetError)
    if len(numbers) < 6:
        raise ValueError("too few numbers")
    return Box.around(list(zip(numbers[::2], numbers[1::2], strict=True)), where, ReferenceSetError)


FORMAT = Format(name="yolo", title="YOLO", read_set=read_set)

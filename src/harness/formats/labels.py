"""From a document to the labels of a reference set: boxes named bib and face, in shares of the upright photo.

Everything that does not fit is a ReferenceSetError that names the file and the record.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypedDict

from harness.base.documents import checked
from harness.base.errors import PhotoError, ReferenceSetError
from harness.formats.document import Box, Image, Shape
from harness.references.files import BibLabels, BibRecord, FaceLabels, FaceRecord
from harness.references.photo_files import find_photos, size_on_disk

#: How far a box may stick out of its photo, in pixels, and still be a matter of rounding.
TOLERANCE = 1.0


class UnitBox(TypedDict):
    """The coordinates of a label."""

    x: float
    y: float
    w: float
    h: float


class PhotoLabels(TypedDict):
    """The labels of a photo; None where its source does not speak about them."""

    bibs: BibLabels | None
    faces: FaceLabels | None


def unit_box(box: Box, size: tuple[int, int], where: str, tolerance: float = TOLERANCE) -> UnitBox:
    """A box as shares of the photo, cut at its border."""
    width, height = size
    outside = max(-box.left, -box.top, box.right - width, box.bottom - height)
    if outside > tolerance or box.left > width or box.top > height:
        raise ReferenceSetError(
            f"{where}: the box from ({box.left:g}, {box.top:g}) to ({box.right:g}, {box.bottom:g}) sticks out of the "
            f"photo, which is {width} x {height} upright"
        )
    x0, x1 = (min(max(edge, 0.0), width) / width for edge in (box.left, box.right))
    y0, y1 = (min(max(edge, 0.0), height) / height for edge in (box.top, box.bottom))
    return {"x": x0, "y": y0, "w": x1 - x0, "h": y1 - y0}


def shape_record(shape: Shape, box: UnitBox) -> BibRecord | FaceRecord:
    """The label that a shape is: of its attributes those are taken that a label of its kind has.

    Formats that know only text write tags as one attribute, with commas between them.
    """
    kind = kind_of(shape.label, f"{shape.where}{shape.label_field}")
    model: type[BibRecord | FaceRecord] = BibRecord if kind == "bib" else FaceRecord
    # Which our own exports have, and others may not mean.
    names = [name for name in model.model_fields if name not in ("origin", "id")]
    own = {key: shape.attributes[key] for key in names if shape.attributes.get(key) not in (None, "")}
    if type(own.get("number")) is int:  # a tool that guesses types; true and false are no numbers
        own["number"] = str(own["number"])
    if isinstance(own.get("tags"), str):
        own["tags"] = [tag.strip() for tag in own["tags"].split(",") if tag.strip()]
    return checked(model, {**own, **box}, shape.where, ReferenceSetError)


def placed_record(shape: Shape, size: tuple[int, int], tolerance: float = TOLERANCE) -> BibRecord | FaceRecord:
    """The label that a shape on a photo of this size is."""
    return shape_record(shape, unit_box(shape.box, size, f"{shape.where}{shape.box_field}", tolerance))


def refuse_skipped(images: Iterable[Image], but: str = "") -> None:
    """Refuse a file of which an annotation cannot be read; those of the kind `but` are no labels, and passed over."""
    for image in images:
        for skipped in image.skipped:
            if skipped.kind != but:
                raise ReferenceSetError(skipped.text)


def kind_of(name: str, where: str) -> str:
    """`bib` or `face`, whatever the case; anything else is not ours."""
    kind = name.strip().lower()
    if kind not in ("bib", "face"):
        raise ReferenceSetError(f"{where}: {name!r} is neither bib nor face")
    return kind


def kinds_in(names: Iterable[str]) -> frozenset[str]:
    """Which of `bib` and `face` a source speaks about, by the names of its classes."""
    return frozenset(name.strip().lower() for name in names) & {"bib", "face"}


def labels_of(records: Iterable[BibRecord | FaceRecord], kinds: Iterable[str]) -> PhotoLabels:
    """Labels of a photo from boxes of both kinds; `kinds` are those that its source speaks about."""
    bibs, faces = by_kind(records)
    return {
        "bibs": BibLabels(labeled=True, boxes=bibs) if "bib" in kinds else None,
        "faces": FaceLabels(labeled=True, boxes=faces) if "face" in kinds else None,
    }


def by_kind(records: Iterable[BibRecord | FaceRecord]) -> tuple[list[BibRecord], list[FaceRecord]]:
    """Bibs and faces apart, each in their order."""
    records = list(records)
    bibs = [record for record in records if isinstance(record, BibRecord)]
    return bibs, [record for record in records if isinstance(record, FaceRecord)]


def find_photo(image: Image, name: str, folders: Iterable[Path]) -> tuple[Path, tuple[int, int]]:
    """The photo of this name and its upright size. An image that is said to be of another size is refused.

    Such a file was made on the photo as it lies in the file, not turned upright: its boxes would lie.
    """
    photo = _locate(name, list(folders), image.where)
    size = photo_size(photo, image.where)
    if image.size not in (None, size):
        said = image.size
        raise ReferenceSetError(
            f"{image.where}: says {said[0]} x {said[1]} pixels, but the photo is {size[0]} x {size[1]} upright"
        )
    return photo, size


def photo_size(path: Path, where: str) -> tuple[int, int]:
    """Width and height of a photo when it is upright."""
    try:
        return size_on_disk(path)
    except PhotoError as error:
        raise ReferenceSetError(f"{where}: {error}") from error


def photo_folders(file: Path, photos: Path | None, names: Iterable[str] = ("images",)) -> list[Path]:
    """Where the photos of an annotation file may be: in the folder that the user names, else beside it or above."""
    if photos:
        return [photos]
    return [parent / sub for parent in (file.parent, file.parent.parent) for sub in ("", *names)]


def photos_by_person(folder: Path) -> list[tuple[Path, str]]:
    """The photos in a folder that has a folder a person, and whose each one is; one beside the folders is of the person
    that it is called like."""
    if not folder.is_dir():
        raise ReferenceSetError(f"{folder}: expected a folder with one folder a person")
    found = []
    for photo in find_photos(folder):
        first = photo.relative_to(folder).parts[0]
        person = (photo.stem if photo.parent == folder else first).strip()
        if not person:
            raise ReferenceSetError(f"{photo}: no name of a person: {first!r}")
        found.append((photo, person))
    if not found:
        raise ReferenceSetError(f"{folder}: no photo in it; expected one folder a person, with photos")
    return found


def only_file(path: Path, suffix: str, title: str) -> Path:
    """The file itself, or the only one in a folder or its `annotations/`."""
    if not path.is_dir():
        return path
    files = sorted({*path.glob(f"*{suffix}"), *path.glob(f"annotations/*{suffix}")})
    if len(files) != 1:
        raise ReferenceSetError(f"{path}: expected one {title} file here, found {len(files)}; name the file itself")
    return files[0]


def _locate(name: str, folders: list[Path], where: str) -> Path:
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    looked = ", ".join(map(str, folders))
    raise ReferenceSetError(f"{where}: no photo {name} in {looked}; --photos names the folder of the photos")

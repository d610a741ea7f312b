"""What a format's reader yields: photos with labels, checked, in the harness's own terms.

A reader raises a ReferenceSetError that names the file and the record for anything that it does not understand. A
dimension that the source does not speak about is None, which is not the same as labelled and empty.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypedDict

from harness.base.documents import checked
from harness.base.errors import PhotoError, ReferenceSetError
from harness.references.files import BibLabels, BibRecord, FaceIdentities, FaceLabels, FaceRecord, LinkPairs
from harness.references.photo_files import read_bytes, upright_size

#: How far a box may stick out of its photo, in pixels, and still be a matter of rounding.
TOLERANCE = 1.0


@dataclass(frozen=True, kw_only=True)
class ImportedPhoto:
    """One photo of a source. `where` names its record in errors; `sha256` is what the source says its content is."""

    path: Path
    where: str
    bibs: BibLabels | None = None
    faces: FaceLabels | None = None
    links: LinkPairs | None = None
    names: tuple[str, ...] = ()
    split: Literal["iteration", "holdout"] | None = None
    added_at: str | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class ImportedSet:
    """All that a source holds."""

    photos: tuple[ImportedPhoto, ...]
    identities: FaceIdentities = field(default_factory=FaceIdentities)


class UnitBox(TypedDict):
    """The coordinates of a label."""

    x: float
    y: float
    w: float
    h: float


def unit_box(
    edges: tuple[float, float, float, float], size: tuple[int, int], where: str, tolerance: float = TOLERANCE
) -> UnitBox:
    """Left, top, right and bottom in pixels as shares of the photo, cut at its border."""
    left, top, right, bottom = edges
    width, height = size
    if not all(abs(edge) < 1e9 for edge in edges) or right < left or bottom < top:
        raise ReferenceSetError(f"{where}: not a box: left {left}, top {top}, right {right}, bottom {bottom}")
    outside = max(-left, -top, right - width, bottom - height)
    if outside > tolerance or left > width or top > height:
        raise ReferenceSetError(
            f"{where}: the box from ({left:g}, {top:g}) to ({right:g}, {bottom:g}) sticks out of the photo, "
            f"which is {width} x {height} upright"
        )
    x0, x1 = (min(max(edge, 0.0), width) / width for edge in (left, right))
    y0, y1 = (min(max(edge, 0.0), height) / height for edge in (top, bottom))
    return {"x": x0, "y": y0, "w": x1 - x0, "h": y1 - y0}


def box_record(kind: str, box: UnitBox, attributes: dict[str, Any], where: str) -> BibRecord | FaceRecord:
    """A label of the kind `bib` or `face`; of the attributes those are taken that a label of the kind has."""
    model: type[BibRecord | FaceRecord] = BibRecord if kind == "bib" else FaceRecord
    own = {key: attributes[key] for key in model.model_fields if attributes.get(key) not in (None, "")}
    if isinstance(own.get("number"), int):
        own["number"] = str(own["number"])
    return checked(model, {**own, **box}, where, ReferenceSetError)


def kind_of(name: str, where: str) -> str:
    """`bib` or `face`, whatever the case; anything else is not ours."""
    kind = name.strip().lower()
    if kind not in ("bib", "face"):
        raise ReferenceSetError(f"{where}: {name!r} is neither bib nor face")
    return kind


def labels_of(records: Iterable[BibRecord | FaceRecord], kinds: Iterable[str]) -> dict[str, Any]:
    """Labels of a photo from boxes of both kinds; `kinds` are those that its source speaks about."""
    records = list(records)
    bibs = [record for record in records if isinstance(record, BibRecord)]
    faces = [record for record in records if isinstance(record, FaceRecord)]
    return {
        "bibs": BibLabels(labeled=True, boxes=bibs) if "bib" in kinds else None,
        "faces": FaceLabels(labeled=True, boxes=faces) if "face" in kinds else None,
    }


def photo_size(path: Path, where: str) -> tuple[int, int]:
    """Width and height of a photo when it is upright."""
    try:
        return upright_size(path, read_bytes(path))
    except PhotoError as error:
        raise ReferenceSetError(f"{where}: {error}") from error


def locate(name: str, folders: Iterable[Path], where: str) -> Path:
    """The photo of this name in the first folder that has it."""
    folders = list(folders)
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    looked = ", ".join(map(str, folders))
    raise ReferenceSetError(f"{where}: no photo {name} in {looked}; --photos names the folder of the photos")


def check_size(said: tuple[int | None, int | None], size: tuple[int, int], where: str) -> None:
    """Refuse a source that takes the photo to be of another size, such as not turned upright: its boxes would lie."""
    if None not in said and said != size:
        raise ReferenceSetError(
            f"{where}: says {said[0]} x {said[1]} pixels, but the photo is {size[0]} x {size[1]} upright"
        )

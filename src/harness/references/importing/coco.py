"""COCO detection files: `images`, `categories` named bib and face, `annotations` with `bbox` [x, y, width, height].

What COCO has no field for stands in `attributes` of an annotation (number, scope, identity, tags). What our own export
knows beyond that stands under `harness`: of an image its tags, links, names and split, of the file its identities.
Without it, every image counts as labelled for the categories that the file declares, and for links it does not.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from harness.base.documents import checked, read_json
from harness.base.errors import ReferenceSetError
from harness.references.files import (
    BibLabels,
    BibPhotoTag,
    BibRecord,
    FaceIdentities,
    FaceLabels,
    FacePhotoTag,
    FaceRecord,
    Flag,
    LinkPairs,
    Record,
    Size,
)
from harness.references.importing.records import (
    ImportedPhoto,
    ImportedSet,
    UnitBox,
    box_record,
    check_size,
    kind_of,
    labels_of,
    locate,
    photo_size,
    unit_box,
)

Number = Annotated[float, Field(allow_inf_nan=False, strict=True)]
Id = int | str


class Identities(Record):
    """The identities of a set, as they travel in a COCO file."""

    names: list[str]
    must_link: list[list[str]]
    cannot_link: list[list[str]]


class BibExtension(Record):
    """What COCO has no place for about the bibs of a photo."""

    labeled: Flag
    tags: list[BibPhotoTag]


class FaceExtension(Record):
    """What COCO has no place for about the faces of a photo."""

    labeled: Flag
    tags: list[FacePhotoTag]


class ImageExtension(Record):
    """What COCO has no place for about a photo; None where it was never labelled."""

    names: list[str]
    split: Literal["iteration", "holdout"]
    added_at: str
    bibs: BibExtension | None
    faces: FaceExtension | None
    links: LinkPairs | None


class FileExtension(Record):
    """What COCO has no place for about a set."""

    identities: Identities


class _Image(BaseModel):
    id: Id
    file_name: str = Field(min_length=1)
    width: Size | None = None
    height: Size | None = None
    harness: ImageExtension | None = None


class _Category(BaseModel):
    id: Id
    name: str


class _Annotation(BaseModel):
    image_id: Id
    category_id: Id
    bbox: tuple[Number, Number, Number, Number]
    attributes: dict[str, Any] = {}


class _Coco(BaseModel):
    images: list[_Image]
    categories: list[_Category]
    annotations: list[_Annotation]
    harness: FileExtension | None = None


def read(path: Path, photos: Path | None) -> ImportedSet:
    """A COCO file, or a folder with exactly one; photos are found beside it or in `images/`."""
    file = _file(path)
    coco = checked(_Coco, read_json(file, ReferenceSetError), str(file), ReferenceSetError)
    annotations = _by_image(coco, file)
    names = {category.id: category.name for category in coco.categories}
    kinds = {name.strip().lower() for name in names.values()}
    folders = [photos] if photos else [f / sub for f in (file.parent, file.parent.parent) for sub in ("", "images")]
    found = []
    for position, image in enumerate(coco.images):
        where = f"{file}: images.{position}"
        photo = locate(image.file_name, folders, where)
        size = photo_size(photo, where)
        check_size((image.width, image.height), size, where)
        records = [
            _record(annotation, names, size, image.harness is not None, f"{file}: annotations.{place}")
            for place, annotation in annotations.get(image.id, ())
        ]
        found.append(_photo(photo, where, image, records, kinds))
    identities = coco.harness.identities.model_dump() if coco.harness else {}
    return ImportedSet(tuple(found), FaceIdentities(**identities))


def _file(path: Path) -> Path:
    if not path.is_dir():
        return path
    files = sorted({*path.glob("*.json"), *path.glob("annotations/*.json")})
    if len(files) != 1:
        raise ReferenceSetError(f"{path}: expected one COCO file here, found {len(files)}; name the file itself")
    return files[0]


def _by_image(coco: _Coco, file: Path) -> dict[Id, list[tuple[int, _Annotation]]]:
    """The annotations of each image with their places in the file."""
    found: dict[Id, list[tuple[int, _Annotation]]] = {image.id: [] for image in coco.images}
    if len(found) != len(coco.images):
        raise ReferenceSetError(f"{file}: images: two of them have the same id")
    for place, annotation in enumerate(coco.annotations):
        if annotation.image_id not in found:
            raise ReferenceSetError(f"{file}: annotations.{place}.image_id: no image {annotation.image_id!r}")
        found[annotation.image_id].append((place, annotation))
    return found


def _record(
    annotation: _Annotation, names: dict[Id, str], size: tuple[int, int], is_ours: bool, where: str
) -> BibRecord | FaceRecord:
    if annotation.category_id not in names:
        raise ReferenceSetError(f"{where}.category_id: no category {annotation.category_id!r}")
    kind = kind_of(names[annotation.category_id], f"{where}.category_id")
    x, y, w, h = annotation.bbox
    if is_ours:  # it comes back as it was, and is checked as our own labels are
        width, height = size
        box = UnitBox(x=x / width, y=y / height, w=w / width, h=h / height)
    else:
        box = unit_box((x, y, x + w, y + h), size, f"{where}.bbox")
    return box_record(kind, box, annotation.attributes, where)


def _photo(
    photo: Path, where: str, image: _Image, records: list[BibRecord | FaceRecord], kinds: set[str]
) -> ImportedPhoto:
    extra = image.harness
    if extra is None:
        return ImportedPhoto(path=photo, where=where, names=(Path(image.file_name).name,), **labels_of(records, kinds))
    bibs = [record for record in records if isinstance(record, BibRecord)]
    faces = [record for record in records if isinstance(record, FaceRecord)]
    return ImportedPhoto(
        path=photo,
        where=where,
        bibs=BibLabels(boxes=bibs, **extra.bibs.model_dump()) if extra.bibs else None,
        faces=FaceLabels(boxes=faces, **extra.faces.model_dump()) if extra.faces else None,
        links=extra.links,
        names=tuple(extra.names),
        split=extra.split,
        added_at=extra.added_at,
    )

"""COCO detection files: `images`, `categories`, `annotations` with `bbox` [x, y, width, height] or a `segmentation`.

A segmentation is a list of polygons, [x, y, x, y, ...] each, which are one area together, or a mask in runs, packed
into text or not. Grading goes by it where there is one, else by the box, turned clockwise by the attribute `rotation`,
which CVAT writes in degrees. An import goes by the upright box alone.

What COCO has no field for stands in the `attributes` of an annotation, as CVAT writes them. An annotation is known by
its `id`, or where it has none by its place in the file, from 1. Its field `key`, if there is one, pairs it in grading.

For an import, the categories are bib and face, and the attributes number, scope, identity and tags. What our own export
knows beyond that stands under `harness`: of an image its tags, links, names, split and group, of the file its
identities. An image of any file may have a `group`: images of one group belong together, as those of a burst do.
Without it, every image counts as labelled for the categories that the file declares, and for links it does not.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field

from harness.base.documents import checked, read_json
from harness.base.errors import HarnessError, ReferenceSetError
from harness.formats import AnnotationFile, Format
from harness.formats.document import Box, Document, Image, Record, Shape, file_name, read_each
from harness.formats.drawings import bitmap_of_runs, pairs, runs_of_text
from harness.formats.labels import (
    UnitBox,
    by_kind,
    find_photo,
    kinds_in,
    labels_of,
    only_file,
    photo_folders,
    placed_record,
    refuse_skipped,
    shape_record,
)
from harness.references.exporting import FileExtension, ImageExtension
from harness.references.fields import BoxId, Size
from harness.references.files import BibLabels, BoxOrigin, FaceIdentities, FaceLabels
from harness.references.importing import ImportedPhoto, ImportedSet
from harness.references.photo_files import SELFIES
from harness.references.selfies import ImportedSelfie
from harness.scoring.shapes import Drawing, mask, polygon, turned_box

Number = Annotated[float, Field(allow_inf_nan=False, strict=True)]
Id = int | str

_KEYS = frozenset({"images", "categories", "annotations"})


class _Image(BaseModel):
    id: Id
    file_name: str = Field(min_length=1)
    width: Size | None = None
    height: Size | None = None
    group: Id | None = None
    harness: Any = None


class _Category(BaseModel):
    id: Id
    name: str


class _Annotation(BaseModel):
    image_id: Id
    category_id: Id
    bbox: tuple[Number, Number, Number, Number] | None = None
    segmentation: Any = None
    id: Id | None = None
    key: Any = None
    attributes: dict[str, Any] = {}


class _Runs(BaseModel):
    """A mask: `size` is height and width."""

    size: tuple[Size, Size]
    counts: str | list[Annotated[int, Field(strict=True)]]


class _Own(BaseModel):
    """What a label of our own export has, beside what one of any tool has."""

    origin: BoxOrigin | None = None
    id: BoxId | None = None


class _Rings(BaseModel):
    rings: list[list[Number]]


class _Coco(BaseModel):
    images: list[_Image]
    categories: list[_Category]
    annotations: list[_Annotation]
    harness: Any = None


def recognises(data: Any) -> bool:
    """Whether a JSON value is meant to be COCO, complete or not."""
    return isinstance(data, dict) and not _KEYS.isdisjoint(data)


def read(data: Any, file: Path, error: type[HarnessError]) -> Document:
    """The images of a COCO file with their annotations."""
    return _document(checked(_Coco, data, str(file), error), file, error)


def read_set(path: Path, photos: Path | None) -> ImportedSet:
    """A COCO file, or a folder with exactly one; photos are found beside it or in `images/`."""
    file = only_file(path, ".json", "COCO")
    coco = checked(_Coco, read_json(file, ReferenceSetError), str(file), ReferenceSetError)
    document = _document(coco, file, ReferenceSetError, boxes_alone=True)
    refuse_skipped(document.images)
    folders, kinds = photo_folders(file, photos), kinds_in(document.labels)
    found = []
    for image, given in zip(document.images, coco.images, strict=True):
        if given.harness is None:
            group = None if given.group is None else str(given.group) or None
            found.append(replace(_foreign_photo(image, folders, kinds), group=group))
        else:
            extra = checked(ImageExtension, given.harness, f"{image.where}.harness", ReferenceSetError)
            found.append(_own_photo(image, folders, extra))
    if coco.harness is None:
        return ImportedSet(tuple(found))
    whole = checked(FileExtension, coco.harness, f"{file}: harness", ReferenceSetError)
    selfies = [
        ImportedSelfie(path=file.parent / SELFIES / name, identity=owner, where=f"{file}: harness.selfies.{name}")
        for name, owner in whole.selfies.items()
    ]
    return ImportedSet(tuple(found), FaceIdentities(**whole.identities.model_dump()), tuple(selfies))


def _document(coco: _Coco, file: Path, error: type[HarnessError], boxes_alone: bool = False) -> Document:
    labels = {category.id: category.name for category in coco.categories}
    records: dict[Id, list[Record]] = {image.id: [] for image in coco.images}
    if len(records) != len(coco.images):
        raise error(f"{file}: images: two of them have the same id")
    for place, annotation in enumerate(coco.annotations):
        where = f"{file}: annotations.{place}"
        if annotation.image_id not in records:
            raise error(f"{where}.image_id: no image {annotation.image_id!r}")
        if annotation.category_id not in labels:
            raise error(f"{where}.category_id: no category {annotation.category_id!r}")
        id = str(place + 1 if annotation.id is None else annotation.id)
        records[annotation.image_id].append(Record(id, "annotation", where, annotation))

    def read_shape(record: Record, size: tuple[int, int] | None) -> Shape:
        drawing = None if boxes_alone else _drawing(record.content, size, record.where, error)
        return _shape(record, labels[record.content.category_id], drawing, error)

    images = (
        Image(
            image.file_name,
            f"{file}: images.{place}",
            _size(image),
            *read_each(records[image.id], partial(read_shape, size=_size(image)), error),
        )
        for place, image in enumerate(coco.images)
    )
    return Document(tuple(images), frozenset(labels.values()))


def _shape(record: Record, label: str, drawing: Drawing | None, error: type[HarnessError]) -> Shape:
    annotation, where = record.content, record.where
    box = annotation.bbox or (drawing.box if drawing else None)
    if box is None:
        raise error(f"{where}.bbox: not there")
    return Shape(
        id=record.id,
        label=label,
        box=Box.of_size(box, f"{where}.bbox", error),
        where=where,
        attributes=annotation.attributes,
        key=annotation.key,
        label_field=".category_id",
        box_field=".bbox",
        drawing=drawing,
    )


def _drawing(
    annotation: _Annotation, size: tuple[int, int] | None, where: str, error: type[HarnessError]
) -> Drawing | None:
    """What the segmentation says, which tools that know only boxes leave empty, or else the box if it is turned."""
    given, where = annotation.segmentation, f"{where}.segmentation"
    try:
        if isinstance(given, dict):
            return _mask(checked(_Runs, given, where, error), size)
        rings = [ring for ring in checked(_Rings, {"rings": given or []}, where, error).rings if ring]
        return polygon([pairs(ring) for ring in rings]) if rings else _turned(annotation)
    except ValueError as cause:
        raise error(f"{where}: {cause}") from cause


def _mask(runs: _Runs, size: tuple[int, int] | None) -> Drawing:
    height, width = runs.size
    if size not in (None, (width, height)):
        raise ValueError(f"a mask of {width} x {height} on an image of {size[0]} x {size[1]}")
    counts = runs_of_text(runs.counts) if isinstance(runs.counts, str) else runs.counts
    return mask(bitmap_of_runs(counts, (width, height), by_column=True))


def _turned(annotation: _Annotation) -> Drawing | None:
    degrees = annotation.attributes.get("rotation")
    if annotation.bbox is None or isinstance(degrees, bool) or not isinstance(degrees, int | float) or not degrees:
        return None
    x, y, w, h = annotation.bbox
    return turned_box((x, y, x + w, y + h), degrees)


def _size(image: _Image) -> tuple[int, int] | None:
    return (image.width, image.height) if image.width and image.height else None


def _foreign_photo(image: Image, folders: list[Path], kinds: frozenset[str]) -> ImportedPhoto:
    photo, size = find_photo(image, image.name, folders)
    records = [placed_record(shape, size) for shape in image.shapes]
    return ImportedPhoto(path=photo, where=image.where, names=(file_name(image.name),), **labels_of(records, kinds))


def _own_photo(image: Image, folders: list[Path], extra: ImageExtension) -> ImportedPhoto:
    """A photo of our own export. Its labels come back as they were, and are checked as our own labels are."""
    photo, (width, height) = find_photo(image, image.name, folders)
    records = []
    for shape in image.shapes:
        x, y, w, h = shape.box.xywh
        record = shape_record(shape, UnitBox(x=x / width, y=y / height, w=w / width, h=h / height))
        own = {key: shape.attributes[key] for key in ("origin", "id") if shape.attributes.get(key)}
        known = checked(_Own, own, f"{shape.where}.attributes", ReferenceSetError)
        records.append(record.model_copy(update={"origin": known.origin, "id": known.id}))
    bibs, faces = by_kind(records)
    return ImportedPhoto(
        path=photo,
        where=image.where,
        bibs=BibLabels(boxes=bibs, **extra.bibs.model_dump()) if extra.bibs else None,
        faces=FaceLabels(boxes=faces, **extra.faces.model_dump()) if extra.faces else None,
        links=extra.links,
        links_open=bool(extra.links_open),
        names=tuple(extra.names),
        split=extra.split,
        added_at=extra.added_at,
        group=extra.group,
    )


FORMAT = Format(
    name="coco",
    title="COCO",
    read_set=read_set,
    annotations=AnnotationFile(
        suffix=".json",
        sign="an object with images, categories and annotations",
        load=read_json,
        recognises=recognises,
        read=read,
    ),
)

"""COCO: `images`, `categories`, `annotations` with `bbox` [x, y, width, height] and, as CVAT writes them, `attributes`.

An annotation is known by its `id`, or where it has none by its place in the file, from 1. A field of the annotation
that is called `key` pairs it, whatever the rules call the attribute that does.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field

from harness.base.documents import checked, read_json
from harness.base.errors import GradingError
from harness.grading.submissions import AnnotatedImage, attribute_text, image_name
from harness.scoring import Annotation

Number = Annotated[float, Field(allow_inf_nan=False, strict=True)]
Size = Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)]
Pixels = Annotated[int, Field(gt=0, strict=True)]
Id = int | str


class _Image(BaseModel):
    id: Id
    file_name: str = Field(min_length=1)
    width: Pixels | None = None
    height: Pixels | None = None


class _Category(BaseModel):
    id: Id
    name: str


class _Annotation(BaseModel):
    image_id: Id
    category_id: Id
    bbox: tuple[Number, Number, Size, Size]
    id: Id | None = None
    key: Id | None = None
    attributes: dict[str, Any] = {}


class _Coco(BaseModel):
    images: list[_Image]
    categories: list[_Category]
    annotations: list[_Annotation]


def read(file: Path) -> list[AnnotatedImage]:
    """The images of a COCO file with their annotations."""
    coco = checked(_Coco, read_json(file, GradingError), str(file), GradingError)
    labels = {category.id: category.name for category in coco.categories}
    drawn: dict[Id, list[Annotation]] = {image.id: [] for image in coco.images}
    if len(drawn) != len(coco.images):
        raise GradingError(f"{file}: images: two of them have the same id")
    for place, annotation in enumerate(coco.annotations):
        where = f"{file}: annotations.{place}"
        if annotation.image_id not in drawn:
            raise GradingError(f"{where}.image_id: no image {annotation.image_id!r}")
        if annotation.category_id not in labels:
            raise GradingError(f"{where}.category_id: no category {annotation.category_id!r}")
        drawn[annotation.image_id].append(_annotation(annotation, labels[annotation.category_id], place, where))
    return [
        AnnotatedImage(image_name(image.file_name), f"{file}: images.{place}", _size(image), tuple(drawn[image.id]))
        for place, image in enumerate(coco.images)
    ]


def _annotation(given: _Annotation, label: str, place: int, where: str) -> Annotation:
    attributes = {
        name: attribute_text(value, f"{where}.attributes.{name}")
        for name, value in given.attributes.items()
        if value is not None
    }
    id = str(place + 1 if given.id is None else given.id)
    return Annotation(id, label, given.bbox, attributes, None if given.key is None else str(given.key))


def _size(image: _Image) -> tuple[int, int] | None:
    return (image.width, image.height) if image.width and image.height else None

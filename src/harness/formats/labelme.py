"""LabelMe: one JSON file an image, with `shapes` that have a `shape_type` and `points`.

    {"imagePath": "a.jpg", "imageWidth": 640, "imageHeight": 480,
     "shapes": [{"label": "car", "shape_type": "polygon", "points": [[10, 10], [60, 12], [30, 50]],
                 "flags": {"parked": true}, "group_id": 7, "description": ""}]}

A shape is known by its place in the file, from 1. Its attributes are its `flags`, `group_id`, `description` and, where
a tool writes them, `attributes`. LabelMe can be graded but not imported.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field

from harness.base.documents import checked, read_json
from harness.base.errors import HarnessError
from harness.formats import AnnotationFile, Format
from harness.formats.document import Box, Document, Image, Record, Shape, read_each
from harness.formats.drawings import mask_of_png
from harness.references.fields import Size
from harness.scoring.shapes import Drawing, ellipse, points, polygon, polyline

Number = Annotated[float, Field(allow_inf_nan=False, strict=True)]
ImageSize = tuple[int, int] | None


class _Shape(BaseModel):
    label: str
    points: list[tuple[Number, Number]]
    #: Files of the first versions have polygons alone, and do not say so.
    shape_type: str = "polygon"
    flags: dict[str, Any] | None = None
    group_id: Any = None
    description: Any = None
    attributes: dict[str, Any] | None = None
    mask: str | None = None


class _File(BaseModel):
    shapes: list[_Shape]
    image_path: str = Field(alias="imagePath", min_length=1)
    width: Size | None = Field(None, alias="imageWidth")
    height: Size | None = Field(None, alias="imageHeight")


def recognises(data: Any) -> bool:
    """Whether a JSON value is meant to be LabelMe, complete or not."""
    return isinstance(data, dict) and not {"shapes", "imagePath"}.isdisjoint(data)


def read(data: Any, file: Path, error: type[HarnessError]) -> Document:
    """The image that a LabelMe file is about."""
    given = checked(_File, data, str(file), error)
    size = (given.width, given.height) if given.width and given.height else None
    records = [
        Record(str(place + 1), shape.shape_type, f"{file}: shapes.{place}", shape)
        for place, shape in enumerate(given.shapes)
    ]
    return Document(
        (
            Image(
                given.image_path,
                str(file),
                size,
                *read_each(records, lambda record: _shape(record, size, error), error),
            ),
        )
    )


def _shape(record: Record, size: ImageSize, error: type[HarnessError]) -> Shape:
    given: _Shape = record.content
    if record.kind not in _DRAWN:
        raise ValueError(f"shape_type {record.kind!r} cannot be graded; expected one of {', '.join(_DRAWN)}")
    drawing = _DRAWN[record.kind](given, size)
    box = Box.of_size(drawing.box if drawing else _upright(given), record.where, error)
    own = {"group_id": given.group_id, "description": given.description or None}
    attributes = own | (given.flags or {}) | (given.attributes or {})
    return Shape(record.id, given.label, box, record.where, attributes, drawing=drawing)


def _upright(given: _Shape) -> tuple[float, float, float, float]:
    """The box between two corners, whichever of them."""
    (ax, ay), (bx, by) = given.points
    return (min(ax, bx), min(ay, by), abs(ax - bx), abs(ay - by))


def _rectangle(given: _Shape, _: ImageSize) -> Drawing | None:
    """Two corners are an upright box, which is no drawing; some tools write all four."""
    return None if len(given.points) == 2 else polygon([given.points])


def _circle(given: _Shape, _: ImageSize) -> Drawing:
    """A circle around the first point through the second."""
    if len(given.points) != 2:
        raise ValueError(f"a circle of {len(given.points)} points; expected its centre and a point on it")
    centre, edge = given.points
    radius = math.dist(centre, edge)
    return ellipse(centre, (radius, radius), kind="circle")


def _mask(given: _Shape, _: ImageSize) -> Drawing:
    """A picture of the mask alone, between the two points."""
    if given.mask is None or len(given.points) != 2:
        raise ValueError("expected a mask, and two points that it lies between")
    left, top = given.points[0]
    return mask_of_png(given.mask, round(left), round(top))


#: `shape_type` -> how it is drawn.
_DRAWN: dict[str, Callable[[_Shape, ImageSize], Drawing | None]] = {
    "rectangle": _rectangle,
    "polygon": lambda given, _: polygon([given.points]),
    "rotation": lambda given, _: polygon([given.points], "rotated box"),
    "circle": _circle,
    "line": lambda given, size: polyline(given.points, size),
    "linestrip": lambda given, size: polyline(given.points, size),
    "point": lambda given, size: points(given.points, size),
    "points": lambda given, size: points(given.points, size),
    "mask": _mask,
}

FORMAT = Format(
    name="labelme",
    title="LabelMe",
    annotations=AnnotationFile(
        suffix=".json",
        sign="an object with shapes and imagePath",
        load=read_json,
        recognises=recognises,
        read=read,
        per_image=True,
    ),
)

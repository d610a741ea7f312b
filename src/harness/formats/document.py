"""What an annotation file says, whichever format it has: images, and on each the boxes and shapes that somebody drew.

Coordinates are pixels. Nothing here knows bibs, faces or grades: `labels.py` makes labels of a reference set from a
document, and grading makes annotations from it. A reader raises the error class that its caller gives it, with a text
that names the file and the record. Where only a single annotation cannot be read, the reader lists it as skipped, and
its caller decides: an import refuses the file, grading goes on without the annotation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, NamedTuple

from harness.base.errors import HarnessError
from harness.scoring.shapes import Drawing

#: No picture is as wide as this; whoever writes such a number does not mean a place in it.
_FAR = 1e9


class Box(NamedTuple):
    """An upright box. Formats give edges or a size; both are kept, so that neither is rounded by way of the other."""

    left: float
    top: float
    right: float
    bottom: float
    width: float
    height: float

    @classmethod
    def of_edges(cls, edges: Iterable[float], where: str, error: type[HarnessError]) -> Box:
        """The box between left, top, right and bottom."""
        left, top, right, bottom = edges
        return cls(left, top, right, bottom, right - left, bottom - top)._checked(where, error)

    @classmethod
    def of_size(cls, xywh: Sequence[float], where: str, error: type[HarnessError]) -> Box:
        """The box with this left, top, width and height."""
        x, y, w, h = xywh
        return cls(x, y, x + w, y + h, w, h)._checked(where, error)

    @classmethod
    def around(cls, points: Sequence[tuple[float, float]], where: str, error: type[HarnessError]) -> Box:
        """The smallest box that holds every point of a polygon."""
        if not all(math.isfinite(value) for point in points for value in point):
            raise error(f"{where}: not a polygon: a point that is not a number among {len(points)} points")
        xs, ys = zip(*points, strict=True)
        return cls.of_edges((min(xs), min(ys), max(xs), max(ys)), where, error)

    @property
    def xywh(self) -> tuple[float, float, float, float]:
        """Left, top, width, height."""
        return (self.left, self.top, self.width, self.height)

    def _checked(self, where: str, error: type[HarnessError]) -> Box:
        left, top, right, bottom, width, height = self
        near = -_FAR < left < _FAR and -_FAR < top < _FAR and -_FAR < right < _FAR and -_FAR < bottom < _FAR
        if near and width >= 0 and height >= 0:
            return self
        raise error(f"{where}: not a box: left {left}, top {top}, right {right}, bottom {bottom}")


class Shape(NamedTuple):
    """A labelled box, or the box around another labelled shape, which is its `drawing` then.

    `id` is the file's own, or the shape's place from 1. `key` is the file's own word for what belongs together across
    files. `where` names the record in errors; `label_field` and `box_field` are what follows it where the label or the
    box is wrong.
    """

    id: str
    label: str
    box: Box
    where: str
    attributes: Mapping[str, Any] = MappingProxyType({})
    key: Any = None
    label_field: str = ""
    box_field: str = ""
    drawing: Drawing | None = None


class Skipped(NamedTuple):
    """An annotation that cannot be read. `kind` is what the file calls it, `text` names its place and says why."""

    id: str
    kind: str
    where: str
    text: str

    @property
    def why(self) -> str:
        """The text without the place."""
        return self.text.removeprefix(self.where).lstrip(".:, ")


class Record(NamedTuple):
    """An annotation as it stands in a file: its id there, what the file calls it, its place, and what it says."""

    id: str
    kind: str
    where: str
    content: Any


@dataclass(frozen=True)
class Image:
    """One image of a file: its name as the file gives it, perhaps with folders, and its size if that is said."""

    name: str
    where: str
    size: tuple[int, int] | None
    shapes: tuple[Shape, ...]
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True)
class Document:
    """One file. `labels` are those that it speaks about, where it declares them; an image may have none of them."""

    images: tuple[Image, ...]
    labels: frozenset[str] = frozenset()


def read_each(
    records: Iterable[Record], read: Callable[[Record], Shape], error: type[HarnessError]
) -> tuple[tuple[Shape, ...], tuple[Skipped, ...]]:
    """The shapes of an image, and those of its annotations that cannot be read."""
    shapes: list[Shape] = []
    skipped: list[Skipped] = []
    for record in records:
        try:
            shapes.append(read(record))
        except (error, ValueError) as cause:
            said = str(cause)
            text = said if said.startswith(record.where) else f"{record.where}: {said}"
            skipped.append(Skipped(record.id, record.kind, record.where, text))
    return tuple(shapes), tuple(skipped)


def file_name(given: str) -> str:
    """The name of an image without its folders, whichever system they were written on."""
    return PurePosixPath(given.replace("\\", "/")).name


def stated_size(width: float, height: float) -> tuple[int, int] | None:
    """A size as a file states it. Tools that do not know it write 0."""
    known = math.isfinite(width) and math.isfinite(height) and width >= 1 and height >= 1
    return (int(width), int(height)) if known else None


def flag_text(text: str) -> str:
    """A flag of the XML formats, which write 0 and 1."""
    return {"0": "false", "1": "true"}.get(text, text)

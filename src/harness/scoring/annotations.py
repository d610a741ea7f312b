"""Annotations of a submission: labelled boxes and other shapes with attributes, checked on the way in and laid out
column by column.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from types import NoneType
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from harness.scoring.boxes import Bools, Boxes, Floats, Regions, offsets_of

if TYPE_CHECKING:
    from harness.scoring.shapes import Drawing

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Annotation:
    """A labelled box `x, y, w, h`, in any unit that both sides share. Its id is unique within its image and side.

    Where something else than an upright box was drawn, `drawing` is that, and `box` is around it.
    """

    id: str
    label: str
    box: tuple[float, float, float, float]
    attributes: Mapping[str, str] = field(default_factory=dict)
    key: str | None = None
    drawing: Drawing | None = None


Annotations = Mapping[str, Sequence[Annotation]]


@dataclass(frozen=True, slots=True)
class AnnotationBatch:
    """The annotations that one side made in some images; `boxes` knows which image each belongs to."""

    side: str
    images: tuple[str, ...]
    ids: list[str]
    labels: list[str]
    attributes: list[Mapping[str, str]]
    given_keys: list[str | None]
    boxes: Boxes

    @classmethod
    def of(cls, side: str, images: tuple[str, ...], given: Annotations, point_radius: float) -> AnnotationBatch:
        """Lay out the annotations of some images. Raises ValueError that names the one that is wrong, and why."""
        by_image = [given.get(image, ()) for image in images]
        flat = list(chain.from_iterable(by_image))
        drawn = [annotation.box for annotation in flat]
        whole = set(map(len, drawn)) <= {4}
        numbers = chain.from_iterable(drawn if whole else ())
        xywh = np.fromiter(numbers, np.float64, count=4 * len(drawn) if whole else 0).reshape(-1, 4)
        regions = _regions([annotation.drawing for annotation in flat], xywh, point_radius) if whole else None
        batch = cls(
            side,
            images,
            ids=[annotation.id for annotation in flat],
            labels=[annotation.label for annotation in flat],
            attributes=[annotation.attributes for annotation in flat],
            given_keys=[annotation.key for annotation in flat],
            boxes=Boxes(xywh, offsets_of(by_image), regions),
        )
        if not whole:
            batch.refuse([len(box) != 4 for box in drawn], drawn, "box {}; expected x, y, w, h")
        wrong = ~np.isfinite(xywh).all(axis=1) | (xywh[:, 2] < 0) | (xywh[:, 3] < 0)
        batch.refuse(wrong, drawn, "box {}; expected finite numbers, with w and h not negative")
        batch.refuse_unless_text(range(len(flat)), batch.labels, "label {!r}; expected a string")
        batch.refuse_double_ids()
        return batch

    def refuse(self, wrong: Sequence[bool] | Bools, values: Sequence[object], why: str) -> None:
        """Raise ValueError that names the first annotation with a wrong value, if there is one."""
        if np.any(wrong):
            row = int(np.argmax(wrong))
            image = self.images[int(np.searchsorted(self.boxes.offsets, row, side="right")) - 1]
            raise ValueError(f"image {image!r}, {self.side} annotation {self.ids[row]!r}: {why.format(values[row])}")

    def refuse_unless_text(self, rows: Sequence[int], values: Sequence[object], why: str) -> None:
        """Raise ValueError that names the first of the rows whose value is no text, if there is one."""
        if not set(map(type, values)) <= {str}:
            odd = {row: value for row, value in zip(rows, values, strict=True) if not isinstance(value, str)}
            self.refuse([row in odd for row in range(len(self.ids))], [odd.get(r) for r in range(len(self.ids))], why)

    def refuse_double_ids(self) -> None:
        """Raise ValueError if an id stands twice in an image."""
        for start, stop in pairwise(self.boxes.offsets.tolist()):
            group = self.ids[start:stop]
            if len(set(group)) < len(group):
                double = [group.index(id) < place for place, id in enumerate(group)]
                self.refuse([False] * start + double, self.ids, "the id stands twice")

    def keys(self, name: str) -> list[str | None]:
        """The key of each annotation: its own, else its attribute of that name, if there is one."""
        keys = [attributes.get(name) for attributes in self.attributes]
        if self.given_keys.count(None) < len(keys):
            keys = [named if own is None else own for named, own in zip(keys, self.given_keys, strict=True)]
        if not set(map(type, keys)) <= {str, NoneType}:
            rows = [row for row, key in enumerate(keys) if key is not None]
            self.refuse_unless_text(rows, take(keys, rows), "key {!r}; expected a string")
        return keys

    def values(self, rows: Sequence[int], names: Sequence[str]) -> list[str]:
        """Each attribute of all rows, one after the other; empty where it is missing."""
        attributes = take(self.attributes, rows)
        values = [given.get(name, "") for name in names for given in attributes]
        self.refuse_unless_text([*rows] * len(names), values, "attribute {!r}; expected a string")
        return values

    def ids_by_image(self, chosen: Bools) -> dict[int, list[str]]:
        """Ids of the chosen annotations, by image."""
        rows = np.flatnonzero(chosen)
        result: dict[int, list[str]] = {}
        for image, row in zip(self.boxes.photo_index[rows].tolist(), rows.tolist(), strict=True):
            result.setdefault(image, []).append(self.ids[row])
        return result


def _regions(drawings: list[Drawing | None], xywh: Floats, point_radius: float) -> Regions | None:
    """The regions of those that are no upright boxes, whose rows of `xywh` become the boxes around their regions."""
    if drawings.count(None) == len(drawings):
        return None
    from harness.scoring.shapes import boxes_around  # brings shapely, which is slow to load

    regions = np.array([drawing and drawing.region(point_radius) for drawing in drawings], dtype=object)
    shaped = [row for row, drawing in enumerate(drawings) if drawing]
    xywh[shaped] = boxes_around(regions[shaped])
    return regions


def take(values: Sequence[T], rows: Iterable[int]) -> list[T]:
    """The values of some rows."""
    return list(map(values.__getitem__, rows))

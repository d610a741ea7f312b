"""Boxes of a whole batch of photos as flat arrays, checked once on the way in.

A batch is ragged: photo `i` owns the rows `offsets[i]:offsets[i + 1]`. Every metric works on such a batch at once; a
single photo is a batch of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from harness.types import Box

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
#: For each box the geometry that it is around, or None where it is itself what was drawn.
Regions = NDArray[np.object_]


@dataclass(frozen=True, slots=True)
class Boxes:
    """The boxes of a batch of photos: `xywh` has one row a box, `offsets` one entry more than there are photos.

    `regions` is there where some of them are the boxes around other shapes, which IoU then goes by (`shapes.py`).
    """

    xywh: Floats
    offsets: Ints
    regions: Regions | None = None

    @classmethod
    def of(cls, photos: Sequence[Sequence[Box]], what: str = "box") -> Boxes:
        """Flatten the boxes of each photo. Raises ValueError naming the photo, the box and what is wrong with it."""
        xywh = np.array([box.xywh for box in chain.from_iterable(photos)], dtype=np.float64).reshape(-1, 4)
        offsets = offsets_of(photos)
        wrong = ~np.isfinite(xywh).all(axis=1) | (xywh[:, 2] < 0) | (xywh[:, 3] < 0)
        if wrong.any():
            row = int(np.argmax(wrong))
            photo = int(np.searchsorted(offsets, row, side="right")) - 1
            x, y, w, h = xywh[row].tolist()
            raise ValueError(
                f"photo {photo}, {what} {row - int(offsets[photo])}: x={x} y={y} w={w} h={h}; "
                "expected finite numbers, with w and h not negative"
            )
        return cls(xywh, offsets)

    def __len__(self) -> int:
        return len(self.xywh)

    @property
    def photos(self) -> int:
        """How many photos the batch has."""
        return len(self.offsets) - 1

    @property
    def has_coords(self) -> Bools:
        """False for a migrated label whose box was never drawn; such a box takes part in no IoU metric."""
        return (self.xywh[:, 2] > 0) & (self.xywh[:, 3] > 0)

    @property
    def photo_index(self) -> Ints:
        """The photo that each box belongs to."""
        return np.repeat(np.arange(self.photos), np.diff(self.offsets))

    def only(self, chosen: Bools) -> Boxes:
        """The chosen boxes, in the same photos."""
        regions = None if self.regions is None else self.regions[chosen]
        return Boxes(self.xywh[chosen], np.concatenate([[0], np.cumsum(self.count(chosen))]), regions)

    def span(self, first: int, stop: int) -> Boxes:
        """The photos from `first` up to, not including, `stop`."""
        start, end = self.offsets[first], self.offsets[stop]
        regions = None if self.regions is None else self.regions[start:end]
        return Boxes(self.xywh[start:end], self.offsets[first : stop + 1] - start, regions)

    def count(self, chosen: Bools) -> Ints:
        """How many of the chosen boxes each photo has."""
        return np.bincount(self.photo_index[chosen], minlength=self.photos)


def offsets_of(photos: Sequence[Sequence[object]]) -> Ints:
    """Where each photo's items start in the flat list of all of them."""
    return np.cumsum([0, *map(len, photos)], dtype=np.int64)


def same_photos(labels: Sequence[object], predictions: Sequence[object]) -> None:
    """Raise ValueError unless there is one prediction for each labelled photo."""
    if len(labels) != len(predictions):
        raise ValueError(f"{len(labels)} labelled photos, {len(predictions)} predictions; expected one a photo")


def intersection(a: Floats, b: Floats) -> Floats:
    """Overlapping area, row by row."""
    size = np.minimum(a[:, :2] + a[:, 2:], b[:, :2] + b[:, 2:]) - np.maximum(a[:, :2], b[:, :2])
    area: Floats = np.maximum(size, 0).prod(axis=1)
    return area


def iou(a: Floats, b: Floats) -> Floats:
    """Intersection over union, row by row; 0 where the union is 0."""
    common: Floats = intersection(a, b)
    union = a[:, 2] * a[:, 3] + b[:, 2] * b[:, 3] - common
    return np.divide(common, union, out=np.zeros_like(common), where=union > 0)

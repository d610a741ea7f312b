"""Which boxes of two batches overlap, photo by photo, and by how much.

Only pairs of one photo that truly overlap (IoU above 0) are listed; a box without coordinates overlaps nothing. The
pairs are worked through in blocks that fit a processor's cache: that is faster, and memory stays bounded whatever the
batch holds.

Where a batch has regions, those of which the boxes overlap are compared by shape (`shapes.py`); two upright boxes are
compared as boxes whatever else is in the batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from harness.scoring.boxes import Bools, Boxes, Floats, Ints, iou

#: Pairs that are looked at together: their arrays stay small enough for memory to be used again at once.
BLOCK = 1 << 13
#: Pairs of the photos that are matched together.
PHOTO_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class Overlaps:
    """Overlapping pairs, ordered by row of the one batch (`left`), then of the other (`right`), each with its IoU."""

    left: Ints
    right: Ints
    iou: Floats

    def where(self, chosen: Bools) -> Overlaps:
        """Only the chosen pairs."""
        return Overlaps(self.left[chosen], self.right[chosen], self.iou[chosen])


@dataclass(frozen=True, slots=True)
class _Edges:
    """Sides and areas of a batch, one contiguous array each: gathering from these is what the speed rests on."""

    left: Floats
    top: Floats
    right: Floats
    bottom: Floats
    area: Floats

    @classmethod
    def of(cls, boxes: Boxes) -> _Edges:
        x, y, w, h = np.ascontiguousarray(boxes.xywh.T)
        return cls(x, y, x + w, y + h, w * h)


def overlapping_pairs(a: Boxes, b: Boxes, at_least: float = 0.0) -> Overlaps:
    """Every pair (one of `a`, one of `b`) of the same photo whose IoU is above 0, and no less than `at_least`."""
    same_photos(a, b)
    if a.regions is None and b.regions is None:
        return _overlapping_boxes(a, b, at_least)
    near = _overlapping_boxes(a, b, 0.0)
    pairs = Overlaps(near.left, near.right, pair_iou(a, near.left, b, near.right))
    return pairs.where((pairs.iou > 0) & (pairs.iou >= at_least))


def pair_iou(a: Boxes, left: Ints, b: Boxes, right: Ints) -> Floats:
    """IoU of the rows `left` of one batch with the rows `right` of another, pair by pair."""
    if a.regions is None and b.regions is None:
        return iou(a.xywh[left], b.xywh[right])
    from harness.scoring.shapes import shape_iou  # brings shapely, which is slow to load and which boxes do not need

    return shape_iou(a, left, b, right)


def _overlapping_boxes(a: Boxes, b: Boxes, at_least: float) -> Overlaps:
    partners = np.diff(b.offsets)[a.photo_index]
    first = b.offsets[a.photo_index]
    edges_a, edges_b = _Edges.of(a), _Edges.of(b)
    blocks = [
        _block(edges_a, edges_b, start, partners[start:stop], first[start:stop], at_least)
        for start, stop in _cut(partners, BLOCK)
    ]
    if not blocks:
        return Overlaps(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    return Overlaps(*(np.concatenate(column) for column in zip(*blocks, strict=True)))


def photo_blocks(a: Boxes, b: Boxes) -> list[tuple[int, int]]:
    """Cut the photos into runs (first, stop) of about a block of pairs each."""
    same_photos(a, b)
    return _cut(np.diff(a.offsets) * np.diff(b.offsets), PHOTO_BLOCK)


def same_photos(a: Boxes, b: Boxes) -> None:
    """Raise ValueError unless both batches cover the same number of photos."""
    if a.photos != b.photos:
        raise ValueError(f"predictions cover {a.photos} photos, targets {b.photos}; expected the same photos")


def _cut(pairs: Ints, block: int) -> list[tuple[int, int]]:
    """Runs (first, stop) of items, cut where a block of their pairs is full."""
    filled = np.cumsum(pairs) // block
    cuts = [0, *(np.flatnonzero(np.diff(filled)) + 1).tolist(), len(pairs)]
    return [(first, stop) for first, stop in pairwise(cuts) if stop > first]


def _block(a: _Edges, b: _Edges, start: int, partners: Ints, first: Ints, at_least: float) -> tuple[Ints, Ints, Floats]:
    left = np.repeat(np.arange(start, start + len(partners)), partners)
    right = np.repeat(first - (np.cumsum(partners) - partners), partners) + np.arange(len(left))
    width = np.minimum(a.right[left], b.right[right]) - np.maximum(a.left[left], b.left[right])
    beside = np.flatnonzero(width > 0)
    left, right, width = left[beside], right[beside], width[beside]
    height = np.minimum(a.bottom[left], b.bottom[right]) - np.maximum(a.top[left], b.top[right])
    common = width * height
    touching = np.flatnonzero(common > 0)
    left, right, common = left[touching], right[touching], common[touching]
    iou = common / (a.area[left] + b.area[right] - common)
    if not at_least:
        return left, right, iou
    enough = np.flatnonzero(iou >= at_least)
    return left[enough], right[enough], iou[enough]

"""Which raw object each emitted prediction was made from: the emitted list is reproduced from the raw payload.

A standardizer takes the raw objects in their order, turns the bins of each into pixels, drops some, and emits the rest.

- Converters are named by how they cut, by the bin that is the end of the picture, and by what the end is:
  `round_999_last` makes bin k of 0-999 the pixel round(k / 999 x (W - 1)), and likewise with H; `floor_1000_edge` makes
  bin k of 0-1000 floor(k / 1000 x W). With `pixels`, bins are pixels already, and are clamped to the last one.
- Dropped are boxes and polygons whose pixels have no width or no height, where `drops` says so, and objects with bins
  beyond the scale of the converter.
- A raw object without a place (no usable bins, or not as many as its kind has) is emitted or dropped. All of a record's
  are either the one or the other: whichever gives as many objects as were emitted.
- The result must be the emitted list: as many, and one by one of the same type, description (white space at its ends
  aside) and pixels, exactly. Otherwise the record is not reproduced.

Where a record has no size, or `tolerance` is the converter, a prediction fits a raw object of its type and description
within a bin and two pixels. It must fit exactly one, in order, and a raw object that nothing fits must be one that may
have been dropped: nothing is guessed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from harness.scoring.coord_tokens import BOX, POLYGON, Bins, RawObject

Prediction = Mapping[str, Any]
#: Width and height of an image in pixels, None where unknown.
Size = tuple[float | None, float | None]
#: For each prediction of a record, the index of its raw object; None where the record is not reproduced.
Own = list[int] | None
#: Turns bins into pixels of an image of a width and height; None where a bin lies beyond the scale.
ToPixels = Callable[[Bins, float, float], list[float] | None]

#: The tolerance: bins are thousandths, and converters differ by one pixel for the last one and one for rounding.
BINS = 1000
_PIXELS_OFF = 2


class Converter(StrEnum):
    """How bins become pixels; `auto` is the first of those that reproduce most records of a file."""

    AUTO = "auto"
    ROUND_999_LAST = "round_999_last"
    ROUND_999_EDGE = "round_999_edge"
    ROUND_1000_LAST = "round_1000_last"
    ROUND_1000_EDGE = "round_1000_edge"
    FLOOR_999_LAST = "floor_999_last"
    FLOOR_999_EDGE = "floor_999_edge"
    FLOOR_1000_LAST = "floor_1000_last"
    FLOOR_1000_EDGE = "floor_1000_edge"
    PIXELS = "pixels"
    TOLERANCE = "tolerance"


class Drops(StrEnum):
    """What a standardizer leaves out of the objects that it has pixels for; `auto` goes with the converter."""

    AUTO = "auto"
    DEGENERATE = "degenerate"
    NOTHING = "nothing"


class Standardizer(NamedTuple):
    """How raw objects became predictions, or what is to be found out about it."""

    converter: Converter = Converter.AUTO
    drops: Drops = Drops.AUTO

    def candidates(self) -> tuple[Standardizer, ...]:
        """The exact ones that it may turn out to be, the preferred first."""
        converters = tuple(EXACT) if self.converter is Converter.AUTO else (self.converter,)
        drops = (Drops.DEGENERATE, Drops.NOTHING) if self.drops is Drops.AUTO else (self.drops,)
        return tuple(Standardizer(each, drop) for each in converters if each in EXACT for drop in drops)


#: Everything is to be found out.
AUTO = Standardizer()


def _scaled(cut: Callable[[float], int], scale: int, less: int) -> ToPixels:
    fraction = [k / scale for k in range(scale + 1)]

    def to_pixels(bins: Bins, width: float, height: float) -> list[float] | None:
        across, down = width - less, height - less
        try:
            if len(bins) == 4:  # nearly always; written out since there are very many
                x1, y1, x2, y2 = bins
                return [
                    cut(fraction[x1] * across),
                    cut(fraction[y1] * down),
                    cut(fraction[x2] * across),
                    cut(fraction[y2] * down),
                ]
            return [cut(fraction[k] * (down if place % 2 else across)) for place, k in enumerate(bins)]
        except IndexError:
            return None

    return to_pixels


def _clamped(bins: Bins, width: float, height: float) -> list[float] | None:
    return [min(k, (height if place % 2 else width) - 1) for place, k in enumerate(bins)]


#: In the order in which `auto` prefers them. (int is floor, of what is never below 0.)
EXACT: Mapping[Converter, ToPixels] = {
    Converter.ROUND_999_LAST: _scaled(round, 999, 1),
    Converter.ROUND_999_EDGE: _scaled(round, 999, 0),
    Converter.ROUND_1000_LAST: _scaled(round, 1000, 1),
    Converter.ROUND_1000_EDGE: _scaled(round, 1000, 0),
    Converter.FLOOR_999_LAST: _scaled(int, 999, 1),
    Converter.FLOOR_999_EDGE: _scaled(int, 999, 0),
    Converter.FLOOR_1000_LAST: _scaled(int, 1000, 1),
    Converter.FLOOR_1000_EDGE: _scaled(int, 1000, 0),
    Converter.PIXELS: _clamped,
}


def has_pixel_size(size: Size) -> bool:
    """Whether an image's size is known in whole pixels, so that a converter can be exact."""
    width, height = size
    return width is not None and height is not None and width % 1 == 0 == height % 1


def reproduce(pred: Sequence[Prediction], raws: Sequence[RawObject], size: Size, by: Standardizer) -> Own:
    """The raw object of each prediction, where an exact standardizer makes exactly the emitted list."""
    own = _walk(pred, raws, size, by, placeless_emitted=False)
    if own is None and not all(placed for _, _, _, placed in raws):
        return _walk(pred, raws, size, by, placeless_emitted=True)
    return own


def _walk(
    pred: Sequence[Prediction], raws: Sequence[RawObject], size: Size, by: Standardizer, *, placeless_emitted: bool
) -> Own:
    to_pixels, drop, (width, height) = EXACT[by.converter], by.drops is Drops.DEGENERATE, size
    own, emitted = list[int](), iter(pred)
    for at, (kind, desc, bins, placed) in enumerate(raws):
        pixels = None
        if placed:
            pixels = to_pixels(bins, width, height)  # type: ignore[arg-type]
            if pixels is None or (drop and _has_no_area(kind, pixels)):
                continue
        elif not placeless_emitted:
            continue
        item = next(emitted, None)
        if item is None or (placed and pixels != item["points"]):
            return None
        if (desc != item["desc"] or kind != item["type"]) and not _is_named(item, kind, desc):
            return None
        own.append(at)
    return own if len(own) == len(pred) else None


def _has_no_area(kind: str | None, points: Sequence[float]) -> bool:
    """Whether a box or polygon has no width or no height; lines and points have no area to lack."""
    if kind == BOX:
        return points[0] == points[2] or points[1] == points[3]
    return kind in (POLYGON, None) and (_spread(points[::2]) == 0 or _spread(points[1::2]) == 0)


def _spread(values: Sequence[float]) -> float:
    return max(values) - min(values)


def _is_named(item: Prediction, kind: str | None, desc: Any) -> bool:
    """Whether a prediction has a raw object's type, where it names one, and description."""
    if kind != item["type"] and kind is not None:
        return False
    return desc == item["desc"] or (type(desc) is str and desc.strip() == item["desc"].strip())


def fit(pred: Sequence[Prediction], raws: Sequence[RawObject], size: Size, drops: Drops) -> Own:
    """The raw object of each prediction by the tolerance. One without a place fits every prediction of its name."""
    own: list[int] = []
    for item in pred:
        fitting = [
            at
            for at, (kind, desc, bins, placed) in enumerate(raws)
            if _is_named(item, kind, desc) and (not placed or fits(bins or (), item["points"], size))
        ]
        if len(fitting) != 1 or (own and fitting[0] <= own[-1]):
            return None
        own += fitting
    left = set(range(len(raws))).difference(own)
    return own if all(_may_be_dropped(raws[at], size, drops) for at in left) else None


def _may_be_dropped(raw: RawObject, size: Size, drops: Drops) -> bool:
    """Whether a converter may have left a raw object out: no place, bins beyond any scale, or less than a pixel."""
    kind, _, bins, placed = raw
    if bins is None or not placed or max(bins) > BINS:
        return True
    thin = [_spread(bins[side::2]) * (size[side] or BINS) < BINS for side in (0, 1)]
    return drops is not Drops.NOTHING and kind in (BOX, POLYGON, None) and any(thin)


def fits(bins: Bins, points: Sequence[float], size: Size) -> bool:
    """Whether pixel `points` are what `bins` come to in an image of this width and height, where those are known.

    Converters differ in how they round and in whether the last bin is the last pixel or the edge, so a point may be
    off by one bin and two pixels. Where a side is unknown, one length must do for all of its coordinates.
    """
    if len(bins) != len(points):
        return False
    width, height = size
    try:
        return _fits_length(bins[::2], points[::2], width) and _fits_length(bins[1::2], points[1::2], height)
    except OverflowError:  # a whole number beyond all floats
        return False


def _fits_length(bins: Sequence[int], points: Sequence[float], length: float | None) -> bool:
    if length is not None:
        off = length + _PIXELS_OFF * BINS
        return all(abs(point * BINS - min(k, BINS) * length) <= off for k, point in zip(bins, points, strict=True))
    low, high = 0.0, math.inf  # of the lengths that do for the coordinates so far
    for k, point in zip(bins, points, strict=True):
        if not math.isfinite(point):
            return False
        low = max(low, (point - _PIXELS_OFF) * BINS / (min(k, BINS) + 1))
        high = min(high, (point + _PIXELS_OFF) * BINS / (min(k, BINS) - 1)) if k > 1 else high
    return low <= high


class InDoubtError(Exception):
    """The records so far do not tell which standardizer reproduces most of them: all have to be counted."""


class Standardizing:
    """The standardizer of one file, found out record by record, with how many records it reproduces.

    The first candidate to reproduce a record is taken to be the one for the file. That is right as long as no other
    reproduces a record that it does not: then none can reproduce more in all, and those that are preferred to it have
    missed one that it has. Otherwise InDoubtError is raised, and `choose` has to count.

    `may_drop` is for the tolerance: what was asked for, and not what `choose` has found out. Else a record without a
    size would come out otherwise where the records beside it disagree.
    """

    def __init__(self, asked: Standardizer, may_drop: Drops | None = None) -> None:
        self.asked = asked
        self._may_drop = may_drop or asked.drops
        self.records = self.reproduced = 0
        self._candidates = asked.candidates()
        self._used = self._candidates[0] if len(self._candidates) == 1 else None

    @property
    def used(self) -> Standardizer:
        """What it turned out to be; where nothing told, the tolerance, or else the preferred one."""
        if self._used is None and self.asked.converter in EXACT:
            return self._candidates[0]
        return self._used or Standardizer(Converter.TOLERANCE, self.asked.drops)

    def own_objects(self, pred: Sequence[Prediction], raws: Sequence[RawObject], size: Size) -> Own:
        """The raw object of each prediction of the next record."""
        if not pred or not has_pixel_size(size):
            return fit(pred, raws, size, self._may_drop)
        self.records += 1
        own = self._own_objects(pred, raws, size)
        self.reproduced += own is not None
        return own

    def _own_objects(self, pred: Sequence[Prediction], raws: Sequence[RawObject], size: Size) -> Own:
        if not self._candidates:
            return fit(pred, raws, size, self._may_drop)
        if self._used is not None and (own := reproduce(pred, raws, size, self._used)) is not None:
            return own
        for each in self._candidates if len(self._candidates) > 1 else ():
            if (own := reproduce(pred, raws, size, each)) is not None:
                if self._used is not None:
                    raise InDoubtError
                self._used = each
                return own
        return None

    def finish(self) -> None:
        """Say that all records are through. Raises InDoubtError where `auto` has reproduced less than half of them."""
        if self.asked.converter is Converter.AUTO and 2 * self.reproduced < self.records:
            raise InDoubtError


def choose(
    records: Iterable[tuple[Sequence[Prediction], Sequence[RawObject], Size]], asked: Standardizer
) -> Standardizer:
    """The candidate that reproduces most of the records that have a size and predictions, the first of equals; with
    `converter=auto`, the tolerance where that is less than half of them.
    """
    count, reproduced = 0, dict.fromkeys(asked.candidates(), 0)
    for pred, raws, size in records:
        if pred and has_pixel_size(size):
            count += 1
            for each in reproduced:
                reproduced[each] += reproduce(pred, raws, size, each) is not None
    best = max(reproduced, key=reproduced.__getitem__)
    if asked.converter is Converter.AUTO and 2 * reproduced[best] < count:
        return Standardizer(Converter.TOLERANCE, asked.drops)
    return best

"""Coordinate tokens: which tokens of a trace they are, the bins behind a box, and where a box stands in a trace.

- A coordinate token is exactly `<|coord_k|>`, k a whole number of up to four digits without leading zeros.
- A bin is k itself or its token. Bins come from the model's own output and never from pixels, which do not lead back.
- A box stands where its four tokens are consecutive *among the coordinate tokens*: other tokens may lie in between
  (brackets, commas), another coordinate token may not.
- Boxes are placed in their given order, each at its earliest place that shares no token with a box before it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

#: One character stands for each coordinate token. (Keys of one type only: twice as fast to look up as mixed ones.)
_CHARACTER_OF = {f"<|coord_{k}|>": chr(k) for k in range(10_000)}
_BIN_OF: Mapping[str | int, int] = {token: ord(c) for token, c in _CHARACTER_OF.items()} | {k: k for k in range(10_000)}
_SHORTEST = len("<|coord_0|>")
#: Coordinates are thousandths of the image's width or height.
BINS = 1000
#: The geometries that a raw object may carry under their own name.
_GEOMETRIES = ("bbox_2d", "poly", "line", "point")

Bins = tuple[int, ...]
#: Width and height of an image in pixels, None where unknown.
Size = tuple[float | None, float | None]


def raw_geometry(raw: Any) -> tuple[str | None, Bins | None]:
    """The geometry of a raw object, `{"bbox_2d": [...]}` or `{"type": "bbox_2d", "points": [...]}`: its kind and bins.

    The kind is None where the object names none, the bins where they cannot be used.
    """
    if not isinstance(raw, dict):
        return None, None
    for kind in _GEOMETRIES:
        if kind in raw:
            return kind, read_bins(raw[kind])
    named = raw.get("type")
    return named if isinstance(named, str) else None, read_bins(raw.get("points"))


def read_bins(values: Any) -> Bins | None:
    """A flat list of bins or coordinate tokens as bins; None where any of it is something else."""
    if not isinstance(values, list):
        return None
    try:
        if len(values) == 4:  # nearly always; written out since there are very many
            x1, y1, x2, y2 = values
            return _BIN_OF[x1], _BIN_OF[y1], _BIN_OF[x2], _BIN_OF[y2]
        return tuple(_BIN_OF[value] for value in values)
    except (KeyError, TypeError):  # a number or a text that is no bin; a nested list
        return None


def fits(bins: Bins, points: Sequence[float], size: Size) -> bool:
    """Whether pixel `points` are what `bins` come to in an image of this width and height, where those are known.

    Converters differ in how they round and in whether the last bin is the last pixel or the edge, so a point may be
    off by one bin and one pixel. Where a side is unknown, one length must do for all of its coordinates.
    """
    if len(bins) != len(points):
        return False
    width, height = size
    if len(bins) == 4 and width is not None and height is not None:
        # `_fits_length` written out for a box of an image with a size: nearly every call, and a tenth of the time.
        (x1, y1, x2, y2), (left, top, right, bottom) = bins, points
        across, down = width + BINS, height + BINS
        if (
            -across <= left * BINS - x1 * width <= across
            and -across <= right * BINS - x2 * width <= across
            and -down <= top * BINS - y1 * height <= down
            and -down <= bottom * BINS - y2 * height <= down
        ):
            return True
    return _fits_length(bins[::2], points[::2], width) and _fits_length(bins[1::2], points[1::2], height)


def _fits_length(bins: Sequence[int], points: Sequence[float], length: float | None) -> bool:
    if length is not None:
        off = length + BINS
        return all(abs(point * BINS - min(k, BINS) * length) <= off for k, point in zip(bins, points, strict=True))
    low, high = 0.0, math.inf  # of the lengths that do for the coordinates so far
    for k, point in zip(bins, points, strict=True):
        if not math.isfinite(point):
            return False
        low = max(low, (point - 1) * BINS / (min(k, BINS) + 1))
        high = min(high, (point + 1) * BINS / (min(k, BINS) - 1)) if k > 1 else high
    return low <= high


class Spans:
    """The coordinate tokens of one trace, and which of them have been given to a box."""

    def __init__(self, tokens: Sequence[str]) -> None:
        # Most tokens are shorter than any coordinate token; asking that first saves hashing them.
        self._positions = [i for i, token in enumerate(tokens) if len(token) >= _SHORTEST and token in _CHARACTER_OF]
        # A search in this text is a search for consecutive coordinate tokens.
        self._text = "".join([_CHARACTER_OF[tokens[position]] for position in self._positions])
        self._used: set[int] = set()

    def take(self, bins: Bins) -> tuple[list[int], int] | None:
        """Give the earliest free place of four bins to a box: its token indices, and how many other places there are.

        None where the four stand nowhere, or only where an earlier box has a token.
        """
        x1, y1, x2, y2 = bins
        text, four, taken, places = self._text, chr(x1) + chr(y1) + chr(x2) + chr(y2), None, 0
        first = text.find(four)
        while first >= 0:
            places += 1
            if taken is None:
                indices = self._positions[first : first + 4]
                if self._used.isdisjoint(indices):
                    self._used.update(indices)
                    taken = indices
            first = text.find(four, first + 1)
        return None if taken is None else (taken, places - 1)

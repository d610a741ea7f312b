"""Coordinate tokens: which tokens of a trace they are, the bins behind a box, and where a box stands in a trace.

- A coordinate token is exactly `<|coord_k|>`, k a whole number of up to four digits without leading zeros.
- A bin is k itself or its token. Bins come from the model's own output and never from pixels, which do not lead back.
- A box stands where its four tokens are consecutive *among the coordinate tokens*: other tokens may lie in between
  (brackets, commas), another coordinate token may not.
- Boxes are placed in their given order, each at its earliest place that shares no token with a box before it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

_MOST = 9999
#: (Keys of one type only: twice as fast to look up as mixed ones.)
_BIN_OF = {f"<|coord_{k}|>": k for k in range(_MOST + 1)}
_SEPARATOR = "\0"
_COORDINATE = re.compile(r"\0(<\|coord_(?:0|[1-9][0-9]{0,3})\|>)(?=\0)")
#: Coordinates are thousandths of the image's width or height.
BINS = 1000
#: How far a converter may be from another: one for the last pixel, one for rounding.
_PIXELS_OFF = 2
#: What gets a score, and the other geometries that a raw object may carry under their own name.
BOX = "bbox_2d"
_OTHER_GEOMETRIES = ("poly", "line", "point")

Bins = tuple[int, ...]
#: Width and height of an image in pixels, None where unknown.
Size = tuple[float | None, float | None]


def raw_geometry(raw: dict[str, Any]) -> tuple[str | None, Bins | None]:
    """The geometry of a raw object, `{"bbox_2d": [...]}` or `{"type": "bbox_2d", "points": [...]}`: its kind and bins.

    The kind is None where the object names none, the bins where they cannot be used.
    """
    if BOX in raw:
        return BOX, read_bins(raw[BOX])
    for kind in _OTHER_GEOMETRIES:
        if kind in raw:
            return kind, read_bins(raw[kind])
    named = raw.get("type")
    return named if isinstance(named, str) else None, read_bins(raw.get("points"))


def read_bins(values: Any) -> Bins | None:
    """A flat list of bins or coordinate tokens as bins; None where any of it is something else."""
    if type(values) is not list:
        return None
    try:
        if len(values) == 4 and type(values[0]) is str:  # nearly always; written out since there are very many
            x1, y1, x2, y2 = values
            return _BIN_OF[x1], _BIN_OF[y1], _BIN_OF[x2], _BIN_OF[y2]
    except (KeyError, TypeError):
        pass  # not only tokens
    bins = tuple(_read_bin(value) for value in values)
    return None if None in bins else bins  # type: ignore[return-value]


def _read_bin(value: Any) -> int | None:
    if type(value) is int:
        return value if 0 <= value <= _MOST else None
    return _BIN_OF.get(value) if type(value) is str else None


def fits(bins: Bins, points: Sequence[float], size: Size) -> bool:
    """Whether pixel `points` are what `bins` come to in an image of this width and height, where those are known.

    Converters differ in how they round and in whether the last bin is the last pixel or the edge, so a point may be
    off by one bin and two pixels. Where a side is unknown, one length must do for all of its coordinates.
    """
    if len(bins) != len(points):
        return False
    width, height = size
    if len(bins) == 4 and width is not None and height is not None:
        # `_fits_length` written out for a box of an image with a size: nearly every call, and a tenth of the time.
        (x1, y1, x2, y2), (left, top, right, bottom) = bins, points
        across, down = width + _PIXELS_OFF * BINS, height + _PIXELS_OFF * BINS
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
        off = length + _PIXELS_OFF * BINS
        return all(abs(point * BINS - min(k, BINS) * length) <= off for k, point in zip(bins, points, strict=True))
    low, high = 0.0, math.inf  # of the lengths that do for the coordinates so far
    for k, point in zip(bins, points, strict=True):
        if not math.isfinite(point):
            return False
        low = max(low, (point - _PIXELS_OFF) * BINS / (min(k, BINS) + 1))
        high = min(high, (point + _PIXELS_OFF) * BINS / (min(k, BINS) - 1)) if k > 1 else high
    return low <= high


class Coordinates:
    """The coordinate tokens of one trace, in order. Raises TypeError where a token is no string.

    A trace has hundreds of tokens and few of them are coordinates, so these are looked for in one text, at C speed. A
    separator that no token contains makes sure that only whole tokens are found.
    """

    def __init__(self, tokens: list[str]) -> None:
        text = f"\0{_SEPARATOR.join(tokens)}\0"
        if text.count(_SEPARATOR) != len(tokens) + 1:  # no tokens at all, or one with a separator in it
            tokens = [token if token in _BIN_OF else "" for token in tokens]
            text = f"\0{_SEPARATOR.join(tokens)}\0"
        found = _COORDINATE.findall(text)
        index, position = tokens.index, -1
        self._positions = [position := index(token, position + 1) for token in found]
        # One character a coordinate token: a search in this text is a search for consecutive ones.
        self._text = "".join([chr(_BIN_OF[token]) for token in found])

    def place(self, bins: Bins, used: set[int]) -> tuple[list[int], int] | None:
        """The earliest place of four bins none of whose tokens is used: its token indices, which are then used, and
        at how many other places the four stand. None where there is no such place.
        """
        x1, y1, x2, y2 = bins
        text, four = self._text, chr(x1) + chr(y1) + chr(x2) + chr(y2)
        taken, others, first = None, -1, text.find(four)
        while first >= 0:
            others += 1
            if taken is None and used.isdisjoint(indices := self._positions[first : first + 4]):
                used.update(indices)
                taken = indices
            first = text.find(four, first + 1)
        return None if taken is None else (taken, others)

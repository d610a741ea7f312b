"""Checking what comes from outside, once: types for the fields of config and label files, and errors in words."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, ValidationError

from harness.base.texts import one_line

#: A share, a score or a normalised coordinate.
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
#: A length that a picture can be scaled to.
Pixels = Annotated[int, Field(ge=32, le=16384)]
#: A number above zero.
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
#: A number of zero or more; zero often switches something off.
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]

#: How far a predicted box may stick out of its photo, as a share of it; it is cut at the border.
TOLERANCE = 1e-6
#: Up to here it is the rounding of a sum, and the box stays as it is.
_ROUNDING = 1e-12


def cut_at_border(start: float, extent: float, names: str, length: int = 1) -> tuple[float, float]:
    """Start and extent of a predicted box along one side of its photo, as shares of that side, cut at the border.

    `names` are what the two are called, `length` is the side in the unit that they are given in. For example:

        >>> cut_at_border(450, 30, "xw", 480)
        (0.9375, 0.0625)
    """
    first, share = start / length, extent / length
    if first < -TOLERANCE or first + share > 1 + TOLERANCE:
        told = f"{names[0]} {start:g} and {names[1]} {extent:g}"
        raise ValueError(f"{told} stick out of the photo; expected a box from 0 to {length}")
    if first < 0:
        first, share = 0.0, share + first
    if first + share > 1 + _ROUNDING:
        share = 1 - first
    if share <= 0:
        raise ValueError(f"nothing of the box is on the photo; expected a box from 0 to {length}")
    return first, share


def first_error(error: ValidationError, root: str = "") -> str:
    """The first thing that is wrong, below `root`: where, what was expected, what came, and how many more."""
    first = error.errors(include_url=False)[0]
    where = ".".join(filter(None, (root, *map(one_line, map(str, first["loc"]))))) or "the file"
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    if first["type"] == "value_error":
        return f"{where}: {first['ctx']['error']}{more}"
    if first["type"] == "unexpected_keyword_argument":
        return f"{where}: no such key{more}"
    told = first["msg"].partition(" or instance of ")[0]  # of a class of ours
    return f"{where}: {told}, got {first['input']!r:.80}{more}"

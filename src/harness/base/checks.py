"""Checking what comes from outside, once: types for the fields of config and label files, and errors in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, ValidationError

from harness.base.hiding import MASK, hide_text
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
#: What pydantic calls a key that a class does not have.
_NO_SUCH_KEY = ("extra_forbidden", "unexpected_keyword_argument")
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


def first_error(error: ValidationError, root: str = "", secret: bool = False) -> str:
    """The first thing that is wrong, below `root`: where, what was expected, what came, unless that is a `secret`, and
    how many more."""
    first = error.errors(include_url=False)[0]
    where = ".".join(filter(None, (root, *map(one_line, map(str, first["loc"]))))) or "the file"
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    told = in_words(first)
    if first["type"] in (*_NO_SUCH_KEY, "value_error"):
        return f"{where}: {told}{more}"
    given = MASK if secret else hide_text(repr(first["input"]))
    return f"{where}: {told}, got {given:.80}{more}"


def in_words(error: Mapping[str, Any]) -> str:
    """What one error of pydantic says, as `must be a number`, without the place and what came."""
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    if error["type"] in _NO_SUCH_KEY:
        return "no such key"
    # "... or instance of" a class of ours, and "unable to parse string as an integer", say nothing to a reader.
    told = str(error["msg"]).partition(" or instance of ")[0].partition(", unable to parse")[0]
    told = told.replace("Input should", "must").replace("a valid integer", "a whole number")
    return told.replace("a valid array", "an array").replace("a valid ", "a ")

"""Checking what comes from outside, once: types for the fields of config and label files, and errors in words."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, ValidationError

#: A share, a score or a normalised coordinate.
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
#: A length that a picture can be scaled to.
Pixels = Annotated[int, Field(ge=32, le=16384)]
#: A number above zero.
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


def first_error(error: ValidationError, root: str = "") -> str:
    """The first thing that is wrong, below `root`: where, what was expected, what came, and how many more."""
    first = error.errors(include_url=False)[0]
    where = ".".join(filter(None, (root, *map(_printable, first["loc"])))) or "the file"
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    if first["type"] == "value_error":
        return f"{where}: {first['ctx']['error']}{more}"
    if first["type"] == "unexpected_keyword_argument":
        return f"{where}: no such key{more}"
    return f"{where}: {first['msg']}, got {first['input']!r:.80}{more}"


def _printable(key: str | int) -> str:
    """A key as it stands in the file, unless it would break the line."""
    return str(key) if str(key).isprintable() else repr(key)

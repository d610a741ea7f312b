"""Rows as lines for a terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBER = re.compile(r"([-+]?[\d.,]+%?)?")


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines with columns of one width, the first of them the heads; a column of numbers stands to the right."""
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    pads = [str.rjust if all(map(_NUMBER.fullmatch, column[1:])) else str.ljust for column in columns]
    lines = ("  ".join(pad(cell, width) for cell, width, pad in zip(row, widths, pads, strict=True)) for row in rows)
    return [line.rstrip() for line in lines]

"""How files write masks and points, as the drawings that grading compares.

What does not hold is a ValueError that says why; `document.read_each` adds the record.
"""

from __future__ import annotations

import base64
import binascii
import io
from collections.abc import Sequence

import numpy as np

from harness.scoring.boxes import Bools
from harness.scoring.shapes import Drawing, Point, mask

#: No picture has as many pixels; a file that says so would fill the memory.
MOST_PIXELS = 1 << 27


def pairs(numbers: Sequence[float]) -> list[Point]:
    """x, y, x, y, ... as points."""
    if len(numbers) % 2:
        raise ValueError(f"{len(numbers)} numbers; expected x and y of each point")
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def whole(value: float) -> int:
    """A number of pixels."""
    if not value.is_integer():
        raise ValueError(f"{value:g} pixels; expected a whole number")
    return int(value)


def bitmap_of_runs(counts: Sequence[int], size: tuple[int, int], *, by_column: bool) -> Bools:
    """The bitmap of width x height whose pixels are told in runs: so many that are off, so many that are on, ...

    CVAT goes row by row, COCO column by column. Some writers leave out the last run where it is of pixels that are off.

    >>> bitmap_of_runs([1, 2, 1], (2, 2), by_column=False).tolist()
    [[False, True], [True, False]]
    >>> bitmap_of_runs([1, 2], (2, 2), by_column=False).tolist()
    [[False, True], [True, False]]
    """
    width, height = size
    if min(width, height) < 1 or width * height > MOST_PIXELS:
        raise ValueError(f"a mask of {width} x {height}; expected a size above 0 and at most {MOST_PIXELS:,} pixels")
    left_out = width * height - sum(counts)
    ends_on = len(counts) > 0 and len(counts) % 2 == 0
    if min(counts, default=0) < 0 or left_out < 0 or (left_out and not ends_on):
        raise ValueError(f"runs of {sum(counts)} pixels in a mask of {width} x {height}; expected {width * height}")
    pixels = np.repeat(np.arange(len(counts) + 1) % 2 == 1, [*counts, left_out])
    return pixels.reshape(width, height).T if by_column else pixels.reshape(height, width)


def runs_of_text(counts: str) -> list[int]:
    """The runs that COCO packs into text: six bits a character, and from the third on the difference to the one before
    the last.
    """
    runs: list[int] = []
    value, shift = 0, 0
    for character in counts:
        bits = ord(character) - 48
        if not 0 <= bits < 64:
            raise ValueError(f"counts: {character!r} is no character of a packed mask")
        value |= (bits & 31) << shift
        shift += 5
        if bits & 32:
            continue
        value -= (bits & 16) << (shift - 4)  # the highest bit is the sign
        runs.append(value + runs[-2] if len(runs) > 2 else value)
        value, shift = 0, 0
    if shift:
        raise ValueError("counts: the packed mask ends in the middle of a number")
    return runs


def mask_of_png(text: str, left: int, top: int) -> Drawing:
    """The pixels that are not 0 in a PNG that is given as base64, whose upper left pixel is at `left` and `top`."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(base64.b64decode(text, validate=True)), formats=["PNG"]) as opened:
            bitmap = np.asarray(opened.convert("L")) > 0
    except (OSError, SyntaxError, binascii.Error, Image.DecompressionBombError) as error:
        raise ValueError("mask: expected a PNG in base64") from error
    return mask(bitmap, left, top)

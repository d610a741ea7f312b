"""Where text may be in a photo: the parts that are looked at, and pieces of text as shapes in them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from harness.pipeline.looks import Image
from harness.types import Box

#: Four corners, clockwise from the top left, in normalised coordinates.
Corners = list[list[float]]

WHOLE = Box(x=0.0, y=0.0, w=1.0, h=1.0)
#: A tile reaches this share of its size over its neighbours, so that a number on the seam is whole in one of them.
_TILE_OVERLAP = 0.2
#: The text detector works in blocks of so many pixels.
BLOCK = 32
#: Pieces of one number: how much lower one of them may be, how far apart and how far off the line, in heights of the
#: higher.
_AS_HIGH, _APART, _ASIDE = 0.7, 0.6, 0.25
_LONGEST_PREFIX = 2
#: How much more room a text needs at the edge of a part that was cut out: the cut may run between two characters.
_EDGE = 6.0
_ROUNDING = 1e-9


def tiles(scene: Box, count: int) -> Iterator[Box]:
    """A part of the photo as `count` by `count` overlapping parts."""
    if count == 1:
        yield scene
        return
    size = 1 / (count - (count - 1) * _TILE_OVERLAP)
    width, height, step = scene.w * size, scene.h * size, 1 - _TILE_OVERLAP
    for row in range(count):
        for column in range(count):
            yield Box(x=scene.x + column * width * step, y=scene.y + row * height * step, w=width, h=height)


def in_blocks(part: Box, size: tuple[float, float]) -> Box:
    """A part of a picture of that size, made larger until it consists of whole blocks or ends where the picture does.

    It moves by whole blocks as well, so that a face that was found a little to the side asks for the same part again.
    """
    width, height = size
    left, top = (math.floor(edge / BLOCK) * BLOCK for edge in (part.x * width, part.y * height))
    right = min(math.ceil((part.x + part.w) * width / BLOCK) * BLOCK, width)
    bottom = min(math.ceil((part.y + part.h) * height / BLOCK) * BLOCK, height)
    return Box(x=left / width, y=top / height, w=(right - left) / width, h=(bottom - top) / height)


def crop(image: Image, part: Box) -> tuple[Image, int, int]:
    """The pixels of a part, and where its left and top edges are."""
    height, width = image.shape[:2]
    left, top = int(part.x * width), int(part.y * height)
    right, bottom = min(width, round((part.x + part.w) * width)), min(height, round((part.y + part.h) * height))
    return image[top : max(bottom, top + 1), left : max(right, left + 1)], left, top


def bounds(corners: Corners) -> Box:
    """The upright bounds of a piece of text."""
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    left, top = max(min(xs), 0.0), max(min(ys), 0.0)
    return Box(x=left, y=top, w=max(min(max(xs), 1.0) - left, 0.0), h=max(min(max(ys), 1.0) - top, 0.0))


def turned(corners: Corners, size: tuple[int, int]) -> Box:
    """A piece of text as if it were turned upright in its place: the bounds of a tilted line are higher than its
    letters."""
    points = np.array(corners) * size
    sides = [float(np.linalg.norm(points[start] - points[end])) for start, end in ((0, 1), (3, 2), (0, 3), (1, 2))]
    width, height = (sides[0] + sides[1]) / 2 / size[0], (sides[2] + sides[3]) / 2 / size[1]
    x, y = (points.mean(axis=0) / size).tolist()
    return Box(x=x - width / 2, y=y - height / 2, w=width, h=height)


def widen(corners: Corners, margin: float, size: tuple[int, int]) -> Corners:
    """A piece of text made longer at both ends, along its line, by a share of its height."""
    if not margin:
        return corners
    points = np.array(corners) * size
    along = points[1] - points[0] + points[2] - points[3]
    height = (np.linalg.norm(points[3] - points[0]) + np.linalg.norm(points[2] - points[1])) / 2
    step = along / max(float(np.linalg.norm(along)), 1e-9) * height * margin
    wider = (points + np.array([-step, step, step, -step])) / size
    return [[round(x, 6), round(y, 6)] for x, y in wider.tolist()]


def cut_by(box: Box, part: Box, room: float, aspect: float) -> str:
    """What may have cut off some of a text, because it comes so near to it: nothing, the `edge` of the part that was
    looked at, or the frame of the photo itself at the `left` or the `right`.

    `room` is what it needs at the frame, as a share of the photo's height. A number at the top or at the bottom edge of
    the photo itself can be whole.
    """
    gap = room - _ROUNDING
    left, right = (box.x - part.x) * aspect, (part.x + part.w - box.x - box.w) * aspect
    above, below = box.y - part.y, part.y + part.h - box.y - box.h
    within = (part.x > 0, part.x + part.w < 1, part.y > 0, part.y + part.h < 1)
    if any(inside and room < _EDGE * gap for inside, room in zip(within, (left, right, above, below), strict=True)):
        return "edge"
    return "left" if left < gap else "right" if right < gap else ""


def join(pieces: Sequence[tuple[Corners, str]], size: tuple[int, int]) -> Iterator[Corners]:
    """Pieces of text that stand beside each other in one line, such as a letter and the digits after it, as one piece.

    They consist of letters and digits, the right one of digits alone, and are about as high as each other.
    """
    for left, prefix in pieces:
        for right, digits in pieces:
            if (
                0 < len(prefix) <= _LONGEST_PREFIX
                and prefix.isalnum()
                and digits.isdecimal()
                and _beside(left, right, size)
            ):
                yield [left[0], right[1], right[2], left[3]]


def _beside(left: Corners, right: Corners, size: tuple[int, int]) -> bool:
    a, b = np.array(left) * size, np.array(right) * size
    heights = [float(np.linalg.norm(q[3] - q[0]) + np.linalg.norm(q[2] - q[1])) / 2 for q in (a, b)]
    along = b[1] - b[0] + b[2] - b[3]
    along = along / max(float(np.linalg.norm(along)), 1e-9)
    high = max(heights)
    gap = float(((b[0] + b[3]) / 2 - (a[1] + a[2]) / 2) @ along)
    middle = (b[0] + b[3]) / 2 - (a[1] + a[2]) / 2
    aside = abs(float(middle @ np.array([-along[1], along[0]])))
    return min(heights) >= _AS_HIGH * high and -0.5 * high < gap < _APART * high and aside < _ASIDE * high

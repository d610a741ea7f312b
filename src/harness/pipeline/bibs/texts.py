"""Where text may be in a photo: the parts that are looked at, and pieces of text as shapes in them."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from harness.pipeline.looks import Image
from harness.types import Box

#: Four corners, clockwise from the top left, in normalised coordinates.
Corners = list[list[float]]

WHOLE = Box(x=0.0, y=0.0, w=1.0, h=1.0)
#: A tile reaches this share of its size over its neighbours, so that a number on the seam is whole in one of them.
_TILE_OVERLAP = 0.2
#: The text detector works in blocks of so many pixels, and stretches a picture that does not consist of whole ones.
_BLOCK = 32


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
    left, top = (math.floor(edge / _BLOCK) * _BLOCK for edge in (part.x * width, part.y * height))
    right = min(math.ceil((part.x + part.w) * width / _BLOCK) * _BLOCK, width)
    bottom = min(math.ceil((part.y + part.h) * height / _BLOCK) * _BLOCK, height)
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


def is_cut(box: Box, part: Box, clearance: float, aspect: float) -> bool:
    """Whether text comes so near to the edge of the part it was found in that some of it may be missing.

    `clearance` is in heights of the text. A number at the top or at the bottom edge of the photo itself can be whole.
    """
    gap = clearance * box.h
    beside = min(box.x - part.x, part.x + part.w - box.x - box.w) * aspect
    above = box.y - part.y if part.y > 0 else gap
    below = part.y + part.h - box.y - box.h if part.y + part.h < 1 else gap
    return min(beside, above, below) < gap

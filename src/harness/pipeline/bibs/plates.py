"""The character on a plate that was taken for one: a bib with a single digit looks like a character itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.pipeline.bibs.texts import Corners
from harness.pipeline.looks import Image

#: Pieces of text that are at most so many times as wide as high may be a plate with a character on it.
WIDEST = 1.6
#: A character on a plate is at least and at most so high, as a share of the piece; a higher one fills it by itself.
_LOWEST, _HIGHEST = 0.25, 0.6
#: Its middle is at most so far from that of the piece, as a share of the piece's width.
_ASIDE = 0.2
#: A shape that fills so much of its outline is paper, and no character.
_SOLID = 0.7
#: Other shapes beside a character that are as high as this share of it are characters, too, or what is left of them.
_BESIDE = 0.25
#: Room around the character, in heights of it, as the text detector leaves it.
_ROOM = 0.15

#: Left, top, right and bottom edges as shares of a piece of text.
Edges = tuple[float, float, float, float]


@dataclass(frozen=True)
class _Shape:
    """A connected shape of a picture, all of which is seen, by its edges in pixels."""

    left: int
    top: int
    right: int
    bottom: int
    solid: bool

    @property
    def height(self) -> int:
        return self.bottom - self.top

    def contains(self, other: _Shape) -> bool:
        """Whether another one lies in this one, as the hole does in a 0."""
        across = self.left <= other.left and other.right <= self.right
        return across and self.top <= other.top and other.bottom <= self.bottom

    def beside(self, other: _Shape) -> bool:
        """Whether another one stands in the same line and may be a character of it."""
        shared = min(self.bottom, other.bottom) - max(self.top, other.top)
        return not self.contains(other) and 2 * shared > other.height > _BESIDE * self.height


def ink_on(piece: Image) -> Edges | None:
    """Where on a straightened piece of text its only digit is, in the middle and with paper around it; None where there
    are others beside it (or joined with it: a digit is no wider than high), or where it fills the piece, as it should.
    Ink may be darker or lighter than its paper."""
    import cv2

    grey = np.asarray(cv2.cvtColor(piece, cv2.COLOR_BGR2GRAY))
    height, width = grey.shape
    middle = grey[height // 4 : height - height // 4, width // 4 : width - width // 4]
    level, _ = cv2.threshold(middle, 0, 255, cv2.THRESH_OTSU)
    shapes = [shape for mask in (grey <= level, grey > level) for shape in _shapes(mask)]
    higher = [shape for shape in shapes if shape.height > _HIGHEST * height]
    inked = [shape for shape in shapes if shape.height <= _HIGHEST * height]
    found = max(inked, key=lambda shape: shape.height, default=None)
    if found is None or found.height < _LOWEST * height or not all(shape.solid for shape in higher):
        return None
    aside = abs((found.left + found.right) / 2 / width - 0.5)
    several = found.right - found.left > found.height or any(found.beside(shape) for shape in inked)
    if several or aside > _ASIDE:
        return None
    room = _ROOM * found.height
    left, right = (found.left - room) / width, (found.right + room) / width
    return left, (found.top - room) / height, right, (found.bottom + room) / height


def _shapes(mask: NDArray[np.bool_]) -> list[_Shape]:
    """The connected shapes of a mask that do not touch its border."""
    import cv2

    height, width = mask.shape
    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=4)
    found = []
    for label, (x, y, w, h, area) in enumerate(stats.tolist()):
        if label and x > 0 and y > 0 and x + w < width and y + h < height:
            outline = cv2.minAreaRect(np.argwhere(labels == label).astype(np.float32))[1]
            found.append(_Shape(x, y, x + w, y + h, area > _SOLID * max(outline[0] * outline[1], 1.0)))
    return found


def within(corners: Corners, edges: Edges) -> Corners:
    """The part of a piece of text between these edges."""
    points = np.array(corners)
    left, top, right, bottom = edges

    def at(x: float, y: float) -> list[float]:
        upper, lower = points[0] + x * (points[1] - points[0]), points[3] + x * (points[2] - points[3])
        return [round(float(value), 6) for value in upper + y * (lower - upper)]

    return [at(left, top), at(right, top), at(right, bottom), at(left, bottom)]

"""Small operations on images that several backends need."""

from __future__ import annotations

from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from harness.pipeline.looks import Image


class UnitBox(TypedDict):
    """The coordinates of a box, ready to be passed on by keyword."""

    x: float
    y: float
    w: float
    h: float


def scale_to(image: Image, long_side: int) -> tuple[Image, float]:
    """The image scaled, up or down, to the given long side, and the factor that maps its pixels to the result's."""
    import cv2

    height, width = image.shape[:2]
    factor = long_side / max(height, width)
    if factor == 1:
        return image, 1.0
    size = (max(1, round(width * factor)), max(1, round(height * factor)))
    method = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(image, size, interpolation=method), dtype=np.uint8), factor


def framed(image: Image, room: int) -> Image:
    """The image with its edges repeated outwards by so many pixels."""
    import cv2

    if not room:
        return image
    return np.asarray(cv2.copyMakeBorder(image, room, room, room, room, cv2.BORDER_REPLICATE), dtype=np.uint8)


def straighten(image: Image, corners: NDArray[np.float64], min_height: int) -> Image:
    """The quadrilateral with these corners (clockwise from the top left, in pixels) as an upright picture.

    It is at least `min_height` pixels high.
    """
    import cv2

    top, right, bottom, left = (float(np.linalg.norm(corners[i] - corners[(i + 1) % 4])) for i in range(4))
    width, height = max(top, bottom), max(left, right)
    factor = max(1.0, min_height / max(height, 1.0))
    size = (max(1, round(width * factor)), max(1, round(height * factor)))
    target = np.array([[0, 0], [size[0], 0], size, [0, size[1]]], dtype=np.float32)
    transform = cv2.getPerspectiveTransform(corners.astype(np.float32), target)
    flat = cv2.warpPerspective(image, transform, size, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(flat, dtype=np.uint8)


def to_unit(left: float, top: float, right: float, bottom: float, image: Image) -> UnitBox:
    """Pixel edges, cut at the border of the image, as the normalised x, y, w, h of a box."""
    height, width = image.shape[:2]
    x0, x1 = (min(max(value / width, 0.0), 1.0) for value in (left, right))
    y0, y1 = (min(max(value / height, 0.0), 1.0) for value in (top, bottom))
    return {"x": x0, "y": y0, "w": x1 - x0, "h": y1 - y0}

"""The few picture operations that the sample's modules share, with the types that OpenCV's stubs lose."""

from __future__ import annotations

from typing import Any, TypeVar, cast

import cv2
import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.float32]
Canvas = NDArray[np.float32]
Colour = tuple[int, int, int]

A = TypeVar("A", bound=NDArray[Any])


def blur(image: A, sigma: float) -> A:
    """Gaussian blur of a picture or mask."""
    return cast(A, cv2.GaussianBlur(image, (0, 0), sigma))


def resize(image: A, width: int, height: int) -> A:
    """Resize by area where it shrinks, so that nothing aliases, and smoothly where it grows."""
    shrinks = width < image.shape[1]
    size = max(1, width), max(1, height)
    return cast(A, cv2.resize(image, size, interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR))


def morph(mask: NDArray[np.uint8], operation: int, size: int) -> NDArray[np.uint8]:
    """Open or close a mask with a square."""
    return np.asarray(cv2.morphologyEx(mask, operation, np.ones((size, size), np.uint8)), np.uint8)


def blurred_layer(image: Canvas, alpha: Mask, sigma: float) -> tuple[Canvas, Mask]:
    """Blur a layer with its alpha, so that what lies outside the alpha does not bleed in."""
    soft = blur(alpha, sigma)
    colour = blur(np.asarray(image * alpha[..., None], np.float32), sigma)
    return np.asarray(colour / np.maximum(soft, 1e-3)[..., None], np.float32), soft

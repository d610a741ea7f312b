"""Faces turned upright and scaled, as the models that compare them expect."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness.pipeline.looks import Image
from harness.types import FaceBox

#: Where the eyes, the tip of the nose and the corners of the mouth are in a picture of 112 x 112 pixels (ArcFace's
#: arrangement, which SFace shares). Left and right are those of the picture.
TEMPLATE = np.array(
    [[38.2946, 51.6963], [73.5318, 51.5014], [56.0252, 71.7366], [41.5493, 92.3655], [70.7299, 92.2041]]
)
TEMPLATE_SIDE = 112
#: Where the landmarks of an upright face are in its box, as shares: for detectors that give none.
_IN_BOX = np.array([[0.30, 0.40], [0.70, 0.40], [0.50, 0.58], [0.34, 0.76], [0.66, 0.76]])


def align(image: Image, face: FaceBox, side: int) -> Image:
    """The face as an upright picture of `side` x `side` pixels: its landmarks are moved onto the template's by turning,
    scaling and shifting."""
    import cv2

    height, width = image.shape[:2]
    points = landmarks_of(face) * (width, height)
    transform = similarity(points, TEMPLATE * (side / TEMPLATE_SIDE))
    scale = float(np.hypot(transform[0, 0], transform[1, 0]))
    # A face that is much larger than the result is shrunk first: to pick single pixels of it would be noise.
    if scale < 0.5:
        image, transform = _shrunk(image, points, transform, scale)
    return np.asarray(cv2.warpAffine(image, transform, (side, side), flags=cv2.INTER_CUBIC), dtype=np.uint8)


def landmarks_of(face: FaceBox) -> NDArray[np.float64]:
    """The five landmarks of a face in shares of the photo: the detector's, or where it gives none, those that an
    upright face would have in its box."""
    if face.landmarks:
        return np.array(face.landmarks, dtype=np.float64)
    return _IN_BOX * (face.w, face.h) + (face.x, face.y)


def similarity(points: NDArray[np.float64], target: NDArray[np.float64]) -> NDArray[np.float64]:
    """The 2 x 3 transform (turn, scale, shift) that brings points nearest to a target, in least squares (Umeyama 1991)
    without mirroring. Points that all lie in one place are only shifted."""
    mean, aim = points.mean(axis=0), target.mean(axis=0)
    a, b = points - mean, target - aim
    spread = float(np.sum(a * a))
    cosine, sine = (float(np.sum(a * b)), float(np.sum(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])))
    turn = np.array([[cosine, -sine], [sine, cosine]]) / spread if spread > 0 else np.eye(2)
    return np.column_stack([turn, aim - turn @ mean])


def _shrunk(
    image: Image, points: NDArray[np.float64], transform: NDArray[np.float64], scale: float
) -> tuple[Image, NDArray[np.float64]]:
    """The part of the image around a face, averaged down to about its final size, and the transform that is left."""
    import cv2

    centre, reach = points.mean(axis=0), TEMPLATE_SIDE / scale
    left, top = np.maximum(np.floor(centre - reach), 0).astype(int)
    right, bottom = np.ceil(centre + reach).astype(int)
    part = image[top:bottom, left:right]
    size = (max(1, round(part.shape[1] * scale)), max(1, round(part.shape[0] * scale)))
    small = np.asarray(cv2.resize(part, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    # A pixel's centre is at half: (x + 0.5) * fx - 0.5 is where it comes to lie.
    fx, fy = size[0] / part.shape[1], size[1] / part.shape[0]
    back = np.array([[1 / fx, 0, left + 0.5 / fx - 0.5], [0, 1 / fy, top + 0.5 / fy - 0.5], [0, 0, 1]])
    return small, transform @ back

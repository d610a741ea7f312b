"""Faces by YuNet, through OpenCV.

The landmarks of a face that is small in the picture that is looked at are off, and so are those in a small picture that
is enlarged to `long_side`, which is blurred. Whoever needs good ones, to turn a face upright, asks for them once more:
they are looked for in closer looks at the face, scaled to each of `landmark_heights`, and the mean is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from harness.base.checks import Pixels, Share
from harness.base.extras import need
from harness.pipeline.faces.seen import FLOOR, SeenFaces, seen_faces, to_faces
from harness.pipeline.images import scale_to
from harness.pipeline.looks import Image, Look
from harness.pipeline.weights import Weights
from harness.types import FaceBox

_TOP_K = 5000
#: Landmarks are looked for once more in a picture that was enlarged by more than this, and of a face that is lower than
#: so many pixels in the picture that was looked at.
_ENLARGED, _LOW = 2, 40
#: A closer look goes so far from the middle of a face, in its larger side. A lesser find will do there, whose middle is
#: off by no more than this share of the face's height.
_REACH, _LEAST_SURE, _SAME_PLACE = 1.5, 0.2, 0.4


@dataclass(frozen=True)
class YuNet:
    """OpenCV's face detector on the photo scaled to `long_side`."""

    CHEAP: ClassVar = frozenset({"threshold", "landmark_heights"})

    long_side: Pixels
    threshold: Share
    nms_iou: Share
    landmark_heights: tuple[Pixels, ...]
    weights: Weights

    @property
    def models(self) -> tuple[Weights, ...]:
        """The weights in use."""
        return (self.weights,)

    def find_models(self) -> None:
        """Find the model."""
        need("face=yunet", "cv2")
        self.weights.locate()

    def load(self) -> None:
        """Open the model."""
        _detector(self.weights)

    def detect(self, look: Look) -> tuple[FaceBox, ...]:
        """Faces with a score of at least `threshold`, in YuNet's order."""
        return to_faces(look.see("face", self, None, self._see), self.threshold)

    def landmarks(self, look: Look, faces: Sequence[FaceBox]) -> tuple[FaceBox, ...]:
        """The same faces with the landmarks of closer looks; a face that is not seen there keeps those that it has."""
        if not self.landmark_heights:
            return tuple(faces)
        scale = self.long_side / max(look.size)
        low = np.inf if scale > _ENLARGED else _LOW / (scale * look.size[1])
        return tuple(self._closer(look, face) if face.h < low else face for face in faces)

    def _closer(self, look: Look, face: FaceBox) -> FaceBox:
        asked = [face.xywh, self.landmark_heights]
        points = look.see("landmarks", self, asked, lambda image: self._see_landmarks(image, face))
        return replace(face, landmarks=tuple((x, y) for x, y in points)) if points else face

    def _see(self, image: Image) -> SeenFaces:
        rows = self._detect(image, self.long_side, FLOOR)
        boxes, points = rows[:, :4], rows[:, 4:14].reshape(-1, 5, 2)
        boxes[:, 2:] += boxes[:, :2]
        return seen_faces(boxes, points, rows[:, 14], image)

    def _see_landmarks(self, image: Image, face: FaceBox) -> list[list[float]]:
        """The mean of the landmarks in all closer looks, in shares of the photo; none where no look sees the face."""
        size = np.array([image.shape[1], image.shape[0]])
        middle, extent = (np.array([face.x, face.y]) + np.array([face.w, face.h]) / 2) * size, face.h * size[1]
        reach = max(face.w * size[0], extent) * _REACH
        start, end = np.maximum(middle - reach, 0).astype(int), np.minimum(middle + reach, size).astype(int)
        part = image[start[1] : end[1], start[0] : end[0]]
        if not part.size:
            return []
        seen = []
        for height in self.landmark_heights:
            rows = self._detect(part, max(1, round(max(part.shape[:2]) * height / extent)), _LEAST_SURE)
            away = np.abs(rows[:, :2] + rows[:, 2:4] / 2 + start - middle)
            here = rows[(away < _SAME_PLACE * extent).all(axis=1)]
            if len(here):
                seen.append(here[np.argmax(here[:, 14]), 4:14].reshape(5, 2))
        found: list[list[float]] = ((np.mean(seen, axis=0) + start) / size).tolist() if seen else []
        return found

    def _detect(self, image: Image, long_side: int, least: float) -> NDArray[np.float64]:
        """Rows of box (left, top, width, height), landmarks and score, in pixels of the image."""
        scaled, factor = scale_to(image, long_side)
        detector = _detector(self.weights)
        detector.setScoreThreshold(least)
        detector.setNMSThreshold(self.nms_iou)
        detector.setInputSize((scaled.shape[1], scaled.shape[0]))
        _, found = detector.detect(scaled)
        rows = np.empty((0, 15)) if found is None else found.astype(np.float64)
        rows[:, :14] /= factor
        return rows


@lru_cache(maxsize=1)
def _detector(weights: Weights) -> Any:
    need("face=yunet", "cv2")
    import cv2

    # OpenCV 5 warns that its new graph engine knows no targets, whichever target is asked for.
    before = cv2.utils.logging.getLogLevel()
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_ERROR)
    try:
        return cv2.FaceDetectorYN.create(str(weights.locate()), "", (320, 320), top_k=_TOP_K)
    finally:
        cv2.utils.logging.setLogLevel(before)

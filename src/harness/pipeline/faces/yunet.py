"""Faces by YuNet, through OpenCV."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from harness.checks import Pixels, Share
from harness.pipeline.images import scale_to, to_unit
from harness.pipeline.stages import Image
from harness.pipeline.weights import Weights
from harness.types import FaceBox

_TOP_K = 5000


@dataclass(frozen=True)
class YuNet:
    """OpenCV's face detector on the photo scaled to `long_side`."""

    long_side: Pixels
    threshold: Share
    nms_iou: Share
    weights: Weights

    @property
    def models(self) -> tuple[Weights, ...]:
        """The weights in use."""
        return (self.weights,)

    def load(self) -> None:
        """Open the model."""
        _detector(self.weights)

    def detect(self, image: Image) -> tuple[FaceBox, ...]:
        """Faces with a score of at least `threshold`, in YuNet's order."""
        scaled, factor = scale_to(image, self.long_side)
        detector = _detector(self.weights)
        detector.setScoreThreshold(self.threshold)
        detector.setNMSThreshold(self.nms_iou)
        detector.setInputSize((scaled.shape[1], scaled.shape[0]))
        _, found = detector.detect(scaled)
        return tuple(_face(row / factor, float(row[14]), image) for row in (() if found is None else found))


def _face(row: Any, score: float, image: Image) -> FaceBox:
    x, y, w, h = row[:4].tolist()
    height, width = image.shape[:2]
    landmarks = tuple((px / width, py / height) for px, py in row[4:14].reshape(5, 2).tolist())
    return FaceBox(**to_unit(x, y, x + w, y + h, image), score=score, landmarks=landmarks)


@lru_cache(maxsize=1)
def _detector(weights: Weights) -> Any:
    import cv2

    # OpenCV 5 warns that its new graph engine knows no targets, whichever target is asked for.
    before = cv2.utils.logging.getLogLevel()
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_ERROR)
    try:
        return cv2.FaceDetectorYN.create(str(weights.locate()), "", (320, 320), top_k=_TOP_K)
    finally:
        cv2.utils.logging.setLogLevel(before)

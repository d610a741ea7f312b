"""Faces by YuNet, through OpenCV."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from harness.base.checks import Pixels, Share
from harness.base.extras import need
from harness.pipeline.faces.seen import FLOOR, SeenFaces, seen_faces, to_faces
from harness.pipeline.images import scale_to
from harness.pipeline.looks import Image, Look
from harness.pipeline.weights import Weights
from harness.types import FaceBox

_TOP_K = 5000


@dataclass(frozen=True)
class YuNet:
    """OpenCV's face detector on the photo scaled to `long_side`."""

    CHEAP: ClassVar = frozenset({"threshold"})

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

    def detect(self, look: Look) -> tuple[FaceBox, ...]:
        """Faces with a score of at least `threshold`, in YuNet's order."""
        return to_faces(look.see("face", self, None, self._see), self.threshold)

    def _see(self, image: Image) -> SeenFaces:
        scaled, factor = scale_to(image, self.long_side)
        detector = _detector(self.weights)
        detector.setScoreThreshold(FLOOR)
        detector.setNMSThreshold(self.nms_iou)
        detector.setInputSize((scaled.shape[1], scaled.shape[0]))
        _, found = detector.detect(scaled)
        rows = np.empty((0, 15)) if found is None else found
        boxes, points = rows[:, :4] / factor, rows[:, 4:14].reshape(-1, 5, 2) / factor
        boxes[:, 2:] += boxes[:, :2]
        return seen_faces(boxes, points, rows[:, 14], image)


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

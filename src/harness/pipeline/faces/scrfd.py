"""Faces by SCRFD, through insightface's model zoo. The default weights are licensed for research only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from harness.checks import Pixels, Share
from harness.errors import WeightsError
from harness.pipeline.images import scale_to, to_unit
from harness.pipeline.stages import Image
from harness.pipeline.weights import Weights
from harness.types import FaceBox

_STRIDE = 32


@dataclass(frozen=True)
class Scrfd:
    """insightface's SCRFD on the photo scaled to `long_side`."""

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
        """Faces with a score of at least `threshold`, best first."""
        scaled, factor = scale_to(image, self.long_side)
        detector = _detector(self.weights)
        detector.det_thresh, detector.nms_thresh = self.threshold, self.nms_iou
        height, width = (math.ceil(side / _STRIDE) * _STRIDE for side in scaled.shape[:2])
        boxes, landmarks = detector.detect(scaled, input_size=(width, height))
        return tuple(_face(box, points, factor, image) for box, points in zip(boxes, landmarks, strict=True))


def _face(box: Any, points: Any, factor: float, image: Image) -> FaceBox:
    height, width = image.shape[:2]
    left, top, right, bottom = (box[:4] / factor).tolist()
    landmarks = tuple((x / width, y / height) for x, y in (points / factor).tolist())
    return FaceBox(**to_unit(left, top, right, bottom, image), score=float(box[4]), landmarks=landmarks)


@lru_cache(maxsize=1)
def _detector(weights: Weights) -> Any:
    try:
        from insightface import model_zoo
    except ImportError as error:
        raise WeightsError(
            f"face=scrfd needs the package insightface ({error}); install it with: pip install 'harness[insightface]'"
        ) from error
    detector = model_zoo.get_model(str(weights.locate()), providers=["CPUExecutionProvider"])
    detector.prepare(ctx_id=-1)
    return detector

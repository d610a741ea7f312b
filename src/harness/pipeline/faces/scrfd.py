"""Faces by SCRFD, through insightface's model zoo. The default weights are licensed for research only.

With `pack`, the detector of a model pack of insightface that the user has installed, such as buffalo_l, takes the place
of `weights`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar

from harness.base.checks import Pixels, Share
from harness.base.extras import need
from harness.pipeline.faces.seen import FLOOR, SeenFaces, seen_faces, to_faces
from harness.pipeline.images import scale_to
from harness.pipeline.looks import Image, Look
from harness.pipeline.packs import model_of_pack, open_model
from harness.pipeline.weights import Model, Weights
from harness.types import FaceBox

_STRIDE = 32


@dataclass(frozen=True)
class Scrfd:
    """insightface's SCRFD on the photo scaled to `long_side`."""

    CHEAP: ClassVar = frozenset({"threshold"})

    long_side: Pixels
    threshold: Share
    nms_iou: Share
    pack: str | None
    root: str | None
    weights: Weights

    @cached_property
    def models(self) -> tuple[Model, ...]:
        """The weights in use."""
        return (model_of_pack("face", "detection", self.pack, self.root) if self.pack else self.weights,)

    def find_models(self) -> None:
        """Find the model."""
        need("face=scrfd", "insightface")
        for model in self.models:
            model.locate()

    def load(self) -> None:
        """Open the model."""
        _detector(*self.models)

    def detect(self, look: Look) -> tuple[FaceBox, ...]:
        """Faces with a score of at least `threshold`, best first."""
        return to_faces(look.see("face", self, None, self._see), self.threshold)

    def _see(self, image: Image) -> SeenFaces:
        scaled, factor = scale_to(image, self.long_side)
        detector = _detector(*self.models)
        detector.det_thresh, detector.nms_thresh = FLOOR, self.nms_iou
        height, width = (math.ceil(side / _STRIDE) * _STRIDE for side in scaled.shape[:2])
        boxes, landmarks = detector.detect(scaled, input_size=(width, height))
        return seen_faces(boxes[:, :4] / factor, landmarks / factor, boxes[:, 4], image)


@lru_cache(maxsize=1)
def _detector(weights: Model) -> Any:
    detector = open_model("face=scrfd", weights.locate())
    detector.prepare(ctx_id=-1)
    return detector

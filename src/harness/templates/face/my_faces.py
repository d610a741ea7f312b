"""Faces by the colour of skin: a start to build on, which runs without a model and finds little in real photos.

The work is split in two. `_see` looks at the pixels; what it returns is kept by content, so that a sweep over a
threshold does not look again. `detect` makes faces of that, and is done anew each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import cv2
import numpy as np

from harness.pipeline.images import scale_to, to_unit
from harness.pipeline.looks import Image, Look
from harness.pipeline.stages import Pixels, Share
from harness.types import FaceBox

#: Skin of many shades has about the same hue; only its brightness differs. In OpenCV's YCrCb.
_DARKEST, _BRIGHTEST = (40, 135, 85), (255, 180, 135)
#: How much of its box an oval fills, and how wide a face is for its height.
_OVAL, _WIDTH = np.pi / 4, 0.75


@dataclass(frozen=True)
class MyFaces:
    """Blobs of skin with the shape of a face. The fields are the keys of the YAML; a value out of range is refused."""

    #: Fields that `_see` does not read. Everything else is part of the key under which its answer is kept.
    CHEAP: ClassVar = frozenset({"threshold"})

    long_side: Pixels
    threshold: Share

    @property
    def models(self) -> tuple[()]:
        """The weights in use, for the record and the key of the cache: none. See `harness.pipeline.weights.Weights`."""
        return ()

    def load(self) -> None:
        """Open models here, so that one that is missing is told before a run begins."""

    def detect(self, look: Look) -> tuple[FaceBox, ...]:
        """The faces of a photo, in shares of its width and height."""
        seen = look.see("face", self, None, self._see)
        return tuple(FaceBox(**face) for face in seen if face["score"] >= self.threshold)

    def _see(self, image: Image) -> list[dict[str, Any]]:
        """All that could be a face, in plain lists, texts and numbers. `image` is BGR and must not be changed."""
        scaled, _ = scale_to(image, self.long_side)
        skin = cv2.inRange(cv2.cvtColor(scaled, cv2.COLOR_BGR2YCrCb), np.array(_DARKEST), np.array(_BRIGHTEST))
        skin = cv2.morphologyEx(skin, cv2.MORPH_OPEN, np.ones((3, 3), dtype=np.uint8))
        _, _, blobs, _ = cv2.connectedComponentsWithStats(skin)
        found = [_face(blob, scaled) for blob in blobs[1:].tolist()]  # the first is the background
        return sorted(found, key=lambda face: -face["score"])


def _face(blob: Any, image: Image) -> dict[str, Any]:
    left, top, width, height, area = blob
    fill, shape = area / (width * height), width / height
    score = max(0.0, 1 - abs(fill - _OVAL) / _OVAL) * max(0.0, 1 - abs(shape - _WIDTH) / _WIDTH)
    return {**to_unit(left, top, left + width, top + height, image), "score": score}

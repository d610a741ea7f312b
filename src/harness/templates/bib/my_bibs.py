"""Bibs as bright plates with dark print: a start to build on. It finds plates and reads no number.

The work is split in two. `_see` looks at the pixels; what it returns is kept by content, so that a sweep over a
threshold does not look again. `read` makes bibs of that, and is done anew each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import cv2
import numpy as np
from pydantic import Field

from harness.pipeline.images import scale_to, to_unit
from harness.pipeline.looks import Image, Look
from harness.pipeline.stages import Pixels, Share
from harness.types import BibBox, FaceBox

#: How much of a plate is print.
_LEAST_INK, _MOST_INK = 0.03, 0.6
#: Smaller plates cannot be read, in shares of the photo.
_SMALLEST = 0.0005


@dataclass(frozen=True)
class MyBibs:
    """Bright plates with print on them. The fields are the keys of the YAML; a value out of range is refused."""

    #: Fields that `_see` does not read. Everything else is part of the key under which its answer is kept.
    CHEAP: ClassVar = frozenset({"threshold"})

    long_side: Pixels
    brightness: Annotated[int, Field(ge=0, le=255)]
    threshold: Share

    @property
    def models(self) -> tuple[()]:
        """The weights in use, for the record and the key of the cache: none. See `harness.pipeline.weights.Weights`."""
        return ()

    def load(self) -> None:
        """Open models here, so that one that is missing is told before a run begins."""

    def read(self, look: Look, faces: Sequence[FaceBox]) -> tuple[BibBox, ...]:
        """The bibs of a photo, in shares of its width and height. The faces found in it may guide where to look."""
        del faces
        seen = look.see("plate", self, None, self._see)
        # A number that was not read is None. With a recognizer of your own it is a text, such as "417".
        return tuple(BibBox(**plate, number=None) for plate in seen if plate["score"] >= self.threshold)

    def _see(self, image: Image) -> list[dict[str, Any]]:
        """All that could be a bib, in plain lists, texts and numbers. `image` is BGR and must not be changed."""
        scaled, _ = scale_to(image, self.long_side)
        bright = (scaled.min(axis=2) >= self.brightness).astype(np.uint8)
        _, labels, plates, _ = cv2.connectedComponentsWithStats(bright)
        found = [_plate(plate, labels == place, scaled) for place, plate in enumerate(plates.tolist()) if place]
        return sorted((plate for plate in found if plate["score"] > 0), key=lambda plate: -plate["score"])


def _plate(plate: Any, paper: Any, image: Image) -> dict[str, Any]:
    """A rectangle that is all paper and print scores 1; without print, or with too much of it, it is no bib."""
    left, top, width, height, area = plate
    inside = paper[top : top + height, left : left + width]
    # Print has paper on both sides of it; what is outside a slanted plate has not.
    rows = np.logical_or.accumulate(inside, axis=1) & np.logical_or.accumulate(inside[:, ::-1], axis=1)[:, ::-1]
    covered, size = int(rows.sum()), width * height
    ink = 1 - area / covered
    is_bib = _LEAST_INK <= ink <= _MOST_INK and size >= _SMALLEST * image.shape[0] * image.shape[1]
    return {**to_unit(left, top, left + width, top + height, image), "score": covered / size if is_bib else 0.0}

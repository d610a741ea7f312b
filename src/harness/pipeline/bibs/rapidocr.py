"""Bibs by reading: all text of the photo is found and recognised, and what looks like a bib number is kept.

The text detector's box is tight on the digits; the bib around it is estimated by `widen` and `heighten`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from harness.checks import Pixels, Positive, Share
from harness.pipeline.images import scale_to, to_unit
from harness.pipeline.stages import Image
from harness.pipeline.weights import Weights
from harness.types import BibBox

#: RapidOCR scales pictures by rules of its own; the scale is ours to choose, so its limits are set out of reach.
_NO_LIMIT = 1 << 16

Digits = Annotated[int, Field(ge=1, le=9)]


@dataclass(frozen=True)
class RapidOcr:
    """PP-OCR text detection and recognition through RapidOCR, filtered to digits."""

    long_side: Pixels
    min_score: Share
    min_digits: Digits
    max_digits: Digits
    widen: Positive
    heighten: Positive
    detector: Weights
    recognizer: Weights

    def __post_init__(self) -> None:
        if self.min_digits > self.max_digits:
            raise ValueError(f"min_digits={self.min_digits} is above max_digits={self.max_digits}")

    @property
    def models(self) -> tuple[Weights, ...]:
        """The weights in use."""
        return (self.detector, self.recognizer)

    def load(self) -> None:
        """Open both models; RapidOCR does so on first use, which must not count as work on the first photo."""
        engine, blank = _engine(self.detector, self.recognizer), np.full((64, 64, 3), 255, dtype=np.uint8)
        engine(blank, use_det=True, use_rec=False)
        engine(blank, use_det=False, use_rec=True)

    def read(self, image: Image) -> tuple[BibBox, ...]:
        """Read the whole photo once at `long_side`."""
        scaled, factor = scale_to(image, self.long_side)
        engine = _engine(self.detector, self.recognizer)
        return tuple(self._bibs(engine(scaled, use_det=True, use_rec=True), factor, image))

    def _bibs(self, readings: Any, factor: float, image: Image) -> Iterator[BibBox]:
        if readings.boxes is None:
            return
        digits = re.compile(rf"\d{{{self.min_digits},{self.max_digits}}}", re.ASCII)
        for corners, text, score in zip(readings.boxes, readings.txts, readings.scores, strict=True):
            number = text.replace(" ", "")
            if score < self.min_score or not digits.fullmatch(number):
                continue
            left, top = (corners.min(axis=0) / factor).tolist()
            right, bottom = (corners.max(axis=0) / factor).tolist()
            grow_x, grow_y = (right - left) * (self.widen - 1) / 2, (bottom - top) * (self.heighten - 1) / 2
            plate = to_unit(left - grow_x, top - grow_y, right + grow_x, bottom + grow_y, image)
            yield BibBox(**plate, number=number, score=float(score))


@lru_cache(maxsize=1)
def _engine(detector: Weights, recognizer: Weights) -> Any:
    from rapidocr import RapidOCR

    return RapidOCR(
        params={
            "Global.log_level": "error",
            "Global.use_cls": False,
            "Global.text_score": 0.0,
            "Global.max_side_len": _NO_LIMIT,
            "Det.limit_type": "max",
            "Det.limit_side_len": _NO_LIMIT,
            "Det.model_path": str(detector.locate()),
            "Rec.model_path": str(recognizer.locate()),
        }
    )

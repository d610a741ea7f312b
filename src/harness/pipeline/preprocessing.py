"""What may be done to a picture before it is read: contrast, noise. Zero switches a step off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from harness.pipeline.looks import Image

Strength = Annotated[float, Field(ge=0, le=40)]


@dataclass(frozen=True)
class Preprocessing:
    """`clahe` is the clip limit of an adaptive histogram equalisation, `denoise` the strength of a non-local mean."""

    clahe: Strength
    denoise: Strength

    def __call__(self, image: Image) -> Image:
        """The picture after the steps that are switched on."""
        import cv2

        if self.denoise:
            image = np.asarray(
                cv2.fastNlMeansDenoisingColored(image, None, self.denoise, self.denoise, 7, 21), np.uint8
            )
        if self.clahe:
            lightness, a, b = cv2.split(cv2.cvtColor(image, cv2.COLOR_BGR2LAB))
            flat = cv2.createCLAHE(self.clahe, (8, 8)).apply(lightness)
            image = np.asarray(cv2.cvtColor(cv2.merge((flat, a, b)), cv2.COLOR_LAB2BGR), np.uint8)
        return image

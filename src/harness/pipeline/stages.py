"""The three stages of the pipeline as interfaces. A backend is one module with one frozen dataclass.

The dataclass's fields are its configuration (its YAML under `conf/<stage>/` names the class as `_target_` and lists
every field), so that the backend itself says what can be set, and of which type. Models open in `load`, once a process.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from harness.pipeline.weights import Weights
from harness.types import BibBox, BibFaceLink, FaceBox

Image = NDArray[np.uint8]


class ModelStage(Protocol):
    """A stage that needs weights."""

    @property
    def models(self) -> tuple[Weights, ...]:
        """The weights in use, for the record."""

    def load(self) -> None:
        """Open the models; raises WeightsError where they cannot be had."""


class BibReader(ModelStage, Protocol):
    """Finds bibs and reads their numbers."""

    def read(self, image: Image) -> tuple[BibBox, ...]:
        """The bibs of a BGR image, each with number and score."""


class FaceDetector(ModelStage, Protocol):
    """Finds faces."""

    def detect(self, image: Image) -> tuple[FaceBox, ...]:
        """The faces of a BGR image, each with score and landmarks."""


class Linker(Protocol):
    """Links each bib to the face of its wearer."""

    def link(self, bibs: Sequence[BibBox], faces: Sequence[FaceBox], aspect: float) -> tuple[BibFaceLink, ...]:
        """Pairs of positions in the two lists. `aspect` is the image's width over its height."""

"""The three stages of the pipeline as interfaces. A backend is one module with one frozen dataclass.

The dataclass's fields are its configuration (its YAML under `conf/<stage>/` names the class as `_target_` and lists
every field), so that the backend itself says what can be set, and of which type. Models open in `load`, once a process;
a backend that also has a `find_models`, which checks that its files are there and opens none, has them opened when the
first photo needs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from harness.base.checks import Pixels, Positive, Share
from harness.pipeline.looks import Backend, Look
from harness.types import BibBox, BibFaceLink, FaceBox

#: The interfaces, and types with a range for the fields of a backend.
__all__ = ["BibReader", "FaceDetector", "FindsLandmarks", "Linker", "ModelStage", "Pixels", "Positive", "Share"]


class ModelStage(Backend, Protocol):
    """A stage that needs weights."""

    def load(self) -> None:
        """Open the models; raises WeightsError where they cannot be had."""


class FaceDetector(ModelStage, Protocol):
    """Finds faces."""

    def detect(self, look: Look) -> tuple[FaceBox, ...]:
        """The faces of a photo, each with score and landmarks."""


@runtime_checkable
class FindsLandmarks(Protocol):
    """A face detector that finds better landmarks in a closer look, which costs time that not everybody can spend."""

    def landmarks(self, look: Look, faces: Sequence[FaceBox]) -> tuple[FaceBox, ...]:
        """The same faces in the same order with other landmarks."""


class BibReader(ModelStage, Protocol):
    """Finds bibs and reads their numbers."""

    def read(self, look: Look, faces: Sequence[FaceBox]) -> tuple[BibBox, ...]:
        """The bibs of a photo, each with number and score. The faces found in it may guide where to look."""


class Linker(Protocol):
    """Links each bib to the face of its wearer."""

    def link(self, bibs: Sequence[BibBox], faces: Sequence[FaceBox], aspect: float) -> tuple[BibFaceLink, ...]:
        """Pairs of positions in the two lists. `aspect` is the image's width over its height."""

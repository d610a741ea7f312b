"""The identity stage: from the faces of a photo to vectors that can be compared.

A recogniser turns each face upright (`aligning`), describes it by a vector of length 1, and says how good the picture
of it is. Two faces are alike as their vectors' dot product says. A face that is lower than `least_height` pixels is
*not enrolled*: nobody could tell who it is, it is counted and never compared.

Vectors are personal data. They are kept in the stage cache, as bytes, and nowhere else, unless a person exports them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from harness.base.checks import Positive, Share
from harness.base.errors import PhotoError
from harness.pipeline.identity.aligning import align
from harness.pipeline.identity.clustering import Clustering
from harness.pipeline.looks import Image, Look
from harness.pipeline.weights import Model
from harness.types import FaceBox

#: What a stage of the cache is called that has vectors.
STAGE = "identity"
#: Which faces can be searched: all that are enrolled, or those that the pipeline linked to a bib.
GalleryOf = Literal["all", "linked"]


@dataclass(frozen=True)
class FaceVectors:
    """The faces of one photo as a recogniser sees them, in the order of the faces. A face that is not `enrolled` has
    zeros in place of a vector. `heights` are in pixels of the photo."""

    vectors: NDArray[np.float32]
    enrolled: NDArray[np.bool_]
    heights: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.heights)

    def rows(self) -> list[NDArray[np.float32] | None]:
        """The vector of each face, None for one that is not enrolled."""
        return [vector if enrolled else None for vector, enrolled in zip(self.vectors, self.enrolled, strict=True)]


@dataclass(frozen=True, kw_only=True)
class Recogniser(ABC):
    """Base of all choices of `identity`. A subclass says how one aligned face becomes a vector; its fields are its
    config. `gallery`, `fpir` and `clustering` say how vectors are searched and grouped, and change none of them."""

    CHEAP: ClassVar[frozenset[str]] = frozenset({"least_height", "gallery", "fpir", "clustering"})

    #: Faces lower than this, in pixels of the photo, are not enrolled.
    least_height: Positive
    gallery: GalleryOf
    #: Of the searches by people who are in no photo, the share that may return somebody.
    fpir: Share
    clustering: Clustering
    #: Whether a vector is the mean of that of the face and that of its mirror image, for twice the time.
    mirrored: bool = False

    @property
    @abstractmethod
    def models(self) -> tuple[Model, ...]:
        """The weights in use."""

    @property
    @abstractmethod
    def side(self) -> int:
        """The width and height, in pixels, of the aligned faces that `describe` takes."""

    @abstractmethod
    def load(self) -> None:
        """Open the models; raises WeightsError where they cannot be had."""

    @abstractmethod
    def describe(self, face: Image) -> NDArray[np.float32]:
        """The vector of an aligned face (BGR, `side` x `side` pixels), of whatever length above 0."""

    def embed(self, look: Look, faces: Sequence[FaceBox]) -> FaceVectors:
        """The vectors of a photo's faces. Each is kept in the cache by itself, so that other faces, found with another
        threshold, cost only their own."""
        heights = self.heights(look, faces)
        enrolled = heights >= self.least_height
        rows = [self._vector(look, face) if good else None for face, good in zip(faces, enrolled, strict=True)]
        length = next((len(row) for row in rows if row is not None), 0)
        vectors = np.zeros((len(faces), length), dtype=np.float32)
        for place, row in enumerate(rows):
            if row is not None:
                vectors[place] = row
        return FaceVectors(vectors, enrolled, heights)

    def heights(self, look: Look, faces: Sequence[FaceBox]) -> NDArray[np.float64]:
        """How high faces are, in pixels of the photo."""
        return np.array([face.h * look.size[1] for face in faces], dtype=np.float64)

    def _vector(self, look: Look, face: FaceBox) -> NDArray[np.float32]:
        asked = [*face.xywh, face.landmarks]
        found: NDArray[np.float32] = look.see(STAGE, self, asked, lambda image: self._see(image, face))
        return found

    def _see(self, image: Image, face: FaceBox) -> NDArray[np.float32]:
        upright = align(image, face, self.side)
        found = self._unit(self.describe(upright))
        if self.mirrored:
            found = self._unit(found + self._unit(self.describe(np.ascontiguousarray(upright[:, ::-1]))))
        return found

    def _unit(self, described: NDArray[np.float32]) -> NDArray[np.float32]:
        found = np.asarray(described, dtype=np.float32).reshape(-1)
        length = float(np.linalg.norm(found))
        if not np.isfinite(length) or length == 0:
            raise PhotoError(f"{type(self).__name__}: the vector of a face has length {length}; expected one above 0")
        return found / np.float32(length)

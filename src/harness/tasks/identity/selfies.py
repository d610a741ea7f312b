"""From a selfie to the vector that somebody searches with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.base.errors import PhotoError
from harness.pipeline import Pipeline
from harness.pipeline.answers import checked_faces
from harness.pipeline.cache import StageCache
from harness.pipeline.looks import Look, PhotoSource
from harness.types import FaceBox


@dataclass(frozen=True)
class SelfieFace:
    """The face of a selfie: how many were found, which one is searched with, and its vector. Without a vector the face
    is too small to compare."""

    faces: int
    face: FaceBox
    height: float
    vector: NDArray[np.float32] | None


def selfie_face(pipeline: Pipeline, photo: PhotoSource, cache: StageCache | None) -> SelfieFace | None:
    """The highest face of a picture; None where there is none."""
    if pipeline.identity is None:
        raise PhotoError("identity=off: nobody is recognised; choose identity=sface or another")
    look = Look(photo, cache)
    faces = checked_faces(pipeline.face, pipeline.face.detect(look))
    if not faces:
        return None
    largest = max(faces, key=lambda face: (face.h, face.w))
    seen = pipeline.embed(look, [largest])
    assert seen is not None, "there is a recogniser"
    return SelfieFace(len(faces), largest, float(seen.heights[0]), seen.vectors[0] if seen.enrolled[0] else None)

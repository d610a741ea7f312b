"""People by how bright the parts of their face are: a start to build on, which runs without a model and confuses most.

`Recogniser` does the rest: it leaves out faces that are too small, turns each face upright by its landmarks, keeps what
`describe` says by content, and brings it to length 1. Two faces are alike as the dot product of their vectors says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import cv2
import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.pipeline.identity.recognising import Recogniser
from harness.pipeline.looks import Image


@dataclass(frozen=True, kw_only=True)
class MyPeople(Recogniser):
    """The face in so many by so many grey cells. The fields of the class are the keys of the YAML; those of the base
    class are the same for all recognisers."""

    cells: Annotated[int, Field(ge=2, le=112)]

    @property
    def models(self) -> tuple[()]:
        """The weights in use, for the record and the key of the cache: none. See `harness.pipeline.weights.Weights`."""
        return ()

    @property
    def side(self) -> int:
        """The width and height of the faces that `describe` is given."""
        return 112

    def load(self) -> None:
        """Open models here, so that one that is missing is told before a run begins."""

    def describe(self, face: Image) -> NDArray[np.float32]:
        """The vector of an upright face, which is BGR and must not be changed."""
        grey = cv2.cvtColor(face, cv2.COLOR_BGR2GRAY)
        small = cv2.resize(grey, (self.cells, self.cells), interpolation=cv2.INTER_AREA).astype(np.float32)
        # One more number, so that a face of one colour has a vector, too.
        return np.append(small.reshape(-1) - small.mean(), np.float32(1))

"""Links by geometry: a bib hangs on the chest below its wearer's face.

Distances are measured in heights of the face, so that near and far runners follow the same rule. Pairs outside the
range are refused; among the rest the one-to-one assignment with the best total fit is taken (a pair in the middle of
the range fits 1, one at its edge 0), so that a poor pair never breaks up a good one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from harness.checks import Positive
from harness.types import BibBox, BibFaceLink, FaceBox


@dataclass(frozen=True)
class GeometricLinker:
    """A bib's centre lies `min_drop` to `max_drop` face heights below the face's centre, at most `half_width` aside."""

    min_drop: float
    max_drop: float
    half_width: Positive

    def __post_init__(self) -> None:
        if not self.min_drop < self.max_drop:
            raise ValueError(f"min_drop={self.min_drop} is not below max_drop={self.max_drop}")

    def link(self, bibs: Sequence[BibBox], faces: Sequence[FaceBox], aspect: float) -> tuple[BibFaceLink, ...]:
        """Assign bibs to faces. `aspect` is the image's width over its height."""
        if not bibs or not faces:
            return ()
        bib = np.array([box.xywh for box in bibs])
        face = np.array([box.xywh for box in faces])
        height = np.maximum(face[:, 3], 1e-9)
        aside = ((bib[:, None, 0] + bib[:, None, 2] / 2) - (face[:, 0] + face[:, 2] / 2)) * aspect / height
        drop = ((bib[:, None, 1] + bib[:, None, 3] / 2) - (face[:, 1] + face[:, 3] / 2)) / height
        middle, reach = (self.min_drop + self.max_drop) / 2, (self.max_drop - self.min_drop) / 2
        allowed = (np.abs(aside) <= self.half_width) & (drop >= self.min_drop) & (drop <= self.max_drop)
        fit = np.where(allowed, (1 - (aside / self.half_width) ** 2) * (1 - ((drop - middle) / reach) ** 2), 0.0)
        rows, columns = linear_sum_assignment(fit, maximize=True)
        return tuple(BibFaceLink(int(b), int(f)) for b, f in zip(rows, columns, strict=True) if allowed[b, f])

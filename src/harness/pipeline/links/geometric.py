"""Links by geometry: a bib hangs on the chest below its wearer's face.

Distances are measured in heights of the face, so that near and far runners follow the same rule. Pairs outside the
range are refused; each of the others has a fit (1 in the middle of the range, 0 at its edge). Among those that fit well
enough the one-to-one assignment with the best total is taken, so that a poor pair never breaks up a good one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.base.checks import Positive, Share
from harness.types import BibBox, BibFaceLink, Box, FaceBox

Floats = NDArray[np.float64]
#: How many ways of pairing are tried one by one, and how much better than the next the best of them has to be.
_MOST_WAYS, _TIE = 256, 1e-9


@dataclass(frozen=True)
class GeometricLinker:
    """A bib's centre lies `min_drop` to `max_drop` face heights below the face's centre, at most `half_width` aside.

    A torso can be hidden by somebody in front of it, and then the fit of the pair is multiplied by `behind`: by one
    whose face is between the bib and the other face, or by one whose face is at least `nearer` times as high and fits
    the bib nearly as well (by more than `behind` of the other's fit). Pairs that fit less than `threshold` are refused.
    """

    min_drop: float
    max_drop: float
    half_width: Positive
    behind: Share
    nearer: Annotated[float, Field(gt=1)]
    threshold: Share

    def __post_init__(self) -> None:
        if not self.min_drop < self.max_drop:
            raise ValueError(f"min_drop={self.min_drop} is not below max_drop={self.max_drop}")

    def link(self, bibs: Sequence[BibBox], faces: Sequence[FaceBox], aspect: float) -> tuple[BibFaceLink, ...]:
        """Assign bibs to faces. `aspect` is the image's width over its height."""
        if not bibs or not faces:
            return ()
        fit = self.fit(bibs, faces, aspect)
        fit[fit < self.threshold] = 0.0
        return tuple(BibFaceLink(bib, face, float(fit[bib, face])) for bib, face in best_pairs(fit))

    def fit(self, bibs: Sequence[BibBox], faces: Sequence[FaceBox], aspect: float) -> Floats:
        """How well each bib (row) fits each face (column), from 0 to 1."""
        bib, face = _centres(bibs, aspect), _centres(faces, aspect)
        height = np.array([max(box.h, 1e-9) for box in faces])
        aside, drop = np.moveaxis((bib[:, None] - face) / height[:, None], 2, 0)
        middle, reach = (self.min_drop + self.max_drop) / 2, (self.max_drop - self.min_drop) / 2
        across, down = 1 - (aside / self.half_width) ** 2, 1 - ((drop - middle) / reach) ** 2
        fit = np.maximum(across, 0.0) * np.maximum(down, 0.0)
        half_widths = np.array([box.w * aspect / 2 for box in faces])
        in_front = height >= self.nearer * height[:, None]
        covered = (in_front & (fit[:, None] > self.behind * fit[:, :, None])).any(axis=2)
        hidden = covered | _is_behind(bib, face, half_widths)
        return np.asarray(np.where(hidden, self.behind * fit, fit), dtype=np.float64)


def best_pairs(fit: Floats) -> Sequence[tuple[int, int]]:
    """The pairs of bibs (rows) and faces (columns) that fit, of the assignment with the highest sum of fits.

    Where there are few ways to pair them, all are tried: scipy's solver takes a quarter of a second to load, and most
    photos do not need it. It decides among many ways, and where two are equally good.
    """
    faces_of = {bib: np.flatnonzero(row).tolist() for bib, row in enumerate(fit) if row.any()}
    if math.prod(1 + len(faces) for faces in faces_of.values()) <= _MOST_WAYS:
        best, second = [*_ways(fit, faces_of), (-1.0, ())][:2]
        if best[0] - second[0] > _TIE:
            return best[1]
    from scipy.optimize import linear_sum_assignment

    pairs = zip(*linear_sum_assignment(fit, maximize=True), strict=True)
    return [(int(bib), int(face)) for bib, face in pairs if fit[bib, face] > 0]


def _ways(fit: Floats, faces_of: Mapping[int, Sequence[int]]) -> list[tuple[float, tuple[tuple[int, int], ...]]]:
    """Every way to give bibs, or some of them, a face each, with the sum of its fits; the best first."""
    found = []
    for faces in product(*([None, *faces] for faces in faces_of.values())):
        pairs = tuple((bib, face) for bib, face in zip(faces_of, faces, strict=True) if face is not None)
        if len({face for _, face in pairs}) == len(pairs):
            found.append((math.fsum(float(fit[pair]) for pair in pairs), pairs))
    return sorted(found, reverse=True)


def _centres(boxes: Sequence[Box], aspect: float) -> Floats:
    """In heights of the image."""
    return np.array([((box.x + box.w / 2) * aspect, box.y + box.h / 2) for box in boxes])


def _is_behind(bib: Floats, face: Floats, half_widths: Floats) -> NDArray[np.bool_]:
    """Whether the line from a bib (row) up to a face (column) crosses another face on its way."""
    rise = face[:, 1] - bib[:, None, 1]
    step = (face[None, None, :, 1] - bib[:, None, None, 1]) / np.where(rise == 0, np.inf, rise)[:, :, None]
    crossing = bib[:, None, None, 0] + step * (face[:, 0] - bib[:, None, 0])[:, :, None]
    crossed = (step > 0) & (step < 1) & (np.abs(crossing - face[None, None, :, 0]) < half_widths)
    return np.asarray(crossed.any(axis=2))

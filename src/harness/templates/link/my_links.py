"""Links by distance: a bib belongs to the nearest face above it. A start to build on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot

from harness.pipeline.stages import Positive
from harness.types import BibBox, BibFaceLink, FaceBox


@dataclass(frozen=True)
class MyLinks:
    """The nearest pairs first, up to `reach` heights of the face. The fields are the keys of the YAML."""

    reach: Positive

    def link(self, bibs: Sequence[BibBox], faces: Sequence[FaceBox], aspect: float) -> tuple[BibFaceLink, ...]:
        """Pairs of places in the two lists, each bib and each face at most once."""
        pairs = sorted(
            (self._distance(bib, face, aspect), i, j) for i, bib in enumerate(bibs) for j, face in enumerate(faces)
        )
        links: list[BibFaceLink] = []
        for distance, i, j in pairs:
            free = all(link.bib_index != i and link.face_index != j for link in links)
            if free and distance <= self.reach:
                links.append(BibFaceLink(i, j, score=1 - distance / self.reach))
        return tuple(links)

    def _distance(self, bib: BibBox, face: FaceBox, aspect: float) -> float:
        """From centre to centre in heights of the face; out of reach where the bib is not below the face.

        Boxes are in shares of the photo: `aspect`, its width over its height, makes both directions the same length.
        """
        across = (bib.x + bib.w / 2 - face.x - face.w / 2) * aspect
        down = bib.y + bib.h / 2 - face.y - face.h / 2
        if down <= 0 or face.h <= 0:
            return float("inf")
        return hypot(across, down) / face.h

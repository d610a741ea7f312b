"""Links by a rule of thumb: a bib is about a torso's length below its wearer's face, and not much to the side.

Faces choose in the order in which the detector gave them, each the bib that is nearest to where it should be. Simple
to explain, and what the assignment of `link=geometric` is measured against.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.base.checks import Positive, Share
from harness.types import BibBox, BibFaceLink, FaceBox


@dataclass(frozen=True)
class RuleOfThumbLinker:
    """A bib's centre is `torso` face heights below the face's centre, give or take `slack`.

    It is at most `aside` widths of the bib to the left or to the right. A pair's score falls from 1 where the bib
    should be to 0 at `slack`; pairs below `threshold` are refused.
    """

    torso: Positive
    slack: Positive
    aside: Positive
    threshold: Share

    def link(self, bibs: Sequence[BibBox], faces: Sequence[FaceBox], aspect: float) -> tuple[BibFaceLink, ...]:
        """Let each face take a bib that is still free. Both sides of the rule are lengths along one axis each."""
        del aspect
        links: list[BibFaceLink] = []
        for number, face in enumerate(faces):
            taken = {link.bib_index for link in links}
            free = [BibFaceLink(i, number, self._score(bib, face)) for i, bib in enumerate(bibs) if i not in taken]
            best = max(free, key=lambda link: link.score or 0.0, default=None)
            if best is not None and best.score and best.score >= self.threshold:
                links.append(best)
        return tuple(links)

    def _score(self, bib: BibBox, face: FaceBox) -> float:
        if abs(bib.x + bib.w / 2 - face.x - face.w / 2) > self.aside * bib.w:
            return 0.0
        drop = (bib.y + bib.h / 2 - face.y - face.h / 2) / max(face.h, 1e-9)
        return max(0.0, 1 - abs(drop - self.torso) / self.slack)

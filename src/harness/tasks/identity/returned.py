"""From the pairs that the find scorecard counts to the rows that a run keeps: names and hashes, no vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.runs.returns import Returns
from harness.scoring.boxes import Floats
from harness.scoring.finding import CAUSES, NO_CAUSE, FindTally
from harness.scoring.people import Evidence
from harness.scoring.strangers import NO_FACE
from harness.tasks.identity.gathering import SeenPhoto


def returns_of(evidence: Evidence, photos: Sequence[SeenPhoto], find: FindTally) -> Returns:
    """The rows of a run: wanted photos first, then those of others that came back."""
    wanted, others = find.wanted, find.others
    nothing, shareless = np.full(len(others), NO_CAUSE), np.full(len(others), np.nan)
    person = np.concatenate([wanted.person, others.person])
    in_photo = others.face - np.searchsorted(evidence.faces.photo, others.photo)
    return Returns(
        people=tuple(person.name for person in evidence.people),
        numbers=tuple(person.numbers for person in evidence.people),
        photos=tuple(item.photo.sha256 for item in photos),
        causes=CAUSES,
        person=person,
        photo=np.concatenate([wanted.photo, others.photo]),
        wanted=np.arange(len(wanted) + len(others)) < len(wanted),
        selfie=np.concatenate([wanted.selfie, shareless]),
        number=np.concatenate([wanted.number, shareless]),
        both=np.concatenate([wanted.both, others.share]),
        score=_finite(np.concatenate([wanted.score, others.score])),
        threshold=_finite(find.thresholds[person]),
        cause=np.concatenate([wanted.cause, nothing]),
        face=np.concatenate([np.full(len(wanted), NO_FACE), np.where(others.face < 0, NO_FACE, in_photo)]),
    )


def _finite(values: Floats) -> Floats:
    return np.where(np.isfinite(values), values, np.nan)

"""From which similarity on faces are grouped: set on the labelled faces of a set, and never judged by the faces that
set it.

Of some candidates the one with the best B-cubed F1 over the labelled people is taken; where several are equally good,
the middle one of them. It is cross-fitted, as the threshold of a search is: the people of each fifth are judged in the
clusters of all faces at the threshold that the other four fifths choose. `whole` is what all of them choose, for photos
that have no part in it and for whoever looks at the clusters.

With fewer than LEAST people of whom several faces were found, among the other four fifths of any, there is nothing to
choose by, and the threshold is one that is told from the vectors alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from harness.scoring.boxes import Floats, Ints
from harness.scoring.people import FOLDS, Evidence
from harness.scoring.people_clusters import bcubed_sums

#: So many people with several faces are needed to choose by.
LEAST = 5
#: F1s that are nearer to each other than this are equally good.
_EQUAL = 1e-9


@dataclass(frozen=True)
class GroupingPoint:
    """The least average similarity at which clusters are merged, for people of each fold, and `whole`; and by how many
    `people` with several faces it was chosen, 0 where it was not."""

    thresholds: tuple[float, ...]
    whole: float
    people: int
    source: str

    @classmethod
    def fixed(cls, threshold: float, source: str, people: int = 0) -> GroupingPoint:
        """One threshold for all."""
        return cls((threshold,) * FOLDS, threshold, people, source)


def choose(evidence: Evidence, candidates: Sequence[float], cut: Callable[[float], Ints]) -> GroupingPoint | None:
    """The cross-fitted threshold, where `cut` gives the clusters of all found faces at one; None where too few people
    have several faces."""
    sums = [bcubed_sums(evidence, cut(candidate)) for candidate in candidates]
    several = sums[0][2] > 1 if sums else np.zeros(0)
    others = [evidence.folds != fold for fold in range(FOLDS)]
    if min((int(np.count_nonzero(several & chosen)) for chosen in others), default=0) < LEAST:
        return None
    table = np.array(sums)
    best = [candidates[_best(table[:, :, chosen].sum(axis=2))] for chosen in (*others, np.ones(len(several), bool))]
    return GroupingPoint(tuple(best[:-1]), best[-1], int(np.count_nonzero(several)), "cross-fitted")


def _best(sums: Floats) -> int:
    """Which candidate has the best F1, by its sums of B-cubed precision and recall; of equally good ones the middle."""
    precision, recall = sums[:, 0], sums[:, 1]
    f1 = 2 * precision * recall / (precision + recall)
    equal = np.flatnonzero(f1 > f1.max() - _EQUAL * f1.max())
    return int(equal[len(equal) // 2])

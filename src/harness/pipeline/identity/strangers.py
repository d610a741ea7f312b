"""How alike strangers are, told from the vectors alone: for sets in which nobody is labelled.

Nearly all pairs of faces from two photos show two people, so their similarities, taken by median and lower spread, say
how alike strangers are. What so few of them reach that it cannot be counted is taken from a normal distribution.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from harness.scoring.boxes import Ints
from harness.scoring.people import Vectors

#: So many faces are compared to see how alike strangers are.
_SAMPLE = 2000
#: Below so many pairs of faces nothing can be told, and only equal faces are alike.
_LEAST_PAIRS = 10
#: A similarity that says "the same picture", for sets that are too small to measure one.
SURE = 0.9


def stranger_similarity(vectors: Vectors, reached_by: float, person: Ints | None = None) -> float:
    """The similarity with a face that `reached_by` of the strangers in a set reach on average, were similarities
    normal: 0.01 says one stranger a hundred faces, 5 says five strangers a face. `vectors` are of the faces that can be
    compared. Where `person` says whose some of them are (below 0: not known), their pairs are left out: of two or three
    people with many faces each, they would be most of what there is."""
    chosen = np.random.default_rng(0).permutation(len(vectors))[:_SAMPLE]
    some, rows = vectors[chosen], np.triu_indices(len(chosen), 1)
    similar = (some @ some.T)[rows]
    if person is not None:
        first, second = (person[chosen][side] for side in rows)
        similar = similar[(first != second) | (first < 0)]
    if len(similar) < _LEAST_PAIRS:
        return SURE
    low, middle = np.quantile(similar, [NormalDist().cdf(-1), 0.5])
    share = min(reached_by / len(vectors), 0.5)
    return float(min(middle - NormalDist().inv_cdf(share) * (middle - low), SURE))

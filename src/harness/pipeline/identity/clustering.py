"""Clusters of faces by average link, with constraints that are never broken.

Two clusters are as similar as the pairs of their faces are on average. Again and again the two most similar clusters
are merged, as long as they are at least as similar as the threshold and no constraint keeps them apart. Similarities
that agree to nine digits are ties: the pair that has the lowest face comes first, then the one whose other cluster has.
Beside such ties, the order of the faces does not matter.

All pairs of a large set do not fit into memory, and need not. Vectors are added up by cluster, so that the average is
one product of two sums; and clusters whose average reaches the threshold have a pair of faces that does. So it is
enough to look at clusters with such a pair: with fewer than `neighbours` of them a face, the result is that of plain
average link, cut at the threshold. A face that has more is compared with the most similar ones first, and with others
as its cluster grows.

A face without a vector (all zeros) is in the cluster that its must-links name, or alone, and in no average.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from harness.base.checks import Positive, Share
from harness.pipeline.identity.constraints import Constraints
from harness.pipeline.identity.hints import Hints, Traits
from harness.pipeline.identity.merging import Clusters, ends
from harness.pipeline.identity.searching import comparable, neighbours
from harness.scoring.boxes import Floats, Ints
from harness.scoring.people import Vectors

Similarity = Annotated[float, Field(ge=-1, le=1)]
#: Similarities of merges are rounded to nine digits.
_ROUNDED = 1e-9


@dataclass(frozen=True)
class Clustering:
    """Each face is compared with its `neighbours` most similar ones.

    `number_weight` is added to the similarity of two faces with the same number, and taken from that of two with
    different ones. `time_weight` is added for two photos of the same moment, less the further apart they are, and
    nothing from `seconds_apart` on; it falls in quarters.

    `threshold` says how similar two clusters have to be on average to be merged, or where that comes from: calibrated
    on the labelled faces of a set (`scoring/grouping_point.py`), or the threshold of a search.
    """

    neighbours: Annotated[int, Field(ge=1)]
    number_weight: Share
    time_weight: Share
    seconds_apart: Positive
    threshold: Literal["calibrated", "search"] | Similarity = "calibrated"

    def cluster(self, vectors: Vectors, threshold: float, constraints: Constraints, hints: Hints | None = None) -> Ints:
        """The cluster of each face, numbered from 0 in the order of their first faces.

        Raises ValueError where constraints contradict each other, naming the faces.
        """
        return self.merges(vectors, threshold, constraints, hints).cut(threshold)

    def merges(self, vectors: Vectors, least: float, constraints: Constraints, hints: Hints | None = None) -> Merges:
        """All merges down to a threshold of `least`, from which the clusters at any higher threshold can be cut."""
        faces = len(vectors)
        hints = hints or Hints.none(faces)
        if not len(constraints) == len(hints.numbers) == len(hints.seconds) == faces:
            raise ValueError(
                f"{faces} vectors, {len(constraints)} photos, {len(hints.numbers)} numbers and {len(hints.seconds)} "
                "times; expected one of each a face"
            )
        if not np.isfinite(least):
            raise ValueError(f"threshold {least}; expected a similarity")
        traits = Traits.of(self, hints, comparable(vectors))
        pairs = np.concatenate([self.pairs(vectors, least), self.numbered_pairs(vectors, least, hints.numbers)])
        clusters = Clusters(vectors, least, constraints, traits, pairs)
        tied = clusters.into.copy()
        found = []
        for low, high, similarity in clusters.merges():
            clusters.join(low, high)
            found.append((low, high, similarity))
        table = np.array(found, dtype=np.float64).reshape(-1, 3)
        return Merges(tied, table[:, :2].astype(np.int64), np.minimum.accumulate(table[:, 2]))

    def pairs(self, vectors: Vectors, threshold: float) -> Ints:
        """Pairs of faces that may reach the threshold, whatever their numbers are: by what time can add most."""
        return neighbours(vectors, threshold - self.time_weight, self.neighbours)

    def numbered_pairs(self, vectors: Vectors, threshold: float, numbers: Sequence[str | None]) -> Ints:
        """Pairs of faces with the same number that may reach the threshold with it."""
        least = threshold - self.time_weight - self.number_weight
        found = [np.zeros((0, 2), dtype=np.int64)]
        for faces in _same(numbers) if self.number_weight else ():
            found.append(faces[neighbours(vectors[faces], least, self.neighbours)])
        return np.concatenate(found)


@dataclass(frozen=True)
class Merges:
    """Which two clusters were merged, in which order, and how similar they were: never more than the two before. Each
    is named by its lowest face; `tied` has that of the must-links of each face.

    Clusters that are merged are no more similar to any other than the more similar of the two was, so that the first
    merges, down to a threshold, are those of a clustering that ends there."""

    tied: Ints
    pairs: Ints
    similarity: Floats

    def cut(self, threshold: float) -> Ints:
        """The cluster of each face, of merges that are at least as similar as the threshold; numbered from 0 in the
        order of their first faces."""
        kept = int(np.searchsorted(-self.similarity, -(threshold - _ROUNDED), "right"))
        into = self.tied.copy()
        into[self.pairs[:kept, 1]] = self.pairs[:kept, 0]
        numbers: Ints = np.unique(ends(into, np.arange(len(into))), return_inverse=True)[1]
        return numbers


def _same(numbers: Sequence[str | None]) -> Iterator[Ints]:
    """The faces of each number that more than one has."""
    faces: dict[str, list[int]] = {}
    for face, number in enumerate(numbers):
        if number is not None:
            faces.setdefault(number, []).append(face)
    yield from (np.array(each) for each in faces.values() if len(each) > 1)

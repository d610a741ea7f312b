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

import heapq
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from harness.base.checks import Positive, Share
from harness.pipeline.identity.constraints import ANY, Constraints
from harness.pipeline.identity.searching import comparable, neighbours
from harness.scoring.boxes import Floats, Ints
from harness.scoring.people import Vectors
from harness.scoring.searching import DIGITS

#: Clocks that tell how close two photos are, each a part of `seconds_apart` ahead of the one before.
CLOCKS = 4


@dataclass(frozen=True, slots=True)
class Hints:
    """What else suggests that two faces are one person's: the whole number that was read on the bib linked to each
    face, and when its photo was taken, in seconds; None and NaN where that is not known."""

    numbers: Sequence[str | None]
    seconds: Floats

    @classmethod
    def none(cls, faces: int) -> Hints:
        """Nothing is known but the vectors."""
        return cls([None] * faces, np.full(faces, np.nan))


@dataclass(frozen=True)
class Clustering:
    """Each face is compared with its `neighbours` most similar ones.

    `number_weight` is added to the similarity of two faces with the same number, and taken from that of two with
    different ones. `time_weight` is added for two photos of the same moment, less the further apart they are, and
    nothing from `seconds_apart` on; it falls in quarters.
    """

    neighbours: Annotated[int, Field(ge=1)]
    number_weight: Share
    time_weight: Share
    seconds_apart: Positive

    def cluster(self, vectors: Vectors, threshold: float, constraints: Constraints, hints: Hints | None = None) -> Ints:
        """The cluster of each face, numbered from 0 in the order of their first faces.

        Raises ValueError where constraints contradict each other, naming the faces.
        """
        faces = len(vectors)
        hints = hints or Hints.none(faces)
        if not len(constraints) == len(hints.numbers) == len(hints.seconds) == faces:
            raise ValueError(
                f"{faces} vectors, {len(constraints)} photos, {len(hints.numbers)} numbers and {len(hints.seconds)} "
                "times; expected one of each a face"
            )
        if not np.isfinite(threshold):
            raise ValueError(f"threshold {threshold}; expected a similarity")
        pairs = self._pairs(vectors, threshold, hints)
        clusters = _Clusters(vectors, threshold, constraints, _Traits.of(self, hints, comparable(vectors)), pairs)
        for low, high in clusters.merges():
            clusters.join(low, high)
        return clusters.numbered()

    def _pairs(self, vectors: Vectors, threshold: float, hints: Hints) -> Ints:
        """Pairs of faces that may reach the threshold: by what the hints can add most."""
        least = threshold - self.time_weight
        found = [neighbours(vectors, least, self.neighbours)]
        for faces in _same(hints.numbers) if self.number_weight else ():
            found.append(faces[neighbours(vectors[faces], least - self.number_weight, self.neighbours)])
        return np.concatenate(found)


@dataclass(frozen=True, slots=True)
class _Traits:
    """What hints say about clusters. Each cluster has an amount of each trait; what two clusters have in common is the
    sum of the products, less the product of their `known`. Both add up when clusters are merged."""

    amounts: list[dict[Hashable, float]]
    known: Floats

    @classmethod
    def of(cls, weights: Clustering, hints: Hints, rows: Ints) -> _Traits | None:
        """The traits of each face; None where no hint has a weight. Faces beyond `rows` have none."""
        if not (weights.number_weight or weights.time_weight):
            return None
        amounts: list[dict[Hashable, float]] = [{} for _ in hints.numbers]
        known = np.zeros(len(amounts))
        for face in rows:
            if weights.number_weight and (number := hints.numbers[face]) is not None:
                # Twice the weight where the numbers are the same, less once the weight where both are known.
                amounts[face][number] = float(np.sqrt(2 * weights.number_weight))
                known[face] = np.sqrt(weights.number_weight)
            if weights.time_weight and not np.isnan(seconds := hints.seconds[face]):
                for clock in range(CLOCKS):
                    tick = int(np.floor(seconds / weights.seconds_apart + clock / CLOCKS))
                    amounts[face][clock, tick] = float(np.sqrt(weights.time_weight / CLOCKS))
        return cls(amounts, known)

    def common(self, cluster: int, others: Ints) -> Floats:
        """What a cluster has in common with each of others, summed over the pairs of their faces."""
        mine = self.amounts[cluster]
        shared = [
            sum(mine[trait] * theirs[trait] for trait in mine.keys() & theirs.keys())
            for theirs in (self.amounts[other] for other in others)
        ]
        return np.asarray(np.array(shared) - self.known[cluster] * self.known[others], dtype=np.float64)

    def join(self, low: int, high: int) -> None:
        """Merge the second cluster into the first."""
        less, more = sorted((self.amounts[low], self.amounts[high]), key=len)
        for trait, amount in less.items():
            more[trait] = more.get(trait, 0.0) + amount
        self.amounts[low], self.amounts[high] = more, {}
        self.known[low] += self.known[high]


class _Clusters:
    """Clusters on their way, each named by its lowest face."""

    def __init__(
        self, vectors: Vectors, threshold: float, constraints: Constraints, traits: _Traits | None, pairs: Ints
    ) -> None:
        faces = len(vectors)
        self.threshold, self.traits = threshold, traits
        self.into = np.arange(faces)  # the cluster that it was merged into, or itself
        self.sums = vectors.astype(np.float64)
        self.sizes = np.zeros(faces)
        self.sizes[comparable(vectors)] = 1.0
        self.marks = _marks(constraints)
        self.near = _near(pairs, faces)
        #: When each was last changed, and when its best partner was last looked for.
        self.changed = np.zeros(faces, dtype=np.int64)
        self.looked = np.zeros(faces, dtype=np.int64)
        self.now = 0
        for face, group in enumerate(constraints.groups()):
            if face != group:
                self.join(int(group), face)

    def join(self, low: int, high: int) -> None:
        """Merge the second cluster into the first."""
        self.into[high] = low
        self.sums[low] += self.sums[high]
        self.sizes[low] += self.sizes[high]
        fewer, more = sorted((self.marks[low], self.marks[high]), key=len)
        more.update(fewer)
        self.marks[low], self.marks[high] = more, set()
        self.near[low] = np.concatenate([self.near[low], self.near[high]])
        self.near[high] = self.near[high][:0]
        if self.traits:
            self.traits.join(low, high)
        self.changed[low] = self.changed[high] = self.now

    def merges(self) -> Iterator[tuple[int, int]]:
        """The most similar two clusters that may be merged, again and again; whoever takes them joins them.

        A cluster's best partner is looked for when it is formed. It is looked for again only when its turn comes and
        the partner has changed meanwhile: what the partner has become has looked for a best partner of its own.
        """
        heap: list[tuple[float, int, int, int, int]] = []

        def look(cluster: int) -> None:
            self.now += 1
            self.looked[cluster] = self.now
            if best := self._best(cluster):
                rank, other = best
                heapq.heappush(heap, (-rank, min(cluster, other), max(cluster, other), cluster, self.now))

        for face in self._roots(np.arange(len(self.into))):
            look(int(face))
        while heap:
            _, low, high, owner, then = heapq.heappop(heap)
            if self.looked[owner] != then or self.into[owner] != owner:
                continue
            if max(self.changed[low], self.changed[high]) > then:
                look(owner)
                continue
            self.now += 1
            yield low, high
            look(low)

    def _best(self, cluster: int) -> tuple[float, int] | None:
        """The most similar cluster that this one may be merged with, and the rank of its similarity."""
        others = self._roots(self.near[cluster])
        others = others[others != cluster]
        similar = self._similar(cluster, others)
        others, similar = others[similar >= self.threshold], similar[similar >= self.threshold]
        ranks = np.rint(similar * DIGITS)
        while len(others):
            first = int(np.argmax(ranks))
            if self.marks[cluster].isdisjoint(self.marks[others[first]]):
                self.near[cluster] = others
                return float(ranks[first]), int(others[first])
            others, ranks = np.delete(others, first), np.delete(ranks, first)
        self.near[cluster] = others
        return None

    def _similar(self, cluster: int, others: Ints) -> Floats:
        common = self.sums[others] @ self.sums[cluster]
        if self.traits:
            common += self.traits.common(cluster, others)
        similar: Floats = common / (self.sizes[others] * self.sizes[cluster])
        return similar

    def _roots(self, faces: Ints) -> Ints:
        """The clusters that faces or former clusters are in, each once, in order."""
        return np.unique(self._root(faces))

    def _root(self, faces: Ints) -> Ints:
        roots: Ints = self.into[faces]
        while (further := self.into[roots]).tobytes() != roots.tobytes():
            roots = further
        return roots

    def numbered(self) -> Ints:
        """The cluster of each face, from 0."""
        numbers: Ints = np.unique(self._root(np.arange(len(self.into))), return_inverse=True)[1]
        return numbers


def _marks(constraints: Constraints) -> list[set[int]]:
    """Clusters that share a mark are never merged: each photo is a mark of its faces, each cannot-link of its two."""
    marks: list[set[int]] = [set() if photo == ANY else {photo} for photo in constraints.photo.tolist()]
    for number, pair in enumerate(constraints.cannot.tolist()):
        for face in pair:
            marks[face].add(ANY - 1 - number)
    return marks


def _near(pairs: Ints, faces: int) -> list[Ints]:
    """For each face the others that it is in a pair with."""
    both = np.concatenate([pairs, pairs[:, ::-1]])
    both = both[np.argsort(both[:, 0], kind="stable")]
    return np.split(both[:, 1].copy(), np.searchsorted(both[:, 0], np.arange(1, faces)))


def _same(numbers: Sequence[str | None]) -> Iterator[Ints]:
    """The faces of each number that more than one has."""
    faces: dict[str, list[int]] = {}
    for face, number in enumerate(numbers):
        if number is not None:
            faces.setdefault(number, []).append(face)
    yield from (np.array(each) for each in faces.values() if len(each) > 1)

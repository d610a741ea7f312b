"""Clusters of faces on their way: the two most similar ones are merged, again and again, by the rules of clustering."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import numpy as np

from harness.pipeline.identity.constraints import ANY, Constraints
from harness.pipeline.identity.hints import Traits
from harness.pipeline.identity.searching import comparable
from harness.scoring.boxes import Floats, Ints
from harness.scoring.people import Vectors
from harness.scoring.searching import DIGITS


class Clusters:
    """Clusters on their way, each named by its lowest face."""

    def __init__(
        self, vectors: Vectors, threshold: float, constraints: Constraints, traits: Traits | None, pairs: Ints
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

    def merges(self) -> Iterator[tuple[int, int, float]]:
        """The most similar two clusters that may be merged, again and again, and how similar they are; whoever takes
        them joins them.

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
            rank, low, high, owner, then = heapq.heappop(heap)
            if self.looked[owner] != then or self.into[owner] != owner:
                continue
            if max(self.changed[low], self.changed[high]) > then:
                look(owner)
                continue
            self.now += 1
            yield low, high, -rank / DIGITS
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
        return np.unique(ends(self.into, faces))


def ends(into: Ints, faces: Ints) -> Ints:
    """Where each face ends up, when what it was merged into was merged in turn."""
    found: Ints = into[faces]
    while (further := into[found]).tobytes() != found.tobytes():
        found = further
    return found


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

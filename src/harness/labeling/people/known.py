"""Known people, as faces that have no name yet are compared with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from harness.labeling.people.clusters import Clusters
from harness.labeling.people.faces import Face, FaceIndex
from harness.scoring.boxes import Floats, Ints
from harness.scoring.people import Vectors

#: So many known people are offered for a group: as many as there are keys.
MOST_NEAR = 9
#: So many of the most similar people may be impossible for a group, and there are still enough left to offer.
_PASSED_OVER = 8
#: Similarities that are computed together; bounds the memory.
_BLOCK = 1 << 21


@dataclass(frozen=True, slots=True)
class Near:
    """A known person who looks like somebody: how similar, and one of their faces."""

    name: str
    similarity: float
    face: Face


class KnownPeople:
    """Known people as they are compared: the mean of the vectors of each."""

    def __init__(self, index: FaceIndex, clusters: Clusters) -> None:
        self.people, self._clusters = index.people, clusters
        seen = {
            name: [clusters.rows[face.where] for face in faces if face.where in clusters.rows]
            for name, faces in self.people.items()
        }
        self.names = [name for name, rows in seen.items() if rows]
        self._means = self._mean([seen[name] for name in self.names])
        self.numbers = {name: {face.number for face in faces if face.number} for name, faces in self.people.items()}
        self._photos = {name: {face.photo for face in faces} for name, faces in self.people.items()}
        #: People whom each face was said not to be.
        self._not: dict[str, set[str]] = {}
        for group in index.cannot_link:
            there = [index.by_name[face] for face in group if face in index.by_name]
            for face in there:
                self._not.setdefault(face.name, set()).update(
                    other.identity for other in there if other.identity and other.name != face.name
                )

    def similar(self, groups: Sequence[Sequence[Face]]) -> Iterator[tuple[int, Floats]]:
        """How similar each of some groups is to each known person, one row a group; -1 where that cannot be told. Some
        rows at a time, with the first of them."""
        together = max(1, _BLOCK // max(1, len(self.names)))
        for first in range(0, len(groups), together):
            block = groups[first : first + together]
            rows = [
                [self._clusters.rows[face.where] for face in group if face.where in self._clusters.rows]
                for group in block
            ]
            found = self._mean(rows) @ self._means.T
            found[[not own for own in rows]] = -1.0
            yield first, np.asarray(found, dtype=np.float64)

    def _mean(self, rows: Sequence[Sequence[int]]) -> Vectors:
        """The direction of the mean of some rows, several times."""
        vectors = self._clusters.vectors
        means = np.zeros((len(rows), vectors.shape[1]), dtype=np.float32)
        for place, own in enumerate(rows):
            if own:
                means[place] = vectors[own].sum(axis=0)
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        return np.asarray(means / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)

    def may_be(self, faces: Sequence[Face], name: str) -> bool:
        """Whether nothing is said against these faces being a person's: another face of theirs in one of the photos, or
        a cannot-link."""
        photos = self._photos[name]
        return not any(face.photo in photos or name in self._not.get(face.name, ()) for face in faces)

    def nearest(self, groups: Sequence[Sequence[Face]], most: int = MOST_NEAR) -> list[tuple[Near, ...]]:
        """The most similar people whom each of some groups may show, best first."""
        if not self.names:
            return [()] * len(groups)
        found: list[tuple[Near, ...]] = []
        for first, similar in self.similar(groups):
            best = _highest(similar, most + _PASSED_OVER).tolist()
            for group, row, order in zip(groups[first:], similar, best, strict=False):
                named = ((self.names[place], float(row[place])) for place in order if row[place] > -1)
                may_be = (Near(name, score, self.people[name][0]) for name, score in named if self.may_be(group, name))
                found.append(tuple(islice(may_be, most)))
        return found


def _highest(similar: Floats, most: int) -> Ints:
    """The columns of the highest values of each row, the highest first, of equal ones the first."""
    if most < similar.shape[1]:
        chosen = np.sort(np.argpartition(-similar, most - 1, axis=1)[:, :most], axis=1)
    else:
        chosen = np.broadcast_to(np.arange(similar.shape[1]), similar.shape)
    order = np.argsort(-np.take_along_axis(similar, chosen, axis=1), axis=1, kind="stable")
    found: Ints = np.take_along_axis(chosen, order, axis=1)
    return found

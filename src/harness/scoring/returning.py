"""What comes back for a runner: by selfie, and by selfie and number together.

By selfie, the photos whose score reaches the threshold (`searching.py`).

By both, faces lead to numbers and numbers to faces:

1. The number is the runner's. Where they have none, it is the number linked to the faces that reach the threshold, if
   one number has more than half of the sum of their scores.
2. Photos in which the pipeline read that number come back.
3. The enrolled faces that are linked to that number are averaged with the query, and photos whose score by that average
   reaches the same threshold come back as well.

A runner who has a number and no query is asked for by the number alone. The photo that a query was cut from takes no
part: not its faces, not its numbers, and it never comes back. Which faces vote and are averaged is decided as in the
product, without a look at the labels: `Returning.follow` is what `harness find` answers by, too (`answering.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from harness.scoring.boxes import Bools, Floats, Ints
from harness.scoring.people import Evidence
from harness.scoring.searching import DIGITS, Look, Search

Numbers = tuple[str, ...]


@dataclass(frozen=True)
class Followed:
    """Where some queries lead, without a look at the labels: how similar each face is to the query and to the average
    of the query and the faces linked to its `numbers`, and in which photos (one column each) these were read."""

    look: Look
    average: Look
    numbers: tuple[Numbers, ...]
    reads: Bools


@dataclass(frozen=True)
class Returned:
    """What comes back for some queries, one row a query and one column a photo. `scores` are those of eligible faces,
    `any_scores` those of all faces; `by_both` has the better of query and average. `reads` is where the number is."""

    look: Look
    average: Look
    scores: Floats
    any_scores: Floats
    scores_by_both: Floats
    any_by_both: Floats
    reads: Bools
    #: Whether there was a face to search by, of the query or of an average.
    by_face: Bools


@dataclass(frozen=True)
class Returning:
    """A search by selfie and number."""

    search: Search

    @property
    def _evidence(self) -> Evidence:
        return self.search.evidence

    @cached_property
    def _faces_of(self) -> dict[str, Ints]:
        """The enrolled faces that are linked to each number."""
        faces = self._evidence.faces
        found: dict[str, list[int]] = {}
        for row in np.flatnonzero(faces.enrolled).tolist():
            if (number := faces.numbers[row]) is not None:
                found.setdefault(number, []).append(row)
        return {number: np.array(rows) for number, rows in found.items()}

    @cached_property
    def _photos_of(self) -> dict[str, Ints]:
        """The photos in which each number was read."""
        found: dict[str, list[int]] = {}
        for row, numbers in enumerate(self._evidence.photos.read):
            for number in numbers:
                found.setdefault(number, []).append(row)
        return {number: np.array(rows) for number, rows in found.items()}

    @cached_property
    def _numbered(self) -> Bools:
        return np.array([number is not None for number in self._evidence.faces.numbers], dtype=bool)

    def by_query(self, rows: Ints, threshold: Floats) -> Returned:
        """What comes back for these queries, each at its threshold."""
        queries = self._evidence.queries
        return self._returned(queries.vectors[rows].astype(np.float64), self.search.look(rows), threshold)

    def by_number(self, person: Ints, threshold: Floats) -> Returned:
        """What comes back for these people by their numbers alone."""
        vectors = np.zeros((len(person), self._evidence.faces.vectors.shape[1]))
        nowhere = np.full((len(person), len(self._evidence.faces)), -np.inf)
        return self._returned(vectors, Look(person, np.full(len(person), -1), nowhere), threshold)

    def reads(self, numbers: Numbers, own: int = -1) -> Bools:
        """The photos in which one of these numbers was read, but for the own one."""
        found = np.zeros(len(self._evidence.photos), dtype=bool)
        for number in numbers:
            found[self._photos_of.get(number, [])] = True
        if own >= 0:
            found[own] = False
        return found

    def follow(self, vectors: Floats, look: Look, given: Sequence[Numbers], threshold: Floats) -> Followed:
        """Where these queries lead, each at its threshold. A query with `given` numbers is not asked for others."""
        numbers = tuple(
            own or self._voted(similarity, least)
            for own, similarity, least in zip(given, look.similarity, threshold, strict=True)
        )
        reads = [self.reads(theirs, own) for theirs, own in zip(numbers, look.own.tolist(), strict=True)]
        return Followed(
            look,
            self._look_by_average(vectors, look, numbers),
            numbers,
            np.array(reads, dtype=bool).reshape(len(numbers), len(self._evidence.photos)),
        )

    def _returned(self, vectors: Floats, look: Look, threshold: Floats) -> Returned:
        given = [self._evidence.people[person].numbers for person in look.person.tolist()]
        found = self.follow(vectors, look, given, threshold)
        wide, average = (self.search.by_photo(each.similarity) for each in (look, found.average))
        scores = self.search.scores(look, wide)
        return Returned(
            look,
            found.average,
            scores,
            wide,
            np.maximum(scores, self.search.scores(found.average, average)),
            np.maximum(wide, average),
            found.reads,
            np.any(vectors, axis=1) | np.any(found.average.similarity > -np.inf, axis=1),
        )

    def _voted(self, similarity: Floats, threshold: float) -> Numbers:
        """The number that most of the faces which reach the threshold are linked to, by the sum of their scores."""
        sums: Counter[str] = Counter()
        for face in np.flatnonzero((similarity >= threshold) & self._numbered).tolist():
            # Whole numbers add up to the same in whatever order.
            sums[str(self._evidence.faces.numbers[face])] += round(similarity[face] * DIGITS)
        first = min(sums, key=lambda number: (-sums[number], number), default="")
        return (first,) if sums and 2 * sums[first] > sums.total() else ()

    def _look_by_average(self, vectors: Floats, look: Look, numbers: Sequence[Numbers]) -> Look:
        """Search by the average of each query and the faces linked to its numbers; -inf where there are none."""
        similarity = np.full(look.similarity.shape, -np.inf)
        rows, averages = [], []
        for row, theirs in enumerate(numbers):
            faces = self._linked(theirs, int(look.own[row]))
            total = vectors[row] + self._evidence.faces.vectors[faces].astype(np.float64).sum(axis=0)
            if len(faces) and np.linalg.norm(total) > 0:
                rows.append(row)
                averages.append(total / np.linalg.norm(total))
        if rows:
            found = self.search.look_by(np.array(averages), look.person[rows], look.own[rows])
            similarity[rows] = found.similarity
        return Look(look.person, look.own, similarity)

    def _linked(self, numbers: Numbers, own: int) -> Ints:
        """The enrolled faces that are linked to one of these numbers, but for those in the own photo."""
        found = [self._faces_of[number] for number in numbers if number in self._faces_of]
        faces = np.concatenate([np.empty(0, dtype=np.int64), *found])
        others: Ints = faces[self._evidence.faces.photo[faces] != own]
        return others

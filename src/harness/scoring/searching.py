"""The search that identity is judged by: each query against all faces, a block of queries at a time.

- The score of a photo is the best similarity of its *eligible* faces. In a photo in which the person is labelled these
  are their own faces and unknown ones: a face that is known to be somebody else's never makes the photo come back. In
  any other photo they are the faces that are known not to be theirs: those of a known person or of nobody, and all
  faces where it is said who is in the photo. Other unknown faces may be anybody's.
- The photo that a query was cut from takes no part. Only enrolled faces are searched; with the gallery `linked`, only
  those that the pipeline linked to a bib.
- Similarities are computed in double precision and rounded to nine digits: equal faces have equal scores on every
  machine and in every block, and a threshold just above a score is above it wherever that is computed again.

**Strangers.** Each fifth of the people is taken out of the gallery in turn. A query's stranger score is its best
similarity with a face that is known to be of none of its fifth. It says what a search returns for somebody who is not
there. A query without any such face was compared with nobody and has no stranger score.

**Operating point.** Of n stranger scores, floor(FPIR x n) may return somebody: the threshold is just above the next
highest. People are judged by the threshold of the other four fifths. With fewer than 1 / FPIR stranger scores it is
just above the highest, and an FPIR so low cannot be measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from harness.scoring.boxes import Bools, Floats, Ints
from harness.scoring.people import FOLDS, NOBODY, UNKNOWN, Evidence, Vectors

#: Pairs of a query and a face that are looked at together, and faces that are made double at a time: bounds the memory.
BLOCK, TILE = 1 << 22, 1 << 13
#: Similarities are told apart in steps of 1 / DIGITS.
DIGITS = 10**9
#: At most so many points make a curve.
MOST_POINTS = 200
_ROUNDING = 1e-9

Gallery = Literal["all", "linked"]
Pairs = tuple[Ints, Ints]


@dataclass(frozen=True)
class Look:
    """Some queries, and how similar each is to each face: -inf for faces that are not searched, or in its own photo."""

    person: Ints
    own: Ints
    similarity: Floats


@dataclass(frozen=True)
class Search:
    """What can be searched, and by which rules."""

    evidence: Evidence
    gallery: Gallery = "all"

    @cached_property
    def searched(self) -> Bools:
        """Which faces are searched."""
        faces = self.evidence.faces
        return faces.enrolled & faces.linked if self.gallery == "linked" else faces.enrolled

    def blocks(self, chosen: Bools | None = None) -> Iterator[Ints]:
        """The queries, or those that are chosen, by their rows, as many at a time as memory allows."""
        return self.in_blocks(np.arange(len(self.evidence.queries)) if chosen is None else np.flatnonzero(chosen))

    def in_blocks(self, rows: Ints) -> Iterator[Ints]:
        """As many of the rows at a time as memory allows."""
        together = max(1, BLOCK // max(1, len(self.evidence.faces), len(self.evidence.photos)))
        for first in range(0, len(rows), together):
            yield rows[first : first + together]

    def look(self, rows: Ints) -> Look:
        """Search by these queries."""
        queries = self.evidence.queries
        return self.look_by(queries.vectors[rows], queries.person[rows], queries.photo[rows])

    def look_by(self, vectors: Floats | Vectors, person: Ints, own: Ints) -> Look:
        """Search by these vectors of people; `own` is the photo that takes no part, or -1."""
        similarity = similarities(vectors, self.evidence.faces.vectors)
        similarity[:, ~self.searched] = -np.inf
        row, face = self.faces_in(np.flatnonzero(own >= 0), own[own >= 0])
        similarity[row, face] = -np.inf
        return Look(person, own, similarity)

    def wanted(self, look: Look) -> Pairs:
        """Where the people are labelled, their own photo left out: the row of the query, and that of the appearance."""
        count = self._first_seen[look.person + 1] - self._first_seen[look.person]
        row, place = _ranges(np.arange(len(look.person)), self._first_seen[look.person], count)
        seen = self._seen_by_person[place]
        other = self.evidence.appearances.photo[seen] != look.own[row]
        return row[other], seen[other]

    def seen(self, person: int) -> Ints:
        """The appearances of a person."""
        return self._seen_by_person[self._first_seen[person] : self._first_seen[person + 1]]

    def scores(self, look: Look, any_face: Floats | None = None) -> Floats:
        """The score of each photo for each query; -inf where no face is eligible. `any_face` is what `by_photo` says of
        the same look, where that is known."""
        faces, seen_in = self.evidence.faces, self.evidence.appearances.photo
        best = self._scores_of_others(look.similarity, any_face)
        row, seen = self.wanted(look)
        best[row, seen_in[seen]] = -np.inf
        pair, face = self.faces_in(np.arange(len(row)), seen_in[seen])
        theirs = (faces.person[face] == look.person[row[pair]]) | (faces.person[face] == UNKNOWN)
        pair, face = pair[theirs], face[theirs]
        np.maximum.at(best, (row[pair], faces.photo[face]), look.similarity[row[pair], face])
        return best

    def _scores_of_others(self, similarity: Floats, any_face: Floats | None) -> Floats:
        """The greatest similarity with a face of somebody else in each photo, as if nobody were labelled there."""
        if self.of_others.all():
            return self.by_photo(similarity) if any_face is None else any_face.copy()
        return self.by_photo(np.where(self.of_others, similarity, -np.inf))

    def by_photo(self, similarity: Floats) -> Floats:
        """The greatest similarity in each photo."""
        first, count, place = self._by_size
        best = np.full((len(similarity), len(first) + 1), -np.inf)  # the last is for photos without a face
        for more in range(int(count.max(initial=0))):
            so_many = int(np.count_nonzero(count > more))
            here = best[:, :so_many]
            np.maximum(here, similarity.take(first[:so_many] + more, axis=1), out=here)
        return best.take(place, axis=1)

    def strangers(self, look: Look) -> Floats:
        """The stranger score of each query; -inf where there is none."""
        found = np.empty(len(look.person))
        folds = self.evidence.folds[look.person]
        for fold in range(FOLDS):
            rows = np.flatnonzero(folds == fold)
            where = self._not_of_fold[fold]
            found[rows] = np.max(look.similarity[rows], axis=1, initial=-np.inf, where=where)
        return found

    def stranger_scores(self) -> Floats:
        """The stranger scores of all queries."""
        return np.concatenate([np.empty(0), *(self.strangers(self.look(rows)) for rows in self.blocks())])

    @cached_property
    def of_others(self) -> Bools:
        """Faces that are somebody else's in a photo in which a person is not labelled."""
        faces, photos = self.evidence.faces, self.evidence.photos
        others: Bools = (faces.person != UNKNOWN) | photos.people_said[faces.photo]
        return others

    @cached_property
    def _not_of_fold(self) -> list[Bools]:
        """For each fold the searched faces that are known to be of none of its people."""
        faces, photos, seen = self.evidence.faces, self.evidence.photos, self.evidence.appearances
        fold = np.append(self.evidence.folds, [-1, -1])[faces.person]  # UNKNOWN and NOBODY are the last two
        found = []
        for each in range(FOLDS):
            there = np.zeros(len(photos), dtype=bool)
            there[seen.photo[self.evidence.folds[seen.person] == each]] = True
            known = (faces.person == NOBODY) | ((faces.person >= 0) & (fold != each))
            found.append(self.searched & (known | (photos.people_said & ~there)[faces.photo]))
        return found

    @cached_property
    def _by_size(self) -> tuple[Ints, Ints, Ints]:
        """Of the photos with faces, those with the most first: their first face and how many they have; and for every
        photo its place among them, the last for one without a face."""
        count = np.diff(self.first_face)
        order = np.argsort(-count, kind="stable")[: np.count_nonzero(count)]
        place = np.full(len(count), len(order))
        place[order] = np.arange(len(order))
        return self.first_face[order], count[order], place

    @cached_property
    def first_face(self) -> Ints:
        """Where the faces of each photo begin, and after the last photo where they end."""
        return np.searchsorted(self.evidence.faces.photo, np.arange(len(self.evidence.photos) + 1))

    @cached_property
    def _seen_by_person(self) -> Ints:
        return np.argsort(self.evidence.appearances.person, kind="stable")

    @cached_property
    def _first_seen(self) -> Ints:
        return np.searchsorted(np.sort(self.evidence.appearances.person), np.arange(len(self.evidence.people) + 1))

    def faces_in(self, row: Ints, photo: Ints) -> Pairs:
        """All faces in these photos, each with the row of its photo."""
        return _ranges(row, self.first_face[photo], self.first_face[photo + 1] - self.first_face[photo])


@dataclass(frozen=True)
class Operating:
    """The least score that returns a photo, for people of each fold, by how many stranger scores each is set, and
    `whole`, the threshold of all of them together, for photos that have no part in it."""

    target: float
    thresholds: tuple[float, ...]
    strangers: tuple[int, ...]
    whole: float
    source: str = "cross-fitted"

    @classmethod
    def of(cls, scores: Floats, folds: Ints, target: float) -> Operating:
        """Cross-fitted: each fold by the stranger scores of the others; `folds` has the fold of each score."""
        others = [scores[(folds != fold) & (scores > -np.inf)] for fold in range(FOLDS)]
        thresholds = tuple(threshold_at(each, target) for each in others)
        return cls(target, thresholds, tuple(map(len, others)), threshold_at(scores[scores > -np.inf], target))

    @classmethod
    def fixed(cls, target: float, threshold: float, strangers: int, source: str) -> Operating:
        """One threshold for all, which was set on other photos by so many stranger scores."""
        return cls(target, (threshold,) * FOLDS, (strangers,) * FOLDS, threshold, source)

    @property
    def measurable(self) -> bool:
        """Whether every threshold rests on enough stranger scores to tell so low a share."""
        return all(n * self.target >= 1 - _ROUNDING for n in self.strangers)

    def by_person(self, folds: Ints) -> Floats:
        """The threshold of each person, whose folds are given."""
        return np.array(self.thresholds)[folds]


def operate(search: Search, targets: Sequence[float]) -> tuple[Operating, ...]:
    """The operating points of a search for these FPIRs."""
    scores, folds = search.stranger_scores(), search.evidence.folds[search.evidence.queries.person]
    return tuple(Operating.of(scores, folds, target) for target in targets)


def threshold_at(scores: Floats, share: float) -> float:
    """Just above the score that one too many would reach, where a share of the scores may be returned. Without a score
    there is nothing to go by, and nothing is returned."""
    if not 0 < share < 1:
        raise ValueError(f"a share of {share}; expected a number above 0 and below 1")
    if not len(scores):
        return math.inf
    allowed = allowed_of(len(scores), share)
    return float(np.nextafter(np.partition(scores, len(scores) - 1 - allowed)[len(scores) - 1 - allowed], np.inf))


def allowed_of(n: int, share: float) -> int:
    """How many of n may be returned: floor(share x n), where 29 % of 100 are 29."""
    return math.floor(share * n + _ROUNDING)


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """At a threshold: the share of strangers' queries that return somebody, of mated ones that miss their person."""

    threshold: float
    fpir: float
    fnir: float


def fnir_curve(mated: Floats, strangers: Floats) -> tuple[CurvePoint, ...]:
    """FNIR over FPIR, from the scores of the queries whose person is there, each the best of a wanted photo, and the
    stranger scores: one point for each number of strangers that are returned, thinned out where there are many."""
    ours, theirs = np.sort(mated), np.sort(strangers[strangers > -np.inf])[::-1]
    if not len(ours) or not len(theirs):
        return ()
    counts = np.unique(np.r_[0, np.geomspace(1, len(theirs), MOST_POINTS).astype(np.int64)])
    cuts = np.nextafter(np.append(theirs, -np.inf)[counts], np.inf)
    returned = len(theirs) - np.searchsorted(theirs[::-1], cuts)
    missed = np.searchsorted(ours, cuts)
    points = dict(zip(cuts.tolist(), zip(returned / len(theirs), missed / len(ours), strict=True), strict=True))
    return tuple(CurvePoint(cut, float(fpir), float(fnir)) for cut, (fpir, fnir) in points.items())


def similarities(queries: Floats | Vectors, faces: Vectors) -> Floats:
    """Cosine similarities of vectors of length 1, rounded to nine digits."""
    found, wide = np.empty((len(queries), len(faces))), queries.astype(np.float64)
    for first in range(0, len(faces), TILE):
        np.matmul(wide, faces[first : first + TILE].astype(np.float64).T, out=found[:, first : first + TILE])
    np.multiply(found, DIGITS, out=found)
    np.rint(found, out=found)
    np.divide(found, DIGITS, out=found)
    return found


def _ranges(row: Ints, first: Ints, count: Ints) -> Pairs:
    """For each row, as many whole numbers from `first` on as it counts."""
    skipped = np.cumsum(count) - count
    return np.repeat(row, count), np.arange(count.sum()) - np.repeat(skipped - first, count)

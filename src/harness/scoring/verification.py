"""Verification scorecard: do the faces of one person look alike, and those of two people different?

All pairs of enrolled faces of which it is known whose they are, but for pairs within one photo. A pair is *genuine*
where both are one person's, else an *impostor* pair; a face of nobody makes impostor pairs only. Similarities are told
apart in steps of 1 / STEPS, so that any number of pairs is counted in one table, some of them at a time. Of more than
MOST_FACES faces, all genuine pairs are compared, and the impostor pairs of MOST_FACES faces that are evenly spread over
all of them: that is five billion, where a FAR of 1e-4 needs ten thousand.

- TAR at FAR f: the share of genuine pairs at or above the threshold at which, of n impostor pairs, at most floor(f x n)
  are; n/a with fewer than 1 / f impostor pairs.
- EER: the mean of FAR and FRR at the threshold at which they are nearest to each other, the lowest of such.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import ClassVar

import numpy as np

from harness.scoring.boxes import Bools, Floats, Ints
from harness.scoring.cards import Column, Declaration, Figure, Note, Rate, Scorecard, Section
from harness.scoring.people import NOBODY, UNKNOWN, Evidence, Faces, Tallied, counts_by_person, sum_by
from harness.scoring.searching import allowed_of, similarities
from harness.scoring.uncertainty import Jackknifed, jackknifed, parts_of

STEPS = 10**4
#: One place for each similarity from -1 to 1.
PLACES = 2 * STEPS + 1
#: So many faces make impostor pairs, and so many are compared with so many at a time: what a processor has at hand.
MOST_FACES, TOGETHER = 100_000, 512
#: The FARs at which TAR is told, by what their counts are called.
FARS = {0.01: "1e_2", 0.001: "1e_3", 0.0001: "1e_4"}
EER = "verify/eer"
#: Bars of a histogram of scores.
BARS = 100


@dataclass(frozen=True)
class VerifyScorecard(Scorecard):
    """Genuine pairs, and those of them that are accepted where a FAR can be measured."""

    faces: int = 0
    genuine: int = 0
    genuine_1e_2: int = 0
    accepted_1e_2: int = 0
    genuine_1e_3: int = 0
    accepted_1e_3: int = 0
    genuine_1e_4: int = 0
    accepted_1e_4: int = 0
    impostors: int = 0

    DECLARED: ClassVar = Declaration(
        name="verify",
        rates={
            f"tar_{name}": Rate.of(
                f"verify/tar_at_far_{name.replace('_', '-')}",
                f"accepted_{name}",
                f"genuine_{name}",
                label=f"TAR at FAR {name.replace('_', '-')}",
            )
            for name in FARS.values()
        },
        counts={
            "faces": "count/verify_faces",
            "genuine": "count/verify_genuine_pairs",
            "impostors": "count/verify_impostor_pairs",
        },
        figures=(Figure(EER, label="EER", basis=("genuine",), words="genuine pairs", better="lower"),),
        sections=(
            Section(
                "Faces compared",
                (*(f"verify/tar_at_far_{name.replace('_', '-')}" for name in FARS.values()), EER),
                (
                    Note("genuine", "genuine pairs", always=True),
                    Note("impostors", "impostor pairs", always=True),
                ),
            ),
        ),
    )


@dataclass(frozen=True)
class ScoreHistogram:
    """How many genuine and impostor pairs have a similarity in each of `BARS` equal parts from -1 to 1."""

    genuine: tuple[int, ...]
    impostors: tuple[int, ...]

    @property
    def edges(self) -> tuple[float, ...]:
        """Where the parts begin, and where the last ends."""
        return tuple(-1 + 2 * n / BARS for n in range(BARS + 1))


@dataclass(frozen=True)
class VerifyTally(Tallied):
    """The scorecard, and the distributions of scores."""

    histogram: ScoreHistogram = ScoreHistogram((), ())


@dataclass(frozen=True)
class _Pairs:
    """All pairs by their similarity. Genuine ones by person; impostor ones in all (the last row) and those that have a
    face of each part of the people."""

    person: Ints
    place: Ints
    count: Ints
    impostors: Ints

    @property
    def genuine(self) -> Ints:
        """Genuine pairs by their similarity."""
        return sum_by(self.place, self.count, PLACES).astype(np.int64)


def tally_verification(evidence: Evidence) -> VerifyTally:
    """Compare all faces of which it is known whose they are."""
    people = len(evidence.people)
    names, parts = parts_of([person.name for person in evidence.people], evidence.groups)
    pairs = _compare(evidence, parts, len(names))
    total, genuine = pairs.impostors[-1], sum_by(pairs.person, pairs.count, people)
    columns: dict[str, Column] = {"genuine": genuine, "faces": _faces(evidence)}
    impostors = int(total.sum())
    for far, name in FARS.items():
        if impostors * far >= 1 - 1e-9:
            accepted = pairs.place >= _place_at(total, allowed_of(impostors, far))
            columns[f"genuine_{name}"] = genuine
            columns[f"accepted_{name}"] = sum_by(pairs.person[accepted], pairs.count[accepted], people)
    shared = {"impostors": impostors}
    value = _eer(pairs.genuine, total)
    return VerifyTally(
        counts=counts_by_person(VerifyScorecard, columns, people, shared),
        figures={} if np.isnan(value) else {EER: value},
        sureness={} if np.isnan(value) else _sureness(value, pairs, names, parts, genuine, evidence.groups),
        shared=shared,
        histogram=ScoreHistogram(_bars(pairs.genuine), _bars(total)),
    )


def _faces(evidence: Evidence) -> Ints:
    faces = evidence.faces
    return np.bincount(faces.person[faces.enrolled & (faces.person >= 0)], minlength=len(evidence.people))


def _compare(evidence: Evidence, parts: Ints, count: int) -> _Pairs:
    """Count all genuine pairs, and the impostor pairs of the faces that are chosen for them."""
    faces = evidence.faces
    known = np.flatnonzero(faces.enrolled & (faces.person != UNKNOWN))
    genuine = [np.empty((0, 2), dtype=np.int64), *_genuine(faces, known)]
    keys, times = np.concatenate(genuine).T
    return _Pairs(keys // PLACES, keys % PLACES, times, _impostors(faces, _spread(known, MOST_FACES), parts, count))


def _genuine(faces: Faces, rows: Ints) -> Iterator[Ints]:
    """Each person's pairs of faces in different photos: the person and the place of the similarity as one number, and
    how many there are."""
    rows = rows[faces.person[rows] != NOBODY]
    rows = rows[np.argsort(faces.person[rows], kind="stable")]
    for own in np.split(rows, np.flatnonzero(np.diff(faces.person[rows])) + 1):
        for some, others in _tiles(own, own):
            place = _places(faces, some, others)[_each_once(some, others) & _apart(faces, some, others)]
            keys, times = np.unique(faces.person[own[0]] * PLACES + place, return_counts=True)
            yield np.stack([keys, times], axis=1)


def _impostors(faces: Faces, rows: Ints, parts: Ints, count: int) -> Ints:
    """The pairs of two people in different photos by the place of their similarity: for each part of the people those
    that have a face of it, and in the last row all of them."""
    part_of = np.append(parts, [count, count])[faces.person[rows]]  # NOBODY is of no part
    of_part = [rows[part_of == part] for part in range(count + 1)]
    found = np.zeros((count + 2, PLACES), dtype=np.int64)
    for part, other in combinations_with_replacement(range(count + 1), 2):
        for some, others in _tiles(of_part[part], of_part[other]):
            place, pairs = _places(faces, some, others), _apart(faces, some, others)
            if part == other:  # elsewhere all are two people, and every pair is met once
                pairs &= (faces.person[some, None] != faces.person[others]) | (faces.person[others] == NOBODY)
                pairs &= _each_once(some, others)
            place[~pairs] = PLACES
            counts = np.bincount(place.ravel(), minlength=PLACES + 1)[:PLACES]
            for row in {part, other, count + 1}:
                found[row] += counts
    return np.delete(found, count, axis=0)


def _spread(rows: Ints, most: int) -> Ints:
    """At most so many of the rows, evenly spread over all of them."""
    return rows[np.linspace(0, len(rows), min(len(rows), most), endpoint=False).astype(np.int64)]


def _tiles(rows: Ints, columns: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Some of the rows with some of the columns, until each has met each. Of rows with themselves, the tiles below the
    diagonal, which have the pairs of those above it, are left out."""
    for first in range(0, len(rows), TOGETHER):
        start = first if columns is rows else 0
        for column in range(start, len(columns), TOGETHER):
            yield rows[first : first + TOGETHER], columns[column : column + TOGETHER]


def _places(faces: Faces, some: Ints, others: Ints) -> Ints:
    """The place of the similarity of each of some faces with each of the others."""
    similar = similarities(faces.vectors[some], faces.vectors[others])
    np.rint(np.multiply(similar, STEPS, out=similar), out=similar)
    np.clip(np.add(similar, STEPS, out=similar), 0, PLACES - 1, out=similar)
    return similar.astype(np.int64)


def _apart(faces: Faces, some: Ints, others: Ints) -> Bools:
    """Which pairs are of different photos."""
    pairs: Bools = faces.photo[some, None] != faces.photo[others]
    return pairs


def _each_once(some: Ints, others: Ints) -> Bools:
    """Of the pairs of faces with each other, each once, and none of a face with itself."""
    pairs: Bools = some[:, None] < others
    return pairs


def _place_at(counts: Ints, allowed: int) -> int:
    """The lowest place from which on there are no more than are allowed."""
    return int(np.count_nonzero(np.cumsum(counts[::-1]) > allowed))


def _eer(genuine: Ints, impostors: Ints) -> float:
    """The equal error rate of pairs by their similarity; NaN without pairs of both kinds."""
    ours, theirs = int(genuine.sum()), int(impostors.sum())
    if not ours or not theirs:
        return float("nan")
    rejected = np.concatenate([[0], np.cumsum(genuine)])
    accepted = theirs - np.concatenate([[0], np.cumsum(impostors)])
    place = int(np.argmin(np.abs(rejected * theirs - accepted * ours)))
    return float(rejected[place] / ours + accepted[place] / theirs) / 2


def _sureness(
    value: float, pairs: _Pairs, names: tuple[str, ...], parts: Ints, genuine: Floats, groups: tuple[str, ...]
) -> Mapping[str, Jackknifed]:
    """How sure the EER is, by leaving out each part of the people with all pairs that they are in."""
    without = []
    for part in range(len(names)):
        kept = parts[pairs.person] != part
        ours = sum_by(pairs.place[kept], pairs.count[kept], PLACES).astype(np.int64)
        without.append(_eer(ours, pairs.impostors[-1] - pairs.impostors[part]))
    return {EER: jackknifed(value, np.array(without), names, genuine, groups)}


def _bars(counts: Ints) -> tuple[int, ...]:
    """The same in fewer parts; a similarity of 1 belongs to the last."""
    place = np.minimum(np.arange(PLACES) * BARS // (PLACES - 1), BARS - 1)
    return tuple(int(count) for count in sum_by(place, counts, BARS))

"""Who is where: the evidence that the scorecards of identity (`verify`, `cluster`, `selfie`, `find`) are made of.

The evidence is plain arrays: people, photos, the faces that a pipeline found in them with their vectors, in which
photos each person is labelled, and the pictures that people search with. One item of these scorecards is one person.

A face's person is its identity, else the complete number of its linked bib. A face may be UNKNOWN: it may be anybody's,
so that it is no target and no error, wherever it is returned. NOBODY is somebody without a name who was seen once:
whoever is found or grouped with such a face is wrong.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from harness.scoring.boxes import Bools, Floats, Ints
from harness.scoring.cards import Column, Counted, ItemCounts, Scorecard, Tally
from harness.scoring.slices import Slice
from harness.scoring.uncertainty import Jackknifed

#: In place of a person's position: may be anybody; somebody without a name, whom nobody wants.
UNKNOWN, NOBODY = -1, -2
#: How many parts people are cut into: each in turn is taken out of the gallery and searches as strangers do.
FOLDS = 5

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who is labelled in a photo, or has a selfie. A `runner` wants their photos; a bystander does not.
    `numbers` are the complete numbers that they wear; `group` holds most of their photos."""

    name: str
    runner: bool = True
    numbers: tuple[str, ...] = ()
    group: str = ""


@dataclass(frozen=True, slots=True)
class Photos:
    """What is known and read in each photo. `people_said`: it is known who is in it, so that anybody else is an error;
    `bibs_said`: its bibs are labelled, so that a number that is not among them is one. `read` are the whole numbers
    that the pipeline read."""

    names: tuple[str, ...]
    people_said: Bools
    bibs_said: Bools
    read: tuple[frozenset[str], ...]

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, slots=True)
class Faces:
    """The faces that the pipeline found, those of one photo side by side, photos in order. A row of `vectors` has
    length 1; it is all zeros for a face that is not `enrolled`. `heights` are in pixels. `linked` says whether the
    pipeline linked the face to a bib, and `numbers` is what it read there, where that is a whole number."""

    vectors: Vectors
    photo: Ints
    person: Ints
    enrolled: Bools
    heights: Floats
    linked: Bools
    numbers: tuple[str | None, ...]

    def __len__(self) -> int:
        return len(self.photo)


@dataclass(frozen=True, slots=True)
class Appearances:
    """In which photos each person is labelled: one row for each pair of person and photo, and what was found of it.

    `face_labeled`: there is a box of their face that a detector has to find, `height` pixels high (NaN without a box);
    `face` is the found face that matches it, or -1. `photo_alone`: nothing but the photo says that they are there, so
    that there is no box of them. `bib_labeled`: a bib with their complete number is labelled; `bib_found` and
    `bib_read` say what the pipeline made of it. `tags` are those of their boxes and of the photo, where they are known.
    """

    person: Ints
    photo: Ints
    face_labeled: Bools
    face: Ints
    bib_labeled: Bools
    bib_found: Bools
    bib_read: Bools
    photo_alone: Bools
    height: Floats
    tags: tuple[frozenset[str], ...] = ()

    def __len__(self) -> int:
        return len(self.person)


@dataclass(frozen=True, slots=True)
class Queries:
    """What people search with: selfies, or for people without any, each of their faces against all other photos.

    `photo` and `face` are those that a query comes from, -1 for a selfie. Pictures in which no face was found, or none
    that can be compared, are no queries; `not_found` and `not_enrolled` count them for each person. `left_out` counts
    the faces that people with very many of them do not search by.
    """

    vectors: Vectors
    person: Ints
    photo: Ints
    face: Ints
    not_found: Ints
    not_enrolled: Ints
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.person)


@dataclass(frozen=True)
class Evidence:
    """Everything that identity is judged by."""

    people: tuple[Person, ...]
    photos: Photos
    faces: Faces
    appearances: Appearances
    queries: Queries

    def __post_init__(self) -> None:
        _check(self)

    @cached_property
    def folds(self) -> Ints:
        """Which fifth each person belongs to. It depends on the names alone, not on their order."""
        return folds_of([person.name for person in self.people])

    @property
    def groups(self) -> tuple[str, ...]:
        """The group of each person."""
        return tuple(person.group for person in self.people)


@dataclass(frozen=True)
class Tallied:
    """What a scorecard of identity comes to: its counts person by person, its figures, how sure those are, recall by
    the height of faces, and `shared`, the counts that are of no single person, such as the size of the gallery."""

    counts: ItemCounts
    figures: Mapping[str, float] = field(default_factory=dict)
    sureness: Mapping[str, Jackknifed] = field(default_factory=dict)
    slices: tuple[Slice, ...] = ()
    shared: Mapping[str, int] = field(default_factory=dict)

    def counted(self) -> Counted:
        """The card of all people together, with the counts that are of none of them."""
        total = self.counts.total(self.figures)
        return replace(total, counts={**total.counts, **self.shared})


def counts_by_person(
    card: type[Scorecard], columns: Mapping[str, Column], people: int, shared: Collection[str] = ()
) -> ItemCounts:
    """The counts of a card person by person, but for those that are shared."""
    counts = Tally.of(card, columns, people).items()
    return replace(counts, columns={name: each for name, each in counts.columns.items() if name not in shared})


def sum_by(row: Ints, values: Floats | Ints | Bools, rows: int) -> Floats:
    """The sum of the values of each row, as of each person."""
    sums: Floats = np.bincount(row, values.astype(np.float64), rows).astype(np.float64)
    return sums


def folds_of(names: Sequence[str]) -> Ints:
    """Cut people into FOLDS parts of nearly equal size."""
    order = sorted(range(len(names)), key=lambda row: (hashlib.sha256(names[row].encode()).digest(), names[row]))
    folds = np.empty(len(names), dtype=np.int64)
    folds[order] = np.arange(len(names)) % FOLDS
    return folds


def _check(evidence: Evidence) -> None:
    """Refuse evidence that contradicts itself: what would be scored of it is no number to go by."""
    faces, seen, queries = evidence.faces, evidence.appearances, evidence.queries
    people, photos = len(evidence.people), len(evidence.photos)
    _refuse("face", (faces.photo < 0) | (faces.photo >= photos), f"its photo is none of {photos}")
    _refuse("face", np.diff(faces.photo, prepend=0) < 0, "its photo comes before that of the face before it")
    _refuse("face", (faces.person < NOBODY) | (faces.person >= people), f"its person is none of {people}")
    _refuse("appearance", (seen.person < 0) | (seen.person >= people), f"its person is none of {people}")
    _refuse("appearance", (seen.photo < 0) | (seen.photo >= photos), f"its photo is none of {photos}")
    if seen.tags and len(seen.tags) != len(seen):
        raise ValueError(f"tags of {len(seen.tags)} appearances; expected those of {len(seen)}, or none")
    _refuse("appearance", seen.face >= len(faces), f"its face is none of {len(faces)}")
    _refuse("query", (queries.person < 0) | (queries.person >= people), f"its person is none of {people}")
    _refuse("query", queries.photo >= photos, f"its photo is none of {photos}")
    _refuse("face", faces.enrolled & ~_unit(faces.vectors), "it is enrolled and its vector has not the length 1")
    _refuse("query", ~_unit(queries.vectors), "its vector has not the length 1")
    pairs = seen.person * photos + seen.photo
    _, place, times = np.unique(pairs, return_inverse=True, return_counts=True)
    _refuse("appearance", times[place] > 1, "its person is listed twice in its photo")
    named = faces.person >= 0
    there = np.isin(faces.person * photos + faces.photo, pairs)
    _refuse("face", named & ~there, "its person is not labelled in its photo")
    there = np.isin(queries.person * photos + queries.photo, pairs)
    _refuse("query", (queries.photo >= 0) & ~there, "its person is not labelled in its photo")


def _unit(vectors: Vectors) -> Bools:
    """Which vectors have the length 1."""
    squares: Floats = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    return np.abs(squares - 1) < 1e-3


def _refuse(what: str, wrong: Bools, why: str) -> None:
    if wrong.any():
        raise ValueError(f"{what} {int(np.argmax(wrong))}: {why}")

"""The answer to one search: which photos come back for a picture of a face, for a number, or for both, and why.

It is the search that `find/by_both` counts (`returning.py`), for somebody of whom no label says where they are. A photo
comes back for at least one of three reasons:

- face: one of its faces is as similar to the picture as the threshold asks for. This is what `find/by_selfie` counts.
- number: the number was read in it. This is what `find/by_number` counts.
- linked: one of its faces is as similar to the average of the picture and the faces that are linked to the number.

The threshold is that of the identity task: set by the stranger scores of everybody who is labelled, all folds together.
Where nobody searches as a stranger, it is just above the most similar two faces of one photo: those are two people.
Where no photo has two faces there is no threshold, no face makes a photo come back, and the nearest are only listed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.scoring.boxes import Floats
from harness.scoring.people import Vectors
from harness.scoring.returning import Followed, Numbers, Returning
from harness.scoring.searching import Look, Search, allowed_of, similarities, threshold_at

#: What a threshold was set by: searches by strangers, pairs of faces within a photo, nothing.
Source = Literal["labels", "photos", "none"]


@dataclass(frozen=True, slots=True)
class Threshold:
    """The least similarity that returns a photo, infinite where there is none; what it was set by, and by how many.
    `fpir` is the share of strangers that it was set for, where labels set it; `measurable` says whether so many
    searches can show so low a share."""

    value: float
    source: Source
    rests_on: int
    fpir: float | None = None
    measurable: bool = False

    @property
    def exists(self) -> bool:
        """Whether a face can make a photo come back."""
        return self.value < math.inf


def threshold_of(search: Search, fpir: float) -> Threshold:
    """The threshold of a set: by its labels, else by the faces within its photos, else none."""
    scores = search.stranger_scores()
    if n := len(scores := scores[scores > -np.inf]):
        return Threshold(threshold_at(scores, fpir), "labels", n, fpir, allowed_of(n, fpir) > 0)
    highest, pairs = within_photos(search)
    if pairs:
        return Threshold(float(np.nextafter(highest, np.inf)), "photos", pairs)
    return Threshold(math.inf, "none", 0)


def within_photos(search: Search) -> tuple[float, int]:
    """The highest similarity of two enrolled faces of one photo, and how many such pairs there are."""
    faces = search.evidence.faces
    enrolled = np.flatnonzero(faces.enrolled)
    _, starts = np.unique(faces.photo[enrolled], return_index=True)
    highest, pairs = -math.inf, 0
    for rows in np.split(enrolled, starts[1:]):
        if len(rows) > 1:
            alike = similarities(faces.vectors[rows], faces.vectors[rows])
            others = alike[np.triu_indices(len(rows), k=1)]
            highest, pairs = max(highest, float(others.max())), pairs + len(others)
    return highest, pairs


@dataclass(frozen=True, slots=True)
class FoundPhoto:
    """A photo that comes back. `face` and `linked` are similarities, where they reach the threshold; `numbers` are
    those of the search that were read in it; `at` is the row of the face that is most similar, None without one."""

    photo: int
    face: float | None
    linked: float | None
    numbers: Numbers
    at: int | None

    @property
    def score(self) -> float:
        """The greater similarity; -inf where it came back by a number alone."""
        return max((each for each in (self.face, self.linked) if each is not None), default=-math.inf)


@dataclass(frozen=True, slots=True)
class Near:
    """A photo that did not come back, and the face in it that is most similar."""

    photo: int
    similarity: float
    at: int


@dataclass(frozen=True, slots=True)
class Answer:
    """The photos that come back, best first; the numbers that were searched for, and whether these are the searcher's
    own or were read off linked bibs; and without a threshold the photos that are nearest, of which none came back."""

    photos: tuple[FoundPhoto, ...]
    numbers: Numbers
    numbers_given: bool
    nearest: tuple[Near, ...] = ()


def answer(search: Search, vector: Vectors | None, numbers: Numbers, threshold: Threshold) -> Answer:
    """Search by the vector of a face, by numbers, or by both.

    Photos for which both a face and a number speak come first, then those that what was given leads to directly (faces
    for a picture, readings for a number alone), the more similar first.
    """
    faces, nobody = search.evidence.faces, np.array([-1])
    if vector is not None and search.searched.any():
        if len(vector) != faces.vectors.shape[1]:
            raise ValueError(f"a vector of {len(vector)} numbers; the faces of this set have {faces.vectors.shape[1]}")
        asked = vector.astype(np.float64)[None]
        look = search.look_by(asked, nobody, nobody)
    else:
        asked = np.zeros((1, faces.vectors.shape[1]))
        look = Look(nobody, nobody, np.full((1, len(faces)), -np.inf))
    followed = Returning(search).follow(asked, look, [numbers], np.array([threshold.value]))
    found = _found(search, followed, threshold.value)
    return Answer(
        tuple(sorted(found, key=lambda each: _order(each, by_face=vector is not None))),
        followed.numbers[0],
        bool(numbers),
        () if threshold.exists else _nearest(search, look.similarity[0]),
    )


def _found(search: Search, followed: Followed, threshold: float) -> list[FoundPhoto]:
    direct, linked = followed.look.similarity[0], followed.average.similarity[0]
    by_face, by_link = (search.by_photo(each[None])[0] for each in (direct, linked))
    read, (wanted,) = search.evidence.photos.read, followed.numbers
    back = (by_face >= threshold) | (by_link >= threshold) | followed.reads[0]
    return [
        FoundPhoto(
            photo,
            float(by_face[photo]) if by_face[photo] >= threshold else None,
            float(by_link[photo]) if by_link[photo] >= threshold else None,
            tuple(number for number in wanted if number in read[photo]),
            _most_similar(search, np.maximum(direct, linked), photo, threshold),
        )
        for photo in np.flatnonzero(back).tolist()
    ]


def _most_similar(search: Search, similarity: Floats, photo: int, least: float) -> int | None:
    first, end = search.first_face[photo : photo + 2].tolist()
    if first == end:
        return None
    face = first + int(np.argmax(similarity[first:end]))
    return face if similarity[face] >= least else None


def _order(found: FoundPhoto, by_face: bool) -> tuple[int, bool, float, int]:
    faces = found.face is not None or found.linked is not None
    direct = found.face is not None if by_face else bool(found.numbers)
    return -(faces + bool(found.numbers)), not direct, -found.score, found.photo


def _nearest(search: Search, similarity: Floats) -> tuple[Near, ...]:
    """All photos with a face that is searched, the most similar first."""
    best = search.by_photo(similarity[None])[0]
    order = np.lexsort((np.arange(len(best)), -best))
    near = []
    for photo in order[best[order] > -np.inf].tolist():
        face = _most_similar(search, similarity, photo, -math.inf)
        assert face is not None, "its similarity is that of a face"
        near.append(Near(photo, float(best[photo]), face))
    return tuple(near)

"""From labels, predictions and vectors to the evidence that the scorecards of identity are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from harness.pipeline.identity.recognising import FaceVectors
from harness.references.sets import ReferencePhoto
from harness.scoring.bibs import is_complete
from harness.scoring.boxes import Boxes, Ints, offsets_of
from harness.scoring.detection import Thresholds
from harness.scoring.matching import UNMATCHED, match_greedy
from harness.scoring.numbers import read_numbers
from harness.scoring.people import UNKNOWN, Appearances, Evidence, Faces, Photos, Queries, Vectors
from harness.tasks.identity.roster import Roster, Sighting
from harness.types import Box, PhotoPrediction

#: So many pairs of a query and a face are looked at: all of 60,000 faces that each search among all others.
MOST_PAIRS = 4 * 10**9


@dataclass(frozen=True)
class SeenPhoto:
    """A photo of `height` pixels with what the pipeline said about it and the vectors of the faces that it found."""

    photo: ReferencePhoto
    prediction: PhotoPrediction
    vectors: FaceVectors
    height: int


@dataclass(frozen=True)
class SeenSelfie:
    """A picture that somebody searches with, and its hash. Without a `vector` it cannot be searched with: no face was
    `found` in it, or one that is too small."""

    person: str
    found: bool
    vector: NDArray[np.float32] | None
    sha256: str = ""


def gather(
    roster: Roster,
    photos: Sequence[SeenPhoto],
    selfies: Sequence[SeenSelfie],
    thresholds: Thresholds,
    *,
    identities_labeled: bool,
) -> Evidence:
    """Match what was found with what is labelled, and say who is where."""
    people_said = [_people_said(item.photo, identities_labeled) for item in photos]
    faces = match_faces(photos, thresholds)
    bibs = Matched.of(
        [item.prediction.bibs for item in photos], [item.photo.bibs for item in photos], thresholds.bib_iou
    )
    found = _faces(roster, photos, faces, _length(photos, selfies))
    return Evidence(
        people=roster.people,
        photos=Photos(
            names=tuple(item.photo.name for item in photos),
            people_said=np.array(people_said, dtype=bool),
            bibs_said=np.array([item.photo.bib_labeled for item in photos], dtype=bool),
            read=tuple(_whole_numbers(item.prediction) for item in photos),
        ),
        faces=found,
        appearances=_appearances(roster.sightings, photos, faces, bibs),
        queries=_queries(roster, photos, found, faces, selfies),
    )


def match_faces(photos: Sequence[SeenPhoto], thresholds: Thresholds) -> Matched:
    """Which found face is which labelled one."""
    found, labels = [item.prediction.faces for item in photos], [item.photo.faces for item in photos]
    return Matched.of(found, labels, thresholds.face_iou)


@dataclass(frozen=True)
class Matched:
    """Which found box matches which labelled one, over all photos: rows of all found and of all labelled boxes."""

    found_from: Ints
    labels_from: Ints
    label_of: Ints
    found_of: Ints

    @classmethod
    def of(cls, found: Sequence[Sequence[Box]], labels: Sequence[Sequence[Box]], threshold: float) -> Matched:
        """Match the boxes of many photos, one list a photo."""
        matches = match_greedy(Boxes.of(found), Boxes.of(labels), threshold)
        return cls(offsets_of(found), offsets_of(labels), matches.target_of, matches.prediction_of)

    def rows(self, photo: int) -> range:
        """The rows of the boxes that were found in a photo."""
        return range(int(self.found_from[photo]), int(self.found_from[photo + 1]))

    def found(self, photo: int, label: int) -> int:
        """The row of the found box that matches a labelled one, or -1."""
        return int(self.found_of[int(self.labels_from[photo]) + label])


def _people_said(photo: ReferencePhoto, identities_labeled: bool) -> bool:
    """Whether it is known who is in a photo: it says so, or all of its faces have names but for those seen once."""
    return photo.people is not None or (identities_labeled and photo.face_labeled)


def _whole_numbers(prediction: PhotoPrediction) -> frozenset[str]:
    return frozenset(number for number in read_numbers(prediction) if is_complete(number))


def _faces(roster: Roster, photos: Sequence[SeenPhoto], faces: Matched, length: int) -> Faces:
    labelled = np.fromiter(chain.from_iterable(roster.faces), dtype=np.int64)
    person = np.full(len(faces.label_of), UNKNOWN, dtype=np.int64)
    matched = faces.label_of != UNMATCHED
    person[matched] = labelled[faces.label_of[matched]]
    alone = {sighting.photo: sighting.person for sighting in roster.sightings if _alone(sighting, photos)}
    for photo, who in alone.items():
        if len(rows := faces.rows(photo)) == 1:
            person[rows[0]] = who
    linked = [_linked(item.prediction) for item in photos]
    return Faces(
        vectors=_stacked([item.vectors.vectors for item in photos], length),
        photo=np.repeat(np.arange(len(photos)), np.diff(faces.found_from)),
        person=person,
        enrolled=np.concatenate([np.zeros(0, dtype=bool), *(item.vectors.enrolled for item in photos)]),
        heights=np.concatenate([np.zeros(0), *(item.vectors.heights for item in photos)]),
        linked=np.array([bib is not None for bib in chain.from_iterable(linked)], dtype=bool),
        numbers=tuple(_number(item.prediction, bib) for item, bibs in zip(photos, linked, strict=True) for bib in bibs),
    )


def _alone(sighting: Sighting, photos: Sequence[SeenPhoto]) -> bool:
    """Whether a photo says that this person, and nobody else, is in it, and has no boxes of faces."""
    photo = photos[sighting.photo].photo
    return photo.people is not None and len(photo.people) == 1 and not photo.faces and not sighting.bibs


def _linked(prediction: PhotoPrediction) -> list[int | None]:
    """For each face the bib that it is linked to."""
    bibs: list[int | None] = [None] * len(prediction.faces)
    for link in prediction.links:
        bibs[link.face_index] = link.bib_index
    return bibs


def _number(prediction: PhotoPrediction, bib: int | None) -> str | None:
    number = prediction.bibs[bib].number if bib is not None else None
    return str(number).strip() if is_complete(number) else None


def _appearances(
    sightings: Sequence[Sighting], photos: Sequence[SeenPhoto], faces: Matched, bibs: Matched
) -> Appearances:
    rows = [_appearance(sighting, photos[sighting.photo], faces, bibs) for sighting in sightings]
    columns = list(zip(*rows, strict=True)) if rows else [()] * 6
    height, face, bib, found, read, alone = (np.array(column) for column in columns)
    return Appearances(
        person=np.array([sighting.person for sighting in sightings], dtype=np.int64),
        photo=np.array([sighting.photo for sighting in sightings], dtype=np.int64),
        face_labeled=~np.isnan(height.astype(np.float64)),
        face=face.astype(np.int64),
        bib_labeled=bib.astype(bool),
        bib_found=found.astype(bool),
        bib_read=read.astype(bool),
        photo_alone=alone.astype(bool),
        height=height.astype(np.float64),
        tags=tuple(_tags(sighting, photos[sighting.photo].photo) for sighting in sightings),
    )


def _tags(sighting: Sighting, photo: ReferencePhoto) -> frozenset[str]:
    """The tags of somebody's boxes in a photo, and those of the photo."""
    faces, bibs = (photo.faces[face].tags for face in sighting.faces), (photo.bibs[bib].tags for bib in sighting.bibs)
    return frozenset(chain(photo.face_tags, photo.bib_tags, *faces, *bibs))


def _appearance(
    sighting: Sighting, item: SeenPhoto, faces: Matched, bibs: Matched
) -> tuple[float, int, bool, bool, bool, bool]:
    """How high the labelled face is, or NaN; the found one; whether a bib is labelled, was found, and was read; and
    whether nothing but the photo says that they are there. A bib that nobody drew is found where it is read."""
    face = next((row for label in sighting.faces if (row := faces.found(sighting.photo, label)) >= 0), -1)
    height = max((item.photo.faces[label].h * item.height for label in sighting.faces), default=float("nan"))
    alone = sighting.said and not sighting.faces and not sighting.bibs
    numbers = {str(item.photo.bibs[bib].number).strip() for bib in sighting.bibs}
    read = bool(numbers & _whole_numbers(item.prediction))
    found = read or any(bibs.found(sighting.photo, bib) >= 0 for bib in sighting.bibs)
    return height, face, bool(sighting.bibs), found, read, alone


def _queries(
    roster: Roster, photos: Sequence[SeenPhoto], found: Faces, faces: Matched, selfies: Sequence[SeenSelfie]
) -> Queries:
    """Selfies; for people without one each of their faces, or some where that makes very many; where a photo alone says
    that one person is in it, the largest face there."""
    order = {person.name: place for place, person in enumerate(roster.people)}
    with_selfie = {order[selfie.person] for selfie in selfies}
    not_found, not_enrolled = (np.zeros(len(roster.people), dtype=np.int64) for _ in range(2))
    rows: list[tuple[NDArray[np.float32], int, int, int]] = []
    for selfie in selfies:
        if selfie.vector is not None:
            rows.append((selfie.vector, order[selfie.person], -1, -1))
        else:
            (not_enrolled if selfie.found else not_found)[order[selfie.person]] += 1
    for sighting in roster.sightings:
        if sighting.person in with_selfie:
            continue
        for face in _own_faces(sighting, photos, found, faces):
            if face < 0:
                not_found[sighting.person] += 1
            elif not found.enrolled[face]:
                not_enrolled[sighting.person] += 1
            else:
                rows.append((found.vectors[face], sighting.person, sighting.photo, face))
    vectors, person, photo, face_rows = zip(*rows, strict=True) if rows else ((), (), (), ())
    whose = np.array(person, dtype=np.int64)
    asked = thinned(whose, MOST_PAIRS // max(1, len(found)))
    return Queries(
        vectors=np.array(vectors, dtype=np.float32).reshape(len(rows), found.vectors.shape[1])[asked],
        person=whose[asked],
        photo=np.array(photo, dtype=np.int64)[asked],
        face=np.array(face_rows, dtype=np.int64)[asked],
        not_found=not_found,
        not_enrolled=not_enrolled,
        left_out=len(rows) - len(asked),
    )


def thinned(person: Ints, most: int) -> Ints:
    """The rows of those that search: all of them or, where there are more than `most`, as many of each person as makes
    no more in all, evenly spread over theirs and at least one."""
    count = np.bincount(person)
    each = int(np.searchsorted([np.minimum(count, k).sum() for k in range(1, count.max(initial=0) + 1)], most, "right"))
    if each >= count.max(initial=0):
        return np.arange(len(person))
    order = np.argsort(person, kind="stable")
    place, own = np.arange(len(person)) - np.repeat(np.cumsum(count) - count, count), np.repeat(count, count)
    share = np.minimum(own, max(each, 1))
    kept = place * share // own != (place - 1) * share // own  # the first of each of so many equal parts
    return np.sort(order[kept])


def _own_faces(sighting: Sighting, photos: Sequence[SeenPhoto], found: Faces, faces: Matched) -> list[int]:
    """The found faces, -1 for one that was not found, that show this person in this photo."""
    if _alone(sighting, photos):
        rows = faces.rows(sighting.photo)
        return [max(rows, key=lambda row: (found.heights[row], -row))] if rows else [-1]
    return [faces.found(sighting.photo, label) for label in sighting.faces]


def _length(photos: Sequence[SeenPhoto], selfies: Sequence[SeenSelfie]) -> int:
    """How long vectors are; a photo in which nobody is enrolled does not know."""
    found = [item.vectors.vectors.shape[1] for item in photos]
    return max([*found, *(len(selfie.vector) for selfie in selfies if selfie.vector is not None)], default=0)


def _stacked(parts: Sequence[Vectors], length: int) -> Vectors:
    """The vectors of all photos."""
    rows = [part if part.shape[1] else np.zeros((len(part), length), dtype=np.float32) for part in parts]
    return np.concatenate(rows) if rows else np.zeros((0, length), dtype=np.float32)

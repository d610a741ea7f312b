"""Faces grouped into people: what the labels forbid and demand is kept, and what the photos suggest may help."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np

from harness.base.errors import ReferenceSetError
from harness.pipeline.identity.clustering import Clustering, Merges
from harness.pipeline.identity.constraints import ANY, Constraints
from harness.pipeline.identity.hints import Hints
from harness.pipeline.identity.strangers import stranger_similarity
from harness.references.captures import read_capture
from harness.references.constraints import Face
from harness.references.files import FaceIdentities
from harness.references.sets import ReferenceSet
from harness.scoring.boxes import Bools, Floats, Ints
from harness.scoring.grouping_point import GroupingPoint, choose
from harness.scoring.people import Evidence, Faces
from harness.tasks.identity.gathering import Matched, SeenPhoto
from harness.tasks.identity.scores import Grouped
from harness.types import FaceScope

#: The cluster of a face that is not enrolled.
ALONE = -1
#: A similarity that no two faces have, whatever hints add to it.
_OUT_OF_REACH = 10.0
#: Thresholds that are tried: from what so many strangers reach with a face, or this share of all, in steps.
_MOST_STRANGERS, _MOST_SHARE, _STEP, _MOST_SIMILAR = 16.0, 0.05, 0.01, 0.95
#: Where nobody's labels say otherwise, clusters are merged from what so many strangers reach with a face.
REACHED_BY = 0.03


@dataclass(frozen=True)
class Grouping:
    """Faces to be grouped, and what is known of them. Constraints are between labelled faces, and hold for the found
    faces that match them."""

    evidence: Evidence
    clustering: Clustering
    constraints: Constraints
    hints: Hints
    file: Path

    @classmethod
    def of(
        cls,
        evidence: Evidence,
        photos: Sequence[SeenPhoto],
        matched: Matched,
        references: ReferenceSet,
        clustering: Clustering,
    ) -> Grouping:
        """The faces of a set."""
        faces, rows = evidence.faces, _found_by_id(photos, matched)
        must = _pairs(references.must_link, rows, pairwise)
        cannot = _pairs(references.cannot_link, rows, lambda group: combinations(group, 2))
        seconds = _seconds(photos)[faces.photo] if clustering.time_weight else np.full(len(faces), np.nan)
        photo = np.where(_excluded(photos, matched), ANY, faces.photo)
        constraints = Constraints(photo, must, cannot, _names(rows, faces))
        file = references.root / FaceIdentities.FILE_NAME
        return cls(evidence, clustering, constraints, Hints(faces.numbers, seconds), file)

    def point(self, search: float) -> GroupingPoint:
        """From which similarity on faces are grouped, where `search` is the threshold of a search."""
        threshold = self.clustering.threshold
        if threshold == "search":
            return GroupingPoint.fixed(search, "the threshold of a search")
        if threshold != "calibrated":
            return GroupingPoint.fixed(threshold, "given")
        faces = self.evidence.faces
        known, person = faces.vectors[faces.enrolled], faces.person[faces.enrolled]
        lowest = stranger_similarity(known, min(_MOST_STRANGERS, _MOST_SHARE * len(known)), person)
        candidates = np.arange(lowest, max(_MOST_SIMILAR, lowest) + _STEP, _STEP).tolist()
        if found := choose(self.evidence, candidates, self._merges(lowest).cut):
            return found
        told = stranger_similarity(known, REACHED_BY, person)
        return GroupingPoint.fixed(told, "too few people with several labelled faces")

    def at(self, point: GroupingPoint) -> Grouped:
        """The clusters. Raises ReferenceSetError where constraints contradict each other."""
        # Without a stranger there is no threshold of a search, and nobody is alike enough.
        thresholds = [min(each, _OUT_OF_REACH) for each in (point.whole, *point.thresholds)]
        merges = self._merges(min(thresholds))
        enrolled = self.evidence.faces.enrolled
        cut = {each: np.where(enrolled, merges.cut(each), ALONE) for each in sorted(set(thresholds))}
        whole, *by_fold = (cut[each] for each in thresholds)
        return Grouped(whole, self.constraints.must, self.constraints.cannot, tuple(by_fold), point)

    def _merges(self, least: float) -> Merges:
        try:
            return self.clustering.merges(self.evidence.faces.vectors, least, self.constraints, self.hints)
        except ValueError as error:
            raise ReferenceSetError(f"{self.file}: {error}") from error


def _found_by_id(photos: Sequence[SeenPhoto], matched: Matched) -> dict[Face, int]:
    """The found face that matches each labelled one that has an id."""
    labelled = (
        ((item.photo.sha256, face_id), matched.found(place, label))
        for place, item in enumerate(photos)
        for label, face_id in enumerate(item.photo.face_ids)
        if face_id
    )
    return {face: row for face, row in labelled if row >= 0}


def _excluded(photos: Sequence[SeenPhoto], matched: Matched) -> Bools:
    """Which found faces match a label of scope exclude: a mirror or a poster may show somebody of the same photo."""
    scopes = np.array([box.scope == FaceScope.EXCLUDE for item in photos for box in item.photo.faces] + [False])
    found: Bools = scopes[matched.label_of]
    return found


def _pairs(
    groups: Iterable[Sequence[Face]], rows: Mapping[Face, int], of: Callable[[list[int]], Iterable[tuple[int, int]]]
) -> Ints:
    """Pairs of found faces from groups of labelled ones; one that was not found is left out."""
    found = [pair for group in groups for pair in of([rows[face] for face in group if face in rows])]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _names(rows: Mapping[Face, int], faces: Faces) -> list[str]:
    """What each face is called in `face_identities.json`."""
    names = [str(row) for row in range(len(faces))]
    for (photo, face_id), row in rows.items():
        names[row] = f"{photo}:{face_id}"
    return names


def _seconds(photos: Sequence[SeenPhoto]) -> Floats:
    """When each photo was taken, in seconds; NaN where its header does not say."""
    return np.array([_clock(read_capture(item.photo.path).taken_at) for item in photos], dtype=np.float64)


def _clock(text: str) -> float:
    start = datetime(2000, 1, 1)
    return (datetime.fromisoformat(text) - start).total_seconds() if text else float("nan")

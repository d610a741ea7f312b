"""Completeness is derived from labels; known negatives stand apart."""

from __future__ import annotations

import pytest

from harness.references.completeness import State, completeness
from harness.references.contents import Contents
from harness.references.files import (
    BibFaceLinks,
    BibGroundTruth,
    BibLabels,
    FaceGroundTruth,
    FaceIdentities,
    FaceLabels,
    PhotoIndex,
)
from harness.references.stats import count
from tests.references.builders import bib, face

PHOTO = "a" * 64
BIBS, FACES = BibLabels(labeled=True, boxes=[bib(0.1)]), FaceLabels(boxes=[face(0.1)])


def contents(bibs: BibLabels | None, faces: FaceLabels | None, links: list[tuple[int, int]] | None) -> Contents:
    record = {"names": ["a.jpg"], "width": 1, "height": 1, "bytes": 1, "added_at": "2026", "split": "holdout"}
    return Contents(
        index=PhotoIndex.model_validate({"photos": {PHOTO: record}}),
        bibs=BibGroundTruth(photos={PHOTO: bibs} if bibs else {}),
        faces=FaceGroundTruth(photos={PHOTO: faces} if faces else {}),
        links=BibFaceLinks(photos={} if links is None else {PHOTO: links}),
        identities=FaceIdentities(),
    )


@pytest.mark.parametrize(
    ("bibs", "faces", "links", "done", "state"),
    [
        (None, None, None, (False, False, True), State.UNTOUCHED),
        (BIBS, None, None, (True, False, True), State.PARTIAL),
        (BIBS, FACES, None, (True, True, False), State.PARTIAL),
        (BIBS, FACES, [], (True, True, True), State.COMPLETE),
        (BIBS, FaceLabels(labeled=True), None, (True, True, True), State.COMPLETE),
        (BIBS, FaceLabels(tags=["no_faces"]), None, (True, True, True), State.COMPLETE),
        (BibLabels(boxes=[bib(0.1)]), FACES, [], (False, True, True), State.PARTIAL),
        (BibLabels(labeled=True), FaceLabels(labeled=True), None, (True, True, True), State.KNOWN_NEGATIVE),
        (BibLabels(labeled=True), None, None, (True, False, True), State.PARTIAL),
        (BibLabels(), FaceLabels(), None, (False, False, True), State.UNTOUCHED),
        (None, None, [], (False, False, True), State.PARTIAL),
    ],
)
def test_a_photo_is_as_far_as_its_labels_say(
    bibs: BibLabels | None,
    faces: FaceLabels | None,
    links: list[tuple[int, int]] | None,
    done: tuple[bool, bool, bool],
    state: State,
) -> None:
    found = completeness(contents(bibs, faces, links), PHOTO)
    assert (found.bibs, found.faces, found.links) == done
    assert found.state is state
    assert found.complete == (state in (State.COMPLETE, State.KNOWN_NEGATIVE))


def test_stats_count_photos_of_the_index_and_their_boxes() -> None:
    stats = count(contents(BIBS, FACES, [(0, 0)]))
    assert (stats.photos, stats.bib_boxes, stats.face_boxes, stats.links) == (1, 1, 1, 1)
    assert stats.splits == {"iteration": 0, "holdout": 1}
    assert stats.states == {"complete": 1, "known_negative": 0, "partial": 0, "untouched": 0}
    assert stats.bib_scopes == {"bib": 1, "bib_clipped": 0, "bib_obscured": 0, "not_bib": 0}

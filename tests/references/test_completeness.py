"""Completeness is derived from labels; known negatives stand apart."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.base.errors import InvalidEditError
from harness.references.completeness import DIMENSIONS, Dimension, State, check_dimensions, completeness
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
from harness.references.groups import Groups
from harness.references.stats import count
from tests.references.builders import bib, face

PHOTO = "a" * 64
BIBS, FACES = BibLabels(labeled=True, boxes=[bib(0.1)]), FaceLabels(labeled=True, boxes=[face(0.1)])
#: Somebody has answered a suggestion, and said nothing.
BEGUN = FaceLabels(boxes=[face(0.1)])


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
        (None, None, None, (False, False, False), State.UNTOUCHED),
        (BIBS, None, None, (True, False, False), State.PARTIAL),
        (BIBS, FACES, None, (True, True, False), State.PARTIAL),
        (BIBS, FACES, [], (True, True, True), State.COMPLETE),
        (BIBS, BEGUN, [], (True, False, True), State.PARTIAL),
        (BIBS, BEGUN, None, (True, False, False), State.PARTIAL),
        (BIBS, FaceLabels(labeled=True), None, (True, True, True), State.COMPLETE),
        (BIBS, FaceLabels(tags=["no_faces"]), None, (True, False, False), State.PARTIAL),
        (BibLabels(boxes=[bib(0.1)]), FACES, [], (False, True, True), State.PARTIAL),
        (BibLabels(labeled=True), FaceLabels(labeled=True), None, (True, True, True), State.KNOWN_NEGATIVE),
        (BibLabels(labeled=True), None, None, (True, False, False), State.PARTIAL),
        (None, BEGUN, None, (False, False, False), State.PARTIAL),
        (BibLabels(), FaceLabels(), None, (False, False, False), State.UNTOUCHED),
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
    stats = count(contents(BIBS, FACES, [(0, 0)]), Groups({PHOTO: "a"}))
    assert (stats.photos, stats.bib_boxes, stats.face_boxes, stats.links) == (1, 1, 1, 1)
    assert stats.splits == {"iteration": 0, "holdout": 1}
    assert stats.states == {"complete": 1, "known_negative": 0, "partial": 0, "untouched": 0}
    assert stats.bib_scopes == {"bib": 1, "bib_clipped": 0, "bib_obscured": 0, "not_bib": 0}
    assert stats.groups["groups"] == stats.groups["largest"] == 1
    assert stats.origins["bibs"] == {"drawn": 0, "accepted": 0, "edited": 0, "imported": 0, "unknown": 1}
    assert not stats.review


@pytest.mark.parametrize(
    ("bibs", "faces", "links", "listed"),
    [
        (BIBS, BEGUN, [], True),
        (BIBS, FaceLabels(tags=["no_faces"]), None, True),
        (BibLabels(labeled=True), BEGUN, None, True),
        (BIBS, BEGUN, None, False),
        (BibLabels(boxes=[bib(0.1)]), BEGUN, [], False),
        (BIBS, FACES, [], False),
        (BIBS, None, None, False),
    ],
)
def test_photos_that_an_older_rule_took_for_complete_are_listed_for_review(
    bibs: BibLabels, faces: FaceLabels | None, links: list[tuple[int, int]] | None, listed: bool
) -> None:
    found = contents(bibs, faces, links)
    assert completeness(found, PHOTO).review is listed
    assert count(found, Groups({PHOTO: "a"})).review == ({PHOTO: "a.jpg"} if listed else {})


@pytest.mark.parametrize(
    ("dimensions", "bibs", "faces", "state"),
    [
        (("bibs",), BIBS, None, State.COMPLETE),
        (("bibs",), BibLabels(labeled=True), BEGUN, State.KNOWN_NEGATIVE),
        (("bibs",), None, FACES, State.UNTOUCHED),
        (("faces",), None, FACES, State.COMPLETE),
        (("faces",), BIBS, BEGUN, State.PARTIAL),
        (("faces", "identities"), None, FACES, State.PARTIAL),
        (("faces", "identities"), None, FaceLabels(labeled=True, boxes=[face(0.1, "anonymous_3")]), State.COMPLETE),
    ],
)
def test_complete_means_what_is_asked_for(
    dimensions: tuple[Dimension, ...], bibs: BibLabels | None, faces: FaceLabels | None, state: State
) -> None:
    assert completeness(contents(bibs, faces, None), PHOTO, dimensions).state is state


def test_faces_without_a_name_are_done_where_the_set_says_that_somebody_looked() -> None:
    found = contents(BIBS, FACES, [])
    assert not completeness(found, PHOTO).identities
    said = replace(found, identities=FaceIdentities(identities_labeled=True))
    assert completeness(said, PHOTO).identities


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ([], "none is named; expected some of bibs, faces, links, identities"),
        (["bib"], "'bib' is none of them"),
        (["links", "bibs"], "links need faces too"),
        (["identities"], "identities need faces too"),
    ],
)
def test_dimensions_that_make_no_sense_are_refused(named: list[str], message: str) -> None:
    with pytest.raises(InvalidEditError, match=message):
        check_dimensions(named)
    assert check_dimensions(["links", "faces", "bibs"]) == DIMENSIONS

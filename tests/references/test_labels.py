"""Edits of one photo: what they change, what follows them, and when they are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.base.errors import ReferenceSetError, StaleRevisionError
from harness.references.files import BibLabels, FaceLabels
from harness.references.labels import (
    new_anonymous,
    reset_labels,
    save_bib_tags,
    save_bibs,
    save_face_tags,
    save_faces,
    save_identity,
    save_links,
    save_split,
    view,
)
from harness.references.store import LabelStore
from tests.references.builders import bib, face, make_store, photo_hash

PHOTO, OTHER = photo_hash(0), photo_hash(1)


@pytest.fixture
def store(tmp_path: Path) -> LabelStore:
    return make_store(tmp_path / "set")


def revisions(store: LabelStore) -> dict[str, int]:
    return {path.stem: json.loads(path.read_text())["revision"] for path in sorted(store.root.glob("*.json"))}


def test_a_save_is_seen_by_others_and_raises_the_revision_of_its_file_alone(store: LabelStore) -> None:
    seen = view(store, PHOTO)
    labels = seen.bibs.model_copy(update={"boxes": [*seen.bibs.boxes, bib(0.8, "99")]})
    save_bibs(store, PHOTO, labels, seen.revisions)
    assert view(LabelStore(store.root), PHOTO).bibs.bare() == labels
    changed = {"bib_ground_truth": 1, "bib_face_links": 0, "face_ground_truth": 0, "photo_index": 0}
    assert revisions(store) == changed


def test_a_save_that_changes_nothing_writes_nothing(store: LabelStore) -> None:
    seen = view(store, PHOTO)
    save_bibs(store, PHOTO, seen.bibs, seen.revisions)
    save_links(store, PHOTO, seen.links or [], seen.revisions)
    assert set(revisions(store).values()) == {0}


def test_removing_a_bib_takes_its_link_and_moves_the_others_in_the_same_write(store: LabelStore) -> None:
    seen = view(store, PHOTO)
    save_bibs(store, PHOTO, BibLabels(labeled=True, boxes=seen.bibs.boxes[1:]), seen.revisions)
    assert view(store, PHOTO).links == [(0, 1), (1, 2)]
    assert view(store, OTHER).links == [(0, 0), (1, 1), (2, 2)]
    assert revisions(store)["bib_ground_truth"] == revisions(store)["bib_face_links"] == 1


def test_a_moved_box_keeps_its_link_when_the_save_says_which_it_was(store: LabelStore) -> None:
    seen = view(store, PHOTO)
    boxes = [face(0.55), *seen.faces.boxes[:2]]
    labels = FaceLabels(labeled=True, boxes=boxes)
    with pytest.raises(ReferenceSetError, match=r"box 2 has a link .* say for each new box which old one it was"):
        save_faces(store, PHOTO, labels, seen.revisions)
    save_faces(store, PHOTO, labels, seen.revisions, origins=[2, 0, 1])
    assert view(store, PHOTO).links == [(0, 1), (1, 2), (2, 0)]


@pytest.mark.parametrize(
    ("origins", "message"),
    [([0], "1 given for 2 boxes"), ([0, 7], "there was no box 7"), ([1, 1], "box 1 is named twice")],
)
def test_origins_that_cannot_be_are_refused(store: LabelStore, origins: list[int], message: str) -> None:
    seen = view(store, PHOTO)
    with pytest.raises(ReferenceSetError, match=message):
        save_bibs(store, PHOTO, BibLabels(boxes=seen.bibs.boxes[:2]), seen.revisions, origins=origins)


def test_a_stale_save_is_refused_with_both_versions(store: LabelStore) -> None:
    seen = view(store, PHOTO)
    theirs = BibLabels(labeled=True, boxes=[*seen.bibs.boxes, bib(0.7)])
    mine = BibLabels(labeled=True, boxes=[*seen.bibs.boxes, bib(0.9)])
    save_bibs(LabelStore(store.root), PHOTO, theirs, seen.revisions)
    with pytest.raises(StaleRevisionError, match=r"bib_ground_truth.json: photos.*: changed at revision 1") as caught:
        save_bibs(store, PHOTO, mine, seen.revisions)
    assert (caught.value.yours, caught.value.photo) == (mine, PHOTO)
    assert isinstance(caught.value.theirs, BibLabels)
    assert caught.value.theirs.bare() == theirs
    assert caught.value.exit_code == 4
    assert view(store, PHOTO).bibs.bare() == theirs


def test_edits_of_another_photo_do_not_conflict(store: LabelStore) -> None:
    seen = view(store, PHOTO)
    save_bib_tags(store, OTHER, ["dark_bib"], view(store, OTHER).revisions)
    save_bib_tags(store, PHOTO, ["light_bib"], seen.revisions)
    assert view(store, OTHER).bibs.tags == ["dark_bib"]
    assert view(store, PHOTO).bibs.tags == ["light_bib"]


def test_links_that_count_boxes_which_moved_since_are_refused(store: LabelStore) -> None:
    first = view(store, PHOTO)
    save_links(store, PHOTO, [], first.revisions)
    seen = view(store, PHOTO)
    save_bibs(store, PHOTO, BibLabels(labeled=True, boxes=seen.bibs.boxes[::-1]), seen.revisions)
    with pytest.raises(StaleRevisionError, match=r"bib_ground_truth.json"):
        save_links(store, PHOTO, [(0, 0)], seen.revisions)


def test_a_save_that_is_sent_again_changes_nothing_and_is_no_conflict(store: LabelStore) -> None:
    seen = view(store, PHOTO)
    shorter = BibLabels(labeled=True, boxes=seen.bibs.boxes[1:])
    save_bibs(store, PHOTO, shorter, seen.revisions, origins=[1, 2])
    once = view(store, PHOTO)
    save_bibs(store, PHOTO, shorter, seen.revisions, origins=[1, 2])
    assert view(store, PHOTO) == once
    assert once.links == [(0, 1), (1, 2)]


def test_links_sent_again_are_a_conflict_when_their_boxes_have_moved(store: LabelStore) -> None:
    seen = view(store, PHOTO)
    save_links(store, PHOTO, [(0, 0)], seen.revisions)
    save_links(store, PHOTO, [(0, 0)], seen.revisions)
    save_bib_tags(store, PHOTO, ["dark_bib"], view(store, PHOTO).revisions)
    with pytest.raises(StaleRevisionError):
        save_links(store, PHOTO, [(0, 0)], seen.revisions)


def test_links_can_be_taken_back(store: LabelStore) -> None:
    save_links(store, PHOTO, None, view(store, PHOTO).revisions)
    assert view(store, PHOTO).links is None


def test_anonymous_people_are_numbered_after_the_highest_in_use(store: LabelStore) -> None:
    seen = view(store, PHOTO)
    save_faces(store, PHOTO, FaceLabels(labeled=True, boxes=[face(0.0, "anonymous_7")]), seen.revisions, [0])
    assert [new_anonymous(store), new_anonymous(LabelStore(store.root))] == ["anonymous_8", "anonymous_9"]


def test_a_save_from_the_future_is_refused(store: LabelStore) -> None:
    seen = view(store, PHOTO)
    for tags in (["dark_bib"], ["light_bib"]):
        save_bib_tags(store, PHOTO, tags, view(store, PHOTO).revisions)  # type: ignore[arg-type]
    later = view(store, PHOTO).revisions
    other = make_store(store.root.with_name("other"))
    with pytest.raises(StaleRevisionError):
        save_bib_tags(other, PHOTO, [], later)
    assert later.bibs == seen.revisions.bibs + 2


def test_links_past_the_boxes_or_given_twice_are_refused(store: LabelStore) -> None:
    seen = view(store, PHOTO)
    with pytest.raises(ReferenceSetError, match=r"link \[3, 0\] points past the 3 bibs and 3 faces"):
        save_links(store, PHOTO, [(3, 0)], seen.revisions)
    with pytest.raises(ReferenceSetError, match=rf"photos.{PHOTO}.0.1: must be greater than or equal to 0"):
        save_links(store, PHOTO, [(0, -1)], seen.revisions)
    with pytest.raises(ReferenceSetError, match="given twice"):
        save_links(store, PHOTO, [(1, 0), (1, 0)], seen.revisions)
    assert view(store, PHOTO) == seen


def test_a_photo_that_is_not_in_the_index_is_refused(store: LabelStore) -> None:
    seen = view(store, PHOTO)
    with pytest.raises(ReferenceSetError, match=r"photo_index.json: no photo ffff"):
        save_bib_tags(store, "f" * 64, [], seen.revisions)


def test_split_tags_and_identity_leave_everything_else_alone(store: LabelStore) -> None:
    before = view(store, PHOTO)
    save_split(store, PHOTO, "holdout", before.revisions)
    save_face_tags(store, PHOTO, ["light_faces"], before.revisions)
    save_identity(store, PHOTO, 1, "Ada", view(store, PHOTO).revisions)
    after = view(store, PHOTO)
    assert after.record.split == "holdout"
    assert after.faces.tags == ["light_faces"]
    assert [box.identity for box in after.faces.boxes] == [None, "Ada", None]
    assert (after.bibs, after.links) == (before.bibs, before.links)
    assert store.contents().identities.names == ["Ada"]
    with pytest.raises(ReferenceSetError, match="no face 3; there are 3"):
        save_identity(store, PHOTO, 3, "Ada", after.revisions)


def test_reset_takes_labels_away_and_keeps_a_backup(store: LabelStore) -> None:
    before = store.contents()
    stale = view(store, PHOTO).revisions
    backup = reset_labels(store)
    after = store.contents()
    assert after.index == before.index
    assert not after.bibs.photos
    assert not after.faces.photos
    assert not after.links.photos
    kept = LabelStore(backup).contents()
    assert (kept.bibs.photos, kept.faces.photos, kept.links.photos) == (
        before.bibs.photos,
        before.faces.photos,
        before.links.photos,
    )
    with pytest.raises(StaleRevisionError):
        save_bib_tags(store, PHOTO, ["dark_bib"], stale)

"""Which faces are one person and which are not: names of faces, contradictions, and what edits leave of it."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import InvalidEditError, ReferenceSetError
from harness.references.constraints import Constraints, Face
from harness.references.contents import read_file
from harness.references.files import FaceGroundTruth, FaceIdentities, FaceLabels
from harness.references.freeze import freeze
from harness.references.frozen import load_frozen
from harness.references.labels import reset_labels, save_faces, save_identity, view
from harness.references.sets import StagingSet
from harness.references.store import LabelStore
from harness.types import FaceScope, Split
from tests.references.builders import face, make_store, photo_hash

FIRST, SECOND = photo_hash(0), photo_hash(1)


def named(photo: str, place: int) -> str:
    return f"{photo}:f{place}"


@pytest.fixture
def store(tmp_path: Path) -> LabelStore:
    """Three photos with three faces each, called f0, f1 and f2."""
    store = make_store(tmp_path / "set")
    with store.edit() as draft:
        for number in range(3):
            boxes = [face(place / 10).model_copy(update={"id": f"f{place}"}) for place in range(3)]
            draft.put(FaceGroundTruth, photo_hash(number), FaceLabels(labeled=True, boxes=boxes))
    return store


def constrain(store: LabelStore, must: list[list[str]] | None = None, cannot: list[list[str]] | None = None) -> None:
    with store.edit() as draft:
        draft.put_head(FaceIdentities, must_link=must or [], cannot_link=cannot or [])


def test_a_run_gets_the_constraints_between_faces_of_its_photos(store: LabelStore) -> None:
    constrain(store, [[named(FIRST, 0), named(SECOND, 1)]], [[named(FIRST, 2), named(SECOND, 2)]])
    references = StagingSet(str(store.root), Split.FULL).load()
    assert references.must_link == (((FIRST, "f0"), (SECOND, "f1")),)
    assert references.cannot_link == (((FIRST, "f2"), (SECOND, "f2")),)
    assert {photo.face_ids for photo in references.photos} == {("f0", "f1", "f2")}


@pytest.mark.parametrize(
    ("must", "cannot", "told"),
    [
        ([["x:f0", named(FIRST, 0)]], [], r"must_link.0: 'x:f0': no photo with labelled faces; expected <sha256>:<box"),
        ([[named(FIRST, 0), named(SECOND, 9)]], [], rf"must_link.0: '{SECOND}:f9': no face 'f9' in the photo"),
        ([], [[named(FIRST, 0), named(FIRST, 0)]], r"cannot_link.0: the face .*:f0 is told from itself"),
        (
            [[named(FIRST, 0), named(SECOND, 0)]],
            [[named(FIRST, 1), named(SECOND, 1)], [named(SECOND, 0), named(FIRST, 0)]],
            r"cannot_link.1: the faces .* are one person by must_link",
        ),
        (
            [[named(FIRST, 0), named(SECOND, 0)], [named(SECOND, 0), named(photo_hash(2), 0)]],
            [[named(FIRST, 0), named(photo_hash(2), 0)]],
            r"cannot_link.0: the faces .* are one person by must_link",
        ),
        (
            [[named(FIRST, 0), named(SECOND, 0)], [named(SECOND, 0), named(FIRST, 1)]],
            [],
            r"must_link: the faces .* are in one photo, so they are two people",
        ),
    ],
)
def test_what_is_not_there_or_contradicts_itself_is_refused_by_file_and_record(
    store: LabelStore, must: list[list[str]], cannot: list[list[str]], told: str
) -> None:
    before = (store.root / FaceIdentities.FILE_NAME).exists()
    with pytest.raises(InvalidEditError, match=rf"face_identities.json: {told}"):
        constrain(store, must, cannot)
    assert (store.root / FaceIdentities.FILE_NAME).exists() == before
    (store.root / FaceIdentities.FILE_NAME).write_text(
        FaceIdentities(must_link=must, cannot_link=cannot).model_dump_json()
    )
    with pytest.raises(ReferenceSetError, match=rf"face_identities.json: {told}"):
        LabelStore(store.root).contents()


def test_a_mirror_image_may_be_the_same_person(store: LabelStore) -> None:
    seen = view(store, FIRST)
    boxes = list(seen.faces.boxes)
    boxes[1] = boxes[1].model_copy(update={"scope": FaceScope.EXCLUDE})
    save_faces(store, FIRST, seen.faces.model_copy(update={"boxes": boxes}), seen.revisions, [0, 1, 2])
    constrain(store, [[named(FIRST, 0), named(FIRST, 1)]])
    seen = view(store, FIRST)
    with pytest.raises(InvalidEditError, match="are in one photo"):
        save_faces(store, FIRST, FaceLabels(labeled=True, boxes=[face(0), face(0.1)]), seen.revisions, [0, 1])
    assert view(store, FIRST) == seen


def test_constraints_follow_a_moved_face_and_go_with_a_deleted_one(store: LabelStore) -> None:
    group = [named(photo_hash(number), 0) for number in range(3)]
    constrain(store, [group], [[named(FIRST, 1), named(SECOND, 1)]])
    seen = view(store, FIRST)
    moved = FaceLabels(labeled=True, boxes=[face(0.5), face(0.9), face(0.6)])
    save_faces(store, FIRST, moved, seen.revisions, [1, None, 0])
    assert [box.id for box in view(store, FIRST).faces.boxes][::2] == ["f1", "f0"]
    assert store.contents().identities.must_link == [group]
    seen = view(store, FIRST)
    save_faces(store, FIRST, FaceLabels(labeled=True, boxes=[]), seen.revisions, [])
    identities = store.contents().identities
    assert (identities.must_link, identities.cannot_link) == ([group[1:]], [])


def test_an_id_is_given_once_and_never_to_another_face(store: LabelStore) -> None:
    seen = view(store, FIRST)
    labels = FaceLabels(labeled=True, boxes=[*seen.faces.boxes[1:], face(0.7), face(0.8)])
    save_faces(store, FIRST, labels, seen.revisions, [1, 2, None, None])
    ids = [box.id for box in view(store, FIRST).faces.boxes]
    assert ids[:2] == ["f1", "f2"]
    assert len({*ids, "f0"}) == 5
    seen = view(store, FIRST)
    save_identity(store, FIRST, 3, "Ada", seen.revisions)
    assert [box.id for box in view(store, FIRST).faces.boxes] == ids


def test_a_reset_takes_constraints_with_the_faces_and_keeps_them_in_the_backup(store: LabelStore) -> None:
    constrain(store, [[named(FIRST, 0), named(SECOND, 1)]])
    backup = reset_labels(store)
    assert store.contents().identities.must_link == []
    assert read_file(backup, FaceIdentities).must_link == [[named(FIRST, 0), named(SECOND, 1)]]


def test_the_digest_follows_constraints_and_not_the_ids_that_they_are_told_by(store: LabelStore) -> None:
    def digest() -> str:
        return StagingSet(str(store.root), Split.FULL).load().digest

    plain = digest()
    constrain(store, [[named(FIRST, 0), named(SECOND, 1)]])
    constrained = digest()
    assert constrained != plain
    for path in ("face_identities.json", "face_ground_truth.json"):
        text = (store.root / path).read_text()
        for old, new in (("f0", "zero"), ("f1", "one"), ("f2", "two")):
            text = text.replace(f'{old}"', f'{new}"')
        (store.root / path).write_text(text)
    store = LabelStore(store.root)
    assert store.contents().identities.must_link == [[f"{FIRST}:zero", f"{SECOND}:one"]]
    assert digest() == constrained
    constrain(store)
    assert digest() == plain


FACES = [(str(photo), str(box)) for photo in range(4) for box in range(2)]
GROUPS = st.lists(st.lists(st.sampled_from(FACES), min_size=2, max_size=3, unique=True), max_size=4)


def _is_one_person(must: tuple[tuple[Face, ...], ...]) -> set[frozenset[Face]]:
    """The slow way: pairs, joined until nothing changes."""
    same = {frozenset(pair) for group in must for pair in itertools.combinations(group, 2)}
    while more := {a ^ b for a in same for b in same if len(a & b) == 1} - same:
        same |= more
    return same


@given(GROUPS, GROUPS, st.sets(st.sampled_from("0123")))
def test_leaving_photos_out_loses_and_adds_nothing_about_the_others(
    must: list[list[Face]], cannot: list[list[Face]], photos: set[str]
) -> None:
    whole = Constraints(tuple(map(tuple, must)), tuple(map(tuple, cannot)))
    part = whole.within(photos)
    same = _is_one_person(whole.must_link)
    assert _is_one_person(part.must_link) == {pair for pair in same if all(photo in photos for photo, _ in pair)}
    told = {frozenset(pair) for group in part.cannot_link for pair in itertools.combinations(group, 2)}
    assert all(face[0] in photos for pair in told for face in pair)

    def closed(pairs: set[frozenset[Face]], same: set[frozenset[Face]]) -> set[tuple[Face, Face]]:
        stands = {face: {face} | {f for pair in same if face in pair for f in pair} for face in FACES}
        apart = set()
        for pair in pairs:
            one, other = pair if len(pair) == 2 else (*pair, *pair)
            apart |= {(a, b) for a in stands[one] for b in stands[other]}
        return apart | {(b, a) for a, b in apart}

    said = {frozenset(pair) for group in whole.cannot_link for pair in itertools.combinations(group, 2)}
    inside = {(a, b) for a, b in closed(said, same) if a[0] in photos and b[0] in photos and a != b}
    found = {(a, b) for a, b in closed(told, _is_one_person(part.must_link)) if a != b}
    assert found == inside


def test_a_frozen_set_keeps_the_constraints_of_its_faces(tiny_set: Path) -> None:
    store = LabelStore(tiny_set)
    photos = list(store.contents().index.photos)
    with store.edit() as draft:
        for photo in photos:
            labels = draft.record(FaceGroundTruth, photo)
            boxes = [box.model_copy(update={"id": "f0"}) for box in labels.boxes]
            draft.put(FaceGroundTruth, photo, labels.model_copy(update={"boxes": boxes}))
        one, middle, other = (named(photo, 0) for photo in photos)
        draft.put_head(FaceIdentities, must_link=[[one, middle], [middle, other]])
    freeze(store, "two", photos=[photos[0], photos[2]])
    freeze(store, "bibs", dimensions=["bibs"])
    assert load_frozen(tiny_set, "two", Split.FULL).must_link == (((photos[0], "f0"), (photos[2], "f0")),)
    assert load_frozen(tiny_set, "bibs", Split.FULL).must_link == ()

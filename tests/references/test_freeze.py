"""Frozen sets: what goes in, that they never change, and that a touched one is refused by name."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from harness.base.errors import ReferenceSetError
from harness.references.files import BibFaceLinks, BibGroundTruth, FaceGroundTruth
from harness.references.freeze import freeze
from harness.references.frozen import FrozenSet, frozen_sets
from harness.references.labels import save_bib_tags, save_split, view
from harness.references.store import LabelStore
from harness.types import Split


@pytest.fixture
def store(tiny_set: Path) -> LabelStore:
    """Three photos with pictures, labelled completely."""
    return LabelStore(tiny_set)


def photos(store: LabelStore) -> list[str]:
    return list(store.contents().index.photos)


def load(store: LabelStore, name: str = "v1", split: Split = Split.FULL) -> str:
    return FrozenSet(str(store.root), name, split).load().digest


def flip_a_byte(path: Path, place: int = -20) -> None:
    path.chmod(0o644)
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(bytes(content))


def test_a_frozen_set_holds_the_labels_and_is_read_only(store: LabelStore) -> None:
    manifest = freeze(store, "v1", description="first")
    folder = store.root / "frozen" / "v1"
    assert (manifest.photos, manifest.description) == (3, "first")
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o444}
    assert sorted(path.name for path in folder.iterdir()) == [
        "bib_face_links.json",
        "bib_ground_truth.json",
        "face_ground_truth.json",
        "face_identities.json",
        "manifest.json",
        "photo_index.json",
    ]
    frozen = FrozenSet(str(store.root), "v1", Split.FULL).load()
    assert frozen.digest == manifest.digest
    assert [bib.number for photo in frozen.photos for bib in photo.bibs] == ["417", "2085"]
    assert not [path for path in folder.parent.iterdir() if path.name != "v1"]


def test_a_split_of_it_has_the_digest_that_the_manifest_says(store: LabelStore) -> None:
    first = photos(store)[0]
    save_split(store, first, "holdout", view(store, first).revisions)
    manifest = freeze(store, "v1")
    for split in (Split.ITERATION, Split.HOLDOUT):
        assert load(store, split=split) == manifest.splits[split].digest
    assert {split: summary.photos for split, summary in manifest.splits.items()} == {"iteration": 2, "holdout": 1}


@pytest.mark.parametrize(
    "file",
    ["bib_ground_truth.json", "face_ground_truth.json", "bib_face_links.json", "photo_index.json", "manifest.json"],
)
def test_one_changed_byte_in_a_file_is_refused_by_its_name(store: LabelStore, file: str) -> None:
    freeze(store, "v1")
    path = store.root / "frozen" / "v1" / file
    flip_a_byte(path)
    with pytest.raises(ReferenceSetError, match=rf"v1.{file}: "):
        load(store)


def test_a_manifest_that_was_edited_with_care_is_refused(store: LabelStore) -> None:
    freeze(store, "v1")
    path = store.root / "frozen" / "v1" / "manifest.json"
    path.chmod(0o644)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"description": "better"}))
    with pytest.raises(ReferenceSetError, match=r"manifest.json: frozen set v1 was changed after it was made"):
        load(store)


def test_a_touched_manifest_hides_no_other_set(store: LabelStore) -> None:
    for name in ("v1", "v2", "v3"):
        freeze(store, name)
    flip_a_byte(store.root / "frozen" / "v2" / "manifest.json")
    (store.root / "frozen" / "empty").mkdir()
    found = frozen_sets(store.root)
    assert [manifest.name for manifest in found.sets] == ["v1", "v3"]
    assert [damaged.name for damaged in found.damaged] == ["empty", "v2"]
    assert "empty/manifest.json: cannot be read" in found.damaged[0].problem


def test_one_changed_byte_in_a_photo_is_refused_by_its_name(store: LabelStore) -> None:
    freeze(store, "v1")
    path = sorted((store.root / "photos").iterdir())[0]
    flip_a_byte(path)
    with pytest.raises(ReferenceSetError, match=rf"1 of 3 photos are missing or changed:\n  P00.\.jpg: .*{path.name}"):
        load(store)


def test_a_photo_outside_the_selected_split_does_not_matter(store: LabelStore) -> None:
    first = photos(store)[0]
    save_split(store, first, "holdout", view(store, first).revisions)
    freeze(store, "v1")
    next((store.root / "photos").glob(f"{first}.*")).unlink()
    load(store, split=Split.ITERATION)
    with pytest.raises(ReferenceSetError, match="photos are missing or changed"):
        load(store, split=Split.HOLDOUT)


def test_a_set_whose_photos_are_not_there_cannot_be_frozen(store: LabelStore) -> None:
    next((store.root / "photos").iterdir()).unlink()
    with pytest.raises(ReferenceSetError, match="1 of 3 photos are missing or changed"):
        freeze(store, "v1")
    assert not (store.root / "frozen").exists()


def test_a_taken_name_and_a_bad_one_are_refused(store: LabelStore) -> None:
    freeze(store, "v1")
    digest = load(store)
    with pytest.raises(ReferenceSetError, match=r"frozen/v1: this name is taken"):
        freeze(store, "v1")
    for name in ("", "..", "a/b", "v 1", "v1\n", "é"):
        with pytest.raises(ReferenceSetError, match="cannot name a frozen set"):
            freeze(store, name)
    assert load(store) == digest


def test_a_name_that_does_not_exist_is_told_with_those_that_do(store: LabelStore) -> None:
    freeze(store, "v1")
    with pytest.raises(ReferenceSetError, match=r"references.name: no frozen set v2 in .*frozen; there: v1"):
        load(store, "v2")


def test_an_edit_after_the_freeze_goes_to_staging_alone(store: LabelStore) -> None:
    digest = freeze(store, "v1").digest
    first = photos(store)[0]
    save_bib_tags(store, first, ["dark_bib"], view(store, first).revisions)
    assert load(store) == digest
    assert freeze(store, "v2").digest != digest
    assert load(store, "v1") == digest


def test_overlapping_sets_stand_beside_each_other(store: LabelStore) -> None:
    first = photos(store)[0]
    with store.edit() as draft:
        draft.put(BibFaceLinks, first, None)
        draft.put(BibGroundTruth, first, None)
    freeze(store, "small")
    freeze(store, "large", include_incomplete=True)
    assert [manifest.photos for manifest in frozen_sets(store.root).sets] == [2, 3]
    small, large = (FrozenSet(str(store.root), name, Split.FULL).load() for name in ("small", "large"))
    assert set(small.photos) < set(large.photos)


def test_what_is_taken_follows_from_completeness(store: LabelStore) -> None:
    partly, untouched, _ = photos(store)
    with store.edit() as draft:
        for kind in (BibGroundTruth, FaceGroundTruth, BibFaceLinks):
            draft.put(kind, untouched, None)
        draft.put(FaceGroundTruth, partly, None)
        draft.put(BibFaceLinks, partly, None)
    assert freeze(store, "default").states == {"complete": 1}
    assert freeze(store, "more", include_incomplete=True).states == {"complete": 1, "partial": 1}
    assert freeze(store, "all", everything=True).states == {"complete": 1, "partial": 1, "untouched": 1}


def test_nothing_to_freeze_is_told(store: LabelStore) -> None:
    with store.edit() as draft:
        for photo in draft.file(BibGroundTruth).photos:
            draft.put(BibGroundTruth, photo, None)
            draft.put(BibFaceLinks, photo, None)
    with pytest.raises(ReferenceSetError, match="no photo is labelled completely; --include-incomplete"):
        freeze(store, "v1")

"""Frozen sets: what goes in, that they never change, and that a touched one is refused by name."""

from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path

import pytest

from harness.base.errors import InvalidEditError, ReferenceSetError
from harness.references.completeness import completeness
from harness.references.files import BibFaceLinks, BibGroundTruth, FaceGroundTruth, PhotoIndex
from harness.references.freeze import freeze
from harness.references.frozen import FrozenSet, frozen_sets
from harness.references.labels import save_bib_tags, save_identity, save_split, view
from harness.references.sets import StagingSet
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
        "selfies.json",
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
    with pytest.raises(
        ReferenceSetError,
        match=r"references.name: no frozen set v2 in .*frozen; there are: v1; choose one, as in references.name=v1",
    ):
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


def older(tmp_path: Path) -> Path:
    """A set with a snapshot that a version made in which boxes or tags alone said that faces are done."""
    return Path(shutil.copytree(Path(__file__).parents[1] / "data" / "references" / "by_boxes", tmp_path / "older"))


def test_a_snapshot_by_the_older_rule_keeps_its_digest_and_its_labels(tmp_path: Path) -> None:
    root = older(tmp_path)
    manifest = frozen_sets(root).sets[0]
    assert (manifest.done_by, manifest.groups, manifest.dimensions) == ("boxes", None, ("bibs", "faces", "links"))
    loaded = FrozenSet(str(root), "v1", Split.FULL).load()
    assert loaded.digest == manifest.digest == "f40574f82838b34c58c24e5f54288ee900cb053ecb24b1038b923fb783edfdd8"
    assert [photo.labels.faces is not None for photo in loaded.photos] == [True, True, True]
    assert loaded.groups is not None
    assert (loaded.groups.groups, loaded.groups.broken) == (2, 1)  # 417 is on two photos, one in each split
    for split in (Split.ITERATION, Split.HOLDOUT):
        assert FrozenSet(str(root), "v1", split).load().digest == manifest.splits[split].digest


def test_staging_by_the_older_rule_is_not_done_and_listed_for_review(tmp_path: Path) -> None:
    store = LabelStore(older(tmp_path))
    contents = store.contents()
    found = {record.names[0]: completeness(contents, photo) for photo, record in contents.index.photos.items()}
    assert {name: (item.complete, item.review) for name, item in found.items()} == {
        "one.jpg": (True, False),
        "two.jpg": (False, True),
        "three.jpg": (False, True),
    }
    assert freeze(store, "v2").photos == 1


def test_a_snapshot_keeps_its_groups(store: LabelStore) -> None:
    first, second, third = photos(store)
    with store.edit() as draft:
        for photo in (first, second):
            record = draft.record(PhotoIndex, photo).model_copy(update={"group": "finish"})
            draft.put(PhotoIndex, photo, record)
    before = digest_of(store)
    manifest = freeze(store, "v1")
    assert manifest.digest == before
    assert manifest.groups is not None
    assert list(manifest.groups.members.values()) == [sorted([first, second])]
    loaded = FrozenSet(str(store.root), "v1", Split.FULL).load()
    by_photo = {photo.sha256: photo.group for photo in loaded.photos}
    assert by_photo[first] == by_photo[second] != by_photo[third]
    alone = FrozenSet(str(store.root), "v1", Split.FULL, "photo").load()
    assert len({photo.group for photo in alone.photos}) == 3
    assert alone.digest == loaded.digest


def digest_of(store: LabelStore) -> str:
    return StagingSet(str(store.root), Split.FULL).load().digest


def test_a_set_for_one_dimension_has_the_labels_of_no_other(store: LabelStore) -> None:
    partly, *_ = photos(store)
    with store.edit() as draft:
        draft.put(FaceGroundTruth, partly, None)
        draft.put(BibFaceLinks, partly, None)
    assert freeze(store, "all").photos == 2
    manifest = freeze(store, "bibs", dimensions=["bibs"])
    assert (manifest.photos, manifest.dimensions) == (3, ("bibs",))
    loaded = FrozenSet(str(store.root), "bibs", Split.FULL).load()
    assert [(photo.labels.bibs is None, photo.labels.faces, photo.links) for photo in loaded.photos] == [
        (False, None, None)
    ] * 3
    with pytest.raises(InvalidEditError, match="links need bibs and faces too"):
        freeze(store, "links", dimensions=["links"])


def test_a_set_for_identities_takes_photos_in_which_everybody_is_known(store: LabelStore) -> None:
    first, *_ = photos(store)
    save_identity(store, first, 0, None, view(store, first).revisions)
    assert freeze(store, "v1", dimensions=["bibs", "faces", "links", "identities"]).photos == 2


def test_nothing_to_freeze_for_a_dimension_is_told_with_its_name(store: LabelStore) -> None:
    with store.edit() as draft:
        for photo in draft.file(PhotoIndex).photos:
            draft.put(BibGroundTruth, photo, None)
            draft.put(BibFaceLinks, photo, None)
    with pytest.raises(ReferenceSetError, match="no photo is labelled completely in bibs; --include"):
        freeze(store, "v1", dimensions=["bibs"])

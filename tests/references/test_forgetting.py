"""Forgetting a person: nothing of them is left in staging, its backups and the cache; everybody else's labels stay."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest
from PIL import Image

from harness.pipeline.cache import Entry, StageCache
from harness.references.audit_file import Audit, BlindLabels
from harness.references.files import FaceGroundTruth, FaceIdentities, FaceLabels, PhotoIndex, Selfies
from harness.references.forgetting import clear_selfies, forget, remembered
from harness.references.freeze import freeze
from harness.references.frozen import load_frozen
from harness.references.labels import reset_labels
from harness.references.renditions import rendition
from harness.references.store import LabelStore
from harness.references.suggestions import PhotoSuggestions, Suggestions
from harness.types import Split
from tests.conftest import Harness

#: A name that stands nowhere else.
NAME = "Zenobia Quux"


@pytest.fixture
def store(tiny_set: Path) -> LabelStore:
    """Three photos: Zenobia's face and name with another, her face alone, and a list with her alone; two selfies."""
    store = LabelStore(tiny_set)
    first, second, third = store.contents().index.photos
    (tiny_set / "selfies").mkdir()
    hashes = {}
    for place, owner in enumerate((NAME, "Bea")):
        sha256 = f"{place + 1:064x}"
        Image.new("RGB", (40, 40), (place, 0, 0)).save(tiny_set / "selfies" / f"{sha256}.png")
        hashes[sha256] = owner
    with store.edit() as draft:
        for photo, people in ((first, [NAME, "Bea"]), (second, None), (third, [NAME])):
            labels: FaceLabels = draft.record(FaceGroundTruth, photo)
            name = None if photo == third else NAME
            boxes = [box.model_copy(update={"identity": name, "id": "f0"}) for box in labels.boxes]
            boxes.append(boxes[0].model_copy(update={"identity": "Bea", "id": "f1", "x": 0.0}))
            draft.put(FaceGroundTruth, photo, labels.model_copy(update={"boxes": boxes, "people": people}))
        ghost = {"x": 0.1, "y": 0.1, "w": 0.1, "h": 0.1, "identity": NAME, "score": 0.5}
        record = {"provenance": "k", "bibs": [], "faces": [ghost], "links": []}
        draft.put(Suggestions, first, PhotoSuggestions.model_validate(record))
        for sha256, owner in hashes.items():
            draft.put(Selfies, sha256, owner)
        draft.put_head(
            FaceIdentities,
            names=["Bea", NAME],
            must_link=[[f"{first}:f0", f"{second}:f0"], [f"{first}:f1", f"{second}:f1", f"{third}:f1"]],
            cannot_link=[[f"{first}:f0", f"{second}:f1"]],
            identities_labeled=True,
        )
    return store


def mentions(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*.json") if NAME in path.read_text())


def test_every_mention_goes_and_everybody_else_stays(store: LabelStore) -> None:
    before = store.contents()
    first, second, third = before.index.photos
    held = remembered(store, NAME).staging
    assert (held.faces, held.said, len(held.selfies), held.suggested, held.known) == (2, 2, 1, 1, True)
    assert held.photos == {first, second, third}
    assert len(mentions(store.root)) == 4
    forget(store, NAME)
    assert mentions(store.root) == []
    after = LabelStore(store.root).contents()
    assert [box.identity for box in after.faces.photos[first].boxes] == [None, "Bea"]
    assert after.faces.photos[first].people == ["Bea"]
    assert after.faces.photos[second].people is None
    assert after.faces.photos[third].people is None, "an empty list would say that nobody is there"
    assert after.identities.must_link == [[f"{first}:f1", f"{second}:f1", f"{third}:f1"]]
    assert after.identities.cannot_link == []
    assert (after.bibs.photos, after.links.photos) == (before.bibs.photos, before.links.photos)
    assert set(after.selfies.photos.values()) == {"Bea"}
    assert not remembered(store, NAME).staging


def test_somebody_who_was_seen_more_than_once_is_no_one_who_was_seen_once(store: LabelStore) -> None:
    forget(store, NAME)
    assert store.contents().identities.identities_labeled is None


def test_whoever_had_one_face_leaves_the_others_as_they_were_said(store: LabelStore) -> None:
    with store.edit() as draft:
        photo = min(draft.file(FaceGroundTruth).photos)
        labels: FaceLabels = draft.record(FaceGroundTruth, photo)
        boxes = [*labels.boxes, labels.boxes[1].model_copy(update={"identity": "Cleo", "id": "f2"})]
        draft.put(FaceGroundTruth, photo, labels.model_copy(update={"boxes": boxes}))
    forget(store, "Cleo")
    assert store.contents().identities.identities_labeled


def test_selfies_go_from_the_disk_unless_a_frozen_set_has_them(store: LabelStore) -> None:
    selfie = store.root / "selfies" / f"{1:064x}.png"
    content = selfie.read_bytes()
    sha = hashlib.sha256(content).hexdigest()
    with store.edit() as draft:
        for sha256 in draft.file(Selfies).photos:
            draft.put(Selfies, sha256, None)
        draft.put(Selfies, sha, NAME)
    shutil.rmtree(store.root / "selfies")
    (store.root / "selfies").mkdir()
    selfie = store.root / "selfies" / f"{sha}.png"
    selfie.write_bytes(content)
    freeze(store, "v1")
    forget(store, NAME)
    assert clear_selfies(store) == 0
    assert load_frozen(store.root, "v1", Split.FULL).selfies[0].path == selfie
    assert remembered(store, NAME).frozen["v1"].selfies == {sha}
    shutil.rmtree(store.root / "frozen" / "v1")
    assert clear_selfies(store) == 1
    assert not selfie.exists()


def test_backups_of_labels_are_changed_too(store: LabelStore) -> None:
    backup = reset_labels(store)
    assert mentions(backup)
    assert remembered(store, NAME).backups[backup.name].faces == 2
    forget(store, NAME)
    assert mentions(store.root) == []
    assert LabelStore(backup).contents().faces.photos


def test_a_name_that_only_blind_labels_have_is_found_and_goes(store: LabelStore) -> None:
    forget(store, NAME)
    first, second, third = store.contents().index.photos
    box = {"x": 0.1, "y": 0.1, "w": 0.1, "h": 0.1, "identity": NAME}
    with store.edit() as draft:
        for photo, faces in ((first, {"boxes": [box]}), (second, {"people": [NAME, "Bea"]}), (third, {"boxes": []})):
            record: dict[str, object] = {"drawn_at": "2026-01-01T00:00:00Z", "faces": faces}
            draft.put(Audit, photo, BlindLabels.model_validate(record))
    held = remembered(store, NAME).staging
    assert held
    assert held.blind == 2
    assert held.photos == {first, second}
    forget(store, NAME)
    assert mentions(store.root) == []
    assert store.audit().photos[second].faces.people == ["Bea"]


def test_a_file_that_is_called_after_somebody_gets_another_name(store: LabelStore) -> None:
    first, second, third = store.contents().index.photos
    names = {first: ["zenobia_quux_0001.JPG", "start.jpg"], second: ["Zenobia-Quux.png", "zenobia quux (2).png"]}
    with store.edit() as draft:
        for photo, own in {**names, third: ["zenobiaquux.jpg", "quux_zenobia.jpg"]}.items():
            draft.put(PhotoIndex, photo, draft.record(PhotoIndex, photo).model_copy(update={"names": own}))
    assert remembered(store, NAME).staging.called == 2
    forget(store, NAME)
    photos = store.contents().index.photos
    assert photos[first].names == [f"{first[:12]}.JPG", "start.jpg"]
    assert photos[second].names == [f"{second[:12]}.png"]
    assert photos[third].names == ["zenobiaquux.jpg", "quux_zenobia.jpg"], "no such words, or in another order"


def test_the_file_of_somebody_else_keeps_its_name(store: LabelStore) -> None:
    """Only photos that show a person are called after them."""
    with store.edit() as draft:
        first, *_ = draft.file(PhotoIndex).photos
        labels: FaceLabels = draft.record(FaceGroundTruth, first)
        nobody = [box.model_copy(update={"identity": None}) for box in labels.boxes]
        draft.put(FaceGroundTruth, first, labels.model_copy(update={"boxes": nobody, "people": None}))
        record = draft.record(PhotoIndex, first).model_copy(update={"names": ["Zenobia Quux at the bar.jpg"]})
        draft.put(PhotoIndex, first, record)
    forget(store, NAME)
    assert store.contents().index.photos[first].names == ["Zenobia Quux at the bar.jpg"]


class TestCommand:
    def test_pictures_that_pages_have_shown_go(self, store: LabelStore, harness: Harness) -> None:
        first, *_ = store.contents().index.photos
        for sha256 in (first, "ab" * 32):
            for size in ("thumb", "screen"):
                path = rendition(sha256, size)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(b"somebody's face")
        done = harness("forget", NAME, "--yes", f"references.root={store.root}")
        assert done.code == 0, done.err
        assert "2 pictures of pages deleted" in done.out
        assert not rendition(first, "thumb").exists()
        assert not rendition(first, "screen").exists()
        assert rendition("ab" * 32, "screen").exists()
        cleared = harness("cache", "clear")
        assert cleared.code == 0, cleared.err
        assert "2 pictures of pages" in cleared.out
        assert not rendition("ab" * 32, "screen").exists()

    def test_it_asks_and_then_leaves_nothing_in_staging_and_cache(self, store: LabelStore, harness: Harness) -> None:
        root = f"references.root={store.root}"
        cache = StageCache(Path.cwd() / "cache" / "stages", 1_000_000)
        first, *_ = store.contents().index.photos
        cache.put("vector", "identity", Entry(["secret-vector"] * 50, 0.1), first)
        cache.put("selfie", "identity", Entry(["secret-vector"] * 50, 0.1), f"{1:064x}")
        cache.put("other", "identity", Entry(["Bea's"], 0.1), f"{2:064x}")
        refused = harness("forget", NAME, root)
        assert refused.code == 2
        assert "this would remove Zenobia Quux" in refused.err
        assert "add --yes" in refused.err
        assert mentions(store.root)
        done = harness("forget", NAME, "--yes", root)
        assert done.code == 0, done.err
        assert "staging: 2 faces, said to be in 2 photos, 1 selfie, 1 suggested face, the name" in done.out
        assert "1 selfie file deleted, 2 cached answers about pictures of them dropped" in done.out
        assert mentions(store.root) == []
        assert b"secret-vector" not in b"".join(path.read_bytes() for path in cache.folder.iterdir())
        assert cache.get("other")

    def test_frozen_sets_are_named_with_what_they_hold(self, store: LabelStore, harness: Harness) -> None:
        shutil.rmtree(store.root / "selfies")
        with store.edit() as draft:
            for sha256 in draft.file(Selfies).photos:
                draft.put(Selfies, sha256, None)
        freeze(store, "v1")
        done = harness("forget", NAME, "--yes", f"references.root={store.root}")
        assert (
            "Frozen sets never change, and still hold:\n  v1: 2 faces, said to be in 2 photos, the name\n" in done.out
        )
        again = harness("forget", NAME, "--yes", f"references.root={store.root}")
        assert (again.code, "still hold" in again.out) == (0, True)

    def test_nobody_of_that_name_is_an_error(self, store: LabelStore, harness: Harness) -> None:
        told = harness("forget", "Nemo", "--yes", f"references.root={store.root}")
        assert told.code == 2
        assert "nobody is called 'Nemo' there; nothing was changed" in told.err

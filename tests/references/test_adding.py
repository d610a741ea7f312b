"""Photos enter a set once, under all their names; what cannot be read is named and passed over."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from harness.references.adding import add_photos, scan
from harness.references.photo_files import find_photos
from harness.references.store import LabelStore
from tests.references.test_importing import picture


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    picture(folder / "a.jpg", 1)
    picture(folder / "deeper" / "same.JPG", 1)
    picture(folder / "turned.jpeg", 2, orientation=6)
    content = (folder / "a.jpg").read_bytes()
    (folder / "broken.jpg").write_bytes(content[: len(content) // 2])
    (folder / "empty.png").write_bytes(b"")
    (folder / "notes.txt").write_text("not a photo")
    picture(folder / ".hidden" / "b.jpg", 3)
    return folder


def test_each_content_is_kept_once_with_all_its_names(tmp_path: Path, source: Path) -> None:
    store = LabelStore(tmp_path / "set")
    added = add_photos(store, list(find_photos(source)))
    assert [path.name for path in added.new] == ["a.jpg", "turned.jpeg"]
    assert [path.name for path in added.known] == ["same.JPG"]
    assert [path.name for path in added.unreadable] == ["broken.jpg", "empty.png"]
    assert all("not a readable picture" in reason for reason in added.unreadable.values())
    index = store.contents().index.photos
    assert [record.names for record in index.values()] == [["a.jpg", "same.JPG"], ["turned.jpeg"]]
    assert [(record.width, record.height) for record in index.values()] == [(200, 100), (100, 200)]
    stored = sorted((store.root / "photos").iterdir())
    assert {path.stem for path in stored} == set(index)
    assert all(hashlib.sha256(path.read_bytes()).hexdigest() == path.stem for path in stored)


def test_adding_again_changes_nothing_and_a_lost_photo_comes_back(tmp_path: Path, source: Path) -> None:
    store = LabelStore(tmp_path / "set")
    add_photos(store, list(find_photos(source)))
    before = (store.root / "photo_index.json").read_bytes()
    lost = sorted((store.root / "photos").iterdir())[0]
    lost.unlink()
    assert not add_photos(store, list(find_photos(source))).new
    assert (store.root / "photo_index.json").read_bytes() == before
    assert lost.is_file()


def test_scan_enters_what_was_put_in_by_hand_and_reports_what_is_gone(tmp_path: Path, source: Path) -> None:
    store = LabelStore(tmp_path / "set")
    add_photos(store, [source / "a.jpg", source / "turned.jpeg"])
    photos = store.root / "photos"
    first, second = store.contents().index.photos
    shutil.copy(picture(source / "new.jpg", 3), photos / "DSC_0001.JPG")
    (photos / "bad.jpg").write_bytes(b"no picture")
    next(photos.glob(f"{first}.*")).unlink()
    changed = next(photos.glob(f"{second}.*"))
    changed.write_bytes(changed.read_bytes() + b"!")
    found = scan(store)
    assert found.photos == 3
    assert [path.name for path in found.added.new] == ["DSC_0001.JPG"]
    assert [path.name for path in found.added.unreadable] == ["bad.jpg"]
    assert (found.missing, found.changed) == ([first], [second])
    assert not (photos / "DSC_0001.JPG").exists()
    assert scan(store).added.new == {}
    assert len(store.contents().index.photos) == 3

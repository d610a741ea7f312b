"""The store: what is on disk after a crash at any point of a write, and what a long-lived process sees."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from harness.base.errors import ReferenceSetError
from harness.references import store as store_module
from harness.references.disk import write_atomically
from harness.references.files import BibGroundTruth, BibLabels, LabelFile, decode
from harness.references.labels import save_bibs, save_face_tags, view
from harness.references.store import LabelStore
from harness.references.suggestions import PhotoSuggestions, Suggestions
from tests.references.builders import bib, make_store, photo_hash

PHOTO = photo_hash(0)


class Crash(BaseException):
    """The process dies here."""


@pytest.mark.parametrize("step", range(4))
def test_a_crash_between_two_files_is_mended_by_the_next_to_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Journal, bibs, links, end: whatever comes before the journal is as if it had not been, the rest is done."""
    store = make_store(tmp_path / "set")
    before = view(store, PHOTO)
    calls = iter(range(10))

    def write(path: Path, content: bytes) -> None:
        if next(calls) == step:
            raise Crash
        write_atomically(path, content)

    monkeypatch.setattr(store_module, "write_atomically", write)
    labels = BibLabels(labeled=True, boxes=before.bibs.boxes[1:])
    try:
        save_bibs(store, PHOTO, labels, before.revisions)
        assert step == 3
    except Crash:
        assert step < 3
    monkeypatch.undo()
    after = view(LabelStore(store.root), PHOTO)
    if step == 0:
        assert after == before
    else:
        assert (after.bibs, after.links) == (labels, [(0, 1), (1, 2)])
    assert not (store.root / ".journal.json").exists()
    assert view(store, PHOTO) == after


def test_what_was_left_half_written_is_cleared_away(tmp_path: Path) -> None:
    store = make_store(tmp_path / "set")
    (store.root / ".bib_ground_truth.json.0a1b2c3d.new").write_text("{")
    store.contents()
    assert not list(store.root.glob(".*.new"))


def test_a_broken_journal_is_refused_by_name(tmp_path: Path) -> None:
    store = make_store(tmp_path / "set")
    for content in ("{", "[]", '{"other.json": {}}', '{"bib_ground_truth.json": {"revision": "x", "content": {}}}'):
        (store.root / ".journal.json").write_text(content)
        with pytest.raises(ReferenceSetError, match=r"\.journal\.json"):
            store.contents()


@pytest.mark.parametrize("room_for", [0, 2])
def test_a_full_disk_is_told_and_leaves_the_old_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room_for: int
) -> None:
    """Also where the journal, small as it is, still fitted: it and its folder are synced first."""
    store = make_store(tmp_path / "set")
    before = view(store, PHOTO)
    fsync, calls = os.fsync, iter(range(100))

    def full(file: int) -> None:
        if next(calls) == room_for:
            raise OSError(28, "No space left on device")
        fsync(file)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ReferenceSetError, match="cannot be written: No space left"):
        save_bibs(store, PHOTO, BibLabels(labeled=True, boxes=before.bibs.boxes[1:]), before.revisions)
    monkeypatch.undo()
    assert view(LabelStore(store.root), PHOTO) == view(store, PHOTO) == before


def test_an_edit_that_raises_changes_nothing(tmp_path: Path) -> None:
    store = make_store(tmp_path / "set")
    before = view(store, PHOTO)

    def edit_and_fail() -> None:
        with store.edit() as draft:
            draft.put(BibGroundTruth, PHOTO, None)
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 - our own
        edit_and_fail()
    assert view(store, PHOTO) == before


def test_an_unchanged_file_is_read_once_and_a_changed_one_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path / "set")
    store.contents()
    parsed: list[str] = []

    def noted(path: Path, text: bytes, kind: type[LabelFile]) -> LabelFile:
        parsed.append(path.name)
        return decode(path, text, kind)

    monkeypatch.setattr(store_module, "decode", noted)
    seen = view(store, PHOTO)
    save_bibs(store, PHOTO, BibLabels(labeled=True, boxes=[*seen.bibs.boxes, bib(0.9)]), seen.revisions)
    store.contents()
    assert parsed == []
    path = store.root / "bib_ground_truth.json"
    path.write_text(path.read_text().replace('"number":"1"', '"number":"7"'))
    assert view(store, PHOTO).bibs.boxes[1].number == "7"
    assert parsed == ["bib_ground_truth.json"]


def test_links_that_a_hand_edit_broke_are_refused(tmp_path: Path) -> None:
    store = make_store(tmp_path / "set")
    store.contents()
    path = store.root / "bib_face_links.json"
    path.write_text(path.read_text().replace("[2,2]", "[2,9]", 1))
    with pytest.raises(ReferenceSetError, match=r"link \[2, 9\] points past"):
        store.contents()


def test_one_photo_is_one_line_and_older_schemas_are_written_back_as_the_current(tmp_path: Path) -> None:
    store = make_store(tmp_path / "set")
    path = store.root / "face_ground_truth.json"
    content = json.loads(path.read_text())
    del content["schema_version"]
    content["photos"][PHOTO]["boxes"][0]["scope"] = "ignore"
    path.write_text(json.dumps(content))
    seen = view(store, PHOTO)
    assert seen.faces.boxes[0].scope == "exclude"
    save_face_tags(store, PHOTO, ["light_faces"], seen.revisions)
    written = json.loads(path.read_text())
    assert written["schema_version"] == 3
    assert written["photos"][PHOTO]["boxes"][0]["scope"] == "exclude"
    assert len(path.read_text().splitlines()) == 3 + 2


def test_suggestions_never_touch_labels(tmp_path: Path) -> None:
    store = make_store(tmp_path / "set")
    before = {path.name: path.read_bytes() for path in store.root.glob("*.json")}
    with store.edit() as draft:
        draft.put(Suggestions, PHOTO, PhotoSuggestions(provenance="x", bibs=[], faces=[], links=[]))
    after = {path.name: path.read_bytes() for path in store.root.glob("*.json")}
    assert {name: after[name] for name in before} == before
    assert after.keys() - before.keys() == {"suggestions.json"}

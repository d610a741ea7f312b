"""The store: what is on disk after a crash at any point of a write, and what a long-lived process sees."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from harness.base.disk import write_atomically
from harness.base.errors import ReferenceSetError
from harness.references import store as store_module
from harness.references.drafts import KINDS
from harness.references.files import (
    BibFaceLinks,
    BibGroundTruth,
    BibLabels,
    F,
    FaceGroundTruth,
    FaceIdentities,
    PhotoFile,
    PhotoIndex,
    decode,
    encode,
)
from harness.references.labels import save_bib_tags, save_bibs, save_face_tags, view
from harness.references.store import LabelStore
from harness.references.suggestions import PhotoSuggestions, Suggestions
from tests.references.builders import bib, make_store, photo_hash

PHOTO, OTHER = photo_hash(0), photo_hash(1)


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
        assert (after.bibs.bare(), after.links) == (labels, [(0, 1), (1, 2)])
    assert not (store.root / ".journal.json").exists()
    assert view(store, PHOTO) == after


def test_mending_writes_only_the_files_that_lack_the_edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make_store(tmp_path / "set")
    seen = view(store, PHOTO)

    def write(path: Path, content: bytes) -> None:
        if path.name == "bib_face_links.json":
            raise Crash
        write_atomically(path, content)

    monkeypatch.setattr(store_module, "write_atomically", write)
    with pytest.raises(Crash):
        save_bibs(store, PHOTO, BibLabels(labeled=True, boxes=seen.bibs.boxes[1:]), seen.revisions)
    written: list[str] = []
    monkeypatch.setattr(store_module, "write_atomically", lambda path, _: written.append(path.name))
    LabelStore(store.root).contents()
    assert written == ["bib_face_links.json"]


def test_a_set_whose_first_write_was_cut_short_after_its_journal_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(path: Path, content: bytes) -> None:
        if path.name != ".journal.json":
            raise Crash
        write_atomically(path, content)

    record = make_store(tmp_path / "other").contents().index.photos[PHOTO]
    root = tmp_path / "not" / "there" / "yet"
    monkeypatch.setattr(store_module, "write_atomically", write)
    with pytest.raises(Crash), LabelStore(root).edit() as draft:  # noqa: PT012 - the end of the edit raises
        draft.put(PhotoIndex, PHOTO, record)
        draft.put(BibGroundTruth, PHOTO, BibLabels(labeled=True))
    monkeypatch.undo()
    assert [path.name for path in root.glob("*.json")] == [".journal.json"]
    contents = LabelStore(root).contents()
    assert (contents.index.photos, contents.bibs.photos) == ({PHOTO: record}, {PHOTO: BibLabels(labeled=True)})


def test_a_folder_without_a_set_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(ReferenceSetError, match="no reference set at"):
        LabelStore(tmp_path).contents()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [".journal.json", *(kind.FILE_NAME for kind in KINDS)])
def test_what_was_left_half_written_is_cleared_away(tmp_path: Path, name: str) -> None:
    store = make_store(tmp_path / "set")
    (store.root / f".{name}.0a1b2c3d.new").write_text("{")
    store.contents()
    assert not list(store.root.glob(".*.new"))


def test_an_edit_of_one_file_is_one_write_and_an_edit_of_two_is_written_down_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path / "set")
    written: list[str] = []

    def write(path: Path, content: bytes) -> None:
        written.append(path.name)
        write_atomically(path, content)

    monkeypatch.setattr(store_module, "write_atomically", write)
    save_bib_tags(store, PHOTO, ["dark_bib"], view(store, PHOTO).revisions)
    assert written == ["bib_ground_truth.json"]
    seen = view(store, PHOTO)
    save_bibs(store, PHOTO, BibLabels(labeled=True, boxes=seen.bibs.boxes[1:]), seen.revisions)
    assert written[1:] == [".journal.json", "bib_ground_truth.json", "bib_face_links.json"]


def test_a_broken_journal_is_refused_by_name(tmp_path: Path) -> None:
    store = make_store(tmp_path / "set")
    for content in ("{", "[]", '{"other.json": {}}', '{"bib_ground_truth.json": {"revision": "x", "content": {}}}'):
        (store.root / ".journal.json").write_text(content)
        with pytest.raises(ReferenceSetError, match=r"\.journal\.json"):
            store.contents()


def fill_the_disk(monkeypatch: pytest.MonkeyPatch, room_for: int) -> None:
    """Let so many more syncs through, and have no room for the next one."""
    fsync, calls = os.fsync, iter(range(100))

    def full(file: int) -> None:
        if next(calls) == room_for:
            raise OSError(28, "No space left on device")
        fsync(file)

    monkeypatch.setattr(os, "fsync", full)


@pytest.mark.parametrize("room_for", [0, 2])
def test_a_full_disk_is_told_and_leaves_the_old_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room_for: int
) -> None:
    """Also where the journal, small as it is, still fitted: it and its folder are synced first."""
    store = make_store(tmp_path / "set")
    before = view(store, PHOTO)
    fill_the_disk(monkeypatch, room_for)
    with pytest.raises(ReferenceSetError, match="cannot be written: No space left"):
        save_bibs(store, PHOTO, BibLabels(labeled=True, boxes=before.bibs.boxes[1:]), before.revisions)
    monkeypatch.undo()
    assert view(LabelStore(store.root), PHOTO) == view(store, PHOTO) == before


@pytest.mark.parametrize("room_for", [3, 4])
def test_a_disk_that_fills_up_between_two_files_leaves_the_journal_for_the_next_to_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room_for: int
) -> None:
    """The bibs are new and the links are old: taking the journal away would leave links to boxes that are gone."""
    store = make_store(tmp_path / "set")
    before = view(store, PHOTO)
    fill_the_disk(monkeypatch, room_for)
    labels = BibLabels(labeled=True, boxes=before.bibs.boxes[1:])
    with pytest.raises(ReferenceSetError, match="cannot be written: No space left"):
        save_bibs(store, PHOTO, labels, before.revisions)
    monkeypatch.undo()
    after = view(LabelStore(store.root), PHOTO)
    assert (after.bibs.bare(), after.links) == (labels, [(0, 1), (1, 2)])
    assert view(store, PHOTO) == after


def test_that_the_journal_is_gone_lasts_through_a_crash_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path / "set")
    seen = view(store, PHOTO)
    folder_synced_with_journal: list[bool] = []

    def sync(folder: Path) -> None:
        folder_synced_with_journal.append((folder / ".journal.json").exists())

    monkeypatch.setattr(store_module, "sync_folder", sync)
    save_bibs(store, PHOTO, BibLabels(labeled=True, boxes=seen.bibs.boxes[1:]), seen.revisions)
    assert folder_synced_with_journal == [False]


@pytest.mark.parametrize(
    ("kind", "record", "message"),
    [
        (BibFaceLinks, [(0, 3)], r"link \[0, 3\] points past the 3 bibs and 3 faces"),
        (BibGroundTruth, None, r"link \[0, 0\] points past the 0 bibs and 3 faces"),
        (FaceGroundTruth, None, r"link \[0, 0\] points past the 3 bibs and 0 faces"),
    ],
)
def test_an_edit_that_would_leave_a_link_without_its_box_is_refused(
    tmp_path: Path, kind: type[PhotoFile], record: object, message: str
) -> None:
    store = make_store(tmp_path / "set")
    before = store.contents()
    with pytest.raises(ReferenceSetError, match=message), store.edit() as draft:
        draft.put(kind, PHOTO, record)
    assert store.contents() == LabelStore(store.root).contents() == before


def test_what_a_long_lived_process_has_written_is_what_the_files_say(tmp_path: Path) -> None:
    """It encodes changed photos alone: one that changed, one that is new, one that is gone, one that never was."""
    store = make_store(tmp_path / "set")
    new, never = photo_hash(7), photo_hash(8)
    save_bib_tags(store, OTHER, ["dark_bib"], view(store, OTHER).revisions)
    with store.edit() as draft:
        draft.put(BibGroundTruth, OTHER, BibLabels(labeled=True, boxes=[bib(0.1), bib(0.2), bib(0.3)]))
        draft.put(BibGroundTruth, new, BibLabels(labeled=True))
        draft.put(BibGroundTruth, PHOTO, None)
        draft.put(BibFaceLinks, PHOTO, None)
        draft.put(BibGroundTruth, never, None)
        draft.put_head(FaceIdentities, names=["Ada"])
    bibs = store.contents().bibs
    assert bibs.photos.keys() == {OTHER, photo_hash(2), new}
    assert (store.root / "bib_ground_truth.json").read_bytes() == encode(bibs)
    assert LabelStore(store.root).contents() == store.contents()


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


def test_an_unchanged_file_is_read_once_and_a_changed_one_again(tmp_path: Path) -> None:
    parsed: list[str] = []

    def noted(path: Path, text: bytes, kind: type[F]) -> F:
        parsed.append(path.name)
        return decode(path, text, kind)

    store = LabelStore(make_store(tmp_path / "set").root, noted)
    store.contents()
    assert "bib_ground_truth.json" in parsed
    parsed.clear()
    seen = view(store, PHOTO)
    save_bibs(store, PHOTO, BibLabels(labeled=True, boxes=[*seen.bibs.boxes, bib(0.9)]), seen.revisions)
    store.contents()
    assert parsed == []
    path = store.root / "bib_ground_truth.json"
    path.write_text(path.read_text().replace('"number":"1"', '"number":"7"'))
    assert view(store, PHOTO).bibs.boxes[1].number == "7"
    assert parsed == ["bib_ground_truth.json"]


@pytest.mark.parametrize("change", ["inode", "time", "size", "head"])
def test_a_file_is_read_again_when_one_of_inode_time_size_and_head_has_changed(tmp_path: Path, change: str) -> None:
    store = make_store(tmp_path / "set")
    assert view(store, PHOTO).bibs.boxes[1].number == "1"
    path = store.root / "bib_ground_truth.json"
    status, text = path.stat(), path.read_text()
    numbers = text.replace('"number":"1"', '"number":"10"' if change == "size" else '"number":"7"')
    if change == "head":
        # Only the revision moves, and the number with it: same inode, same size, and the clock has not ticked.
        numbers = numbers.replace('"revision":0', '"revision":5')
    if change == "inode":
        kept = path.rename(path.with_name("kept"))
        assert kept.is_file()
    with path.open("w" if change == "inode" else "r+") as file:
        file.write(numbers)
    if change != "time":
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert view(store, PHOTO).bibs.boxes[1].number == ("10" if change == "size" else "7")


def test_links_that_a_hand_edit_broke_are_refused(tmp_path: Path) -> None:
    store = make_store(tmp_path / "set")
    store.contents()
    path = store.root / "bib_face_links.json"
    path.write_text(path.read_text().replace("[2,2]", "[2,9]", 1))
    for opened_before_or_after in (store, LabelStore(store.root)):
        with pytest.raises(ReferenceSetError, match=r"link \[2, 9\] points past"):
            opened_before_or_after.contents()
        with pytest.raises(ReferenceSetError, match=r"link \[2, 9\] points past"), opened_before_or_after.edit():
            pass


def test_a_folder_that_may_not_be_written_is_read_without_a_lock_and_not_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path / "set")
    # The tests may run as root, who may write everything.
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)
    assert store.contents().bibs.photos.keys() == {photo_hash(number) for number in range(3)}
    assert not (store.root / ".lock").exists()
    with pytest.raises(ReferenceSetError, match="may not be written"), store.edit():
        pass


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
    assert store.suggestions().photos.keys() == {PHOTO}

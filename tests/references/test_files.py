"""Label files: what loads, what is refused and how, and that a write is whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from harness.base.errors import ReferenceSetError
from harness.references.contents import read_file
from harness.references.files import (
    BibFaceLinks,
    BibGroundTruth,
    BibLabels,
    BibRecord,
    BoxOrigin,
    FaceGroundTruth,
    FaceLabels,
    FaceRecord,
    PhotoIndex,
    PhotoRecord,
    encode,
    write_file,
)
from harness.references.labels import save_face_tags, view
from harness.types import BibBox, BibFaceLink, BibScope, FaceBox, FaceScope
from tests.references.builders import make_store

HASH = "a" * 64
BOX: dict[str, Any] = {"x": 0.1, "y": 0.2, "w": 0.3, "h": 0.4}
PHOTO: dict[str, Any] = {
    "names": ["a.jpg"],
    "width": 4,
    "height": 3,
    "bytes": 9,
    "added_at": "2026",
    "split": "holdout",
}


def write(root: Path, name: str, content: object) -> None:
    (root / name).write_text(json.dumps(content))


def test_a_file_round_trips(tmp_path: Path) -> None:
    labels = {
        HASH: {"labeled": True, "boxes": [BOX | {"number": "62?", "scope": "bib_obscured"}], "tags": ["dark_bib"]}
    }
    content = BibGroundTruth.model_validate({"photos": labels})
    write_file(tmp_path, content)
    assert read_file(tmp_path, BibGroundTruth) == content
    assert json.loads((tmp_path / "bib_ground_truth.json").read_text())["schema_version"] == 3


def test_a_file_says_its_revision_then_one_photo_a_line_then_which_photo_changed_when(tmp_path: Path) -> None:
    other = "b" * 64
    write_file(tmp_path, BibFaceLinks(revision=2, photos={HASH: [(0, 1)], other: []}, changed={other: 2}))
    assert (tmp_path / "bib_face_links.json").read_text().splitlines() == [
        '{"schema_version":3,"revision":2,"photos":{',
        f'"{HASH}":[[0,1]],',
        f'"{other}":[]',
        f'}},"changed":{{"{other}":2}}}}',
    ]
    write_file(tmp_path, BibFaceLinks())
    assert (tmp_path / "bib_face_links.json").read_text() == '{"schema_version":3,"revision":0,"photos":{\n\n}}\n'


def test_what_was_read_cannot_be_changed_in_place() -> None:
    """The store hands out one copy to everybody who asks."""
    labels = FaceLabels(labeled=True)
    with pytest.raises(ValidationError, match="frozen"):
        labels.labeled = False


def test_a_record_becomes_the_box_that_it_says() -> None:
    bib = BibRecord(**BOX, number="62", scope=BibScope.BIB_OBSCURED, tags=["wet"])
    assert bib.box() == BibBox(**BOX, number="62", scope=BibScope.BIB_OBSCURED, tags=("wet",))
    face = FaceRecord(**BOX, identity="Ada", scope=FaceScope.EXCLUDE, tags=["tiny"])
    assert face.box() == FaceBox(**BOX, identity="Ada", scope=FaceScope.EXCLUDE, tags=("tiny",))


@pytest.mark.parametrize(
    ("labels", "done"),
    [({}, False), ({"boxes": [BOX]}, True), ({"tags": ["no_faces"]}, True), ({"boxes": [], "tags": []}, False)],
)
def test_a_file_of_faces_that_never_says_labeled_is_done_where_it_has_boxes_or_tags(
    tmp_path: Path, labels: dict[str, Any], done: bool
) -> None:
    (tmp_path / "face_ground_truth.json").write_text(json.dumps({"photos": {"a" * 64: labels}}))
    assert read_file(tmp_path, FaceGroundTruth).photos["a" * 64].labeled is done
    other = {"photos": {"a" * 64: labels, "b" * 64: {"labeled": False}}}
    (tmp_path / "face_ground_truth.json").write_text(json.dumps(other))
    assert not read_file(tmp_path, FaceGroundTruth).photos["a" * 64].labeled


def test_bibs_of_a_file_that_never_says_labeled_are_not_done(tmp_path: Path) -> None:
    (tmp_path / "bib_ground_truth.json").write_text(json.dumps({"photos": {"a" * 64: {"boxes": [BOX]}}}))
    assert not read_file(tmp_path, BibGroundTruth).photos["a" * 64].labeled


def test_what_the_older_rule_called_done_is_written_back_as_said(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    one, two, _ = store.contents().index.photos
    faces = {one: {"boxes": [BOX]}, two: {"boxes": []}}
    (tmp_path / "face_ground_truth.json").write_text(json.dumps({"photos": faces}))
    (tmp_path / "bib_face_links.json").write_text('{"photos": {}}')
    save_face_tags(store, two, ["light_faces"], view(store, two).revisions)
    written = json.loads((tmp_path / "face_ground_truth.json").read_text())["photos"]
    assert {photo: record["labeled"] for photo, record in written.items()} == {one: True, two: False}


def test_optional_keys_are_written_only_where_they_are_known() -> None:
    plain = PhotoRecord(names=["a"], width=1, height=1, bytes=1, added_at="", split="holdout")
    assert not {"group", "taken_at", "camera"} & plain.model_dump().keys()
    assert "origin" not in BibRecord(**BOX).model_dump()
    known = BibRecord(**BOX, origin=BoxOrigin(how="drawn"))
    assert known.model_dump()["origin"] == {"how": "drawn"}
    assert b"origin" in encode(BibGroundTruth(photos={"a" * 64: BibLabels(boxes=[known])}))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("taken_at", "yesterday", "Invalid isoformat"),
        ("taken_at", "2026-05-03T10:00:00+02:00", "without a zone"),
        ("group", "", "at least 1 character"),
    ],
)
def test_a_wrong_capture_or_group_is_refused_by_record(tmp_path: Path, key: str, value: str, message: str) -> None:
    make_store(tmp_path)
    path = tmp_path / "photo_index.json"
    content = json.loads(path.read_text())
    first = next(iter(content["photos"]))
    content["photos"][first][key] = value
    path.write_text(json.dumps(content))
    with pytest.raises(ReferenceSetError, match=rf"photo_index.json: photos.{first}.{key}.*{message}"):
        read_file(tmp_path, PhotoIndex)


def test_links_that_nobody_labelled_are_not_the_same_as_no_links() -> None:
    links = BibFaceLinks(photos={HASH: [(0, 1)], "b" * 64: []})
    assert links.links(HASH) == (BibFaceLink(0, 1),)
    assert (links.links("b" * 64), links.links("c" * 64)) == ((), None)


def test_a_missing_file_is_an_empty_one(tmp_path: Path) -> None:
    assert read_file(tmp_path, PhotoIndex).photos == {}


@pytest.mark.parametrize(("old", "new"), [("ignore", "exclude"), ("unknown", "uncertain"), ("keep", "keep")])
def test_old_face_scopes_load(tmp_path: Path, old: str, new: str) -> None:
    content = {"schema_version": 3, "photos": {HASH: {"boxes": [BOX | {"scope": old}]}}}
    write(tmp_path, "face_ground_truth.json", content)
    assert read_file(tmp_path, FaceGroundTruth).photos[HASH].boxes[0].scope == new


@pytest.mark.parametrize("version", [{}, {"schema_version": 1}, {"schema_version": 2}, {"schema_version": 3}])
def test_every_schema_version_so_far_loads_as_the_current_one(tmp_path: Path, version: dict[str, int]) -> None:
    write(tmp_path, "bib_ground_truth.json", {**version, "photos": {HASH: {"labeled": True}}})
    content = read_file(tmp_path, BibGroundTruth)
    assert (content.schema_version, content.photos[HASH].labeled) == (3, True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"schema_version": 4}, "schema_version 4 is newer than 3"),
        ({"schema_version": 0}, "schema_version: must be 3"),
        ({"schema_version": 1.0}, "schema_version: must be 3"),
        ({"schema_version": True}, "schema_version: must be 3"),
        ({"schema_version": "4"}, "schema_version: must be 3"),
        ({"schema_version": 3, "photos": {HASH: {"labeled": "yes"}}}, "labeled: must be a boolean"),
        ({"photos": {"xyz": {}}}, "photos.xyz.*String should match pattern"),
        (
            {"photos": {HASH: {"boxes": [BOX | {"w": -1}]}}},
            f"photos.{HASH}.boxes.0.w: .*greater than or equal to 0, got -1",
        ),
        ({"photos": {HASH: {"boxes": [BOX | {"x": "left"}]}}}, "boxes.0.x: must be a number"),
        (
            {"photos": {HASH: {"boxes": [BOX | {"scope": "bip"}]}}},
            "boxes.0.scope: must be 'bib', 'bib_clipped'",
        ),
        ({"photos": {HASH: {"boxes": [BOX | {"colour": 1}]}}}, "boxes.0.colour: no such key"),
        ({"photos": {HASH: {"tags": ["nice"]}}}, "tags.0: must be 'obscured_bib'"),
        ([], r"the file: must be a dictionary.* got \[\]"),
    ],
)
def test_what_does_not_fit_is_refused_with_file_record_and_field(tmp_path: Path, content: object, message: str) -> None:
    write(tmp_path, "bib_ground_truth.json", content)
    with pytest.raises(ReferenceSetError, match=rf"bib_ground_truth\.json: .*{message}"):
        read_file(tmp_path, BibGroundTruth)


@pytest.mark.parametrize(("field", "value"), [("names", []), ("width", 0), ("bytes", 0), ("split", "test")])
def test_a_photo_has_a_name_a_size_and_a_split(tmp_path: Path, field: str, value: object) -> None:
    write(tmp_path, "photo_index.json", {"photos": {HASH: PHOTO | {field: value}}})
    with pytest.raises(ReferenceSetError, match=rf"photo_index\.json: photos\.{HASH}\.{field}"):
        read_file(tmp_path, PhotoIndex)


def test_what_is_not_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bib_ground_truth.json").write_text('{"photos": ')
    with pytest.raises(ReferenceSetError, match=r"bib_ground_truth.json: not JSON"):
        read_file(tmp_path, BibGroundTruth)


def test_a_failing_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_file(tmp_path, PhotoIndex())
    before = (tmp_path / "photo_index.json").read_bytes()

    def full_disk(_: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="no space"):
        write_file(tmp_path, PhotoIndex(revision=1))
    assert (tmp_path / "photo_index.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["photo_index.json"]


def test_records_do_not_keep_the_names_of_their_keys_which_were_half_of_their_memory() -> None:
    one, other = (BibRecord.model_validate_json('{"x": 0.1, "y": 0.1, "w": 0.2, "h": 0.2}') for _ in range(2))
    copy = one.model_copy(update={"number": "7"})
    assert one.model_fields_set is other.model_fields_set
    assert not one.model_fields_set, "a copy with another value adds nothing to what all share"
    assert (copy.number, one.number) == ("7", None)
    assert one == other

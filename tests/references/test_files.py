"""Label files: what loads, what is refused and how, and that a write is whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from harness.base.errors import ReferenceSetError
from harness.references.files import (
    BibFaceLinks,
    BibGroundTruth,
    BibRecord,
    FaceGroundTruth,
    FaceLabels,
    FaceRecord,
    PhotoIndex,
    read_file,
    write_file,
)
from harness.types import BibBox, BibFaceLink, BibScope, FaceBox, FaceScope

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
    [
        ({}, False),
        ({"labeled": True}, True),
        ({"boxes": [FaceRecord(**BOX)]}, True),
        ({"tags": ["no_faces"]}, True),
    ],
)
def test_somebody_has_looked_for_faces_when_they_said_so_drew_a_box_or_set_a_tag(
    labels: dict[str, Any], done: bool
) -> None:
    assert FaceLabels(**labels).done is done


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
        ({"schema_version": 0}, "schema_version: Input should be 3"),
        ({"schema_version": 1.0}, "schema_version: Input should be 3"),
        ({"schema_version": True}, "schema_version: Input should be 3"),
        ({"schema_version": "4"}, "schema_version: Input should be 3"),
        ({"schema_version": 3, "photos": {HASH: {"labeled": "yes"}}}, "labeled: Input should be a valid boolean"),
        ({"photos": {"xyz": {}}}, "photos.xyz.*String should match pattern"),
        (
            {"photos": {HASH: {"boxes": [BOX | {"w": -1}]}}},
            f"photos.{HASH}.boxes.0.w: .*greater than or equal to 0, got -1",
        ),
        ({"photos": {HASH: {"boxes": [BOX | {"x": "left"}]}}}, "boxes.0.x: Input should be a valid number"),
        (
            {"photos": {HASH: {"boxes": [BOX | {"scope": "bip"}]}}},
            "boxes.0.scope: Input should be 'bib', 'bib_clipped'",
        ),
        ({"photos": {HASH: {"boxes": [BOX | {"colour": 1}]}}}, "boxes.0.colour: Extra inputs are not permitted"),
        ({"photos": {HASH: {"tags": ["nice"]}}}, "tags.0: Input should be 'obscured_bib'"),
        ([], r"the file: Input should be a valid dictionary.* got \[\]"),
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

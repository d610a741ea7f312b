"""Label files: what loads, what is refused and how, and that a write is whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import ReferenceSetError
from harness.references.files import BibGroundTruth, FaceGroundTruth, PhotoIndex, read_file, write_file

HASH = "a" * 64
BOX: dict[str, Any] = {"x": 0.1, "y": 0.2, "w": 0.3, "h": 0.4}


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


def test_a_missing_file_is_an_empty_one(tmp_path: Path) -> None:
    assert read_file(tmp_path, PhotoIndex).photos == {}


@pytest.mark.parametrize(("old", "new"), [("ignore", "exclude"), ("unknown", "uncertain"), ("keep", "keep")])
def test_old_face_scopes_load(tmp_path: Path, old: str, new: str) -> None:
    content = {"schema_version": 3, "photos": {HASH: {"boxes": [BOX | {"scope": old}]}}}
    write(tmp_path, "face_ground_truth.json", content)
    assert read_file(tmp_path, FaceGroundTruth).photos[HASH].boxes[0].scope == new


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"schema_version": 4}, "schema_version 4 is newer than 3"),
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
        ([], "the file: Input should be a valid dictionary"),
    ],
)
def test_what_does_not_fit_is_refused_with_file_record_and_field(tmp_path: Path, content: object, message: str) -> None:
    write(tmp_path, "bib_ground_truth.json", content)
    with pytest.raises(ReferenceSetError, match=rf"bib_ground_truth\.json: .*{message}"):
        read_file(tmp_path, BibGroundTruth)


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

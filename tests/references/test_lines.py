"""The label files of a large set, which are read by lines: the same content, and the same words where it is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest

from harness.base.errors import ReferenceSetError
from harness.references import lines
from harness.references.files import (
    BibFaceLinks,
    BibGroundTruth,
    FaceGroundTruth,
    FaceIdentities,
    LabelFile,
    PhotoFile,
    PhotoIndex,
    decode,
    encode,
)
from harness.references.lines import Lines, decode_lines
from harness.references.sets import digest, load_set
from tests.references.builders import make_store, photo_hash

KINDS: tuple[type[PhotoFile], ...] = (PhotoIndex, BibGroundTruth, FaceGroundTruth, BibFaceLinks)


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven photos are many here."""
    monkeypatch.setattr(lines, "FEWEST", 5)
    monkeypatch.setattr(lines, "_TOGETHER", 3)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_store(tmp_path / "set", photos=7).root


def text_of(root: Path, kind: type[LabelFile]) -> bytes:
    return (root / kind.FILE_NAME).read_bytes()


def said(path: Path, text: bytes, kind: type[LabelFile], by_lines: bool) -> str:
    with pytest.raises(ReferenceSetError) as caught:
        (decode_lines if by_lines else decode)(path, text, kind)
    return str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_the_content_is_that_of_the_whole_file(root: Path, kind: type[PhotoFile]) -> None:
    text = text_of(root, kind)
    text = encode(decode(Path(), text, kind).model_copy(update={"revision": 3, "changed": {photo_hash(1): 2}}))
    whole, found = decode(Path(), text, kind), decode_lines(Path(), text, kind)
    assert isinstance(found.photos, Lines)
    assert dict(found.photos) == whole.photos
    assert list(found.photos) == list(whole.photos)
    assert (found.revision, found.changed) == (3, {photo_hash(1): 2})
    assert photo_hash(0) in found.photos
    assert found.photos.get("nobody") is None


def test_the_set_and_its_digest_are_the_same(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    by_lines = load_set(root, "a", "full")
    monkeypatch.setattr(lines, "FEWEST", 100)
    whole = load_set(root, "a", "full")
    assert by_lines == whole
    assert by_lines.digest == whole.digest == digest(by_lines.photos)


def test_a_file_in_another_layout_is_read_whole(root: Path) -> None:
    data = json.loads(text_of(root, BibGroundTruth))
    for text in (json.dumps(data).encode(), json.dumps(data, indent=0).encode(), orjson.dumps(data)):
        found = decode_lines(Path(), text, BibGroundTruth)
        assert not isinstance(found.photos, Lines)
        assert found == decode(Path(), text, BibGroundTruth)


def test_two_records_in_one_line_are_two_photos(root: Path) -> None:
    text = text_of(root, BibGroundTruth).replace(b"},\n", b"},", 1)
    assert len(decode_lines(Path(), text, BibGroundTruth).photos) == 7


def test_a_photo_that_stands_twice_counts_once(root: Path) -> None:
    text = text_of(root, BibFaceLinks)
    last = text[: text.rindex(b"\n}")].rpartition(b"\n")[2]
    twice = text.replace(last, last + b",\n" + last.replace(b"[1,1]", b"[1,2]"))
    found = decode_lines(Path(), twice, BibFaceLinks)
    assert dict(found.photos) == decode(Path(), twice, BibFaceLinks).photos
    assert len(found.photos) == 7


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"labeled":true', b'"labeled":"yes"'),
        (b'"x":0.1', b'"x":"0.1"'),
        (b'"number":"1"', b'"numbers":"1"'),
        (photo_hash(5).encode(), b"no hash"),
        (b"}]", b"]]"),
        (b'"schema_version":3', b'"schema_version":4'),
    ],
)
def test_what_is_wrong_is_told_in_the_same_words(root: Path, old: bytes, new: bytes) -> None:
    path, text = root / BibGroundTruth.FILE_NAME, text_of(root, BibGroundTruth)
    assert old in text
    wrong = new.join(text.rsplit(old, 1))
    told = said(path, wrong, BibGroundTruth, by_lines=True)
    assert told == said(path, wrong, BibGroundTruth, by_lines=False)
    assert str(path) in told


def test_old_files_and_those_without_photos_are_read_whole(root: Path) -> None:
    text = text_of(root, FaceGroundTruth).replace(b'"labeled":true,', b"")
    found = decode_lines(Path(), text, FaceGroundTruth)
    assert found == decode(Path(), text, FaceGroundTruth)
    assert all(labels.labeled for labels in found.photos.values()), "boxes alone say that an old photo is done"
    old = text_of(root, BibGroundTruth).replace(b'"schema_version":3', b'"schema_version":2')
    assert decode_lines(Path(), old, BibGroundTruth) == decode(Path(), old, BibGroundTruth)
    names = b'{"schema_version":3,"names":["\\n",' + b'"a",\n' * 9 + b'"b"]}'
    assert decode_lines(Path(), names, FaceIdentities) == decode(Path(), names, FaceIdentities)

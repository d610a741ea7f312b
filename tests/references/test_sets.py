"""Reference sets: selection, digest, and photos that are what their name says."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from harness.base.errors import PhotoError, ReferenceSetError
from harness.references.photos import read_photo
from harness.references.sets import ReferencePhoto, digest, load_set
from harness.references.splitting import split_of
from harness.types import BibBox, BibFaceLink, FaceBox


def test_labels_come_with_their_photo(tiny_set: Path) -> None:
    photos = {photo.name: photo for photo in load_set(tiny_set, "tiny", "iteration").photos}
    assert list(photos) == ["P001.jpg", "P005.jpg", "P006.jpg"]
    assert [bib.number for bib in photos["P001.jpg"].bibs] == ["417"]
    assert photos["P006.jpg"].labels.bibs == ()
    assert photos["P006.jpg"].links == ()


def test_a_split_selects_and_an_empty_one_is_refused(tiny_set: Path) -> None:
    assert len(load_set(tiny_set, "tiny", "full").photos) == 3
    with pytest.raises(ReferenceSetError, match=r"no photo of .* is in the split 'holdout'"):
        load_set(tiny_set, "tiny", "holdout")


def test_the_digest_follows_labels_and_selection_and_nothing_else(tiny_set: Path) -> None:
    before = load_set(tiny_set, "tiny", "full").digest
    assert load_set(tiny_set, "other name", "iteration").digest == before
    path = tiny_set / "bib_ground_truth.json"
    path.write_text(path.read_text().replace('"417"', '"418"'))
    assert load_set(tiny_set, "tiny", "full").digest != before


def test_photos_fall_into_splits_by_their_hash() -> None:
    hashes = [hashlib.sha256(bytes([number % 256, number // 256])).hexdigest() for number in range(2000)]
    share = sum(split_of(sha256) == "holdout" for sha256 in hashes) / len(hashes)
    assert 0.27 < share < 0.33


def test_a_link_past_the_labels_is_refused(tiny_set: Path) -> None:
    path = tiny_set / "bib_face_links.json"
    content = json.loads(path.read_text())
    first = next(iter(content["photos"]))
    content["photos"][first] = [[0, 5]]
    path.write_text(json.dumps(content))
    with pytest.raises(ReferenceSetError, match=rf"bib_face_links.json: photos.{first}: link \[0, 5\] points past"):
        load_set(tiny_set, "tiny", "full")


def stored(folder: Path, content: bytes) -> tuple[Path, str]:
    path = folder / "photo.jpg"
    path.write_bytes(content)
    return path, hashlib.sha256(content).hexdigest()


def jpeg(orientation: int | None = None) -> bytes:
    picture = Image.fromarray(np.dstack([np.tile(np.arange(64, dtype=np.uint8) * 4, (32, 1))] * 3))
    exif = Image.Exif()
    if orientation:
        exif[0x0112] = orientation
    out = io.BytesIO()
    picture.save(out, "jpeg", exif=exif)
    return out.getvalue()


def test_orientation_is_applied(tmp_path: Path) -> None:
    assert read_photo(*stored(tmp_path, jpeg())).shape == (32, 64, 3)
    assert read_photo(*stored(tmp_path, jpeg(orientation=6))).shape == (64, 32, 3)


@pytest.mark.parametrize("content", [jpeg()[:-300], b"", b"not a picture", b"\x89PNG\r\n\x1a\n broken"])
def test_a_broken_photo_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(PhotoError, match=r"photo.jpg: not a readable picture"):
        read_photo(*stored(tmp_path, content))


def test_a_photo_with_other_bytes_than_its_name_says_is_refused(tmp_path: Path) -> None:
    path, _ = stored(tmp_path, jpeg())
    with pytest.raises(PhotoError, match=r"content has SHA-256 .* expected 000000000000"):
        read_photo(path, "0" * 64)


def test_a_missing_photo_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PhotoError, match=r"gone.jpg: cannot be read: No such file"):
        read_photo(tmp_path / "gone.jpg", "0" * 64)


def test_the_digest_of_known_labels_never_changes() -> None:
    photo = ReferencePhoto(
        sha256="a" * 64,
        name="a.jpg",
        path=Path("a.jpg"),
        split="iteration",
        bib_labeled=True,
        bibs=(BibBox(x=0.1, y=0.2, w=0.3, h=0.4, number="62?", scope="bib_obscured", tags=("torn",)),),
        bib_tags=("dark_bib",),
        face_labeled=True,
        faces=(FaceBox(x=0.5, y=0.6, w=0.1, h=0.1, identity="Ada", tags=("tiny",)),),
        face_tags=(),
        links=(BibFaceLink(0, 0),),
    )
    assert digest([photo]) == "cf709618f39359d59f1adbeacf7d02ce8bfccbb4405d4f75f6de74d553a4301c"
    assert digest([replace(photo, name="b.jpg", path=Path("b.jpg"))]) == digest([photo])
    assert digest([replace(photo, links=())]) != digest([replace(photo, links=None)]) != digest([photo])

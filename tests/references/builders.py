"""Small reference sets without pictures, for tests of what happens to labels."""

from __future__ import annotations

import hashlib
from pathlib import Path

from harness.references.files import (
    BibFaceLinks,
    BibGroundTruth,
    BibLabels,
    BibRecord,
    FaceGroundTruth,
    FaceLabels,
    FaceRecord,
    PhotoIndex,
    PhotoRecord,
    write_file,
)
from harness.references.store import LabelStore


def photo_hash(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


def bib(place: float, number: str | None = None) -> BibRecord:
    return BibRecord(x=place, y=0.5, w=0.1, h=0.1, number=number)


def face(place: float, identity: str | None = None) -> FaceRecord:
    return FaceRecord(x=place, y=0.1, w=0.1, h=0.1, identity=identity)


def make_store(root: Path, photos: int = 3, boxes: int = 3) -> LabelStore:
    """Photos with `boxes` bibs and faces each, face i linked to bib i."""
    root.mkdir(exist_ok=True)
    hashes = [photo_hash(number) for number in range(photos)]
    places = [number / 10 for number in range(boxes)]
    record = PhotoRecord(names=["a.jpg"], width=100, height=100, bytes=1, added_at="2026", split="iteration")
    bibs = BibLabels(labeled=True, boxes=[bib(place, str(number)) for number, place in enumerate(places)])
    faces = FaceLabels(labeled=True, boxes=[face(place) for place in places])
    write_file(root, PhotoIndex(photos=dict.fromkeys(hashes, record)))
    write_file(root, BibGroundTruth(photos=dict.fromkeys(hashes, bibs)))
    write_file(root, FaceGroundTruth(photos=dict.fromkeys(hashes, faces)))
    write_file(root, BibFaceLinks(photos={sha256: [(n, n) for n in range(boxes)] for sha256 in hashes}))
    return LabelStore(root)

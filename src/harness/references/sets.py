"""A reference set in memory: photos, their labels, and one digest over all of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import ReferenceSetError
from harness.references.contents import NO_BIBS, NO_FACES, Contents, read_contents
from harness.references.photo_files import FOLDER, stored_photos
from harness.references.store import LabelStore
from harness.types import BibBox, BibFaceLink, FaceBox, PhotoLabels, Split

HOLDOUT_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class ReferencePhoto:
    """One photo and what people said about it. `links` is None where nobody labelled them."""

    sha256: str
    name: str
    path: Path
    split: str
    bib_labeled: bool
    bibs: tuple[BibBox, ...]
    bib_tags: tuple[str, ...]
    face_labeled: bool
    faces: tuple[FaceBox, ...]
    face_tags: tuple[str, ...]
    links: tuple[BibFaceLink, ...] | None

    @property
    def labels(self) -> PhotoLabels:
        """The labels in the form that scoring takes: None where a dimension was never labelled."""
        return PhotoLabels(
            bibs=self.bibs if self.bib_labeled else None,
            faces=self.faces if self.face_labeled else None,
            links=self.links,
            bib_tags=self.bib_tags,
            face_tags=self.face_tags,
        )


@dataclass(frozen=True, slots=True)
class ReferenceSet:
    """The photos that a run evaluates. The digest changes when a photo, a label or the selection changes."""

    name: str
    split: str
    photos: tuple[ReferencePhoto, ...]
    digest: str


@dataclass(frozen=True)
class StagingSet:
    """A folder of photos and labels as it is now; `split` selects which of its photos are evaluated."""

    root: str
    split: Split

    def load(self) -> ReferenceSet:
        """Read and check the folder, between two edits of whoever is labelling."""
        root = Path(self.root)
        return select(LabelStore(root).contents(), root, "staging", self.split)


def split_of(sha256: str) -> Split:
    """The split that a photo falls into unless a person says otherwise: its hash decides, 70 to 30."""
    return Split.HOLDOUT if int(sha256[:8], 16) < HOLDOUT_SHARE * 2**32 else Split.ITERATION


def load_set(root: Path, name: str, split: str) -> ReferenceSet:
    """Load the photos of `split` with their labels from a folder that nobody is writing to."""
    if not (root / "photo_index.json").is_file():
        raise ReferenceSetError(
            f"references.root: no reference set at {root} (expected a folder with photo_index.json)"
        )
    return select(read_contents(root), root, name, split)


def select(contents: Contents, root: Path, name: str, split: str) -> ReferenceSet:
    """The photos of `split` with their labels, in the order of their names; `root` is where the photos lie."""
    stored = stored_photos(root)
    photos = []
    for sha256, record in sorted(contents.index.photos.items(), key=lambda item: (item[1].names[0], item[0])):
        if split not in (Split.FULL, record.split):
            continue
        # One that is missing is found out when it is read, and fails that photo alone.
        photos.append(_reference_photo(contents, sha256, stored.get(sha256, root / FOLDER / sha256)))
    if not photos:
        raise ReferenceSetError(f"references.split: no photo of {root} is in the split {split!r}")
    return ReferenceSet(name=name, split=split, photos=tuple(photos), digest=digest(photos))


def labels_of(contents: Contents, sha256: str) -> PhotoLabels:
    """The labels of one photo in the form that scoring takes."""
    return _reference_photo(contents, sha256, Path(sha256)).labels


def _reference_photo(contents: Contents, sha256: str, path: Path) -> ReferencePhoto:
    record = contents.index.photos[sha256]
    bib = contents.bibs.photos.get(sha256, NO_BIBS)
    face = contents.faces.photos.get(sha256, NO_FACES)
    return ReferencePhoto(
        sha256=sha256,
        name=record.names[0],
        path=path,
        split=record.split,
        bib_labeled=bib.labeled,
        bibs=tuple(box.box() for box in bib.boxes),
        bib_tags=tuple(bib.tags),
        face_labeled=face.done,
        faces=tuple(box.box() for box in face.boxes),
        face_tags=tuple(face.tags),
        links=contents.links.links(sha256),
    )


def digest(photos: Iterable[ReferencePhoto]) -> str:
    """SHA-256 over every photo's hash and labels in hash order, whatever the files are called and wherever they lie.

    The fields are named one by one: a frozen set must keep its digest when a class gets a new field.
    """
    total = hashlib.sha256()
    for photo in sorted(photos, key=lambda photo: photo.sha256):
        record = [
            photo.sha256,
            photo.split,
            photo.bib_labeled,
            [[*box.xywh, box.number, box.scope, list(box.tags)] for box in photo.bibs],
            list(photo.bib_tags),
            photo.face_labeled,
            [[*box.xywh, box.scope, box.identity, list(box.tags)] for box in photo.faces],
            list(photo.face_tags),
            None if photo.links is None else [[link.bib_index, link.face_index] for link in photo.links],
        ]
        total.update(json.dumps(record).encode())
    return total.hexdigest()

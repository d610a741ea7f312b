"""Photos enter a reference set: each content once, under all the names that it came with.

A photo that cannot be read is reported and passed over. The index is written every few photos, so that an interrupted
call has kept what it did, and the same call again goes on from there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from harness.base.disk import sync_folder
from harness.base.errors import PhotoError
from harness.base.progress import track
from harness.references.captures import Capture
from harness.references.drafts import Draft
from harness.references.files import BibGroundTruth, FaceGroundTruth, PhotoIndex, PhotoRecord, Selfies
from harness.references.photo_files import (
    FOLDER,
    CopiedPhoto,
    copy_photo,
    find_photos,
    read_bytes,
    stored_photos,
    unsupported_photos,
)
from harness.references.splitting import learn_captures, split_new, split_of
from harness.references.store import LabelStore
from harness.references.tracing import with_ids

PHOTOS_BETWEEN_WRITES = 50


@dataclass
class AddedPhotos:
    """What became of photos: path -> hash of new and of known ones, path -> reason of those that cannot be read, and
    path -> damage of those that could be read all the same."""

    new: dict[Path, str] = field(default_factory=dict)
    known: dict[Path, str] = field(default_factory=dict)
    unreadable: dict[Path, str] = field(default_factory=dict)
    damaged: dict[Path, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ScannedPhotos:
    """How `photos/` and the index agree. Missing and changed ones, by hash, keep their labels. `named` counts boxes of
    older files that have got an id."""

    photos: int
    added: AddedPhotos
    missing: list[str]
    changed: list[str]
    named: int


def add_photos(store: LabelStore, paths: Sequence[Path]) -> AddedPhotos:
    """Copy photos into the set."""
    index, selfies = _known(store)
    stored = stored_photos(store.root).keys()
    added, waiting = AddedPhotos(), list[CopiedPhoto]()
    try:
        for path in track(paths, "copying photos"):
            try:
                content = read_bytes(path)
                sha256 = hashlib.sha256(content).hexdigest()
                if sha256 in selfies:
                    raise PhotoError(f"{path}: is a selfie of this set already, and would find itself")
                if sha256 in index and sha256 in stored:
                    copied = known_photo(sha256, path.name, index[sha256])
                else:
                    copied = copy_photo(store.root, path, content)
            except PhotoError as error:
                added.unreadable[path] = str(error)
                continue
            seen = sha256 in index or sha256 in added.new.values()
            (added.known if seen else added.new)[path] = sha256
            if copied.damage:
                added.damaged[path] = f"{path}: {copied.damage}"
            waiting.append(copied)
            if len(waiting) >= PHOTOS_BETWEEN_WRITES:
                _write(store, waiting)
    finally:
        _write(store, waiting)
    return added


def _known(store: LabelStore) -> tuple[dict[str, PhotoRecord], dict[str, str]]:
    """The photos and the selfies that the set has."""
    with store.edit() as draft:
        learn_captures(draft, store.root)
        return draft.by_now(PhotoIndex).photos, draft.file(Selfies).photos


def _write(store: LabelStore, waiting: list[CopiedPhoto]) -> None:
    if not waiting:
        return
    sync_folder(store.root / FOLDER)
    with store.edit() as draft:
        new = {copied.sha256 for copied in waiting if draft.record(PhotoIndex, copied.sha256) is None}
        for copied in waiting:
            index_photo(draft, copied)
        split_new(draft, store.root, new)
    waiting.clear()


def known_photo(sha256: str, name: str, record: PhotoRecord) -> CopiedPhoto:
    """A photo that is there already, under the name that it now comes with."""
    capture = Capture(record.taken_at or "", record.camera or "")
    return CopiedPhoto(sha256, name, record.width, record.height, record.bytes, capture)


def index_photo(draft: Draft, copied: CopiedPhoto) -> None:
    """Enter a copied photo into the index; one that is there gets its further name, and stays in its split. The split
    of a new one is that of its hash, until `split_new` has seen what it belongs to."""
    before: PhotoRecord | None = draft.record(PhotoIndex, copied.sha256)
    if before is not None:
        names = list(dict.fromkeys([*before.names, copied.name]))
        draft.put(PhotoIndex, copied.sha256, before.model_copy(update={"names": names}))
        return
    record = PhotoRecord(
        names=[copied.name],
        width=copied.width,
        height=copied.height,
        bytes=copied.bytes,
        added_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        split=split_of(copied.sha256),
        taken_at=copied.capture.taken_at,
        camera=copied.capture.camera,
    )
    draft.put(PhotoIndex, copied.sha256, record)


def scan(store: LabelStore) -> ScannedPhotos:
    """Bring the index in step with `photos/`: enter what is new there, report what is gone or has another size. Boxes
    of older files get ids."""
    index = store.contents().index.photos
    added = add_photos(store, [path for path in find_photos(store.root / FOLDER) if path.stem not in index])
    added.unreadable |= unsupported_photos(store.root / FOLDER)
    for path, sha256 in (added.new | added.known).items():
        if path.name != f"{sha256}{path.suffix.lower()}":
            path.unlink()  # it lies there under its hash by now
    stored = stored_photos(store.root)
    missing = [sha256 for sha256 in index if sha256 not in stored]
    changed = [s for s, record in index.items() if s in stored and stored[s].stat().st_size != record.bytes]
    return ScannedPhotos(len(index) + len(added.new), added, missing, changed, _give_ids(store))


def _give_ids(store: LabelStore) -> int:
    """Give an id to every box without one; returns how many there were."""
    unnamed = 0
    with store.edit() as draft:
        for kind in (BibGroundTruth, FaceGroundTruth):
            for photo, labels in draft.file(kind).photos.items():
                if without := sum(box.id is None for box in labels.boxes):
                    draft.put(kind, photo, with_ids(labels))
                    unnamed += without
    return unnamed

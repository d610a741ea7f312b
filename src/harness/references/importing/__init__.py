"""Labels that people already have, brought into a reference set in one step: all of it or nothing.

A format is a module with `read(path, photos)`. The source is read and checked in full, the photos are copied beside,
and only then does one transaction enter everything. Labels that are there already are never overwritten: the
same ones are fine, others are refused.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.base.errors import PhotoError, ReferenceSetError
from harness.base.progress import track
from harness.references.adding import index_photo
from harness.references.disk import sync_folder
from harness.references.drafts import Draft
from harness.references.files import (
    BibFaceLinks,
    BibGroundTruth,
    BibLabels,
    FaceGroundTruth,
    FaceIdentities,
    FaceLabels,
    PhotoFile,
    PhotoIndex,
)
from harness.references.importing import bnr, coco, rbnr, voc, yolo
from harness.references.importing.records import ImportedPhoto, ImportedSet
from harness.references.importing.workspace import workspace
from harness.references.labels import know_names
from harness.references.photo_files import FOLDER, CopiedPhoto, copy_photo, stored_photos
from harness.references.store import LabelStore

FORMATS: dict[str, Callable[[Path, Path | None], ImportedSet]] = {
    "bnr": bnr.read,
    "coco": coco.read,
    "rbnr": rbnr.read,
    "voc": voc.read,
    "yolo": yolo.read,
}


@dataclass(frozen=True)
class ImportSummary:
    """What an import brought."""

    photos: int
    new_photos: int
    bibs: int
    faces: int
    links: int


def import_labels(store: LabelStore, name: str, path: Path, photos: Path | None = None) -> ImportSummary:
    """Read a source of the named format and enter it."""
    if not path.exists():
        raise ReferenceSetError(f"{path}: no such file or folder")
    return import_set(store, FORMATS[name](path, photos))


def import_set(store: LabelStore, source: ImportedSet) -> ImportSummary:
    """Enter a checked source: photos beside first, then everything in one transaction."""
    try:
        with workspace(store.root) as beside:
            copied = [_copied(beside, photo) for photo in track(source.photos, "copying photos")]
            with store.edit() as draft:
                known = set(draft.file(PhotoIndex).photos)
                for photo, copy in zip(source.photos, copied, strict=True):
                    _enter(draft, photo, copy)
                _enter_identities(draft, source)
                _move(beside / FOLDER, store.root)
    finally:
        with contextlib.suppress(OSError):
            store.root.rmdir()  # nothing in it: the import failed, and made it
    return ImportSummary(
        photos=len({copy.sha256 for copy in copied}),
        new_photos=len({copy.sha256 for copy in copied} - known),
        bibs=sum(len(photo.bibs.boxes) for photo in source.photos if photo.bibs),
        faces=sum(len(photo.faces.boxes) for photo in source.photos if photo.faces),
        links=sum(len(photo.links) for photo in source.photos if photo.links),
    )


def _copied(beside: Path, photo: ImportedPhoto) -> CopiedPhoto:
    try:
        copied = copy_photo(beside, photo.path)
    except PhotoError as error:
        raise ReferenceSetError(f"{photo.where}: {error}") from error
    if photo.sha256 not in (None, copied.sha256):
        raise ReferenceSetError(f"{photo.where}: {photo.path} has other content: SHA-256 {copied.sha256}")
    return copied


def _move(copies: Path, root: Path) -> None:
    """Photos to their place; one that is there already is the same, by its name."""
    stored = stored_photos(root)
    (root / FOLDER).mkdir(exist_ok=True)
    for copy in copies.iterdir() if copies.is_dir() else ():
        if copy.stem not in stored:
            copy.rename(root / FOLDER / copy.name)
    sync_folder(root / FOLDER)


def _enter(draft: Draft, photo: ImportedPhoto, copied: CopiedPhoto) -> None:
    is_new = draft.record(PhotoIndex, copied.sha256) is None
    for name in photo.names or (copied.name,):
        index_photo(draft, replace(copied, name=name))
    if is_new:
        given = {"split": photo.split, "added_at": photo.added_at}
        update = {key: value for key, value in given.items() if value is not None}
        draft.put(PhotoIndex, copied.sha256, draft.record(PhotoIndex, copied.sha256).model_copy(update=update))
    _enter_labels(draft, BibGroundTruth, photo, copied.sha256, photo.bibs, BibLabels())
    _enter_labels(draft, FaceGroundTruth, photo, copied.sha256, photo.faces, FaceLabels())
    _enter_labels(draft, BibFaceLinks, photo, copied.sha256, photo.links, None)


def _enter_labels(
    draft: Draft, kind: type[PhotoFile], photo: ImportedPhoto, sha256: str, labels: Any, untouched: Any
) -> None:
    if labels is None:
        return
    before = draft.record(kind, sha256)
    if before not in (None, untouched, labels):
        raise ReferenceSetError(
            f"{photo.where}: the photo {sha256[:12]} ({photo.path.name}) has other labels in {kind.FILE_NAME} already; "
            "nothing was imported"
        )
    draft.put(kind, sha256, labels)


def _enter_identities(draft: Draft, source: ImportedSet) -> None:
    used = (box.identity for photo in source.photos if photo.faces for box in photo.faces.boxes)
    know_names(draft, [*source.identities.names, *used])
    for name in ("must_link", "cannot_link"):
        before: list[list[str]] = draft.head(FaceIdentities, name)
        new = [group for group in getattr(source.identities, name) if group not in before]
        draft.put_head(FaceIdentities, **{name: before + new})

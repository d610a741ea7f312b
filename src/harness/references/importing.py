"""Photos with labels from elsewhere, entered into a reference set in one step: all of it or nothing.

`harness.formats` reads a source and checks it in full. Here its photos are copied beside, and only then does one
transaction enter everything. Labels that are there already are never overwritten: the same ones are fine, others are
refused.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from harness.base.disk import sync_folder
from harness.base.errors import PhotoError, ReferenceSetError
from harness.base.locks import file_lock, is_locked
from harness.base.progress import track, warn
from harness.references.adding import index_photo
from harness.references.drafts import Draft
from harness.references.files import (
    BibFaceLinks,
    BibGroundTruth,
    BibLabels,
    FaceGroundTruth,
    FaceIdentities,
    FaceLabels,
    LinkPairs,
    PhotoFile,
    PhotoIndex,
    Selfies,
)
from harness.references.labels import know_names, leave_links_open
from harness.references.photo_files import FOLDER, SELFIES, CopiedPhoto, copy_photo, stored_photos
from harness.references.selfies import ImportedSelfie, copy_selfie, enter_selfie
from harness.references.splitting import learn_captures, split_new
from harness.references.start_list import Entrant, StartList, merged
from harness.references.store import LabelStore
from harness.references.tracing import imported

_SUFFIX, _LOCK_SUFFIX = ".new", ".lock"


@dataclass(frozen=True, kw_only=True)
class ImportedPhoto:
    """One photo of a source. `where` names its record in errors; `sha256` is what the source says its content is.

    A dimension that the source does not speak about is None, which is not the same as labelled and empty; who is in the
    photo, wherever, is `people` of `faces`. Photos of one `group` belong together, as the source says. Links may be
    `links_open`: begun, and not done.
    """

    path: Path
    where: str
    bibs: BibLabels | None = None
    faces: FaceLabels | None = None
    links: LinkPairs | None = None
    names: tuple[str, ...] = ()
    split: Literal["iteration", "holdout"] | None = None
    added_at: str | None = None
    sha256: str | None = None
    group: str | None = None
    links_open: bool = False


@dataclass(frozen=True)
class ImportedSet:
    """All that a source holds."""

    photos: tuple[ImportedPhoto, ...]
    identities: FaceIdentities = field(default_factory=FaceIdentities)
    selfies: tuple[ImportedSelfie, ...] = ()
    entrants: tuple[Entrant, ...] = ()


@dataclass(frozen=True)
class ImportSummary:
    """What an import brought. `people` are those of whom it says that they are in a photo, wherever."""

    photos: int
    new_photos: int
    bibs: int
    faces: int
    links: int
    people: int
    selfies: int
    entrants: int


def import_set(store: LabelStore, source: ImportedSet) -> ImportSummary:
    """Enter a checked source: photos beside first, then everything in one transaction."""
    try:
        with workspace(store.root) as beside:
            copied = [_copied(beside, photo) for photo in track(source.photos, "copying photos")]
            selfies = [(selfie, copy_selfie(beside, selfie)) for selfie in track(source.selfies, "copying selfies")]
            with store.edit() as draft:
                learn_captures(draft, store.root)
                known = set(draft.file(PhotoIndex).photos)
                for photo, copy in zip(source.photos, copied, strict=True):
                    _enter(draft, photo, copy)
                for selfie, sha256 in selfies:
                    enter_selfie(draft, selfie, sha256)
                _enter_identities(draft, source, known)
                if source.entrants:
                    draft.put_head(StartList, entrants=merged(draft.head(StartList, "entrants"), source.entrants))
                given = {copy.sha256 for photo, copy in zip(source.photos, copied, strict=True) if photo.split}
                split_new(draft, store.root, {copy.sha256 for copy in copied} - known - given)
                _refuse_both(draft, store.root)
                _move(beside, store.root, FOLDER)
                _move(beside, store.root, SELFIES)
    finally:
        with contextlib.suppress(OSError):
            store.root.rmdir()  # nothing in it: the import failed, and made it
    return ImportSummary(
        photos=len({copy.sha256 for copy in copied}),
        new_photos=len({copy.sha256 for copy in copied} - known),
        bibs=sum(len(photo.bibs.boxes) for photo in source.photos if photo.bibs),
        faces=sum(len(photo.faces.boxes) for photo in source.photos if photo.faces),
        links=sum(len(photo.links) for photo in source.photos if photo.links),
        people=len({name for photo in source.photos if photo.faces for name in photo.faces.people or ()}),
        selfies=len({sha256 for _, sha256 in selfies}),
        entrants=len(source.entrants),
    )


def _copied(beside: Path, photo: ImportedPhoto) -> CopiedPhoto:
    try:
        copied = copy_photo(beside, photo.path)
    except PhotoError as error:
        raise ReferenceSetError(f"{photo.where}: {error}") from error
    if photo.sha256 not in (None, copied.sha256):
        raise ReferenceSetError(f"{photo.where}: {photo.path} has other content: SHA-256 {copied.sha256}")
    if copied.damage:
        warn(f"{photo.path}: {copied.damage}")
    return copied


def _refuse_both(draft: Draft, root: Path) -> None:
    """Refuse a picture that is a photo and a selfie: it would find itself."""
    photos, selfies = draft.by_now(PhotoIndex).photos, draft.by_now(Selfies).photos
    if both := photos.keys() & selfies.keys():
        name = photos[min(both)].names[0]
        raise ReferenceSetError(
            f"{root / Selfies.FILE_NAME}: photos.{min(both)}: {name} is a photo of the set, and as a selfie of "
            f"{selfies[min(both)]} would find itself; nothing was imported"
        )


def _move(beside: Path, root: Path, folder: str) -> None:
    """Pictures to their place; one that is there already is the same, by its name."""
    copies = list(stored_photos(beside, folder).values())
    if not copies:
        return
    stored = stored_photos(root, folder)
    (root / folder).mkdir(exist_ok=True)
    for copy in copies:
        if copy.stem not in stored:
            copy.rename(root / folder / copy.name)
    sync_folder(root / folder)


def _enter(draft: Draft, photo: ImportedPhoto, copied: CopiedPhoto) -> None:
    is_new = draft.record(PhotoIndex, copied.sha256) is None
    for name in photo.names or (copied.name,):
        index_photo(draft, replace(copied, name=name))
    if is_new:
        given = {"split": photo.split, "added_at": photo.added_at}
        update = {key: value for key, value in given.items() if value is not None}
        draft.put(PhotoIndex, copied.sha256, draft.record(PhotoIndex, copied.sha256).model_copy(update=update))
    if photo.group and not (record := draft.record(PhotoIndex, copied.sha256)).group:
        draft.put(PhotoIndex, copied.sha256, record.model_copy(update={"group": photo.group}))
    _enter_labels(draft, BibGroundTruth, photo, copied.sha256, photo.bibs, BibLabels())
    _enter_labels(draft, FaceGroundTruth, photo, copied.sha256, photo.faces, FaceLabels())
    if photo.faces is not None and photo.faces.people is not None:
        _enter_people(draft, photo, copied.sha256, photo.faces.people)
    if _enter_labels(draft, BibFaceLinks, photo, copied.sha256, photo.links, None):
        leave_links_open(draft, copied.sha256, photo.links_open)


def _enter_labels(
    draft: Draft, kind: type[PhotoFile], photo: ImportedPhoto, sha256: str, labels: Any, untouched: Any
) -> bool:
    """Whether the labels were new."""
    if labels is None:
        return False
    before = draft.record(kind, sha256)
    if _bare(before) == _bare(labels):
        _adopt_ids(draft, kind, sha256, labels)
        return False  # they are there, and know where they came from
    if isinstance(labels, FaceLabels) and labels.people is not None and _bare(labels) == untouched:
        return False  # it says who is there, and nothing about faces
    if _bare(before) not in (None, untouched):
        raise ReferenceSetError(
            f"{photo.where}: the photo {sha256[:12]} ({photo.path.name}) has other labels in {kind.FILE_NAME} already; "
            "nothing was imported"
        )
    if isinstance(labels, FaceLabels):
        labels = labels.model_copy(update={"people": before.people if before else None})
    draft.put(kind, sha256, imported(labels) if isinstance(labels, BibLabels | FaceLabels) else labels)
    return True


def _bare(labels: Any) -> Any:
    """What labels say about boxes."""
    if isinstance(labels, FaceLabels):
        labels = labels.model_copy(update={"people": None})
    return labels.bare() if isinstance(labels, BibLabels | FaceLabels) else labels


def _adopt_ids(draft: Draft, kind: type[PhotoFile], sha256: str, labels: Any) -> None:
    """Give boxes that are there and have no id the ids of the same boxes of a source, which may name them."""
    before = draft.record(kind, sha256)
    if isinstance(labels, BibLabels | FaceLabels) and not any(box.id for box in before.boxes):
        ids = zip(before.boxes, labels.boxes, strict=True)
        boxes = [box.model_copy(update={"id": source.id}) for box, source in ids]
        draft.put(kind, sha256, before.model_copy(update={"boxes": boxes}))


def _enter_people(draft: Draft, photo: ImportedPhoto, sha256: str, people: list[str]) -> None:
    before: FaceLabels = draft.record(FaceGroundTruth, sha256) or FaceLabels()
    if before.people is not None and set(before.people) != set(people):
        raise ReferenceSetError(
            f"{photo.where}: the photo {sha256[:12]} ({photo.path.name}) says already that other people are in it: "
            f"{', '.join(before.people) or 'nobody'}; nothing was imported"
        )
    if before.people is None:
        draft.put(FaceGroundTruth, sha256, before.model_copy(update={"people": people}))


def _enter_identities(draft: Draft, source: ImportedSet, known: Collection[str]) -> None:
    used = (box.identity for photo in source.photos if photo.faces for box in photo.faces.boxes)
    said = (name for photo in source.photos if photo.faces for name in photo.faces.people or ())
    know_names(draft, [*source.identities.names, *used, *said, *(selfie.identity for selfie in source.selfies)])
    for name in ("must_link", "cannot_link"):
        before: list[list[str]] = draft.head(FaceIdentities, name)
        new = [group for group in getattr(source.identities, name) if group not in before]
        draft.put_head(FaceIdentities, **{name: before + new})
    if source.identities.identities_labeled and not known:  # it speaks for its own photos alone
        draft.put_head(FaceIdentities, identities_labeled=True)


@contextlib.contextmanager
def workspace(root: Path) -> Iterator[Path]:
    """An empty hidden folder in `root`, gone when the block ends; so are those that killed processes left.

    Whose folder it is says a lock beside it, taken before the folder is made and held until it goes: a folder whose
    lock nobody holds is a dead process's.
    """
    _clear_abandoned(root)
    folder = root / f".import.{secrets.token_hex(4)}{_SUFFIX}"
    with file_lock(_lock_of(folder)):
        folder.mkdir()
        try:
            yield folder
        finally:
            _remove(folder)


def _clear_abandoned(root: Path) -> None:
    for folder in root.glob(f".import.*{_SUFFIX}"):
        if not is_locked(_lock_of(folder)):
            _remove(folder)


def _remove(folder: Path) -> None:
    """The lock goes first: a folder without one is cleared away the next time, a lock without a folder never is."""
    _lock_of(folder).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _lock_of(folder: Path) -> Path:
    return folder.with_suffix(_LOCK_SUFFIX)

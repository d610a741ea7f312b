"""What people do to the labels of one photo. Each call is one transaction.

A save names the revisions that the person was looking at (`based_on`, as `view` gave them). It is refused when the
photo has changed since in a file that the save replaces or counts positions in; edits of other photos never conflict.
What follows from a save is in the same transaction: links follow their boxes, new names become known ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from harness.checks import first_error
from harness.errors import ReferenceSetError, StaleRevisionError
from harness.references.contents import NO_BIBS, NO_FACES
from harness.references.disk import sync_folder
from harness.references.drafts import Draft
from harness.references.files import (
    BibFaceLinks,
    BibGroundTruth,
    BibLabels,
    BibPhotoTag,
    FaceGroundTruth,
    FaceIdentities,
    FaceLabels,
    FacePhotoTag,
    LinkPairs,
    PhotoFile,
    PhotoIndex,
    PhotoRecord,
    write_file,
)
from harness.references.linking import Origins, destinations, follow
from harness.references.store import LabelStore

Split = Literal["iteration", "holdout"]


@dataclass(frozen=True)
class Revisions:
    """The revisions of the files that speak about photos, at one moment."""

    index: int
    bibs: int
    faces: int
    links: int


@dataclass(frozen=True)
class PhotoView:
    """One photo as it is in the store. `links` is None where nobody labelled them."""

    sha256: str
    record: PhotoRecord
    bibs: BibLabels
    faces: FaceLabels
    links: LinkPairs | None
    revisions: Revisions


_REVISION_OF: dict[type[PhotoFile], Callable[[Revisions], int]] = {
    PhotoIndex: lambda revisions: revisions.index,
    BibGroundTruth: lambda revisions: revisions.bibs,
    FaceGroundTruth: lambda revisions: revisions.faces,
    BibFaceLinks: lambda revisions: revisions.links,
}


def view(store: LabelStore, photo: str) -> PhotoView:
    """A photo with its labels, and the revisions to base a save on."""
    contents = store.contents()
    if photo not in contents.index.photos:
        raise ReferenceSetError(f"{store.root}: no photo {photo} in the index")
    return PhotoView(
        sha256=photo,
        record=contents.index.photos[photo],
        bibs=contents.bibs.photos.get(photo, NO_BIBS),
        faces=contents.faces.photos.get(photo, NO_FACES),
        links=contents.links.photos.get(photo),
        revisions=Revisions(*(f.revision for f in (contents.index, contents.bibs, contents.faces, contents.links))),
    )


def save_bibs(
    store: LabelStore, photo: str, labels: BibLabels, based_on: Revisions, origins: Origins | None = None
) -> None:
    """Set the bib labels of a photo; `origins` says which old box each new one was."""
    with store.edit() as draft:
        _check(store.root, draft, photo, based_on, {BibGroundTruth: labels})
        before = draft.record(BibGroundTruth, photo) or NO_BIBS
        if pairs := draft.record(BibFaceLinks, photo):
            moved = destinations(before.boxes, labels.boxes, origins, (bib for bib, _ in pairs))
            draft.put(BibFaceLinks, photo, follow(pairs, moved, None))
        draft.put(BibGroundTruth, photo, labels)


def save_faces(
    store: LabelStore, photo: str, labels: FaceLabels, based_on: Revisions, origins: Origins | None = None
) -> None:
    """Set the face labels of a photo; `origins` says which old box each new one was. New names become known."""
    with store.edit() as draft:
        _check(store.root, draft, photo, based_on, {FaceGroundTruth: labels})
        before = draft.record(FaceGroundTruth, photo) or NO_FACES
        if pairs := draft.record(BibFaceLinks, photo):
            moved = destinations(before.boxes, labels.boxes, origins, (face for _, face in pairs))
            draft.put(BibFaceLinks, photo, follow(pairs, None, moved))
        draft.put(FaceGroundTruth, photo, labels)
        know_names(draft, (box.identity for box in labels.boxes))


def save_links(store: LabelStore, photo: str, pairs: LinkPairs, based_on: Revisions) -> None:
    """Set the links of a photo. They count positions, so bibs and faces must be those that the person saw."""
    try:
        pairs = BibFaceLinks.model_validate({"photos": {photo: pairs}}).photos[photo]
    except ValidationError as error:
        raise ReferenceSetError(first_error(error)) from error
    if len(set(pairs)) != len(pairs):
        raise ReferenceSetError(f"photo {photo}: a link is given twice")
    with store.edit() as draft:
        yours: dict[type[PhotoFile], Any] = {BibFaceLinks: pairs, BibGroundTruth: None, FaceGroundTruth: None}
        _check(store.root, draft, photo, based_on, yours)
        draft.put(BibFaceLinks, photo, pairs)


def save_split(store: LabelStore, photo: str, split: Split, based_on: Revisions) -> None:
    """Move a photo to another split."""
    with store.edit() as draft:
        _check(store.root, draft, photo, based_on, {PhotoIndex: split})
        record: PhotoRecord = draft.record(PhotoIndex, photo)
        draft.put(PhotoIndex, photo, record.model_copy(update={"split": split}))


def save_bib_tags(store: LabelStore, photo: str, tags: Sequence[BibPhotoTag], based_on: Revisions) -> None:
    """Set the photo's tags about bibs, and leave its boxes alone."""
    with store.edit() as draft:
        _check(store.root, draft, photo, based_on, {BibGroundTruth: tags})
        before: BibLabels = draft.record(BibGroundTruth, photo) or NO_BIBS
        draft.put(BibGroundTruth, photo, BibLabels(labeled=before.labeled, boxes=before.boxes, tags=list(tags)))


def save_face_tags(store: LabelStore, photo: str, tags: Sequence[FacePhotoTag], based_on: Revisions) -> None:
    """Set the photo's tags about faces, and leave its boxes alone."""
    with store.edit() as draft:
        _check(store.root, draft, photo, based_on, {FaceGroundTruth: tags})
        before: FaceLabels = draft.record(FaceGroundTruth, photo) or NO_FACES
        draft.put(FaceGroundTruth, photo, FaceLabels(labeled=before.labeled, boxes=before.boxes, tags=list(tags)))


def save_identity(store: LabelStore, photo: str, face: int, identity: str | None, based_on: Revisions) -> None:
    """Say whose face it is."""
    with store.edit() as draft:
        _check(store.root, draft, photo, based_on, {FaceGroundTruth: identity})
        before: FaceLabels = draft.record(FaceGroundTruth, photo) or NO_FACES
        if not 0 <= face < len(before.boxes):
            raise ReferenceSetError(f"photo {photo}: no face {face}; there are {len(before.boxes)}")
        boxes = list(before.boxes)
        boxes[face] = boxes[face].model_copy(update={"identity": identity})
        labels = before.model_copy(update={"boxes": boxes})
        draft.put(FaceGroundTruth, photo, labels)
        know_names(draft, (box.identity for box in labels.boxes))


def reset_labels(store: LabelStore) -> Path:
    """Take all labels and links away; photos, splits, names and suggestions stay. Returns the backup's folder."""
    store.contents()  # refuses a folder that is no reference set
    backup = store.root / "backups" / datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    with store.edit() as draft:
        backup.mkdir(parents=True)
        for unchanged in (PhotoIndex, FaceIdentities):
            write_file(backup, draft.file(unchanged))
        for kind in (BibGroundTruth, FaceGroundTruth, BibFaceLinks):
            write_file(backup, draft.file(kind))
            for photo in draft.file(kind).photos:
                draft.put(kind, photo, None)
        sync_folder(backup.parent)
    return backup


def know_names(draft: Draft, names: Iterable[str | None]) -> None:
    """Add names to the known ones."""
    known: list[str] = draft.head(FaceIdentities, "names")
    draft.put_head(FaceIdentities, names=list(dict.fromkeys([*known, *filter(None, names)])))


def _check(root: Path, draft: Draft, photo: str, based_on: Revisions, yours: dict[type[PhotoFile], Any]) -> None:
    """Refuse a photo that is not known, and one that was changed since in one of the given files."""
    if draft.record(PhotoIndex, photo) is None:
        raise ReferenceSetError(f"{root / PhotoIndex.FILE_NAME}: no photo {photo}")
    mine = next(iter(yours.values()))
    for kind in yours:
        content, seen = draft.file(kind), _REVISION_OF[kind](based_on)
        now = content.changed.get(photo, 0)
        if now > seen or seen > content.revision:
            raise StaleRevisionError(
                f"{root / kind.FILE_NAME}: photos.{photo}: changed at revision {now}, "
                f"but the save is based on revision {seen}; look again, and save what should stay",
                photo=photo,
                yours=mine,
                theirs=draft.record(next(iter(yours)), photo),
            )

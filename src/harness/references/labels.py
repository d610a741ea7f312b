"""What people do to the labels of one photo. Each call is one transaction.

A save names the revisions that the person was looking at (`based_on`, as `view` gave them). It is refused when the
photo has changed since in a file that the save replaces or counts positions in; edits of other photos never conflict.
What follows from a save is in the same transaction: links follow their boxes, new names become known ones.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from harness.base.checks import first_error
from harness.base.disk import sync_folder
from harness.base.errors import InvalidEditError, UnknownPhotoError
from harness.references.audit_file import Audit
from harness.references.constraints import Face, without_faces
from harness.references.contents import NO_BIBS, NO_FACES, Contents
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
    PhotoIndex,
    PhotoRecord,
    write_file,
)
from harness.references.linking import Origins, destinations, follow
from harness.references.reviews import PeopleReviews
from harness.references.revisions import Revisions, is_new
from harness.references.store import LabelStore
from harness.references.suggestions import Suggestions
from harness.references.tracing import traced

Split = Literal["iteration", "holdout"]
_ANONYMOUS = re.compile(r"anonymous_([0-9]{1,9})")


@dataclass(frozen=True)
class PhotoView:
    """One photo as it is in the store. `links` is None where nobody labelled them."""

    sha256: str
    record: PhotoRecord
    bibs: BibLabels
    faces: FaceLabels
    links: LinkPairs | None
    revisions: Revisions


def view(store: LabelStore, photo: str) -> PhotoView:
    """A photo with its labels, and the revisions to base a save on."""
    return view_in(store.contents(), store.root, photo)


def view_in(contents: Contents, root: Path, photo: str) -> PhotoView:
    """A photo as it is in contents that were read before; `root` is for the error."""
    if photo not in contents.index.photos:
        raise UnknownPhotoError(f"{root / PhotoIndex.FILE_NAME}: no photo {photo}")
    return PhotoView(
        sha256=photo,
        record=contents.index.photos[photo],
        bibs=contents.bibs.photos.get(photo, NO_BIBS),
        faces=contents.faces.photos.get(photo, NO_FACES),
        links=contents.links.photos.get(photo),
        revisions=Revisions(*(f.revision for f in (contents.index, contents.bibs, contents.faces, contents.links))),
    )


def save_bibs(
    store: LabelStore,
    photo: str,
    labels: BibLabels,
    based_on: Revisions,
    origins: Origins | None = None,
    by: str | None = None,
) -> None:
    """Set the bib labels of a photo; `origins` says which old box each new one was, `by` who saves them."""
    with _edit(store, photo) as draft:
        _put(store.root, draft, photo, labels, based_on, origins, by)


def save_faces(
    store: LabelStore,
    photo: str,
    labels: FaceLabels,
    based_on: Revisions,
    origins: Origins | None = None,
    by: str | None = None,
) -> None:
    """Set the face labels of a photo; `origins` says which old box each new one was, `by` who saves them. New
    names become known."""
    with _edit(store, photo) as draft:
        _put(store.root, draft, photo, labels, based_on, origins, by)


@dataclass(frozen=True)
class Persons:
    """All labels of a photo, as one pass over its people leaves them. `*_origins` say which old box each new one was;
    links count positions in these very lists."""

    bibs: BibLabels
    faces: FaceLabels
    links: LinkPairs
    links_done: bool
    bib_origins: Origins
    face_origins: Origins


def save_persons(store: LabelStore, photo: str, persons: Persons, based_on: Revisions, by: str | None = None) -> None:
    """Set bibs, faces and links of a photo at once: all of it or, where any of it has changed since, nothing."""
    checked = _checked_links(photo, persons.links)
    wanted = checked if checked or persons.links_done else None
    with _edit(store, photo) as draft:
        new_links = is_new(store.root, draft, photo, based_on, BibFaceLinks, wanted)
        _put(store.root, draft, photo, persons.bibs, based_on, persons.bib_origins, by)
        _put(store.root, draft, photo, persons.faces, based_on, persons.face_origins, by)
        _check_positions(draft, photo, checked)
        if new_links or draft.record(BibFaceLinks, photo) != wanted:
            draft.put(BibFaceLinks, photo, wanted)
        leave_links_open(draft, photo, wanted is not None and not persons.links_done)


def save_links(
    store: LabelStore, photo: str, pairs: LinkPairs | None, based_on: Revisions, *, done: bool = True
) -> None:
    """Set the links of a photo, which are not all of them unless the person is `done`; or with None say that nobody
    looked for them after all.

    They count positions, so bibs and faces must be those that the person saw.
    """
    checked = None if pairs is None else _checked_links(photo, pairs)
    with _edit(store, photo) as draft:
        if is_new(store.root, draft, photo, based_on, BibFaceLinks, checked, (BibGroundTruth, FaceGroundTruth)):
            _check_positions(draft, photo, checked or [])
            draft.put(BibFaceLinks, photo, checked)
            leave_links_open(draft, photo, pairs is not None and not done)


def leave_links_open(draft: Draft, photo: str, is_open: bool) -> None:
    """Note whether the links of a photo are begun and not done."""
    record: PhotoRecord = draft.record(PhotoIndex, photo)
    if bool(record.links_open) != is_open:
        draft.put(PhotoIndex, photo, record.model_copy(update={"links_open": is_open or None}))


def save_split(store: LabelStore, photo: str, split: Split, based_on: Revisions) -> None:
    """Move a photo to another split."""
    with _edit(store, photo) as draft:
        record: PhotoRecord = draft.record(PhotoIndex, photo).model_copy(update={"split": split})
        if is_new(store.root, draft, photo, based_on, PhotoIndex, record):
            draft.put(PhotoIndex, photo, record)


def save_bib_tags(store: LabelStore, photo: str, tags: Sequence[BibPhotoTag], based_on: Revisions) -> None:
    """Set the photo's tags about bibs, and leave its boxes alone."""
    with _edit(store, photo) as draft:
        before: BibLabels = draft.record(BibGroundTruth, photo) or NO_BIBS
        labels = before.model_copy(update={"tags": list(tags)})
        _put(store.root, draft, photo, labels, based_on, range(len(before.boxes)))


def save_face_tags(store: LabelStore, photo: str, tags: Sequence[FacePhotoTag], based_on: Revisions) -> None:
    """Set the photo's tags about faces, and leave its boxes alone."""
    with _edit(store, photo) as draft:
        before: FaceLabels = draft.record(FaceGroundTruth, photo) or NO_FACES
        labels = before.model_copy(update={"tags": list(tags)})
        _put(store.root, draft, photo, labels, based_on, range(len(before.boxes)))


def save_people(store: LabelStore, photo: str, people: Sequence[str] | None, based_on: Revisions) -> None:
    """Say who is in a photo, wherever their faces are, and leave its boxes alone; None takes back what was said."""
    with _edit(store, photo) as draft:
        before: FaceLabels = draft.record(FaceGroundTruth, photo) or NO_FACES
        told = {**before.model_dump(mode="json"), "people": None if people is None else list(people)}
        try:
            labels = FaceLabels.model_validate(told)
        except ValidationError as error:
            raise InvalidEditError(f"photo {photo}: {first_error(error)}") from error
        if is_new(store.root, draft, photo, based_on, FaceGroundTruth, labels):
            draft.put(FaceGroundTruth, photo, labels)
            know_names(draft, labels.people or ())


def save_identity(
    store: LabelStore, photo: str, face: int, identity: str | None, based_on: Revisions, by: str | None = None
) -> None:
    """Say whose face it is."""
    with _edit(store, photo) as draft:
        before: FaceLabels = draft.record(FaceGroundTruth, photo) or NO_FACES
        if not 0 <= face < len(before.boxes):
            raise InvalidEditError(f"photo {photo}: no face {face}; there are {len(before.boxes)}")
        boxes = list(before.boxes)
        boxes[face] = boxes[face].model_copy(update={"identity": identity})
        labels = before.model_copy(update={"boxes": boxes})
        _put(store.root, draft, photo, labels, based_on, range(len(boxes)), by)


def new_anonymous(store: LabelStore) -> str:
    """A name for somebody whom nobody can name: the next `anonymous_N`, known from now on."""
    with store.edit() as draft:
        name = next_anonymous(draft.head(FaceIdentities, "names"))
        know_names(draft, [name])
    return name


def next_anonymous(names: Iterable[str]) -> str:
    """The `anonymous_N` after the highest that is in use."""
    numbers = [int(found[1]) for name in names if (found := _ANONYMOUS.fullmatch(name))]
    return f"anonymous_{max(numbers, default=0) + 1}"


def reset_labels(store: LabelStore) -> Path:
    """Take all labels, links and constraints away; photos, selfies, splits, names and suggestions stay. Returns the
    backup's folder."""
    store.contents()  # refuses a folder that is no reference set
    backup = store.root / "backups" / datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    with store.edit() as draft:
        backup.mkdir(parents=True)
        for unchanged in (PhotoIndex, FaceIdentities):
            write_file(backup, draft.file(unchanged))
        for kind in (BibGroundTruth, FaceGroundTruth, BibFaceLinks, Audit):
            write_file(backup, draft.file(kind))
            for photo in draft.file(kind).photos:
                draft.put(kind, photo, None)
        draft.put_head(FaceIdentities, must_link=[], cannot_link=[], identities_labeled=None)
        draft.put_head(PeopleReviews, left_alone=[], answers=[])
        sync_folder(backup.parent)
    return backup


def know_names(draft: Draft, names: Iterable[str | None]) -> None:
    """Add names to the known ones."""
    known: list[str] = draft.head(FaceIdentities, "names")
    draft.put_head(FaceIdentities, names=list(dict.fromkeys([*known, *filter(None, names)])))


@contextmanager
def _edit(store: LabelStore, photo: str) -> Iterator[Draft]:
    """A transaction about one photo, which has to be in the index."""
    with store.edit() as draft:
        if draft.record(PhotoIndex, photo) is None:
            raise UnknownPhotoError(f"{store.root / PhotoIndex.FILE_NAME}: no photo {photo}")
        yield draft


def _put(
    root: Path,
    draft: Draft,
    photo: str,
    labels: BibLabels | FaceLabels,
    based_on: Revisions,
    origins: Origins | None,
    by: str | None = None,
) -> None:
    """Set the labels of one dimension; what follows from that, too. Who is in the photo stays as it was said."""
    is_bibs = isinstance(labels, BibLabels)
    kind = BibGroundTruth if is_bibs else FaceGroundTruth
    before, pairs = draft.record(kind, photo), draft.record(BibFaceLinks, photo) or []
    if isinstance(labels, FaceLabels):
        labels = labels.model_copy(update={"people": before.people if before else None})
    if not is_new(root, draft, photo, based_on, kind, labels):
        return
    linked = (bib if is_bibs else face for bib, face in pairs)
    moved = destinations(before.boxes if before else [], labels.boxes, origins, linked)
    if before and before.bare() == labels.bare() and all(old == new for old, new in moved.items()):
        return
    if pairs:
        draft.put(BibFaceLinks, photo, follow(pairs, moved, None) if is_bibs else follow(pairs, None, moved))
    draft.put(kind, photo, traced(photo, labels, before, moved, draft.file(Suggestions), by))
    if isinstance(labels, FaceLabels):
        know_names(draft, (box.identity for box in labels.boxes))
        gone = [(photo, box.id) for place, box in enumerate(before.boxes if before else ()) if place not in moved]
        drop_constraints(draft, [(photo, id) for photo, id in gone if id])


def drop_constraints(draft: Draft, faces: Collection[Face]) -> None:
    """Take away what is said about faces that are gone being one person or two."""
    if faces:
        draft.put_head(FaceIdentities, **without_faces(draft.by_now(FaceIdentities), faces))


def _check_positions(draft: Draft, photo: str, pairs: LinkPairs) -> None:
    """Refuse a link to a box that is not there."""
    bibs = len((draft.record(BibGroundTruth, photo) or NO_BIBS).boxes)
    faces = len((draft.record(FaceGroundTruth, photo) or NO_FACES).boxes)
    for bib, face in pairs:
        if bib >= bibs or face >= faces:
            raise InvalidEditError(f"photo {photo}: link [{bib}, {face}] points past the {bibs} bibs and {faces} faces")


def _checked_links(photo: str, pairs: LinkPairs) -> LinkPairs:
    try:
        checked: LinkPairs = BibFaceLinks.model_validate({"photos": {photo: pairs}}).photos[photo]
    except ValidationError as error:
        raise InvalidEditError(first_error(error)) from error
    if len(set(checked)) != len(checked):
        raise InvalidEditError(f"photo {photo}: a link is given twice")
    return checked

"""Forgetting a person: their name, their selfies and what is said about their faces goes from the staging set.

Boxes and photos stay: a face without a name is nobody's. A list of the people in a photo loses the name; one that had
no other says nothing any more, since "nobody is there" would be wrong. Where somebody with several faces goes,
`identities_labeled` goes as well: it says that whoever has no name was seen once.

Frozen sets never change. They are told, with what they hold, and a selfie that one of them has stays on disk. Backups
of labels are part of staging, and are changed like it.

A photo of theirs whose file was called after them, as in a folder of people, is named by its hash from then on.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from harness.base.disk import sync_folder
from harness.base.errors import ReferenceSetError
from harness.references.audit_file import Audit
from harness.references.constraints import Face, without_faces
from harness.references.contents import Contents, load_contents, read_file
from harness.references.drafts import Draft
from harness.references.files import (
    FaceGroundTruth,
    FaceIdentities,
    FaceLabels,
    PhotoIndex,
    PhotoRecord,
    Selfies,
)
from harness.references.frozen import FOLDER as FROZEN
from harness.references.photo_files import SELFIES, stored_photos
from harness.references.start_list import StartList
from harness.references.store import LabelStore
from harness.references.suggestions import PhotoSuggestions, Suggestions

BACKUPS = "backups"


@dataclass(frozen=True)
class Held:
    """What a set holds of a person: faces by photo and box, photos that say that they are there, photos whose blind
    labels name them, those of all these photos whose file is called after them, selfies, suggested faces, and whether
    their name is known."""

    faces: int = 0
    photos: frozenset[str] = frozenset()
    said: int = 0
    blind: int = 0
    called: int = 0
    selfies: frozenset[str] = frozenset()
    suggested: int = 0
    known: bool = False

    def __bool__(self) -> bool:
        return bool(self.faces or self.said or self.blind or self.selfies or self.suggested or self.known)

    @property
    def pictures(self) -> frozenset[str]:
        """The hashes of all pictures that show them, as far as labels say."""
        return self.photos | self.selfies


@dataclass(frozen=True)
class Remembered:
    """What is held of a person: in staging, in its backups and in frozen sets, by name; `damaged` are frozen sets that
    cannot be read, which may hold more."""

    staging: Held
    backups: dict[str, Held] = field(default_factory=dict)
    frozen: dict[str, Held] = field(default_factory=dict)
    damaged: tuple[str, ...] = ()

    @property
    def pictures(self) -> frozenset[str]:
        """The hashes of all pictures that show them, wherever that is said."""
        every = (self.staging, *self.backups.values(), *self.frozen.values())
        return frozenset().union(*(held.pictures for held in every))


def remembered(store: LabelStore, identity: str) -> Remembered:
    """Who holds what of a person."""
    frozen, damaged = dict[str, Held](), list[str]()
    for folder in _folders(store.root / FROZEN):
        try:
            found = _held(load_contents(partial(read_file, folder)), identity)
        except ReferenceSetError:
            damaged.append(folder.name)
            continue
        if found:
            frozen[folder.name] = found
    backups = {folder.name: _held_in(LabelStore(folder), identity) for folder in _folders(store.root / BACKUPS)}
    backups = {name: held for name, held in backups.items() if held}
    return Remembered(_held_in(store, identity), backups, frozen, tuple(damaged))


def forget(store: LabelStore, identity: str) -> None:
    """Take a person out of the staging set and its backups, each in one transaction. Nothing is kept of it."""
    for folder in _folders(store.root / BACKUPS):
        _forget_in(LabelStore(folder), identity)
    _forget_in(store, identity)


def loose_selfies(store: LabelStore) -> list[Path]:
    """The files in `selfies/` that neither staging nor a frozen set names, such as those of a person who was forgotten
    while a frozen set had them. Where a frozen set cannot be read, nobody knows."""
    used = set(store.contents().selfies.photos)
    try:
        for folder in _folders(store.root / FROZEN):
            used |= read_file(folder, Selfies).photos.keys()
    except ReferenceSetError:
        return []
    return [path for sha256, path in stored_photos(store.root, SELFIES).items() if sha256 not in used]


def clear_selfies(store: LabelStore) -> int:
    """Delete the selfies that nobody names; returns how many there were."""
    loose = loose_selfies(store)
    for path in loose:
        path.unlink()
    if loose:
        sync_folder(store.root / SELFIES)
    return len(loose)


def _folders(parent: Path) -> list[Path]:
    return sorted(folder for folder in parent.glob("*") if folder.is_dir() and folder.name[0] != ".")


def _held_in(store: LabelStore, identity: str) -> Held:
    held = _held(store.contents(), identity)
    blind = frozenset(photo for photo, record in store.audit().photos.items() if _named(record.faces, identity))
    return replace(
        held,
        photos=held.photos | blind,
        blind=len(blind),
        suggested=sum(_suggested(record, identity) for record in store.suggestions().photos.values()),
        known=held.known or identity in store.start_list().numbers_by_name,
    )


def _held(contents: Contents, identity: str) -> Held:
    """What the files that a frozen set has, too, hold of a person."""
    labels = contents.faces.photos
    photos = frozenset(photo for photo, each in labels.items() if _named(each, identity))
    return Held(
        faces=sum(box.identity == identity for each in labels.values() for box in each.boxes),
        photos=photos,
        said=sum(identity in (each.people or ()) for each in labels.values()),
        called=sum(_is_called(contents.index.photos.get(photo), identity) for photo in photos),
        selfies=frozenset(sha256 for sha256, owner in contents.selfies.photos.items() if owner == identity),
        known=identity in contents.identities.names,
    )


def _named(labels: FaceLabels, identity: str) -> bool:
    """Whether a face or a list of people has this name."""
    return identity in (labels.people or ()) or any(box.identity == identity for box in labels.boxes)


def _faces(photo: str, labels: FaceLabels, identity: str) -> list[Face]:
    """The person's faces in a photo; one of an older file has no id, and no constraint names it."""
    return [(photo, box.id or "") for box in labels.boxes if box.identity == identity]


def _suggested(record: PhotoSuggestions, identity: str) -> int:
    return sum(face.identity == identity for face in record.faces)


def _is_called(record: PhotoRecord | None, identity: str) -> bool:
    return record is not None and any(_has_words(name, identity) for name in record.names)


def _has_words(name: str, identity: str) -> bool:
    """Whether the name of a file has all words of a person's in their order, such as `ada_lovelace_01.jpg`."""
    told, wanted = (re.findall(r"[^\W_]+", text.casefold()) for text in (name, identity))
    return bool(wanted) and any(told[at : at + len(wanted)] == wanted for at in range(len(told)))


def _forget_in(store: LabelStore, identity: str) -> None:
    photos = _held_in(store, identity).photos
    with store.edit() as draft:
        _forget_file_names(draft, identity, photos)
        faces = list(_forget_labels(draft, identity))
        for photo, record in draft.file(Suggestions).photos.items():
            if _suggested(record, identity):
                boxes = [
                    box.model_copy(update={"identity": None}) if box.identity == identity else box
                    for box in record.faces
                ]
                draft.put(Suggestions, photo, record.model_copy(update={"faces": boxes}))
        _forget_blind(draft, identity)
        for sha256, owner in draft.file(Selfies).photos.items():
            if owner == identity:
                draft.put(Selfies, sha256, None)
        _forget_identity(draft, identity, faces)


def _forget_labels(draft: Draft, identity: str) -> Iterator[Face]:
    """Take a name from faces and lists of people; the faces that lost it."""
    for photo, labels in draft.file(FaceGroundTruth).photos.items():
        faces = _faces(photo, labels, identity)
        if not faces and identity not in (labels.people or ()):
            continue
        draft.put(FaceGroundTruth, photo, _without(labels, identity))
        yield from faces


def _forget_blind(draft: Draft, identity: str) -> None:
    """Take a name from the labels of a blind audit."""
    for photo, record in draft.file(Audit).photos.items():
        if _named(record.faces, identity):
            draft.put(Audit, photo, record.model_copy(update={"faces": _without(record.faces, identity)}))


def _forget_file_names(draft: Draft, identity: str, photos: Iterable[str]) -> None:
    """Give the photos of a person whose files are called after them a name of their hash."""
    for photo in photos:
        record: PhotoRecord | None = draft.record(PhotoIndex, photo)
        if record is not None and _is_called(record, identity):
            new = [photo[:12] + Path(name).suffix if _has_words(name, identity) else name for name in record.names]
            draft.put(PhotoIndex, photo, record.model_copy(update={"names": list(dict.fromkeys(new))}))


def _without(labels: FaceLabels, identity: str) -> FaceLabels:
    """Labels without a name."""
    boxes = [box.model_copy(update={"identity": None}) if box.identity == identity else box for box in labels.boxes]
    return labels.model_copy(update={"boxes": boxes, "people": _others(labels, identity)})


def _others(labels: FaceLabels, identity: str) -> list[str] | None:
    """Who else is said to be in a photo; None where that was nobody else."""
    if labels.people is None or identity not in labels.people:
        return labels.people
    return [name for name in labels.people if name != identity] or None


def _forget_identity(draft: Draft, identity: str, faces: Collection[Face]) -> None:
    before = draft.file(FaceIdentities)
    fields = {"names": [name for name in before.names if name != identity], **without_faces(before, faces)}
    if len(faces) > 1:
        fields["identities_labeled"] = None
    draft.put_head(FaceIdentities, **fields)
    entrants = draft.head(StartList, "entrants")
    draft.put_head(StartList, entrants=[each for each in entrants if each.name != identity])

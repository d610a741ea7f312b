"""The faces of a set, one item each: labelled ones, and suggestions that nobody has answered.

A face is named `<sha256>:<box id>`, as in `face_identities.json`; a label of an older harness, without an id, by its
position (`<sha256>:#2`), and a suggestion by a digest of its box (`<sha256>:~1f3a9c02`). What is no face (scope
`exclude`) and what was never drawn is not among them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from harness.base.garbage import no_collection
from harness.labeling.ghosts import is_answered
from harness.labeling.source import LabelSource
from harness.labeling.summary import changed_photos
from harness.references.contents import NO_BIBS, NO_FACES, Contents
from harness.references.files import BibRecord, BoxRecord, FaceRecord, PhotoFile
from harness.references.people import box_name, ghost_name
from harness.references.suggestions import GhostBib, PhotoSuggestions, Suggestions, same_place
from harness.scoring.bibs import is_complete
from harness.types import BibScope, FaceScope

Place = tuple[float, float, float, float]
#: A face by where it is. A suggestion that becomes a label is still the same face; a box that is moved is another one.
Where = tuple[str, Place]


@dataclass(frozen=True, slots=True)
class Face:
    """A face, and the bib that is linked to it, by a label or else by a suggestion. `number` is complete or None."""

    name: str
    photo: str
    place: Place
    identity: str | None
    suggested: bool
    number: str | None = None
    bib: Place | None = None

    @property
    def where(self) -> Where:
        """Its photo, and its place there."""
        return self.photo, self.place


@dataclass(frozen=True)
class FaceIndex:
    """All faces of a set, photo by photo in the order of the photos' names, and what is said of them beyond names."""

    photos: Mapping[str, tuple[Face, ...]]
    file_names: Mapping[str, str]
    must_link: Sequence[Sequence[str]] = ()
    cannot_link: Sequence[Sequence[str]] = ()

    @cached_property
    def by_name(self) -> dict[str, Face]:
        """Faces by what they are called."""
        return {face.name: face for faces in self.photos.values() for face in faces}

    @cached_property
    def people(self) -> dict[str, list[Face]]:
        """The faces of each known person."""
        found: dict[str, list[Face]] = {}
        for face in self.by_name.values():
            if face.identity:
                found.setdefault(face.identity, []).append(face)
        return found


class FaceIndexes:
    """The faces of a source as of now; those of photos that have not changed are the ones from before."""

    def __init__(self, source: LabelSource) -> None:
        self._source = source
        self._lock = threading.Lock()
        self._files: tuple[PhotoFile, ...] = ()
        self._index = FaceIndex({}, {})

    def current(self) -> FaceIndex:
        """All faces as of now."""
        contents, suggestions = self._source.contents(), self._source.suggestions()
        files = (contents.index, contents.bibs, contents.faces, contents.links, suggestions)
        said = contents.identities
        with self._lock, no_collection():
            changed = changed_photos(self._files, files)
            same_said = (self._index.must_link, self._index.cannot_link) == (said.must_link, said.cannot_link)
            if changed is None or any(photo not in self._index.photos for photo in changed):
                records = contents.index.photos
                order = sorted(records, key=lambda photo: (records[photo].names[0], photo))
                photos = {photo: faces_of(contents, suggestions, photo) for photo in order}
            elif changed:
                photos = dict(self._index.photos)
                photos |= {photo: faces_of(contents, suggestions, photo) for photo in changed}
            elif same_said:
                return self._index
            else:
                photos = dict(self._index.photos)
            names = self._index.file_names
            if not self._files or self._files[0] is not contents.index:
                names = {photo: record.names[0] for photo, record in contents.index.photos.items()}
            self._index = FaceIndex(photos, names, said.must_link, said.cannot_link)
            self._files = files
            return self._index


def faces_of(contents: Contents, suggestions: Suggestions, photo: str) -> tuple[Face, ...]:
    """The faces of one photo: its labels in their order, then suggestions without an answer. Where somebody said that
    the faces are done, a suggestion without an answer is none."""
    labels, bibs = contents.faces.photos.get(photo, NO_FACES), contents.bibs.photos.get(photo, NO_BIBS)
    ghosts = suggestions.photos.get(photo)
    found = []
    for position, box in enumerate(labels.boxes):
        if box.scope == FaceScope.EXCLUDE or not (box.w and box.h):
            continue
        bib = _labelled_bib(contents, photo, position, bibs.boxes) or _suggested_bib(box, ghosts, bibs.boxes)
        found.append(_face(box_name(photo, box, position), photo, box, box.identity, False, bib))
    for ghost in ghosts.faces if ghosts and not labels.labeled else ():
        if not is_answered(ghost, labels.boxes):
            bib = _suggested_bib(ghost, ghosts, bibs.boxes)
            found.append(_face(ghost_name(photo, ghost), photo, ghost, None, True, bib))
    return tuple(found)


def _face(
    name: str, photo: str, box: BoxRecord, identity: str | None, suggested: bool, bib: BibRecord | GhostBib | None
) -> Face:
    number = bib.number.strip() if bib and bib.number and is_complete(bib.number) else None
    drawn = bib is not None and bib.w and bib.h
    return Face(name, photo, _place(box), identity, suggested, number, _place(bib) if bib and drawn else None)


def _place(box: BoxRecord) -> Place:
    return (box.x, box.y, box.w, box.h)


def _labelled_bib(contents: Contents, photo: str, face: int, bibs: Sequence[BibRecord]) -> BibRecord | None:
    pairs = contents.links.photos.get(photo) or ()
    return next((bibs[bib] for bib, linked in pairs if linked == face), None)


def _suggested_bib(
    face: FaceRecord | BoxRecord, ghosts: PhotoSuggestions | None, labelled: Sequence[BibRecord]
) -> BibRecord | GhostBib | None:
    """The bib that the pipeline links to this face; what a label says about that bib counts more."""
    for ghost in _linked(face, ghosts):
        label = next((box for box in labelled if same_place(ghost, box)), None)
        if label is None:
            return ghost
        return None if label.scope == BibScope.NOT_BIB else label
    return None


def _linked(face: BoxRecord, ghosts: PhotoSuggestions | None) -> Iterator[GhostBib]:
    for bib, linked in ghosts.links if ghosts else ():
        if ghosts and same_place(ghosts.faces[linked], face):
            yield ghosts.bibs[bib]

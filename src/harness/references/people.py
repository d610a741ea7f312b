"""What somebody says about faces of many photos at once: whose they are, which are one person, and which are not.

Each call of `change_people` is one transaction over all photos: what a `Change` says happens as a whole or not at all.
It names for each face the identity that the person saw; where somebody else has changed it since, all of it is refused.
A suggested face becomes a label as soon as something is said about it, accepted as it was suggested.

What was done can be undone, and undone again, as long as nobody has changed the same photos meanwhile.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

from harness.base.errors import InvalidEditError, StaleRevisionError, UnknownPhotoError
from harness.references.contents import NO_FACES
from harness.references.drafts import Draft
from harness.references.files import (
    BoxRecord,
    FaceGroundTruth,
    FaceIdentities,
    FaceLabels,
    FaceRecord,
    PhotoIndex,
    Selfies,
)
from harness.references.labels import know_names, next_anonymous
from harness.references.reviews import CheckAnswer, PeopleReviews
from harness.references.start_list import Entrant, StartList, renamed
from harness.references.store import LabelStore
from harness.references.suggestions import Suggestions
from harness.references.tracing import traced
from harness.types import FaceScope

K = TypeVar("K")
V = TypeVar("V")
#: In place of a name: the next `anonymous_N`.
ANONYMOUS = object()
#: In place of a name: it stays as it is.
_AS_IT_IS = object()


def box_name(photo: str, box: FaceRecord, position: int) -> str:
    """What a labelled face is called."""
    return f"{photo}:{box.id}" if box.id else f"{photo}:#{position}"


def ghost_name(photo: str, ghost: BoxRecord) -> str:
    """What a suggested face is called."""
    place = ",".join(repr(side) for side in (ghost.x, ghost.y, ghost.w, ghost.h))
    return f"{photo}:~{hashlib.sha256(place.encode()).hexdigest()[:8]}"


@dataclass(frozen=True)
class Change:
    """What somebody says. `faces` are those that it is about, each with the identity that was seen.

    `name` is given to all of them; None takes names away. `not_faces` says that they are none. `same` are groups of
    faces of one person, `apart` pairs of faces of two. `left_alone` faces need no name. All of them are among `faces`.
    `rename` says which name becomes which other one wherever it stands. `answer` is kept with the rest.
    """

    faces: Mapping[str, str | None] = field(default_factory=dict)
    name: Any = _AS_IT_IS
    not_faces: bool = False
    same: Sequence[Sequence[str]] = ()
    apart: Sequence[tuple[str, str]] = ()
    left_alone: Sequence[str] = ()
    rename: tuple[str, str] | None = None
    answer: CheckAnswer | None = None


@dataclass(frozen=True)
class Done:
    """What a change has come to: the records and the fields of files before and after it, and the name that was given.
    Swapped, it is its own undoing."""

    photos: Mapping[str, tuple[FaceLabels | None, FaceLabels | None]]
    heads: Mapping[tuple[type[Any], str], tuple[Any, Any]]
    selfies: Mapping[str, tuple[str, str]]
    name: str | None = None

    def swapped(self) -> Done:
        """The way back."""
        return Done(_swapped(self.photos), _swapped(self.heads), _swapped(self.selfies), self.name)


def change_people(store: LabelStore, change: Change) -> Done:
    """Do what somebody says. Raises StaleRevisionError where a face is not as they saw it, and InvalidEditError for
    what contradicts itself."""
    with store.edit() as draft:
        work = _Work(store.root, draft)
        boxes = {name: work.box(name, seen) for name, seen in change.faces.items()}
        name = next_anonymous(draft.head(FaceIdentities, "names")) if change.name is ANONYMOUS else change.name
        if name is not _AS_IT_IS:
            work.put(boxes.values(), identity=name)
            know_names(draft, [name])
        if change.not_faces:
            work.put(boxes.values(), identity=None, scope=FaceScope.EXCLUDE)
        if change.rename:
            work.rename(*change.rename)
        done = work.finish()
        named = {face: done.ids[box] for face, box in boxes.items()}
        _say(draft, change, named)
        if isinstance(name, str):
            _believe(draft, named.values(), name)
        return done.told(name if isinstance(name, str) else None)


def undo_people(store: LabelStore, done: Done) -> Done:
    """Take back what was done; returns the way to do it again. Raises StaleRevisionError where somebody has changed one
    of the photos meanwhile."""
    with store.edit() as draft:
        for photo, (before, after) in done.photos.items():
            if draft.record(FaceGroundTruth, photo) != after:
                raise _stale(store.root, photo, after, draft.record(FaceGroundTruth, photo))
            draft.put(FaceGroundTruth, photo, before)
        for sha256, (before_name, after_name) in done.selfies.items():
            if draft.record(Selfies, sha256) == after_name:
                draft.put(Selfies, sha256, before_name)
        for (kind, name), (before, after) in done.heads.items():
            now = draft.head(kind, name)
            kept = [item for item in now if item not in after or item in before]
            draft.put_head(kind, **{name: [*kept, *(item for item in before if item not in after)]})
    return done.swapped()


def _say(draft: Draft, change: Change, named: Mapping[str, str]) -> None:
    """Constraints and what is to be remembered."""
    if change.same or change.apart:
        identities = draft.by_now(FaceIdentities)
        same = [list(dict.fromkeys(named[face] for face in group)) for group in change.same]
        apart = [sorted({named[one], named[other]}) for one, other in change.apart]
        draft.put_head(
            FaceIdentities,
            must_link=_with(identities.must_link, [group for group in same if len(group) > 1]),
            cannot_link=_with(identities.cannot_link, [pair for pair in apart if len(pair) > 1]),
        )
    if change.left_alone:
        known = draft.head(PeopleReviews, "left_alone")
        draft.put_head(PeopleReviews, left_alone=_with(known, [named[face] for face in change.left_alone]))
    if change.answer:
        draft.put_head(PeopleReviews, answers=_with(draft.head(PeopleReviews, "answers"), [change.answer]))


def _with(known: Sequence[Any], new: Iterable[Any]) -> list[Any]:
    return [*known, *(item for item in new if item not in known)]


def _believe(draft: Draft, faces: Iterable[str], name: str) -> None:
    """Who gives two faces one name says that they are one person: what was said before against that goes."""
    identities, given = draft.by_now(FaceIdentities), set(faces)
    if not any(given & set(group) for group in identities.cannot_link):
        return
    kept: list[list[str]] = []
    for group in identities.cannot_link:
        pairs = [pair for pair in combinations(group, 2) if not _one(draft, pair, given, name)]
        kept += [group] if len(pairs) == len(group) * (len(group) - 1) // 2 else [list(pair) for pair in pairs]
    draft.put_head(FaceIdentities, cannot_link=kept)


def _one(draft: Draft, pair: tuple[str, str], given: set[str], name: str) -> bool:
    return bool(given & set(pair)) and all(_identity(draft, face) == name for face in pair)


def _identity(draft: Draft, face: str) -> str | None:
    photo, _, box_id = face.partition(":")
    labels: FaceLabels = draft.record(FaceGroundTruth, photo) or NO_FACES
    return next((box.identity for box in labels.boxes if box.id == box_id), None)


def _swapped(pairs: Mapping[K, tuple[V, V]]) -> dict[K, tuple[V, V]]:
    return {key: (after, before) for key, (before, after) in pairs.items()}


_Box = tuple[str, int]


class _Work:
    """Labels of many photos on their way from before to after."""

    def __init__(self, root: Path, draft: Draft) -> None:
        self.root, self.draft = root, draft
        self.boxes: dict[str, list[FaceRecord]] = {}
        self.people: dict[str, list[str] | None] = {}
        self.ids: dict[_Box, str] = {}
        self._before: dict[str, FaceLabels | None] = {}
        self._selfies: dict[str, tuple[str, str]] = {}
        self._heads = {
            (kind, name): list(draft.head(kind, name))
            for kind, names in (
                (FaceIdentities, ("must_link", "cannot_link")),
                (PeopleReviews, ("left_alone", "answers")),
                (StartList, ("entrants",)),
            )
            for name in names
        }

    def box(self, name: str, seen: str | None) -> _Box:
        """Where a face is among the boxes of its photo; a suggestion is accepted. Refused if it is not as seen."""
        photo, _, which = name.partition(":")
        boxes = self._open(photo)
        if which.startswith("~"):
            ghosts = self.draft.file(Suggestions).photos.get(photo)
            ghost = next((each for each in ghosts.faces if ghost_name(photo, each) == name), None) if ghosts else None
            if ghost is None:
                raise _stale(self.root, photo, name, None)
            place = next((n for n, box in enumerate(boxes) if _place(box) == _place(ghost)), None)
            if place is None:
                boxes.append(FaceRecord(x=ghost.x, y=ghost.y, w=ghost.w, h=ghost.h))
                place = len(boxes) - 1
        else:
            place = next((n for n, box in enumerate(boxes) if box_name(photo, box, n) == name), None)
        if place is None or boxes[place].identity != seen or boxes[place].scope == FaceScope.EXCLUDE:
            raise _stale(self.root, photo, name, self.draft.record(FaceGroundTruth, photo))
        return photo, place

    def put(self, boxes: Iterable[_Box], **fields: Any) -> None:
        """Set fields of faces."""
        for photo, place in boxes:
            self.boxes[photo][place] = self.boxes[photo][place].model_copy(update=fields)

    def rename(self, old: str, new: str) -> None:
        """Give a name that is in use another form wherever it stands: on faces, of photos and of selfies."""
        if old == new:
            raise InvalidEditError(f"{old!r} is its name already")
        faces = self.draft.file(FaceGroundTruth).photos
        touched = [
            photo
            for photo, labels in faces.items()
            if any(box.identity == old for box in labels.boxes) or old in (labels.people or ())
        ]
        names: list[str] = self.draft.head(FaceIdentities, "names")
        listed: list[Entrant] = self.draft.head(StartList, "entrants")
        if not touched and old not in names and all(each.name != old for each in listed):
            raise InvalidEditError(f"nobody is called {old!r}")
        for photo in touched:
            boxes = self._open(photo)
            self.put(((photo, place) for place, box in enumerate(boxes) if box.identity == old), identity=new)
            people = faces[photo].people
            if people is not None:
                self.people[photo] = sorted({new if name == old else name for name in people})
        for sha256, name in self.draft.file(Selfies).photos.items():
            if name == old:
                self._selfies[sha256] = (old, new)
                self.draft.put(Selfies, sha256, new)
        self.draft.put_head(StartList, entrants=renamed(listed, old, new))
        self.draft.put_head(
            FaceIdentities, names=list(dict.fromkeys(new if name == old else name for name in [*names, new]))
        )

    def finish(self) -> _Finished:
        """Put the labels into the draft, with where they came from and ids for all boxes."""
        photos = {}
        for photo, boxes in self.boxes.items():
            before = self._before[photo]
            people = self.people.get(photo, before.people if before else None)
            labels = (before or NO_FACES).model_copy(update={"boxes": boxes, "people": people})
            moved = {place: place for place in range(len(before.boxes if before else ()))}
            after = traced(photo, labels, before, moved, self.draft.file(Suggestions))
            self.draft.put(FaceGroundTruth, photo, after)
            photos[photo] = (before, after)
            self.ids |= {(photo, place): f"{photo}:{box.id}" for place, box in enumerate(after.boxes)}
        return _Finished(self, photos)

    def told(self, photos: Mapping[str, tuple[FaceLabels | None, FaceLabels | None]], name: str | None) -> Done:
        """What it has come to."""
        heads = {key: (before, list(self.draft.head(*key))) for key, before in self._heads.items()}
        changed = {key: pair for key, pair in heads.items() if pair[0] != pair[1]}
        return Done({photo: pair for photo, pair in photos.items() if pair[0] != pair[1]}, changed, self._selfies, name)

    def _open(self, photo: str) -> list[FaceRecord]:
        if photo not in self.boxes:
            if self.draft.record(PhotoIndex, photo) is None:
                raise UnknownPhotoError(f"{self.root / PhotoIndex.FILE_NAME}: no photo {photo}")
            before = self._before[photo] = self.draft.record(FaceGroundTruth, photo)
            self.boxes[photo] = list(before.boxes) if before else []
        return self.boxes[photo]


@dataclass(frozen=True)
class _Finished:
    work: _Work
    photos: Mapping[str, tuple[FaceLabels | None, FaceLabels | None]]

    @property
    def ids(self) -> Mapping[_Box, str]:
        return self.work.ids

    def told(self, name: str | None) -> Done:
        return self.work.told(self.photos, name)


def _place(box: BoxRecord) -> tuple[float, float, float, float]:
    return (box.x, box.y, box.w, box.h)


def _stale(root: Path, photo: str, yours: Any, theirs: Any) -> StaleRevisionError:
    return StaleRevisionError(
        f"{root / FaceGroundTruth.FILE_NAME}: photos.{photo}: its faces were changed by somebody else meanwhile; "
        "nothing of this was saved: look again",
        photo=photo,
        yours=yours,
        theirs=theirs,
    )

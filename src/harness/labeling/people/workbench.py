"""The state of the workbench: faces, their vectors, groups and people, made aside and shown as far as they are known.

A request never waits for models. It gets the groups that were made last, without the faces that have an answer by now;
where labels have changed since, groups are made anew aside, and a request waits a moment for them: in a small set that
is enough, and in a large one the page asks again.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness.labeling.chores import Chores
from harness.labeling.people.alike import Alike, faces_alike
from harness.labeling.people.clusters import NO_CLUSTERS, Clusters, cluster_faces
from harness.labeling.people.crops import Crops
from harness.labeling.people.embedding import FaceEmbedder
from harness.labeling.people.faces import Face, FaceIndex, FaceIndexes
from harness.labeling.people.grouping import Group, make_groups
from harness.labeling.people.known import MOST_NEAR, KnownPeople, Near
from harness.labeling.refusals import Refusal
from harness.labeling.searching import PhotoSearch
from harness.labeling.source import LabelSource
from harness.references.people import Change, Done, change_people, undo_people
from harness.references.reviews import PeopleReviews

#: How long a request waits for groups that are being made.
MOMENT = 0.15
#: So many steps can be undone.
_MOST_UNDONE = 500
#: So many people are shown for one group, and so many faces without a name.
MOST_SHOWN, MOST_ALIKE = 33, 12
_CHORE = "people"


def worth_waiting(moment: float, took: float) -> float:
    """How long to wait for what took so long the last time: not at all where it will not be there in that moment."""
    return moment if took < moment else 0.0


@dataclass(frozen=True)
class Made:
    """Groups, and what they were made of."""

    index: FaceIndex
    left_alone: frozenset[str]
    clusters: Clusters = NO_CLUSTERS
    groups: Sequence[Group] = ()
    alike: Sequence[Alike] = ()
    known: KnownPeople | None = None


_NOTHING = Made(FaceIndex({}, {}), frozenset())


class Workbench:
    """Faces and people of one source."""

    def __init__(self, source: LabelSource, search: PhotoSearch) -> None:
        self._source, self._search = source, search
        self._indexes = FaceIndexes(source)
        self.embedder = FaceEmbedder(search.opened)
        self.crops = Crops()
        self._chores = Chores()
        self._lock = threading.Lock()
        self._made = _NOTHING
        #: How long it took to make the groups, the last time.
        self._took = 0.0
        self._undo: OrderedDict[str, Done] = OrderedDict()

    def index(self) -> FaceIndex:
        """All faces as of now."""
        return self._indexes.current()

    def left_alone(self) -> frozenset[str]:
        """Faces that need no name."""
        return frozenset(self._reviews.left_alone)

    @property
    def _reviews(self) -> PeopleReviews:
        if self._source.read_only:
            return PeopleReviews()
        return self._source.writable().reviews()

    def settled(self) -> frozenset[str]:
        """Cross-checks that have an answer."""
        return frozenset(answer.check for answer in self._reviews.answers)

    def current(self, wait: float = MOMENT) -> tuple[Made, bool]:
        """The groups that were made last, without what has an answer by now; and whether they are up to date."""
        made, fresh = self.made(wait)
        if fresh:
            return made, True
        index, left_alone = self.index(), self.left_alone()
        groups = [shown for group in made.groups if (shown := _still_open(group, index, left_alone))]
        return replace(made, index=index, left_alone=left_alone, groups=groups), False

    def made(self, wait: float) -> tuple[Made, bool]:
        """What was made last, as it was made; and whether it is up to date, for which a request may wait where that is
        likely to be enough."""
        index, left_alone = self.index(), self.left_alone()
        deadline = time.monotonic() + worth_waiting(wait, self._took)
        while not (fresh := self._is_fresh(index, left_alone)):
            self._start()
            chore = self._chores.get(_CHORE)
            if time.monotonic() > deadline or (chore and chore.problem):
                break
            time.sleep(0.01)
        return self._made, fresh

    def state(self) -> dict[str, Any]:
        """How far the work is."""
        chore, index = self._chores.get(_CHORE), self.index()
        ready = self._made is not _NOTHING
        problem = chore.problem if chore else ""
        return {
            "phase": "failed" if problem else "ready" if ready else "preparing",
            "done": chore.done if chore else 0,
            "total": chore.total if chore else 0,
            "message": problem,
            "faces": len(index.by_name),
            "named": sum(len(faces) for faces in index.people.values()),
            "people": len(index.people),
            "failed": len(self.embedder.failed),
            "fresh": self._is_fresh(index, self.left_alone()),
        }

    def nearest(self, photo: str) -> list[tuple[Face, tuple[Near, ...]]]:
        """For each face of a photo the known people whom it looks like, and whom it may be."""
        made, _ = self.made(MOMENT)
        index = self.index()
        faces = index.photos.get(photo, ())
        if made.known is None:
            return [(face, ()) for face in faces]
        # Nobody who is named in this photo is among these: their names are in question, and they are compared anew.
        groups = [[face] for face in faces]
        named = {face.identity for face in faces}
        others = [
            [each for each in near if each.name in index.people and each.name not in named]
            for near in made.known.nearest(groups)
        ]
        own = KnownPeople(_named_in(index, photo), made.clusters).nearest(groups)
        found = [
            sorted([*some, *more], key=lambda each: -each.similarity) for some, more in zip(others, own, strict=True)
        ]
        return [(face, tuple(near[:MOST_NEAR])) for face, near in zip(faces, found, strict=True)]

    def beside(self, name: str) -> tuple[tuple[Near, ...], list[tuple[Face, float]]]:
        """The people who look like a group, also those for whom there is no key; and the faces without a name that look
        like it and may be the same person's, the likest first."""
        made, _ = self.current(0.0)
        group = next((group for group in made.groups if group.name == name), None)
        if group is None or made.known is None:
            return (), []
        return made.known.nearest([group.faces], MOST_SHOWN)[0], _open_ones_like(group, made)

    def change(self, change: Change) -> tuple[str, Done]:
        """Do what somebody says; returns what undoes it."""
        return self._kept(change_people(self._source.writable(), change))

    def undo(self, token: str) -> tuple[str, Done]:
        """Take back what was done; returns what does it again."""
        with self._lock:
            done = self._undo.get(token)
        if done is None:
            raise Refusal(404, "not_found", "this cannot be undone any more: the server has been started anew since")
        undone = undo_people(self._source.writable(), done)
        with self._lock:
            self._undo.pop(token, None)
        return self._kept(undone)

    def _kept(self, done: Done) -> tuple[str, Done]:
        token = secrets.token_hex(8)
        with self._lock:
            self._undo[token] = done
            while len(self._undo) > _MOST_UNDONE:
                self._undo.popitem(last=False)
        return token, done

    def _is_fresh(self, index: FaceIndex, left_alone: frozenset[str]) -> bool:
        return self._made.index is index and self._made.left_alone == left_alone

    def _start(self) -> None:
        if (chore := self._chores.get(_CHORE)) and chore.problem and time.monotonic() - chore.ended < 30:
            return
        self._chores.start(_CHORE, "faces are being compared", self._make)

    def _make(self) -> str:
        """Make groups until nothing has changed meanwhile."""
        with self._search.opened() as finder:
            recogniser = finder.pipeline.identity
        assert recogniser is not None, "a finder recognises people"
        while True:
            index, left_alone = self.index(), self.left_alone()
            self.embedder.look(index)
            started = time.monotonic()
            clusters = cluster_faces(
                index, self.embedder.vectors, recogniser.clustering, recogniser.fpir, self._made.clusters
            )
            known = KnownPeople(index, clusters)
            groups = make_groups(index, clusters, known, left_alone)
            self._made = Made(index, left_alone, clusters, groups, faces_alike(index, clusters, known), known)
            self._took = time.monotonic() - started
            if self.index() is index and self.left_alone() == left_alone:
                return "faces were compared"


def _still_open(group: Group, index: FaceIndex, left_alone: frozenset[str]) -> Group | None:
    """A group without the faces that have an answer by now; None where none is left."""
    faces = tuple(
        face
        for face in group.faces
        if (now := index.by_name.get(face.name)) and not now.identity and face.name not in left_alone
    )
    return (group if len(faces) == len(group.faces) else replace(group, faces=faces)) if faces else None


def _open_ones_like(group: Group, made: Made) -> list[tuple[Face, float]]:
    rows, vectors, index = made.clusters.rows, made.clusters.vectors, made.index
    own, photos = {face.name for face in group.faces}, {face.photo for face in group.faces}
    no_more = made.left_alone.union(*(said for said in index.cannot_link if not own.isdisjoint(said)))
    others = [
        face
        for face in index.by_name.values()
        if not face.identity and face.where in rows and face.photo not in photos and face.name not in no_more
    ]
    seen = [rows[face.where] for face in group.faces if face.where in rows]
    if not seen or not others:
        return []
    mean = vectors[seen].sum(axis=0)
    similar = vectors[[rows[face.where] for face in others]] @ (mean / np.linalg.norm(mean))
    likest = np.argsort(-similar, kind="stable")[:MOST_ALIKE]
    return [(others[at], float(similar[at])) for at in likest.tolist() if similar[at] > 0]


def _named_in(index: FaceIndex, photo: str) -> FaceIndex:
    """The people who are named in a photo, by their faces in others: what is said in this one is in question."""
    here = index.photos.get(photo, ())
    names = {face.identity for face in here if face.identity}
    photos: dict[str, tuple[Face, ...]] = {photo: tuple(replace(face, identity=None) for face in here)}
    for face in (face for name in names for face in index.people[name] if face.photo != photo):
        photos[face.photo] = (*photos.get(face.photo, ()), face)
    return FaceIndex(photos, index.file_names, (), index.cannot_link)

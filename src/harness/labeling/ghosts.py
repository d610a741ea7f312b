"""Ghosts are suggestions that wait for an answer, and the answer is a label box in the same place.

Accepting a ghost adds its box as a label; rejecting it adds the box with the scope of a known non-object. So the answer
is in the labels, survives every refresh of the suggestions, and is taken back by deleting the box.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from harness.base.errors import InvalidEditError
from harness.references.files import BibLabels, BibRecord, BoxRecord, FaceLabels, FaceRecord
from harness.references.suggestions import GhostBib, GhostFace, same_place
from harness.types import BibScope, FaceScope

G = TypeVar("G", bound=BoxRecord)
B = TypeVar("B", bound=BoxRecord)


def is_answered(ghost: BoxRecord, boxes: Iterable[BoxRecord]) -> bool:
    """Whether some label box is about what the ghost shows."""
    return any(same_place(ghost, box) for box in boxes)


def count_left(ghosts: Sequence[BoxRecord], boxes: Sequence[BoxRecord], done: bool) -> int:
    """How many ghosts wait for an answer; where somebody said that the dimension is done, none does."""
    return 0 if done else sum(not is_answered(ghost, boxes) for ghost in ghosts)


def answer_bibs(labels: BibLabels, ghosts: Sequence[GhostBib], accept: list[int], reject: list[int]) -> BibLabels:
    """The labels with the boxes of accepted and rejected ghosts at their end."""

    def box(ghost: GhostBib, accepted: bool) -> BibRecord:
        number, scope = (ghost.number, BibScope.BIB) if accepted else (None, BibScope.NOT_BIB)
        return BibRecord(x=ghost.x, y=ghost.y, w=ghost.w, h=ghost.h, number=number, scope=scope)

    return labels.model_copy(update={"boxes": [*labels.boxes, *_added(labels.boxes, ghosts, accept, reject, box)]})


def answer_faces(labels: FaceLabels, ghosts: Sequence[GhostFace], accept: list[int], reject: list[int]) -> FaceLabels:
    """The labels with the boxes of accepted and rejected ghosts at their end."""

    def box(ghost: GhostFace, accepted: bool) -> FaceRecord:
        identity, scope = (ghost.identity, FaceScope.KEEP) if accepted else (None, FaceScope.EXCLUDE)
        return FaceRecord(x=ghost.x, y=ghost.y, w=ghost.w, h=ghost.h, identity=identity, scope=scope)

    return labels.model_copy(update={"boxes": [*labels.boxes, *_added(labels.boxes, ghosts, accept, reject, box)]})


def _added(
    boxes: Sequence[B], ghosts: Sequence[G], accept: list[int], reject: list[int], box: Callable[[G, bool], B]
) -> list[B]:
    """Boxes for the answers, without those of ghosts that have one already."""
    if both := set(accept) & set(reject):
        raise InvalidEditError(f"ghost {min(both)} is both accepted and rejected")
    if beyond := [position for position in (*accept, *reject) if position >= len(ghosts)]:
        raise InvalidEditError(f"there is no ghost {beyond[0]}; there are {len(ghosts)}")
    answers = [(ghosts[position], position in accept) for position in (*accept, *reject)]
    return [box(ghost, accepted) for ghost, accepted in answers if not is_answered(ghost, boxes)]

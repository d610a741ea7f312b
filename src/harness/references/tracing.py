"""Where a box that is saved came from: drawn by a person, a suggestion taken as it was or edited, or an import.

The labelling pages send boxes, not how they were made, so that is told from what is known: which box of the photo each
one was before, and what was suggested for the photo. A box without a history stays without one. A box that was there
before keeps its id, and whichever has none gets one.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal, TypeVar

from harness.references.files import BibLabels, BibRecord, BoxOrigin, BoxRecord, FaceLabels, FaceRecord, SuggestedBy
from harness.references.suggestions import GhostBib, GhostFace, StageProvenance, Suggestions, same_place
from harness.types import BibScope, FaceScope

#: A label, and what may have suggested it.
Label = BibRecord | FaceRecord
Ghost = GhostBib | GhostFace
L = TypeVar("L", BibLabels, FaceLabels)


def traced(
    photo: str,
    labels: L,
    before: L | None,
    moved: Mapping[int, int],
    suggestions: Suggestions,
    by: str | None = None,
) -> L:
    """Labels with the origin and the id of each box. `moved` says where the boxes of `before` are now; `by` who saved
    them, as far as they said."""
    old = {now: before.boxes[then] for then, now in moved.items()} if before else {}
    ghosts, made_by = _suggested(photo, isinstance(labels, BibLabels), suggestions)
    ids = _ids((old[place].id if place in old else None for place in range(len(labels.boxes))), before)
    boxes = [
        box.model_copy(
            update={
                "origin": _kept(box, old[place], by) if place in old else _found(box, ghosts, made_by, by),
                "id": ids[place],
            }
        )
        for place, box in enumerate(labels.boxes)
    ]
    return labels.model_copy(update={"boxes": boxes})


def imported(labels: BibLabels | FaceLabels) -> BibLabels | FaceLabels:
    """Labels whose boxes say that they were imported, unless they know better, and have ids."""
    origin = BoxOrigin(how="imported", at=_now())
    boxes = [box if box.origin else box.model_copy(update={"origin": origin}) for box in labels.boxes]
    return with_ids(labels.model_copy(update={"boxes": boxes}))


def with_ids(labels: BibLabels | FaceLabels) -> BibLabels | FaceLabels:
    """Labels whose boxes all have an id."""
    ids = _ids((box.id for box in labels.boxes), labels)
    boxes = [box.model_copy(update={"id": id}) for box, id in zip(labels.boxes, ids, strict=True)]
    return labels.model_copy(update={"boxes": boxes})


def _ids(known: Iterable[str | None], before: BibLabels | FaceLabels | None) -> list[str]:
    """The ids of boxes, new ones for those without. An id of a box that is gone is not used again."""
    taken = {box.id for box in before.boxes} if before else set()
    ids = []
    for old in known:
        new = old or secrets.token_hex(4)
        while old is None and new in taken:
            new = secrets.token_hex(4)
        taken.add(new)
        ids.append(new)
    return ids


def _suggested(photo: str, is_bibs: bool, suggestions: Suggestions) -> tuple[Sequence[Ghost], StageProvenance | None]:
    found = suggestions.photos.get(photo)
    if found is None:
        return (), None
    made_by = suggestions.provenances.get(found.provenance)
    if is_bibs:
        return found.bibs, made_by.bib if made_by else None
    return found.faces, made_by.face if made_by else None


def _kept(box: Label, old: Label, by: str | None) -> BoxOrigin | None:
    """The origin of a box that was there before."""
    origin = old.origin
    if origin is None or origin.how in ("drawn", "edited") or not any(_edits(box, old)):
        return origin
    return origin.model_copy(update={"how": "edited", "by": by, "at": _now()})


def _found(box: Label, ghosts: Sequence[Ghost], made_by: StageProvenance | None, by: str | None) -> BoxOrigin:
    """The origin of a new box: the suggestion that it equals, or else the one that it lies on."""
    near = [ghost for ghost in ghosts if same_place(ghost, box)]
    if not near:
        return BoxOrigin(how="drawn", by=by, at=_now())
    ghost = min(near, key=lambda ghost: (any(_edits(box, ghost)), _distance(box, ghost)))
    suggestion = SuggestedBy(
        backend=made_by.backend if made_by else "", model=made_by.model if made_by else "", score=ghost.score
    )
    how: Literal["edited", "accepted"] = "edited" if any(_edits(box, ghost)) else "accepted"
    return BoxOrigin(how=how, by=by, at=_now(), suggestion=suggestion)


def _edits(box: Label, source: Label | Ghost) -> Iterator[bool]:
    """In what a box differs from what it was. A name for a face that had none takes nothing back."""
    yield _distance(box, source) > 0
    if isinstance(box, BibRecord):
        yield box.number != getattr(source, "number", None)
        yield box.scope != getattr(source, "scope", BibScope.BIB)
    else:
        yield box.identity != getattr(source, "identity", None) is not None
        yield box.scope != getattr(source, "scope", FaceScope.KEEP)


def _distance(one: BoxRecord, other: BoxRecord) -> float:
    return abs(one.x - other.x) + abs(one.y - other.y) + abs(one.w - other.w) + abs(one.h - other.h)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

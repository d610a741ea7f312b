"""The API of the whole set: queues, progress, names, freezing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query

from harness.labeling.answers import (
    Alive,
    Done,
    Frozen,
    FrozenOut,
    FrozenSets,
    GhostsLeft,
    KnownName,
    Names,
    NewName,
    PhotoPage,
    PhotoSummary,
    Progress,
)
from harness.labeling.context import Context, PageNumber, Shared
from harness.labeling.queues import Filters, Queue, filtered, look
from harness.labeling.requests import Freeze, LeaveDesk, Nothing, TakePhotos
from harness.labeling.summary import DIMENSIONS, Dimension, PhotoRow
from harness.references.completeness import State
from harness.references.fields import Sha256
from harness.references.freeze import freeze
from harness.references.frozen import frozen_sets
from harness.references.labels import new_anonymous, next_anonymous

PHOTOS_PER_PAGE = 60

router = APIRouter(prefix="/api", tags=["set"])


class QueueQuery(Filters):
    """Which queue, seen from which photo."""

    dimension: Dimension = "bibs"
    at: Sha256 | None = None


class PageQuery(Filters):
    """Which page of which queue."""

    dimension: Dimension = "bibs"
    page: PageNumber = 1


@router.get("/alive")
def alive() -> Alive:
    """Whether the server answers."""
    return Alive()


@router.get("/queue")
def read_queue(context: Shared, query: Annotated[QueueQuery, Query()]) -> Queue:
    """Where to go from a photo: previous, next, next incomplete; and how far the queue is done."""
    return queue_from(context, query.dimension, query, query.at)


@router.post("/queue")
def take_photos(context: Shared, query: Annotated[QueueQuery, Query()], body: TakePhotos) -> Queue:
    """The same, and the photos that this desk has open and at hand are handed out to nobody else for ten minutes. What
    it held before and does not any more is free."""
    context.source.writable()
    answers: list[Queue] = []

    def choose(taken: dict[str, str]) -> tuple[str, ...]:
        queue = queue_from(context, query.dimension, query, query.at, taken)
        answers.append(replace(queue, held_by=taken.get(query.at or "")))
        return queue.todo

    context.leases.take(body.desk, body.by, query.at, choose)
    return answers[0]


@router.post("/queue/leave", status_code=204)
def leave_photos(context: Shared, body: LeaveDesk) -> None:
    """A desk is left: what it held is free."""
    context.source.writable()
    context.leases.leave(body.desk)


@router.get("/photos")
def read_photos(context: Shared, query: Annotated[PageQuery, Query()]) -> PhotoPage:
    """One page of a queue."""
    return photo_page(context, query.dimension, query, query.page)


@router.get("/progress")
def read_progress(context: Shared) -> Progress:
    """How far the set is labelled."""
    return progress(context)


@router.get("/names")
def read_names(context: Shared) -> Names:
    """The names in use, the most frequent first, and those of the start list."""
    contents, listed = context.source.contents(), context.start_list().numbers_by_name
    faces = Counter(box.identity for labels in contents.faces.photos.values() for box in labels.boxes if box.identity)
    names = sorted({*contents.identities.names, *faces, *listed}, key=lambda name: (-faces[name], name))
    numbers = {name: number for number, name in context.names_by_number().items()}
    numbers |= {name: number for name, number in listed.items() if number}
    return Names(
        names=[
            KnownName(name=name, faces=faces[name], number=numbers.get(name), listed=name in listed) for name in names
        ],
        next_anonymous=next_anonymous(names),
    )


@router.post("/names/anonymous", status_code=201)
def create_anonymous(context: Shared, body: Nothing) -> NewName:  # noqa: ARG001 - the body has to be an empty object
    """The next `anonymous_N`, for somebody whom nobody can name."""
    return NewName(name=new_anonymous(context.source.writable()))


@router.get("/frozen")
def read_frozen(context: Shared) -> FrozenSets:
    """The frozen sets, oldest first."""
    return FrozenSets.of(frozen_sets(context.source.root))


@router.post("/freeze", status_code=201)
def freeze_set(context: Shared, body: Freeze) -> Frozen:
    """Freeze the labels under a name, for good."""
    manifest = freeze(
        context.source.writable(),
        body.name,
        description=body.description,
        include_incomplete=body.include_incomplete,
        everything=body.everything,
        photos=body.photos,
    )
    partial, untouched = (manifest.states.get(state, 0) for state in (State.PARTIAL, State.UNTOUCHED))
    warning = f"{partial} partly labelled and {untouched} unlabelled of {manifest.photos} photos are in the set"
    return Frozen(**FrozenOut.of(manifest).model_dump(), warning=warning if partial or untouched else None)


def queue_from(
    context: Context, dimension: Dimension, filters: Filters, at: str | None, taken: Collection[str] = ()
) -> Queue:
    """A queue as seen from a photo. `taken` are the photos of others: a page that is rendered cannot know who asks, and
    an editor that was led to a taken one moves on when it asks itself."""
    row = context.row(at) if at else None
    return look(context.summary(), dimension, filters, context.suspected(dimension), row, taken)


def photo_page(context: Context, dimension: Dimension, filters: Filters, page: int) -> PhotoPage:
    """One page of a queue; a page past its end is empty."""
    suspects = context.suspected(dimension)
    rows = filtered(context.summary(), dimension, filters, suspects)
    start = (page - 1) * PHOTOS_PER_PAGE
    return PhotoPage(
        total=len(rows),
        page=page,
        pages=max(1, -(-len(rows) // PHOTOS_PER_PAGE)),
        photos=[photo_summary(row, row.sha256 in suspects) for row in rows[start : start + PHOTOS_PER_PAGE]],
    )


def photo_summary(row: PhotoRow, suspect: bool) -> PhotoSummary:
    """A row as the API gives it."""
    done = row.completeness
    return PhotoSummary(
        sha256=row.sha256,
        name=row.name,
        width=row.width,
        height=row.height,
        split=row.split,
        bibs=row.bibs,
        faces=row.faces,
        links=row.links,
        ghosts_left=GhostsLeft(bibs=row.bib_ghosts_left, faces=row.face_ghosts_left),
        done=Done(bibs=done.bibs, faces=done.faces, links=done.links),
        state=done.state,
        suspect=suspect,
        left_open=list(row.left_open),
        taken_at=row.taken_at,
        heads=head_window(row),
    )


#: The shape of a picture in a list, and how much of a photo it shows at least, of its width.
_ASPECT, _LEAST = 4 / 3, 0.4


def head_window(row: PhotoRow) -> tuple[float, float, float, float]:
    """The part of a photo that a list shows, as x, y, w, h in its pixels: four by three around the heads, with room
    for the bibs below them, and not so small that nobody can tell where it is."""
    widest = min(row.width, row.height * _ASPECT)
    x, y, w, h = row.heads or (0.0, 0.0, 1.0, 0.7)
    wanted = max(w * row.width * 1.3, h * row.height * 2 * _ASPECT, _LEAST * widest)
    width = min(wanted, widest)
    height = width / _ASPECT
    left = (x + w / 2) * row.width - width / 2
    top = (y + h / 2) * row.height - height * 0.4
    kept = (min(max(left, 0.0), row.width - width), min(max(top, 0.0), row.height - height))
    return (round(kept[0], 1), round(kept[1], 1), round(width, 1), round(height, 1))


def progress(context: Context) -> Progress:
    """How far the set is labelled."""
    summary = context.summary()
    return Progress(
        photos=len(summary.rows),
        done={str(dimension): count for dimension, count in summary.done.items()},
        states=summary.states,
        splits=summary.splits,
        ghosts_left=GhostsLeft(**summary.ghosts_left),
        suspects={dimension: len(context.suspected(dimension)) for dimension in DIMENSIONS[:2]},
    )

"""The photos of a run: a grid of all that fit a selection, and one photo with everything that was said about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import HTMLResponse, Response

from harness.exploring.layers import marks, photo_layers
from harness.exploring.notes import keep_note, notes_on
from harness.exploring.opened import OpenedRun
from harness.exploring.rows import Row
from harness.exploring.selection import SORTS, Selection
from harness.labeling.context import Context, Hash, Shared
from harness.labeling.opening import being_read, opened_run
from harness.labeling.picture_routes import Size, picture
from harness.labeling.refusals import Refusal
from harness.labeling.rendering import PAGES, render
from harness.runs.comparison import Change

#: Photos that the page itself has; the script fetches the others where they come into view.
FIRST = 60
MOST = 240
#: How wide and high a picture of the grid is at least, and what is marked on it: in pixels of the screen.
_SHOT, _LEAST_MARK = (250, 178), 15
CHANGE_WORDS = {Change.BROKEN: "newly broken", Change.FIXED: "newly fixed"}

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
api = APIRouter(prefix="/api/runs", tags=["runs"])

Page = Annotated[int, Field(ge=1, le=1_000_000)]


class GridQuery(Selection):
    """A selection, and the page of it that is shown without a script."""

    page: Page = 1


class SliceQuery(Selection):
    """A selection, and which part of it."""

    start: Annotated[int, Field(ge=0)] = 0
    count: Annotated[int, Field(ge=1, le=MOST)] = FIRST


class GridPhoto(BaseModel):
    """One photo of the grid. `marks` are what is wrong on it: the state and the place, as shares of the photo."""

    sha256: str
    name: str
    errors: float
    words: str
    change: str
    change_words: str
    marks: list[tuple[str, list[float]]]
    size: tuple[int, int] | None
    notes: int


class GridSlice(BaseModel):
    """A part of the photos that fit a selection."""

    total: int
    start: int
    photos: list[GridPhoto]


class NewNote(BaseModel):
    """What somebody wants others to know about a photo."""

    model_config = ConfigDict(extra="forbid")

    text: Annotated[str, Field(min_length=1, max_length=2000, pattern=r"\S")]


class Noted(BaseModel):
    """All notes on a photo, oldest first, each with its time."""

    notes: list[tuple[str, str]]


def _with_photos(context: Context, run_id: str, selection: Selection) -> OpenedRun | None:
    opened = opened_run(context, run_id, selection.against)
    if opened is None:
        return None
    if not opened.rows:
        raise Refusal(404, "not_found", opened.alone if opened.run is None else "this run evaluated no photos")
    selection.check(opened.facets)
    return opened


@router.get("/runs/{run_id}/photos")
def grid(request: Request, context: Shared, run_id: str, query: Annotated[GridQuery, Query()]) -> Response:
    """All photos of a run that fit."""
    if (opened := _with_photos(context, run_id, query)) is None:
        return being_read(request, run_id)
    rows = query.among(opened.rows)
    start = (query.page - 1) * FIRST
    photos = _photos(opened, rows[start : start + FIRST])
    return render(
        request,
        "run_photos.html",
        opened=opened,
        query=query,
        sorts=SORTS,
        photos=photos,
        plain=[photo.model_dump() for photo in photos],
        total=len(rows),
        pages=max(1, -(-len(rows) // FIRST)),
        change_words={str(change): words for change, words in CHANGE_WORDS.items()},
    )


@router.get("/runs/{run_id}/photos/{sha256}")
def photo(
    request: Request, context: Shared, run_id: str, sha256: Hash, query: Annotated[Selection, Query()]
) -> Response:
    """One photo of a run, with the way to the others that fit the selection."""
    if (opened := _with_photos(context, run_id, query)) is None:
        return being_read(request, run_id)
    row = _row(opened, sha256)
    rows = query.among(opened.rows)
    place = next((number for number, each in enumerate(rows) if each.sha256 == sha256), None)
    after = rows[place + 1 : place + 2] if place is not None else rows[:1]
    before = rows[place - 1 : place] if place else []
    return render(
        request,
        "run_photo.html",
        opened=opened,
        row=row,
        query=query,
        place=place,
        total=len(rows),
        change=CHANGE_WORDS[row.change] if row.change else "",
        before=next((each.sha256 for each in before), None),
        after=next((each.sha256 for each in after), None),
        config=_photo_config(context, opened, row),
    )


def _photo_config(context: Context, opened: OpenedRun, row: Row) -> dict[str, Any]:
    """The data block of the photo's page."""
    size = opened.photos.sizes.get(row.sha256)
    width, height = size or (4, 3)
    editable = opened.photos.root is not None and context.source.root.resolve() == opened.photos.root.resolve()
    editable = editable and row.sha256 in context.summary().by_hash
    return {
        "photo": {
            "sha256": row.sha256,
            "name": row.name,
            "width": width,
            "height": height,
            "source": f"/runs/{opened.entry.run_id}/pictures/{row.sha256}/" if size else None,
        },
        "layers": photo_layers(opened, row.sha256),
        "names": {"run": opened.entry.name_beside(opened.base), "base": opened.base.name if opened.base else ""},
        "editors": PAGES if editable else None,
        "notes": notes_on(opened.notes, row.sha256),
        "address": f"/api/runs/{opened.entry.run_id}/photos/{row.sha256}/notes",
    }


def _row(opened: OpenedRun, sha256: str) -> Row:
    if (row := opened.by_hash.get(sha256)) is None:
        raise Refusal(404, "not_found", f"run {opened.entry.short_id} has no photo {sha256[:12]}")
    return row


@router.get("/runs/{run_id}/pictures/{sha256}/{size}")
def run_picture(request: Request, context: Shared, run_id: str, sha256: Hash, size: Size) -> Response:
    """A photo of a run, upright, wherever its set lies."""
    opened = context.opened.get(run_id, None, wait=30)
    if opened is None or opened.photos.root is None or sha256 not in opened.photos.photos:
        raise Refusal(404, "not_found", "no such photo")
    return picture(request, opened.photos.root, sha256, size)


@api.get("/{run_id}/photos")
def read_slice(context: Shared, run_id: str, query: Annotated[SliceQuery, Query()]) -> GridSlice:
    """Photos of a run that fit a selection, a part at a time."""
    if (opened := _with_photos(context, run_id, query)) is None:
        raise Refusal(503, "being_read", "this run is being read; ask again in a second")
    rows = query.among(opened.rows)
    shown = rows[query.start : query.start + query.count]
    return GridSlice(total=len(rows), start=query.start, photos=_photos(opened, shown))


@api.post("/{run_id}/photos/{sha256}/notes")
def write_note(context: Shared, run_id: str, sha256: Hash, note: NewNote) -> Noted:
    """Leave a note on a photo of a run, for whoever looks at it in the same store."""
    opened = opened_run(context, run_id)
    if opened is None:
        raise Refusal(503, "being_read", "this run is being read; ask again in a second")
    _row(opened, sha256)
    return Noted(notes=notes_on(keep_note(context.opened.store, opened.entry.run_id, sha256, note.text), sha256))


def _photos(opened: OpenedRun, rows: list[Row]) -> list[GridPhoto]:
    wrong = marks(opened, [row.sha256 for row in rows])
    return [
        GridPhoto(
            sha256=row.sha256,
            name=row.name,
            errors=row.errors,
            words=row.words(),
            change=CHANGE_WORDS[row.change] if row.change else "",
            change_words=row.change_words(),
            marks=[(state, visible_mark(box, size)) for state, box in wrong.get(row.sha256, [])],
            size=size,
            notes=len(notes_on(opened.notes, row.sha256)),
        )
        for row in rows
        for size in [opened.photos.sizes.get(row.sha256)]
    ]


def visible_mark(box: Sequence[float], size: tuple[int, int] | None) -> list[float]:
    """A box as large as it has to be to be seen around a face that is a few pixels high in the grid."""
    x, y, w, h = box
    wide, high = size or (4, 3)
    least = _LEAST_MARK * max(wide / _SHOT[0], high / _SHOT[1])
    wider, higher = max(0, least / wide - w), max(0, least / high - h)
    return [x - wider / 2, y - higher / 2, w + wider, h + higher]

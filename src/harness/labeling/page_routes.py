"""The pages. Each is rendered whole; scripts only add to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from dataclasses import asdict
from typing import Annotated, Any, get_args
from urllib.parse import parse_qsl

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, Response

from harness.labeling.context import Context, Hash, PageNumber, Shared
from harness.labeling.queues import TAGS, Filters
from harness.labeling.rendering import EDITORS, render
from harness.labeling.set_routes import PHOTOS_PER_PAGE, photo_page, photo_summary, progress, queue_from
from harness.labeling.summary import DIMENSIONS, Dimension
from harness.references.completeness import State
from harness.references.cross_checks import Finding
from harness.references.files import BibPhotoTag, FaceBoxTag, FacePhotoTag
from harness.references.frozen import frozen_sets
from harness.types import BibScope, FaceScope

_SCOPES: dict[Dimension, list[str]] = {"bibs": list(BibScope), "faces": list(FaceScope), "links": [], "persons": []}
_PHOTO_TAGS: dict[Dimension, tuple[str, ...]] = {
    "bibs": get_args(BibPhotoTag),
    "faces": get_args(FacePhotoTag),
    "links": (),
    "persons": (),
}
_BOX_TAGS: dict[Dimension, tuple[str, ...]] = {"bibs": (), "faces": get_args(FaceBoxTag), "links": (), "persons": ()}
router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


class ListQuery(Filters):
    """Filters and page of a queue."""

    page: PageNumber = 1


class StagingQuery(ListQuery):
    """Which photos the staging page lists: those of a state, those that an older rule took for complete, or those that
    cross-checks name."""

    state: State | None = None
    review: bool = False
    cross_checks: bool = False


@router.get("/")
def home(request: Request, context: Shared) -> Response:
    """Progress, and where to go on."""
    queues = {dimension: queue_from(context, dimension, Filters(), None) for dimension in (*DIMENSIONS, "persons")}
    next_open = next((dimension for dimension in DIMENSIONS if queues[dimension].next_incomplete), None)
    return render(request, "home.html", progress=progress(context), queues=queues, next_open=next_open)


@router.get("/staging/")
def staging(request: Request, context: Shared, query: Annotated[StagingQuery, Query()]) -> Response:
    """Every touched photo and how far it is, the form that freezes, the frozen sets."""
    summary = context.summary()
    rows = [
        row
        for row in summary.rows
        if row.completeness.state == query.state
        or (query.state is None and row.completeness.state is not State.UNTOUCHED)
    ]
    review = [row for row in summary.rows if row.completeness.review]
    findings = context.cross_checks()
    named = dict.fromkeys(photo for finding in findings for photo in finding.photos)
    doubted = [summary.by_hash[photo] for photo in named if photo in summary.by_hash]
    cross_checks = query.cross_checks and not query.review
    rows = review if query.review else doubted if cross_checks else rows
    start = (query.page - 1) * PHOTOS_PER_PAGE
    listed = rows[start : start + PHOTOS_PER_PAGE]
    suspects, snapshots = context.suspects(), frozen_sets(context.source.root)
    return render(
        request,
        "staging.html",
        progress=progress(context),
        states=list(State),
        state=query.state,
        review=query.review,
        to_review=len(review),
        cross_checks=cross_checks,
        doubted=len(doubted),
        reasons=_reasons(findings, {row.sha256 for row in listed}) if cross_checks else {},
        page=query.page,
        pages=max(1, -(-len(rows) // PHOTOS_PER_PAGE)),
        total=len(rows),
        photos=[photo_summary(row, row.sha256 in suspects) for row in listed],
        frozen=list(reversed(snapshots.sets)),
        damaged=snapshots.damaged,
    )


def _reasons(findings: Iterable[Finding], photos: Set[str]) -> dict[str, list[str]]:
    """What cross-checks say of some photos, in the order of the findings."""
    found: dict[str, list[str]] = {photo: [] for photo in photos}
    for finding in findings:
        for photo in photos & finding.photos.keys():
            found[photo].append(finding.words)
    return found


@router.get("/docs/")
def docs(request: Request) -> Response:
    """The API, from its own description."""
    return render(request, "docs.html", api=request.app.openapi())


def _queue_page(dimension: Dimension) -> Callable[..., Response]:
    def queue(request: Request, context: Shared, query: Annotated[ListQuery, Query()]) -> Response:
        return render(
            request,
            "queue.html",
            dimension=dimension,
            filters=query,
            query=query.query,
            kept=dict(parse_qsl(query.query[1:])),
            queue=queue_from(context, dimension, query, None),
            listed=photo_page(context, dimension, query, query.page),
            choices={"split": ("iteration", "holdout"), "tag": TAGS},
        )

    return queue


def _editor_page(dimension: Dimension) -> Callable[..., Response]:
    def editor(request: Request, context: Shared, sha256: Hash, query: Annotated[Filters, Query()]) -> Response:
        config = editor_config(context, dimension, sha256, query)
        template = "persons.html" if dimension == "persons" else "editor.html"
        return render(request, template, dimension=dimension, config=config, query=query.query)

    return editor


def editor_config(context: Context, dimension: Dimension, sha256: str, filters: Filters) -> dict[str, Any]:
    """The data block of an editor page."""
    return {
        "dimension": dimension,
        "read_only": context.source.read_only,
        "photo": context.photo(sha256).model_dump(mode="json"),
        "queue": asdict(queue_from(context, dimension, filters, sha256)),
        "filters": filters.model_dump(),
        "query": filters.query,
        "pages": EDITORS,
        "api": "/api/photos/",
        "queue_api": "/api/queue",
        "blind": False,
        "scopes": _SCOPES[dimension],
        "photo_tags": _PHOTO_TAGS[dimension],
        "box_tags": _BOX_TAGS[dimension],
    }


for _dimension, _path in EDITORS.items():
    router.add_api_route(_path, _queue_page(_dimension), name=f"{_dimension}_queue")
    router.add_api_route(f"{_path}{{sha256}}", _editor_page(_dimension), name=f"{_dimension}_editor")

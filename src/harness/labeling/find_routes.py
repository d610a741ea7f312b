"""The page that finds somebody's photos: by a picture that is dropped on it, by a number, or by both."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Request
from starlette.responses import HTMLResponse, Response

from harness.base.errors import QueryError
from harness.labeling.context import Shared
from harness.labeling.refusals import Refusal, log_refusal
from harness.labeling.rendering import render
from harness.scoring.answering import FoundPhoto, Near
from harness.tasks.identity.finder import Found
from harness.tasks.identity.telling import headline, notes, reasons, short, warnings

MOST_PHOTOS = 120
ADDRESS = "/find/"

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

Number = Annotated[str, Query(max_length=40)]


@router.get(ADDRESS)
def find_page(request: Request, context: Shared, number: Number = "") -> Response:
    """The form and, where a number was asked for, what came back."""
    found, refusal = None, None
    if number:
        try:
            found = context.search.find(None, number)
        except QueryError as error:
            refusal = Refusal(422, "invalid", str(error))
        except Refusal as error:
            refusal = error
    if refusal is not None:
        log_refusal(request.scope, refusal)
    status = 200 if refusal is None or refusal.code == "preparing" else refusal.status
    return render(request, "find.html", status, number=number, refusal=refusal, **_shown(found))


@router.post(ADDRESS)
def find_by_picture(
    request: Request, context: Shared, picture: Annotated[bytes, Body(media_type="image/*")], number: Number = ""
) -> Response:
    """What came back for a picture, to be put into the page. The picture is kept nowhere."""
    return render(request, "found.html", **_shown(context.search.find(picture, number.strip() or None)))


@router.get(f"{ADDRESS}state")
def find_state(context: Shared) -> Response:
    """How far the photos are."""
    import orjson

    return Response(orjson.dumps(asdict(context.search.state)), media_type="application/json")


def _shown(found: Found | None) -> dict[str, Any]:
    """What the template of results shows."""
    if found is None:
        return {"headline": ""}
    photos, nearest = found.answer.photos, found.answer.nearest
    return {
        "headline": headline(found),
        "photos": [_photo(found, each, reasons(each, found.answer.numbers)) for each in photos[:MOST_PHOTOS]],
        "more": max(0, len(photos) - MOST_PHOTOS),
        "nearest": [_photo(found, each, f"similarity {short(each.similarity)}") for each in nearest[:MOST_PHOTOS]],
        "notes": notes(found),
        "warnings": warnings(found),
    }


def _photo(found: Found, each: FoundPhoto | Near, words: str) -> dict[str, Any]:
    photo = found.photo(each.photo)
    box = None if each.at is None else found.gallery.face(each.at).xywh
    size = found.gallery.photos[each.photo].size
    return {"sha256": photo.sha256, "name": photo.name, "words": words, "box": box, "size": size}

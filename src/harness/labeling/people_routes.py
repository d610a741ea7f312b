"""The people of a run: who finds how much, and one runner's photos with how each came back or why not."""

from __future__ import annotations

import io
from itertools import groupby
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, Response

from harness.exploring.opened import OpenedRun
from harness.exploring.people import People, PeopleSelection
from harness.exploring.person import Person, PersonPhoto, Show, person_of, places
from harness.exploring.selection import BesideRun
from harness.labeling.context import Hash, PageNumber, Shared
from harness.labeling.opening import being_read, opened_run
from harness.labeling.photo_run_routes import visible_mark
from harness.labeling.refusals import Refusal
from harness.labeling.rendering import render
from harness.references.decoding import upright
from harness.references.photo_files import read_bytes
from harness.scoring.finding import CAUSES, MEANINGS, percent

PEOPLE_PER_PAGE, PHOTOS_PER_PAGE = 100, 48
#: How large a selfie is shown, in pixels.
_SELFIE = 160

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


class PeopleQuery(PeopleSelection):
    """A selection of runners, and the page of it."""

    page: PageNumber = 1


class PersonQuery(BesideRun):
    """Which photos of a runner to see."""

    show: Show = "all"
    page: PageNumber = 1


@router.get("/runs/{run_id}/people")
def people(request: Request, context: Shared, run_id: str, query: Annotated[PeopleQuery, Query()]) -> Response:
    """Everybody who wants photos, those who miss most first."""
    if (opened := opened_run(context, run_id, query.against)) is None:
        return being_read(request, run_id)
    if opened.run is None:
        return render(request, "sealed.html", opened=opened, here="People")
    found = _people(opened)
    query.check()
    runners = query.among(found.runners)
    start = (query.page - 1) * PEOPLE_PER_PAGE
    return render(
        request,
        "people.html",
        opened=opened,
        people=found,
        query=query,
        runners=runners[start : start + PEOPLE_PER_PAGE],
        total=len(runners),
        pages=max(1, -(-len(runners) // PEOPLE_PER_PAGE)),
        address_of=lambda name: _address(opened, name),
        causes=CAUSES,
        meanings=MEANINGS,
        amount=amount,
    )


@router.get("/runs/{run_id}/people/{name:path}")
def person(
    request: Request, context: Shared, run_id: str, name: str, query: Annotated[PersonQuery, Query()]
) -> Response:
    """One runner: their photos, and those of others that came back for them."""
    if (opened := opened_run(context, run_id, query.against)) is None:
        return being_read(request, run_id)
    if opened.run is None:
        return render(request, "sealed.html", opened=opened, here="People")
    found = _people(opened)
    if name not in found.by_name:
        raise Refusal(404, "not_found", f"run {opened.entry.short_id} has nobody called {name!r} who wants a photo")
    who = person_of(opened, name) if found.returns else None
    shown, pages = _shown(who, query) if who else ([], 1)
    return render(
        request,
        "person.html",
        opened=opened,
        people=found,
        runner=found.by_name[name],
        person=who,
        grouped=[(kind, list(group)) for kind, group in groupby(shown, key=lambda photo: photo.kind)],
        places={
            photo: [(what, visible_mark(box, opened.photos.sizes.get(photo))) for what, box in boxes]
            for photo, boxes in (places(opened, shown, who) if who else {}).items()
        },
        selfies=[
            selfie.sha256 for selfie in opened.photos.selfies if selfie.identity == name and selfie.path.is_file()
        ],
        query=query,
        pages=pages,
        address=_address(opened, name),
        meanings=MEANINGS,
        amount=amount,
        percent=percent,
    )


@router.get("/runs/{run_id}/selfies/{sha256}")
def selfie(context: Shared, run_id: str, sha256: Hash) -> Response:
    """A selfie of the run's set, small. No copy of it is kept, here or in the browser: who is forgotten is gone."""
    opened = context.opened.get(run_id, None, wait=30)
    chosen = [each for each in opened.photos.selfies if each.sha256 == sha256] if opened else []
    if not chosen:
        raise Refusal(404, "not_found", "no such selfie")
    picture, encoded = upright(chosen[0].path, read_bytes(chosen[0].path), _SELFIE), io.BytesIO()
    picture.thumbnail((_SELFIE, _SELFIE))
    picture.save(encoded, "JPEG", quality=85)
    return Response(encoded.getvalue(), media_type="image/jpeg", headers={"Cache-Control": "no-store"})


def _people(opened: OpenedRun) -> People:
    if opened.people is None:
        raise Refusal(404, "not_found", "this run did not look at who finds their photos")
    return opened.people


def _address(opened: OpenedRun, name: str) -> str:
    return f"/runs/{opened.entry.run_id}/people/{quote(name, safe='')}"


def _shown(who: Person, query: PersonQuery) -> tuple[list[PersonPhoto], int]:
    """A page of the photos that fit, and how many pages there are."""
    fitting = [photo for photo in who.photos if photo.fits(query.show)]
    start = (query.page - 1) * PHOTOS_PER_PAGE
    return fitting[start : start + PHOTOS_PER_PAGE], max(1, -(-len(fitting) // PHOTOS_PER_PAGE))


def amount(value: float) -> str:
    """How many photos, where a photo can come back for a part of the searches: what is not whole never reads as if it
    were."""
    if value == int(value):
        return f"{int(value):,}"
    return next((told for digits in (1, 2, 3) if not float(told := f"{value:.{digits}f}").is_integer()), f"{value:g}")

"""The pages and the API of the workbench: what is left to name, who is known, and what somebody says about faces."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any
from urllib.parse import quote

import orjson
from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, Response

from harness.base.errors import PhotoError
from harness.labeling.context import Context, Hash, PageNumber, Shared
from harness.labeling.people.actions import Action, Undo
from harness.labeling.people.faces import Face, FaceIndex, Place
from harness.labeling.people.grouping import Group
from harness.labeling.people.known import Near
from harness.labeling.people.suspects import AnswerSuspect, Suspect
from harness.labeling.refusals import Refusal
from harness.labeling.rendering import PAGES, render
from harness.references.people import Done
from harness.references.photo_files import FOLDER, SUFFIXES

#: So many faces are sent at a time; groups are never cut.
FACES_PER_PAGE = 2500
PEOPLE_PER_PAGE, CROPS_PER_PAGE = 60, 240
SUSPECTS_SENT = 200
_FOR_GOOD = "private, max-age=31536000, immutable"

pages = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
router = APIRouter(prefix="/api/people", tags=["people"])


@pages.get("/people/")
def workbench_page(request: Request, context: Shared) -> Response:
    """The workbench; its script asks for the groups."""
    config = {"read_only": context.source.read_only, "editor": PAGES["faces"]}
    return render(request, "workbench.html", config=config)


@pages.get("/people/known/")
def known_page(
    request: Request, context: Shared, search: Annotated[str, Query(max_length=80)] = "", page: PageNumber = 1
) -> Response:
    """Everybody who has a name, those on most photos first."""
    index = context.people.index()
    wanted = search.strip().lower()
    found = [(name, faces) for name, faces in index.people.items() if wanted in name.lower()]
    found.sort(key=lambda item: (not item[0].lower().startswith(wanted), -len(item[1]), item[0]))
    start = (page - 1) * PEOPLE_PER_PAGE
    return render(
        request,
        "known_people.html",
        people=[_person(name, faces) for name, faces in found[start : start + PEOPLE_PER_PAGE]],
        total=len(found),
        everybody=len(index.people),
        search=search,
        page=page,
        pages=max(1, -(-len(found) // PEOPLE_PER_PAGE)),
    )


@pages.get("/people/known/{name:path}")
def known_person_page(request: Request, context: Shared, name: str, page: PageNumber = 1) -> Response:
    """One person: all their faces, numbers and photos, and the form that renames them."""
    index = context.people.index()
    if name not in index.people:
        raise Refusal(404, "not_found", f"no face is called {name!r}")
    faces = index.people[name]
    start = (page - 1) * CROPS_PER_PAGE
    return render(
        request,
        "known_person.html",
        person=_person(name, faces),
        faces=[
            _face(face, index) | {"editor": _editor(context, face)} for face in faces[start : start + CROPS_PER_PAGE]
        ],
        page=page,
        pages=max(1, -(-len(faces) // CROPS_PER_PAGE)),
        names=sorted(index.people),
    )


@pages.get("/people/suspects/")
def suspects_page(request: Request, context: Shared) -> Response:
    """Cross-checks, one at a time; its script asks for them."""
    return render(request, "suspects.html", config={"read_only": context.source.read_only, "editor": PAGES["faces"]})


@pages.get("/people/crops/{sha256}")
def crop(context: Shared, sha256: Hash, at: Annotated[str, Query(max_length=120)]) -> Response:
    """A part of a photo: `at` is a box, x, y, width and height in shares of the photo."""
    context.row(sha256)  # only photos of the set
    folder = context.source.root / FOLDER
    path = next((path for suffix in sorted(SUFFIXES) if (path := folder / f"{sha256}{suffix}").is_file()), None)
    if path is None:
        raise PhotoError(f"{folder}: the file of photo {sha256} is missing")
    made = context.people.crops.get(path, sha256, _parsed(at))
    return Response(made, media_type="image/jpeg", headers={"Cache-Control": _FOR_GOOD})


@router.get("/state")
def state(context: Shared) -> Response:
    """How far faces are compared, and how many have a name."""
    return _json(context.people.state())


@router.get("/groups")
def groups(context: Shared, start: Annotated[int, Query(ge=0, le=10_000_000)] = 0) -> Response:
    """What is left to name from the group at `start` on, the biggest doubt first, with the people who look like it."""
    people = context.people
    made, fresh = people.current()
    known = context.names_by_number()
    sent: list[dict[str, Any]] = []
    faces = 0
    for group in made.groups[start:]:
        if sent and faces + len(group.faces) > FACES_PER_PAGE:
            break
        sent.append(_group(group, made.index, known))
        faces += len(group.faces)
    return _json(
        {
            "groups": sent,
            "start": start,
            "total": len(made.groups),
            "left": sum(len(group.faces) for group in made.groups),
            "fresh": fresh,
            "threshold": round(made.clusters.threshold, 3),
            "state": people.state(),
        }
    )


@router.get("/more")
def more(context: Shared, group: Annotated[str, Query(max_length=120)]) -> Response:
    """More of the people who look like a group than there are keys for, and the faces without a name that do."""
    nearest, alike = context.people.beside(group)
    index = context.people.index()
    faces = [_face(face, index) | {"score": round(similarity, 3)} for face, similarity in alike]
    return _json({"nearest": [_near(each) for each in nearest], "alike": faces})


@router.get("/near/{sha256}")
def near(context: Shared, sha256: Hash) -> Response:
    """For each face of a photo, labelled or suggested: the known people who look like it, and the linked number."""
    context.row(sha256)
    found, known = context.people.nearest(sha256), context.names_by_number()
    return _json(
        {
            "faces": [
                {
                    "box": face.place,
                    "number": face.number,
                    "wearer": known.get(face.number) if face.number else None,
                    "nearest": [_near(each) for each in nearest[:3]],
                }
                for face, nearest in found
            ],
            "state": context.people.state()["phase"],
        }
    )


@router.get("/suspects")
def suspects(context: Shared) -> Response:
    """Labels that are hard to believe together and have no answer yet."""
    found, total, fresh = context.people_suspects.current(SUSPECTS_SENT)
    index = context.people.index()
    sent = [_suspect(each, index) for each in found]
    return _json({"suspects": sent, "total": total, "fresh": fresh, "state": context.people.state()["phase"]})


@router.post("/suspects")
def answer_suspect(context: Shared, body: AnswerSuspect) -> Response:
    """Say what is right; the answer is remembered. 404 where the labels do not say this any more."""
    found = context.people_suspects.find(body.check)
    if found is None:
        raise Refusal(404, "not_found", "the labels have changed, and do not say this any more")
    return _done(*context.people.change(found.change(body.answer, body.name)))


@router.post("/changes")
def change(context: Shared, body: Action) -> Response:
    """Do one action, in one transaction over all photos that it touches. 409 where a face is not as it was seen."""
    return _done(*context.people.change(body.change(context.people.index())))


@router.post("/undo")
def undo(context: Shared, body: Undo) -> Response:
    """Take one action back; the answer has what does it again."""
    return _done(*context.people.undo(body.undo))


def _suspect(suspect: Suspect, index: FaceIndex) -> dict[str, Any]:
    sides = [
        {"name": side.name, "face": _face(side.face, index) if side.face else None}
        for side in (suspect.left, suspect.right)
    ]
    return {
        "check": suspect.check,
        "kind": suspect.kind,
        "words": suspect.words,
        "sides": sides,
        "photos": suspect.photos[:6],
        "answers": suspect.answers,
    }


def _done(token: str, done: Done) -> Response:
    return _json({"undo": token, "photos": len(done.photos), "name": done.name})


def _json(value: Any) -> Response:
    return Response(orjson.dumps(value), media_type="application/json")


def _parsed(text: str) -> Place:
    try:
        x, y, w, h = (float(part) for part in text.split(","))
    except ValueError as error:
        raise Refusal(422, "invalid", f"at: {text!r}; expected four numbers, as in 0.1,0.2,0.05,0.08") from error
    if not (0 <= x <= 1 and 0 <= y <= 1 and 0 < w <= 1 and 0 < h <= 1):
        raise Refusal(422, "invalid", f"at: {text!r}; expected a box in shares of the photo")
    return (x, y, w, h)


@lru_cache(maxsize=20_000)  # the same faces are sent again and again
def crop_address(photo: str, place: Place) -> str:
    """Where a part of a photo is to be had. Rounded, so that addresses are short and a box has one."""
    return f"/people/crops/{photo}?at={','.join(f'{max(side, 0.0005):.4f}'.rstrip('0') for side in place)}"


def _face(face: Face, index: FaceIndex) -> dict[str, Any]:
    return {
        "face": face.name,
        "photo": face.photo,
        "file": index.file_names.get(face.photo, ""),
        "crop": crop_address(face.photo, face.place),
        "bib": crop_address(face.photo, face.bib) if face.bib else None,
        "number": face.number,
        "was": face.identity,
        "suggested": face.suggested,
    }


def _group(group: Group, index: FaceIndex, known: Mapping[str, str]) -> dict[str, Any]:
    wearer = known.get(group.number) if group.number else None
    return {
        "id": group.name,
        "faces": [_face(face, index) for face in group.faces],
        "person": group.person,
        "number": group.number,
        "wearer": wearer,
        "proposal": group.person or wearer or group.number,
        "doubt": group.doubt,
        "nearest": [_near(each) for each in group.nearest],
    }


def _near(near: Near) -> dict[str, Any]:
    crop = crop_address(near.face.photo, near.face.place)
    return {"name": near.name, "score": round(near.similarity, 3), "crop": crop, "number": near.face.number}


def _person(name: str, faces: list[Face]) -> dict[str, Any]:
    best = max(faces, key=lambda face: face.place[2] * face.place[3])
    return {
        "name": name,
        "address": f"/people/known/{quote(name, safe='')}",
        "crop": crop_address(best.photo, best.place),
        "faces": len(faces),
        "photos": len({face.photo for face in faces}),
        "numbers": sorted({face.number for face in faces if face.number}),
    }


def _editor(context: Context, face: Face) -> str:
    """The editor at this face."""
    labels = context.source.contents().faces.photos.get(face.photo)
    boxes = labels.boxes if labels else []
    at = next((place for place, box in enumerate(boxes) if (box.x, box.y, box.w, box.h) == face.place), 0)
    return f"{PAGES['faces']}{face.photo}#box={at}"

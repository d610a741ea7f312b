"""The API of one photo: read it, and save one dimension of it against the revision that was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated
from urllib.parse import unquote

from fastapi import APIRouter, Depends, Header, Response

from harness.labeling.answers import Photo
from harness.labeling.context import Context, Hash, Position, Shared
from harness.labeling.ghosts import answer_bibs, answer_faces
from harness.labeling.photo_state import parse_etag
from harness.labeling.refusals import Refusal
from harness.labeling.requests import (
    MOST_LETTERS,
    AnswerGhosts,
    SaveBibs,
    SaveBibTags,
    SaveFaces,
    SaveFaceTags,
    SaveIdentity,
    SaveLinks,
    SavePersons,
    SaveSplit,
)
from harness.references.labels import (
    save_bib_tags,
    save_bibs,
    save_face_tags,
    save_faces,
    save_identity,
    save_links,
    save_persons,
    save_split,
    view,
)
from harness.references.revisions import Revisions
from harness.references.store import LabelStore

router = APIRouter(prefix="/api/photos/{sha256}", tags=["photo"])


def _based_on(
    if_match: Annotated[str | None, Header(description='the ETag that was read, as in `"3.17.9.4"`')] = None,
) -> Revisions:
    if if_match is None:
        raise Refusal(428, "no_revision", "a write names the revision that it is based on in If-Match")
    if (revisions := parse_etag(if_match)) is None:
        raise Refusal(400, "bad_request", f"If-Match: {if_match[:80]!r} is no revision of this API")
    return revisions


BasedOn = Annotated[Revisions, Depends(_based_on)]


def _answer(context: Context, sha256: str, response: Response) -> Photo:
    photo = context.photo(sha256)
    response.headers["ETag"] = f'"{photo.revision}"'
    return photo


def _by(
    x_labeler: Annotated[str | None, Header(description="who is labelling, percent-encoded; each box keeps it")] = None,
) -> str | None:
    name = unquote(x_labeler or "").strip()
    if not name.isprintable() or len(name) > MOST_LETTERS or set("<>") & set(name):
        raise Refusal(400, "bad_request", f"X-Labeler: a name has at most {MOST_LETTERS} characters, without < and >")
    return name or None


#: Who saves.
By = Annotated[str | None, Depends(_by)]
#: Saves labels of the photo of an address, given the store, the photo and the revisions that were read.
Save = Callable[[LabelStore, str, Revisions], None]


def _writer(context: Shared, sha256: Hash, based_on: BasedOn, response: Response) -> Callable[[Save], Photo]:
    """What every write does: save, then answer with the photo as it is after that."""

    def write(save: Save) -> Photo:
        save(context.source.writable(), sha256, based_on)
        return _answer(context, sha256, response)

    return write


Write = Annotated[Callable[[Save], Photo], Depends(_writer)]


@router.get("")
def read_photo(context: Shared, sha256: Hash, response: Response) -> Photo:
    """A photo with its labels, links, ghosts and suggested links."""
    return _answer(context, sha256, response)


@router.put("/bibs")
def put_bibs(body: SaveBibs, write: Write, by: By) -> Photo:
    """Set all bibs of a photo. Links follow their boxes as `origins` says."""
    return write(lambda store, photo, seen: save_bibs(store, photo, body.labels(), seen, body.origins, by))


@router.put("/faces")
def put_faces(body: SaveFaces, write: Write, by: By) -> Photo:
    """Set all faces of a photo. Links follow their boxes as `origins` says."""
    return write(lambda store, photo, seen: save_faces(store, photo, body.labels(), seen, body.origins, by))


@router.put("/persons")
def put_persons(body: SavePersons, write: Write, by: By) -> Photo:
    """Set bibs, faces and links of a photo at once: all of it or nothing."""
    return write(lambda store, photo, seen: save_persons(store, photo, body.persons(), seen, by))


@router.put("/links")
def put_links(body: SaveLinks, write: Write) -> Photo:
    """Set all links of a photo: pairs of positions, bib first."""
    return write(lambda store, photo, seen: save_links(store, photo, body.links, seen, done=body.labeled))


@router.put("/split")
def put_split(body: SaveSplit, write: Write) -> Photo:
    """Move a photo to another split."""
    return write(lambda store, photo, seen: save_split(store, photo, body.split, seen))


@router.put("/bibs/tags")
def put_bib_tags(body: SaveBibTags, write: Write) -> Photo:
    """Set the photo's tags about bibs, and nothing else."""
    return write(lambda store, photo, seen: save_bib_tags(store, photo, body.tags, seen))


@router.put("/faces/tags")
def put_face_tags(body: SaveFaceTags, write: Write) -> Photo:
    """Set the photo's tags about faces, and nothing else."""
    return write(lambda store, photo, seen: save_face_tags(store, photo, body.tags, seen))


@router.put("/faces/{face}/identity")
def put_identity(face: Position, body: SaveIdentity, write: Write, by: By) -> Photo:
    """Say whose face it is."""
    return write(lambda store, photo, seen: save_identity(store, photo, face, body.identity, seen, by))


@router.post("/bibs/ghosts")
def answer_bib_ghosts(body: AnswerGhosts, write: Write, by: By) -> Photo:
    """Turn suggested bibs into labels, or into known non-bibs."""

    def save(store: LabelStore, photo: str, seen: Revisions) -> None:
        before, suggestions = view(store, photo).bibs, store.suggestions().photos.get(photo)
        labels = answer_bibs(before, suggestions.bibs if suggestions else [], body.accept, body.reject)
        save_bibs(store, photo, labels, seen, _appended(len(before.boxes), len(labels.boxes)), by)

    return write(save)


@router.post("/faces/ghosts")
def answer_face_ghosts(body: AnswerGhosts, write: Write, by: By) -> Photo:
    """Turn suggested faces into labels, or into known non-faces."""

    def save(store: LabelStore, photo: str, seen: Revisions) -> None:
        before, suggestions = view(store, photo).faces, store.suggestions().photos.get(photo)
        labels = answer_faces(before, suggestions.faces if suggestions else [], body.accept, body.reject)
        save_faces(store, photo, labels, seen, _appended(len(before.boxes), len(labels.boxes)), by)

    return write(save)


def _appended(before: int, now: int) -> list[int | None]:
    """Origins of a list that has grown at its end."""
    return [*range(before), *[None] * (now - before)]

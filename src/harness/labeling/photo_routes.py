"""The API of one photo: read it, and save one dimension of it against the revision that was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Response

from harness.labeling.answers import Photo
from harness.labeling.context import Context, Hash, Position, Shared
from harness.labeling.ghosts import answer_bibs, answer_faces
from harness.labeling.photo_state import parse_etag
from harness.labeling.refusals import Refusal
from harness.labeling.requests import (
    AnswerGhosts,
    SaveBibs,
    SaveBibTags,
    SaveFaces,
    SaveFaceTags,
    SaveIdentity,
    SaveLinks,
    SaveSplit,
)
from harness.references.labels import (
    save_bib_tags,
    save_bibs,
    save_face_tags,
    save_faces,
    save_identity,
    save_links,
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


def _saved(context: Context, sha256: str, response: Response, save: Callable[[LabelStore], None]) -> Photo:
    save(context.source.writable())
    return _answer(context, sha256, response)


@router.get("")
def read_photo(context: Shared, sha256: Hash, response: Response) -> Photo:
    """A photo with its labels, links, ghosts and suggested links."""
    return _answer(context, sha256, response)


@router.put("/bibs")
def put_bibs(context: Shared, sha256: Hash, body: SaveBibs, based_on: BasedOn, response: Response) -> Photo:
    """Set all bibs of a photo. Links follow their boxes as `origins` says."""
    return _saved(
        context, sha256, response, lambda store: save_bibs(store, sha256, body.labels(), based_on, body.origins)
    )


@router.put("/faces")
def put_faces(context: Shared, sha256: Hash, body: SaveFaces, based_on: BasedOn, response: Response) -> Photo:
    """Set all faces of a photo. Links follow their boxes as `origins` says."""
    return _saved(
        context, sha256, response, lambda store: save_faces(store, sha256, body.labels(), based_on, body.origins)
    )


@router.put("/links")
def put_links(context: Shared, sha256: Hash, body: SaveLinks, based_on: BasedOn, response: Response) -> Photo:
    """Set all links of a photo: pairs of positions, bib first."""
    return _saved(context, sha256, response, lambda store: save_links(store, sha256, body.links, based_on))


@router.put("/split")
def put_split(context: Shared, sha256: Hash, body: SaveSplit, based_on: BasedOn, response: Response) -> Photo:
    """Move a photo to another split."""
    return _saved(context, sha256, response, lambda store: save_split(store, sha256, body.split, based_on))


@router.put("/bibs/tags")
def put_bib_tags(context: Shared, sha256: Hash, body: SaveBibTags, based_on: BasedOn, response: Response) -> Photo:
    """Set the photo's tags about bibs, and nothing else."""
    return _saved(context, sha256, response, lambda store: save_bib_tags(store, sha256, body.tags, based_on))


@router.put("/faces/tags")
def put_face_tags(context: Shared, sha256: Hash, body: SaveFaceTags, based_on: BasedOn, response: Response) -> Photo:
    """Set the photo's tags about faces, and nothing else."""
    return _saved(context, sha256, response, lambda store: save_face_tags(store, sha256, body.tags, based_on))


@router.put("/faces/{face}/identity")
def put_identity(
    context: Shared, sha256: Hash, face: Position, body: SaveIdentity, based_on: BasedOn, response: Response
) -> Photo:
    """Say whose face it is."""
    return _saved(context, sha256, response, lambda store: save_identity(store, sha256, face, body.identity, based_on))


@router.post("/bibs/ghosts")
def answer_bib_ghosts(
    context: Shared, sha256: Hash, body: AnswerGhosts, based_on: BasedOn, response: Response
) -> Photo:
    """Turn suggested bibs into labels, or into known non-bibs."""

    def save(store: LabelStore) -> None:
        before, suggestions = view(store, sha256).bibs, store.suggestions().photos.get(sha256)
        labels = answer_bibs(before, suggestions.bibs if suggestions else [], body.accept, body.reject)
        save_bibs(store, sha256, labels, based_on, _appended(len(before.boxes), len(labels.boxes)))

    return _saved(context, sha256, response, save)


@router.post("/faces/ghosts")
def answer_face_ghosts(
    context: Shared, sha256: Hash, body: AnswerGhosts, based_on: BasedOn, response: Response
) -> Photo:
    """Turn suggested faces into labels, or into known non-faces."""

    def save(store: LabelStore) -> None:
        before, suggestions = view(store, sha256).faces, store.suggestions().photos.get(sha256)
        labels = answer_faces(before, suggestions.faces if suggestions else [], body.accept, body.reject)
        save_faces(store, sha256, labels, based_on, _appended(len(before.boxes), len(labels.boxes)))

    return _saved(context, sha256, response, save)


def _appended(before: int, now: int) -> list[int | None]:
    """Origins of a list that has grown at its end."""
    return [*range(before), *[None] * (now - before)]

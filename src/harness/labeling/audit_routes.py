"""The blind audit: a drawn sample is labelled again, and neither suggestions nor labels are to be seen.

The editor is the one of bibs and of faces; what it reads and writes are the blind labels.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict
from starlette.responses import HTMLResponse, Response

from harness.labeling.answers import CompletenessOut, Ghosts, Photo
from harness.labeling.context import Context, Hash, Shared
from harness.labeling.page_routes import editor_config
from harness.labeling.photo_routes import By
from harness.labeling.queues import Filters, Queue
from harness.labeling.refusals import Refusal
from harness.labeling.rendering import render
from harness.labeling.requests import SaveBibs, SaveFaces
from harness.references.agreement import audit_report
from harness.references.audit_file import Audit, BlindLabels
from harness.references.audits import save_blind
from harness.references.completeness import State
from harness.references.fields import Sha256

Kind = Literal["bibs", "faces"]
PAGES: dict[str, str] = {"bibs": "/audit/bibs/", "faces": "/audit/faces/"}

router = APIRouter(prefix="/api/audit", tags=["audit"])
pages = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


class AuditQuery(BaseModel):
    """Which kind of label, seen from which photo."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    dimension: Kind = "bibs"
    at: Sha256 | None = None


@router.get("/queue")
def read_audit_queue(context: Shared, query: Annotated[AuditQuery, Query()]) -> Queue:
    """Where to go from a photo of the sample."""
    return _queue(context, query.dimension, query.at)


@router.get("/{sha256}")
def read_blind(context: Shared, sha256: Hash) -> Photo:
    """A photo of the sample with its blind labels, and nothing that would help."""
    return _blind(context, sha256)


@router.put("/{sha256}/bibs")
def put_blind_bibs(context: Shared, sha256: Hash, body: SaveBibs, by: By) -> Photo:
    """Set the blind bibs of a photo."""
    save_blind(context.source.writable(), sha256, body.labels(), by)
    return _blind(context, sha256)


@router.put("/{sha256}/faces")
def put_blind_faces(context: Shared, sha256: Hash, body: SaveFaces, by: By) -> Photo:
    """Set the blind faces of a photo."""
    save_blind(context.source.writable(), sha256, body.labels(), by)
    return _blind(context, sha256)


@pages.get("/audit/")
def audit_page(request: Request, context: Shared) -> Response:
    """The sample, how far it is, and what it says about the labels once it is labelled."""
    audit = _audit(context)
    rows = [context.row(photo) for photo in _order(context, audit)]
    report = audit_report(context.source.contents(), audit)
    done = {row.sha256: audit.photos[row.sha256] for row in rows}
    kinds: tuple[Kind, ...] = ("bibs", "faces")
    open_ones = ((kind, _queue(context, kind, None).next_incomplete) for kind in kinds)
    next_open = next((f"{PAGES[kind]}{photo}" for kind, photo in open_ones if photo), None)
    return render(request, "audit.html", rows=rows, done=done, report=report, pages_of_audit=PAGES, next=next_open)


def _editor(kind: Kind) -> Any:
    def editor(request: Request, context: Shared, sha256: Hash) -> Response:
        config = editor_config(context, kind, sha256, Filters()) | {
            "photo": _blind(context, sha256).model_dump(mode="json"),
            "queue": asdict(_queue(context, kind, sha256)),
            "pages": PAGES,
            "api": "/api/audit/",
            "queue_api": "/api/audit/queue",
            "blind": True,
        }
        return render(request, "editor.html", dimension=kind, config=config, query="")

    return editor


for _kind in ("bibs", "faces"):
    pages.add_api_route(f"{PAGES[_kind]}{{sha256}}", _editor(_kind), name=f"audit_{_kind}")


def _audit(context: Context) -> Audit:
    return Audit() if context.source.read_only else context.source.writable().audit()


def _order(context: Context, audit: Audit) -> list[str]:
    known = context.summary().by_hash
    return sorted((photo for photo in audit.photos if photo in known), key=lambda photo: known[photo].sort_key)


def _record(context: Context, sha256: str) -> tuple[Audit, BlindLabels]:
    audit = _audit(context)
    if sha256 not in audit.photos:
        raise Refusal(404, "not_found", f"photo {sha256} is not in the sample of the blind audit")
    return audit, audit.photos[sha256]


def _blind(context: Context, sha256: str) -> Photo:
    row = context.row(sha256)
    audit, record = _record(context, sha256)
    state = State.PARTIAL if record.bibs.begun or record.faces.begun else State.UNTOUCHED
    return Photo(
        sha256=sha256,
        name=row.name,
        names=[row.name],
        width=row.width,
        height=row.height,
        split=row.split,
        revision=f"{audit.revision}.0.0.0",
        bibs=record.bibs.bare(),
        faces=record.faces.bare(),
        links=None,
        links_labeled=False,
        suggested_links=[],
        ghosts=Ghosts(),
        completeness=CompletenessOut(
            bibs=record.bibs.labeled, faces=record.faces.labeled, links=False, state=state, left_open=[]
        ),
        suspects=[],
        names_by_number={},
    )


def _queue(context: Context, kind: Kind, at: str | None) -> Queue:
    audit = _audit(context)
    order = _order(context, audit)
    here = order.index(at) if at in order else -1
    done = [photo for photo in order if getattr(audit.photos[photo], kind).labeled]
    round_trip = [*order[here + 1 :], *order[: max(here, 0)]]
    todo = tuple(photo for photo in round_trip if photo not in done)
    before, after = tuple(reversed(order[: max(here, 0)])), tuple(order[here + 1 :])
    return Queue(
        dimension=kind,
        total=len(order),
        done=len(done),
        position=here + 1 if here >= 0 else None,
        first=order[0] if order else None,
        previous=before[0] if before else None,
        next=after[0] if after else None,
        next_incomplete=todo[0] if todo else None,
        before=before[:4],
        after=after[:4],
        todo=todo[:4],
    )

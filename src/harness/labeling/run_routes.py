"""The pages of runs: all of them as a list, and one of them beside another."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from harness.exploring.deltas import delta_of, moves, undecided, unseen_of
from harness.exploring.run_list import ROWS_PER_PAGE, SORTS, RunQuery, run_table
from harness.exploring.selection import Selection
from harness.labeling.context import Context, Shared
from harness.labeling.history import Known
from harness.labeling.opening import being_read, find, opened_run
from harness.labeling.refusals import Refusal
from harness.labeling.rendering import render
from harness.labeling.run_view import FIGURES, run_view
from harness.tracking.catalog import has_artifact, read_artifact, read_tags
from harness.tracking.entries import RunEntry
from harness.tracking.finding import has_run
from harness.tracking.sweeps import run_page

#: A report is a page of its own making: it may show itself, and reach nothing of this server.
_REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
)
#: A figure is a picture, also where it is opened by itself.
_FIGURE_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'"
#: How many runs are offered to compare one with.
_OTHERS = 60

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@router.get("/runs/")
def runs(request: Request, context: Shared, query: Annotated[RunQuery, Query()]) -> Response:
    """The runs by the data that they are on, as far as they have been read."""
    chores, known = context.chores.recent("baseline "), context.history.current()
    if known.read and not known.error and known.runs:
        known.choices.check(query)
    return render(
        request,
        "runs.html",
        known=known,
        query=query,
        table=run_table(known.runs, query),
        rows_per_page=ROWS_PER_PAGE,
        sorts=SORTS,
        mlflow=partial(mlflow_page, context, known),
        delta_of=partial(delta_of, baselines=known.baselines),
        told={"moves": moves, "undecided": undecided, "unseen": unseen_of},
        broken=Selection(change="broken").query,
        chores=chores,
    )


def mlflow_page(context: Context, known: Known, run: RunEntry) -> str:
    """The address of a run in MLflow; "" where nobody said where MLflow's pages are."""
    return context.mlflow_url + run_page(known.experiment, run.run_id) if context.mlflow_url else ""


@router.get("/runs/compare")
def compare(context: Shared, run: Annotated[list[str], Query(default_factory=list)]) -> Response:
    """Two runs that were chosen, the newer beside the older, and any run beside the baseline."""
    chosen = list(dict.fromkeys(run))
    if len(chosen) != 2:
        raise Refusal(422, "invalid", f"two runs can be compared; {len(chosen) or 'none'} were chosen")
    found = sorted((find(context, each) for each in chosen), key=lambda each: (bool(each.pinned), -_time(each)))
    return RedirectResponse(f"/runs/{found[0].run_id}?against={found[1].run_id}", 303)


def _time(run: RunEntry) -> float:
    return run.started.timestamp()


@router.get("/runs/{run_id}")
def run(request: Request, context: Shared, run_id: str, against: str = "") -> Response:
    """One run: its verdict beside another run, what broke where, its scorecards and what it was made from."""
    opened = opened_run(context, run_id, against or None)
    if opened is None:
        return being_read(request, run_id)
    entry = opened.entry
    chore = context.chores.get(f"report of {entry.run_id}")
    known, store = context.history.current(), context.history.store.open()
    return render(
        request,
        "run.html",
        opened=opened,
        against=against,
        others=[
            each
            for each in known.runs
            if each.same_data(entry) and each.run_id != entry.run_id and each.finished and not each.sealed
        ][:_OTHERS],
        mlflow=mlflow_page(context, known, entry) if known.experiment else "",
        chore=chore,
        files=frozenset(store.reader.files(entry.run_id)),
        **run_view(opened, read_tags(store, entry.run_id), against),
    )


@router.get("/runs/{run_id}/report")
def report(context: Shared, run_id: str) -> Response:
    """A run's own report."""
    if (page := context.history.report(run_id)) is None:
        raise Refusal(404, "not_found", "no such run, or it has no report")
    return Response(page, media_type="text/html", headers={"Content-Security-Policy": _REPORT_POLICY})


@router.get("/runs/{run_id}/figures/{name}")
def figure(context: Shared, run_id: str, name: str) -> Response:
    """A figure that the run has drawn."""
    store = context.history.store.open()
    if name not in FIGURES or not has_run(store, run_id) or not has_artifact(store, run_id, name):
        raise Refusal(404, "not_found", "no such run, or it has no such figure")
    kind = "image/svg+xml" if name.endswith(".svg") else "image/png"
    content = read_artifact(store, run_id, name)
    return Response(content, media_type=kind, headers={"Content-Security-Policy": _FIGURE_POLICY})

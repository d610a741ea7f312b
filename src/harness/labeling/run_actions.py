"""What can be done with a run from its pages: to make it the baseline, after a question, and to make its report."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from harness.base.texts import counted
from harness.judging import judge_all
from harness.labeling.context import Context, Shared
from harness.labeling.opening import find
from harness.labeling.refusals import Refusal
from harness.labeling.rendering import render
from harness.remaking import make_report
from harness.tracking.entries import RunEntry
from harness.tracking.finding import list_alike
from harness.tracking.upkeep import baseline_of, pin

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@router.get("/runs/{run_id}/baseline")
def ask_baseline(request: Request, context: Shared, run_id: str) -> Response:
    """The question before a baseline is set, for browsers without scripts."""
    chosen = _to_pin(context, run_id)
    before = baseline_of(context.history.store.open(), chosen)
    return render(request, "run_baseline.html", run=chosen, before=before)


@router.post("/runs/{run_id}/baseline")
def set_baseline(context: Shared, run_id: str) -> Response:
    """Make a run the baseline of its data, and judge the other runs on them anew, as `harness baseline` does."""
    chosen = _to_pin(context, run_id)
    told = f"Making {chosen.name} ({chosen.short_id}) the baseline, and judging the other runs on its data anew"
    context.chores.start(f"baseline {chosen.run_id}", told, lambda: _pin(context, chosen))
    return RedirectResponse(
        f"/runs/?{urlencode({'data': chosen.data_column})}" if chosen.data_column else "/runs/", 303
    )


def _to_pin(context: Context, run_id: str) -> RunEntry:
    """A run that can be a baseline."""
    chosen = find(context, run_id)
    if chosen.sealed or not chosen.finished:
        why = "its scores on a holdout are sealed" if chosen.sealed else f"it is {chosen.status}"
        raise Refusal(409, "not_a_baseline", f"run {chosen.short_id} ({chosen.name}) cannot be the baseline: {why}")
    return chosen


def _pin(context: Context, chosen: RunEntry) -> str:
    store = context.history.store.open()
    try:
        alike = list_alike(store, chosen)
        pin(store, chosen)
        judged = judge_all(store, alike, chosen)
    finally:  # what was done before something failed is shown as well
        context.opened.forget()
        context.history.renew()
    told = f"; {counted(judged, 'run')} judged anew" if judged else ""
    return f"{chosen.name} ({chosen.short_id}) is the baseline of {chosen.data}{told}."


@router.post("/runs/{run_id}/report")
def begin_report(context: Shared, run_id: str) -> Response:
    """Make the report of a run that has none."""
    chosen = find(context, run_id)
    if chosen.sealed or not chosen.finished:
        why = "its scores are sealed" if chosen.sealed else f"the run is {chosen.status}"
        raise Refusal(409, "no_report", f"no report can be made of run {chosen.short_id} ({chosen.name}): {why}")
    context.chores.start(
        f"report of {chosen.run_id}", "The report is being made", lambda: _report(context, chosen.run_id)
    )
    return RedirectResponse(f"/runs/{chosen.run_id}#report", 303)


def _report(context: Context, run_id: str) -> str:
    make_report(context.history.store.open(), run_id)
    context.history.renew()
    return "The report is made"

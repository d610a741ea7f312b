"""What every page of one run begins with: the run, or why there is none to show."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from harness.base.errors import ConfigError, HarnessError
from harness.exploring.opened import OpenedRun
from harness.labeling.context import Context
from harness.labeling.refusals import Refusal
from harness.labeling.rendering import render
from harness.tracking.entries import RunEntry
from harness.tracking.finding import find_run


def find(context: Context, run_id: str) -> RunEntry:
    """A run by its id or name; one that is not there is not found."""
    try:
        return find_run(context.opened.store.open(), run_id)
    except ConfigError as error:
        raise Refusal(404, "not_found", str(error)) from error


def opened_run(context: Context, run_id: str, against: str | None = None) -> OpenedRun | None:
    """A run beside another one; None while it is being read. One that is not there is not found, nor are scores of one
    that did not come to its end."""
    try:
        return context.opened.get(run_id, against)
    except ConfigError as error:
        raise Refusal(404, "not_found", str(error)) from error
    except HarnessError as error:
        entry = find(context, run_id)
        if entry.finished:
            raise
        told = f"run {entry.short_id} ({entry.name}) is {entry.status}, and has no scores to show"
        raise Refusal(404, "not_found", told) from error


def being_read(request: Request, run_id: str) -> Response:
    """The page of a run that is read for the first time."""
    return render(request, "being_read.html", run_id=run_id)

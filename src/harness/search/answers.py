"""How the server answers within two seconds, whatever is asked: with a result that is there by then, or with a job.

The job goes on in a process of its own, whatever becomes of the server and of its client.
"""

from __future__ import annotations

import json
import time
from asyncio import sleep, to_thread
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from mcp.server.mcpserver import Context, Image
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, TextContent

from harness.base.errors import BudgetError, ConfigError, ConflictError, HarnessError, NotBegunError
from harness.base.texts import one_line
from harness.search.experiment import FOLDER
from harness.search.jobs import ENDED, Job, Jobs, State
from harness.search.lane import ensure_lane
from harness.search.views import View

#: How long a call waits for its job before it answers that it is under way.
WAIT_SECONDS = 0.5
_POLL_SECONDS = 0.03
_SECONDS_BETWEEN_LOOKS = 0.3

T = TypeVar("T")

_NEXT: Mapping[type[HarnessError], str] = {
    BudgetError: "Call leaderboard to see what was found, and propose_preset to hand in the best.",
    NotBegunError: "Call begin_study: it evaluates the base.",
    ConflictError: "Call leaderboard or budget_status to see what the study has recorded.",
    ConfigError: "Call describe_space to see what may be set.",
}


class JobView(View):
    """A job: `status` is queued, running, done, failed or cancelled. While it runs, `done` of `total` in `unit` says
    how far it is, and `partial` what is known already; then `result` has what the tool promises. Ask again with
    job_status."""

    job: str
    study: str
    kind: str
    status: str
    done: int
    total: int
    unit: str
    per_second: float | None
    seconds_left: float | None
    partial: dict[str, Any] | None
    result: dict[str, Any] | None
    error: str
    by: str

    @classmethod
    def of(cls, job: Job, state: State) -> JobView:
        """From what is on disk."""
        return cls(
            job=job.id,
            study=job.request.study,
            kind=job.request.kind,
            status=state.status,
            done=state.done,
            total=state.total,
            unit=state.unit,
            per_second=_short(state.rate),
            seconds_left=_short(state.seconds_left),
            partial=state.partial,
            result=state.result,
            error=state.error,
            by=job.request.by,
        )


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


def advised(error: HarnessError) -> ToolError:
    """An error of the harness as one that an agent can act on."""
    advice = next((text for kind, text in _NEXT.items() if isinstance(error, kind)), "")
    return ToolError(f"{error}. {advice}".strip())


def jobs_of(study: str) -> Jobs:
    """The jobs of a study."""
    return Jobs.of(Path(FOLDER) / study)


def caller(context: Context[Any, Any]) -> str:
    """Who asks: the name that the client gives itself. Jobs are told apart by it; it is no proof of anything."""
    params = context.request_context.session.client_params
    return f"agent {one_line(params.client_info.name)[:60]}" if params else "agent"


async def settled(context: Context[Any, Any], job: Job, tell_failed: bool = False) -> CallToolResult:
    """What is known of a job after a moment. A client that asks for progress is told of it meanwhile. A job that failed
    is an error, unless its caller asked how it is."""
    until, looked, told = time.monotonic() + WAIT_SECONDS, float("-inf"), -1
    while (state := await to_thread(job.state)).status not in ENDED and time.monotonic() < until:
        if state.status == "queued" and time.monotonic() - looked > _SECONDS_BETWEEN_LOOKS:
            jobs, request = Jobs(job.folder.parent), job.request
            await to_thread(ensure_lane, jobs, request.study, request.lane)
            looked = time.monotonic()
        if state.done != told and state.total:
            told = state.done
            await context.report_progress(state.done, state.total, f"{state.done} of {state.total} {state.unit}")
        await sleep(_POLL_SECONDS)
    if state.status == "failed" and not tell_failed:
        kind = next((each for each in _NEXT if each.__name__ == state.error_kind), HarnessError)
        raise advised(kind(state.error))
    return await to_thread(_answer, job, state)


def _answer(job: Job, state: State) -> CallToolResult:
    content = JobView.of(job, state).model_dump(mode="json")
    names = (state.result or {}).get("pictures", ()) if state.status == "done" else ()
    pictures = [Image(data=job.picture(name), format="jpeg").to_image_content() for name in names]
    return CallToolResult(
        content=[TextContent(type="text", text=json.dumps(content)), *pictures], structured_content=content
    )

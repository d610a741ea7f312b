"""The MCP server: searches for an agent, within the limits that people have set.

The limits are the server's, not the agent's good will: experiments are read from `experiments/` alone, by name; the
budget is a person's, and so are cancelling a study, resuming it, the baseline and the holdout; values are a run's own;
what is written goes to `experiments/<study>/`, and a doubt about a label beside the labels. Every call answers within
two seconds: what takes longer is a job (`jobs`). Every refusal says what to do instead.
"""

from __future__ import annotations

import functools
from asyncio import to_thread
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal, ParamSpec

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.types import CallToolResult, ToolAnnotations
from pydantic import Field

from harness.base.errors import ConfigError, ConflictError, HarnessError
from harness.search import guide, inspection, readable, verbs
from harness.search.answers import JobView, advised, caller, jobs_of, settled
from harness.search.experiment import FOLDER
from harness.search.jobs import Job
from harness.search.space import Value
from harness.search.views import BudgetView, SpaceView
from harness.search.work import KINDS

P = ParamSpec("P")

Study = Annotated[str, Field(description="name of an experiment: link_geometry is experiments/link_geometry.yaml")]
Trial = Annotated[int | None, Field(description="number of a trial; the base of the study if left out")]
TrialNumber = Annotated[int, Field(ge=0, description="number of a trial")]
Hypothesis = Annotated[str, Field(min_length=10, description="what the trial is to find out, in a sentence")]
Photo = Annotated[str, Field(min_length=1, max_length=200, description="name or sha256 of a photo of the search")]
Objective = Annotated[str, Field(description="a metric; the first objective of the study if left out")]
Key = Annotated[
    str, Field(max_length=100, description="your own name for this call: called again with it, you get the same job")
]
Asked = Context[Any, Any]
#: What every tool returns whose work is a job.
Answer = Annotated[CallToolResult, JobView]

_MOST_WORKERS = 4

READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)


def told(tool: Callable[P, Awaitable[Any]]) -> Callable[P, Awaitable[Any]]:
    """Turn the harness's errors into ones that an agent can act on."""

    @functools.wraps(tool)
    async def call(*arguments: P.args, **named: P.kwargs) -> Any:
        try:
            return await tool(*arguments, **named)
        except HarnessError as error:
            raise advised(error) from error

    return call


def _submitted(study: str, kind: str, by: str, key: str, arguments: dict[str, Any]) -> Job:
    readable.named(study)
    chosen = KINDS[kind]
    return jobs_of(study).add(study, kind, chosen.lane, arguments, by, key, chosen.lasting)


async def _job(context: Asked, study: str, kind: str, key: str = "", /, **arguments: Any) -> CallToolResult:
    """Begin a job, or find the one that the same call began, and answer with what is known of it after a moment."""
    job = await to_thread(_submitted, study, kind, caller(context), key, arguments)
    return await settled(context, job)


async def list_studies() -> readable.Studies:
    """The experiments that there are, what each is after, and what is left of its budget."""
    return await to_thread(readable.studies)


async def describe_space(study: Study) -> SpaceView:
    """What a search may vary and what it is after: parameters with their meaning, ranges and base values, objectives,
    constraints, budget. Nothing else can be set."""
    return await to_thread(readable.described, study)


async def budget_status(study: Study) -> BudgetView:
    """What is left of the budget, and why no trial may be begun where none may."""
    return await to_thread(readable.spending, study)


async def job_status(
    context: Asked, study: Study, job: Annotated[str, Field(description="as in `job` of an answer")]
) -> Answer:
    """How far a job is, what is known already and, once it is done, its result with its pictures."""
    found = await to_thread(readable.job_of, study, job)
    return await settled(context, found, tell_failed=True)


async def get_baseline(context: Asked, study: Study) -> Answer:
    """What a trial has to beat: the base configuration's result, and the pinned baseline if there is one."""
    return await _job(context, study, "get_baseline")


async def leaderboard(context: Asked, study: Study, limit: Annotated[int, Field(ge=1, le=100)] = 10) -> Answer:
    """How the study stands: best trials, gain over the base with its interval, what is left of it once it is counted
    in how many were tried (`selection`, `standing`), Pareto front, parameter importances."""
    return await _job(context, study, "leaderboard", limit=limit)


async def get_trial(context: Asked, study: Study, trial: TrialNumber) -> Answer:
    """One trial of the study: its parameters, metrics and configuration."""
    return await _job(context, study, "get_trial", trial=trial)


async def compare_trials(context: Asked, study: Study, trial: TrialNumber, other: Trial = None) -> Answer:
    """Two trials side by side: verdict, metrics with intervals, settings that differ, photos that came out otherwise.
    Without another one, a trial stands beside the base."""
    return await _job(context, study, "compare_trials", trial=trial, other=other)


async def explain_trial(context: Asked, study: Study, trial: TrialNumber) -> Answer:
    """A trial in words: its scorecards, why it missed numbers, its verdict beside the base, and which photos it mended
    or broke."""
    return await _job(context, study, "explain_trial", trial=trial)


async def list_failures(
    context: Asked,
    study: Study,
    trial: Trial = None,
    objective: Objective = "",
    cause: Annotated[
        str, Field(description="of a missed number: not_seen, misread, partial, dropped_by_rule, ...")
    ] = "",
    tag: Annotated[str, Field(description="a tag of the photo or of its boxes")] = "",
    person: Annotated[str, Field(description="somebody in the photo")] = "",
    cursor: Annotated[str, Field(max_length=64, description="`next_cursor` of the answer before")] = "",
    limit: Annotated[int, Field(ge=1, le=inspection.MOST_FAILURES)] = 4,
) -> Answer:
    """The photos on which a trial has errors that the objective counts, worst first: each mistake with its cause and
    its place, the texts that the reader dropped and why, what the baseline did there; and pictures, a close-up of each
    mistake with label and prediction drawn, then the whole photo. Red is missed, orange is false, green is found."""
    asked = {"objective": objective, "cause": cause, "tag": tag, "person": person, "cursor": cursor, "limit": limit}
    return await _job(context, study, "list_failures", "", trial=trial, **asked)


async def what_if(
    context: Asked,
    study: Study,
    photo: Photo,
    params: Annotated[dict[str, Value], Field(description="values of the space, on top of the base's")],
    objective: Objective = "",
) -> Answer:
    """One photo with other values: what is predicted, the errors before and after, and what the reader dropped. It
    costs nothing of the budget. A value that mends one photo may break others: smallest_change and run_trial tell."""
    return await _job(context, study, "what_if", photo=photo, params=params, objective=objective)


async def smallest_change(context: Asked, study: Study, photo: Photo, objective: Objective = "") -> Answer:
    """Which single parameter mends a photo that the base fails on, and its value nearest to the base's; what that does
    to all other photos of the search; or that no single parameter does. It costs nothing of the budget."""
    return await _job(context, study, "smallest_change", photo=photo, objective=objective)


async def begin_study(context: Asked, study: Study, key: Key = "") -> Answer:
    """Begin a study: evaluate its base on the photos of the search, which trials are held against. A study that was
    begun before goes on."""
    return await _job(context, study, "begin_study", key)


async def start_search(
    context: Asked,
    study: Study,
    trials: Annotated[int | None, Field(ge=1, description="stop after so many; the budget is the most")] = None,
    workers: Annotated[int, Field(ge=1, le=_MOST_WORKERS)] = 1,
    key: Key = "",
) -> Answer:
    """Let the sampler work until the budget of the study is spent, or for so many trials. cancel_job stops it."""
    if trials is not None and workers > 1:
        raise ConfigError("give either trials, or more than one worker: several do not stop at the same trial")
    return await _job(context, study, "start_search", key, trials=trials, workers=workers)


async def ask(context: Asked, study: Study, key: Key = "") -> Answer:
    """The sampler's next point. It is yours, and counts, until run_trial runs it or give_back_trial gives it back."""
    return await _job(context, study, "ask", key)


async def run_trial(
    context: Asked,
    study: Study,
    hypothesis: Hypothesis,
    params: Annotated[dict[str, Value] | None, Field(description="values of the space, on top of the base's")] = None,
    trial: Annotated[int | None, Field(description="or the number of a trial from `ask`")] = None,
    key: Key = "",
) -> Answer:
    """Evaluate one point on the photos of the search. A point that was tried before is answered at no cost."""
    await to_thread(lambda: verbs.check_try(readable.named(study), hypothesis, params, trial))
    return await _job(context, study, "run_trial", key, hypothesis=hypothesis, params=params, trial=trial)


async def give_back_trial(
    study: Study, trial: Annotated[int, Field(ge=0, description="a trial from `ask`")]
) -> BudgetView:
    """Give back a trial from `ask` that you will not run; the budget gets it back."""
    return await to_thread(_given_back, study, trial)


def _given_back(study: str, trial: int) -> BudgetView:
    readable.named(study)
    return verbs.cancel(study, trial, asked_by="agent")


async def cancel_job(
    context: Asked, study: Study, job: Annotated[str, Field(description="a job that you have begun")]
) -> Answer:
    """Stop a job of your own. A trial that it has begun counts as failed. The study goes on: only a person cancels
    it."""
    found = await to_thread(readable.job_of, study, job)
    if found.request.by != caller(context):
        raise ConflictError(f"job {job} was begun by {found.request.by}: only its own caller may stop it")
    await to_thread(found.wish_cancelled)
    return await settled(context, found, tell_failed=True)


async def propose_preset(
    context: Asked,
    study: Study,
    trial: Annotated[int | None, Field(description="the best if left out")] = None,
    key: Key = "",
) -> Answer:
    """Write a trial as a preset file into the study's folder, for a person to confirm on the holdout and to adopt. One
    that does not beat the base, breaks a constraint, or is neither shown to be better nor a candidate, is refused: that
    nothing was found is a good answer, too."""
    return await _job(context, study, "propose_preset", key, trial=trial)


async def flag_label(
    context: Asked,
    study: Study,
    photo: Photo,
    what: Annotated[Literal["bib", "face"], Field(description="the kind of label that you doubt")],
    why: Annotated[str, Field(min_length=10, max_length=500, description="what speaks against it, in a sentence")],
    number: Annotated[str, Field(max_length=20, description="the number on the bib that you doubt, as labelled")] = "",
    box: Annotated[list[float] | None, Field(min_length=4, max_length=4, description="or where: x, y, w, h")] = None,
) -> Answer:
    """Tell a person that a label looks wrong. It is shown to whoever labels, changes nothing and earns nothing: the
    photo counts as before."""
    asked = {"photo": photo, "what": what, "why": why, "number": number, "box": box}
    return await _job(context, study, "flag_label", "", **asked)


async def judge(
    context: Asked,
    study: Study,
    commit: Annotated[
        str, Field(pattern=r"^[0-9a-f]{7,64}$", description="a commit of the repository that the server runs in")
    ],
    hypothesis: Hypothesis,
    key: Key = "",
) -> Answer:
    """Judge a commit that changes code beside the base that the study names, or else HEAD of the server's repository:
    KEEP, DISCARD or CANNOT TELL. It is run in a sandbox that sees the photos of the search and no labels. All tries are
    counted: the more there are, the more has to be shown. The study needs a `judge` section."""
    await to_thread(_judged_by, study)
    return await _job(context, study, "judge", key, commit=commit, hypothesis=hypothesis)


def _judged_by(study: str) -> None:
    """Raise ConfigError where a study judges no code."""
    if readable.named(study).judge is None:
        raise ConfigError(f"study {study} judges no code: its file has no `judge` section")


Tool = Callable[..., Awaitable[object]]
READERS: tuple[Tool, ...] = (
    list_studies,
    describe_space,
    budget_status,
    job_status,
    get_baseline,
    leaderboard,
    get_trial,
    compare_trials,
    explain_trial,
    list_failures,
    what_if,
    smallest_change,
)
ACTORS: tuple[Tool, ...] = (
    begin_study,
    start_search,
    ask,
    run_trial,
    give_back_trial,
    cancel_job,
    propose_preset,
    flag_label,
    judge,
)


def make_server() -> MCPServer:
    """The server with all its tools."""
    server: MCPServer = MCPServer(
        "harness", title="Bounded parameter search", instructions=guide.INSTRUCTIONS, log_level="WARNING"
    )
    for tools, hints in ((READERS, READS), (ACTORS, ADDS)):
        for tool in tools:
            server.add_tool(told(tool), annotations=hints)
    guide.add_resources(server)
    guide.add_prompts(server)
    return server


def serve() -> None:
    """Serve on standard input and output until the client goes away. What jobs print goes to their lane's log."""
    if not FOLDER.is_dir():
        raise ConfigError(f"no {FOLDER}/ in {Path.cwd()}; start the server where the experiment files are")
    readable.studies()  # the first look at experiments takes longest, and no call is to wait for it
    for path in FOLDER.glob("*.yaml"):
        with suppress(HarnessError):  # whoever asks for it is told
            readable.described(path.stem)
    make_server().run("stdio")

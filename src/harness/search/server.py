"""The MCP server: searches for an agent, within the limits that people have set.

The limits are the server's, not the agent's good will: experiments are read from `experiments/` alone, by name; the
budget is the file's; values are a run's own; what is written goes to `experiments/<study>/`. No tool deletes, freezes,
labels, sets a baseline or reads the holdout. Every refusal says what to do instead.
"""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, ParamSpec, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver import Image
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field

from harness.base.errors import BudgetError, ConfigError, ConflictError, HarnessError, NotBegunError
from harness.search import inspection, verbs
from harness.search.base import known_base
from harness.search.experiment import FOLDER, experiment_path, read_experiment
from harness.search.inspection import BaselineView, ComparisonView, FailureView, RunView
from harness.search.ledger import Ledger
from harness.search.space import Value
from harness.search.views import BudgetView, LeaderboardView, SpaceView, TrialView, View

P = ParamSpec("P")
R = TypeVar("R")

Study = Annotated[str, Field(description="name of an experiment: link_geometry is experiments/link_geometry.yaml")]
RunId = Annotated[str, Field(description="MLflow run, as in `run_id` of a trial")]
Hypothesis = Annotated[str, Field(min_length=10, description="what the trial is to find out, in a sentence")]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*", re.ASCII)
_MOST_WORKERS = 4

READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)

INSTRUCTIONS = """\
Bounded search for pipeline parameters. Start with describe_space and ask, which evaluates the base; then see
get_baseline and list_failures. Try points of your own with run_trial, each with a hypothesis, or let the sampler work
with start_search. The budget is shared and enforced. End with propose_preset where leaderboard has found something; a
person confirms it on the holdout, which cannot be read here."""

_NEXT = {
    BudgetError: "Call leaderboard to see what was found, and propose_preset to hand in the best.",
    NotBegunError: "Call ask: it evaluates the base and gives a first point.",
    ConflictError: "Call leaderboard or budget_status to see what the study has recorded.",
    ConfigError: "Call describe_space to see what may be set.",
}


class Started(View):
    """A search at work in a process of its own; budget_status and leaderboard follow it."""

    study: str
    process: int
    log: str
    budget: BudgetView


class Proposal(View):
    """The file that holds the proposed preset, its text, and the trial that it is made of."""

    path: str
    text: str
    trial: TrialView


class Failures(View):
    """Photos of a run with errors on them; the pictures follow in the same order."""

    run_id: str
    failures: list[FailureView]


def told(tool: Callable[P, R]) -> Callable[P, R]:
    """Turn the harness's errors into ones that an agent can act on."""

    @functools.wraps(tool)
    def call(*arguments: P.args, **named: P.kwargs) -> R:
        try:
            return tool(*arguments, **named)
        except HarnessError as error:
            advice = next((text for kind, text in _NEXT.items() if isinstance(error, kind)), "")
            raise ToolError(f"{error}. {advice}".strip()) from error

    return call


def named(study: str) -> str:
    """Refuse whatever is not the name of an experiment file in `experiments/`."""
    there = sorted(path.stem for path in FOLDER.glob("*.yaml"))
    if not _NAME.fullmatch(study) or study not in there:
        raise ConfigError(f"{study!r}: expected the name of an experiment: {', '.join(there) or 'there is none'}")
    if (own := read_experiment(FOLDER / f"{study}.yaml").study) != study:
        raise ConfigError(f"{study}: its file calls the study {own}; a person has to rename one of them")
    return study


def begun(study: str) -> Ledger:
    """The ledger of a study that has its base: whoever only reads begins none."""
    ledger = verbs.open_study(named(study))
    known_base(ledger)
    return ledger


def describe_space(study: Study) -> SpaceView:
    """What a search may vary and what it is after: parameters with their ranges and base values, objectives,
    constraints, budget. Nothing else can be set."""
    return verbs.describe(named(study))


def get_baseline(study: Study) -> BaselineView:
    """What a trial has to beat: the base configuration's run, and the pinned baseline if there is one."""
    return inspection.baseline(begun(study))


def leaderboard(study: Study, limit: Annotated[int, Field(ge=1, le=100)] = 10) -> LeaderboardView:
    """How the study stands: best trials, gain over the base with its interval, what is left of it once it is counted
    in how many were tried (`selection`, `standing`), Pareto front, parameter importances."""
    return verbs.board(named(study), limit)


def get_run(study: Study, run_id: RunId) -> RunView:
    """One run of the study: its metrics and its configuration."""
    return inspection.run_view(run_id, inspection.load_visible(begun(study), run_id))


def compare_runs(
    study: Study,
    candidate: RunId,
    baseline: Annotated[str | None, Field(description="run to compare with; the base of the study if left out")] = None,
) -> ComparisonView:
    """Two runs side by side: verdict, metrics with intervals, settings that differ, photos that came out otherwise."""
    return inspection.comparison(begun(study), candidate, baseline)


def list_failures(
    study: Study, run_id: RunId, limit: Annotated[int, Field(ge=1, le=inspection.MOST_FAILURES)] = 4
) -> Annotated[CallToolResult, Failures]:
    """The photos with the most errors of a run, worst first, each with a small picture of what was found and missed."""
    found = inspection.failures(begun(study), run_id, limit)
    views = Failures(run_id=run_id, failures=[item.view for item in found])
    pictures = [Image(data=item.picture, format="jpeg").to_image_content() for item in found]
    content = views.model_dump(mode="json")
    return CallToolResult(
        content=[TextContent(type="text", text=json.dumps(content)), *pictures], structured_content=content
    )


def explain_run(study: Study, run_id: RunId) -> dict[str, str]:
    """A run in words: its scorecards, why it missed numbers, its verdict beside the base, and which photos it mended or
    broke."""
    return {"run_id": run_id, "text": inspection.explanation(begun(study), run_id)}


def budget_status(study: Study) -> BudgetView:
    """What is left of the budget, and why no trial may be begun where none may."""
    return verbs.status(named(study))


def start_search(
    study: Study,
    trials: Annotated[
        int | None, Field(ge=1, description="stop at so many trials in all; the file's budget is the most")
    ] = None,
    workers: Annotated[int, Field(ge=1, le=_MOST_WORKERS)] = 1,
) -> Started:
    """Let the sampler work until the budget is spent, in a process of its own; returns at once."""
    most = read_experiment(FOLDER / f"{named(study)}.yaml").budget
    ledger = verbs.prepare(study, min(trials or most.trials, most.trials), most.minutes, resume=True)
    if closed := ledger.closed():
        raise BudgetError(f"study {study}: {closed}")
    log = ledger.folder / "search.log"
    command = [sys.executable, "-m", "harness", "search", str(experiment_path(study)), "--workers", str(workers)]
    with log.open("ab") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
    return Started(study=study, process=process.pid, log=str(log), budget=verbs.status(study))


def ask(study: Study) -> TrialView:
    """The sampler's next point; the first call also evaluates the base. The point is yours, and counts, until run_trial
    has run it or cancel gives it back."""
    return verbs.ask(named(study), proposed_by="agent")


def run_trial(
    study: Study,
    hypothesis: Hypothesis,
    params: Annotated[dict[str, Value] | None, Field(description="a point of your own, one value a parameter")] = None,
    trial: Annotated[int | None, Field(description="or the number of a trial from `ask`")] = None,
) -> TrialView:
    """Evaluate one point on the photos of the search. A point that was tried before is answered at no cost."""
    return verbs.try_point(named(study), hypothesis, params, trial, proposed_by="agent")


def cancel(study: Study, trial: Annotated[int | None, Field(description="a trial from `ask`")] = None) -> BudgetView:
    """Stop the search of a study, which finishes the trials that it has begun; or give back a trial from `ask`."""
    return verbs.cancel(named(study), trial)


def propose_preset(
    study: Study, trial: Annotated[int | None, Field(description="the best if left out")] = None
) -> Proposal:
    """Write a trial as a preset file into the study's folder, for a person to confirm on the holdout and to adopt. One
    that is neither shown to be better nor a candidate is refused: that nothing was found is a good answer, too."""
    path, view = verbs.propose(named(study), trial)
    return Proposal(path=str(path), text=path.read_text(), trial=view)


READERS: tuple[Callable[..., object], ...] = (
    describe_space,
    get_baseline,
    leaderboard,
    get_run,
    compare_runs,
    list_failures,
    explain_run,
    budget_status,
)
ACTORS: tuple[Callable[..., object], ...] = (start_search, ask, run_trial, cancel, propose_preset)


def make_server() -> MCPServer:
    """The server with all its tools."""
    server: MCPServer = MCPServer(
        "harness", title="Bounded parameter search", instructions=INSTRUCTIONS, log_level="WARNING"
    )
    for tools, hints in ((READERS, READS), (ACTORS, ADDS)):
        for tool in tools:
            server.add_tool(told(tool), annotations=hints)
    return server


def serve() -> None:
    """Serve on standard input and output until the client goes away. What trials print goes to standard error."""
    if not FOLDER.is_dir():
        raise ConfigError(f"no {FOLDER}/ in {Path.cwd()}; start the server where the experiment files are")
    make_server().run("stdio")

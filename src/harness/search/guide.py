"""What an agent is told beside the tools: instructions, resources and a prompt to begin with."""

from __future__ import annotations

import json

from mcp.server import MCPServer

from harness.base.comments import meanings_of
from harness.search import readable
from harness.search.answers import JobView, jobs_of
from harness.search.searchable import GROUPS

INSTRUCTIONS = """\
Bounded search for pipeline parameters. Start with list_studies, describe_space and begin_study, which evaluates the
base. Every call answers within two seconds; what takes longer is a job, with `status` and `job`: call job_status until
its status is done, then read `result`. Read list_failures before you form a hypothesis; what_if and smallest_change try
values on one photo at no cost. Try points with run_trial, each with a hypothesis, or let the sampler work with
start_search. The budget is shared, enforced and not yours to raise. End with propose_preset where leaderboard has found
something; a person confirms it on the holdout, which cannot be read here."""

_START = """\
Improve the pipeline in the study {study}: {goals}. There are {budget} trials left.
1. describe_space, then begin_study; poll job_status until it is done.
2. list_failures, page by page. Look at the close-ups. Group the failures by their cause.
3. For a cause that several photos share, ask smallest_change or what_if on two or three of them.
4. State a hypothesis, run_trial, then compare_trials: which photos were mended, which were broken?
5. leaderboard says what is left of the gain once it is counted in how many trials there were. Stop when nothing is.
6. flag_label where a label looks wrong. It changes no score.
7. propose_preset where the standing allows it; otherwise say that nothing was found."""


def add_resources(server: MCPServer) -> None:
    """What can be read without a tool: the studies, their budgets before they begin, and what parameters mean."""

    @server.resource("harness://studies", mime_type="application/json")
    def studies() -> str:
        """The experiments that there are, each with its objectives and its budget, begun or not."""
        return readable.studies().model_dump_json()

    @server.resource("harness://studies/{study}", mime_type="application/json")
    def study_space(study: str) -> str:
        """What one experiment varies, what it is after and what it may spend."""
        return readable.described(study).model_dump_json()

    @server.resource("harness://studies/{study}/jobs", mime_type="application/json")
    def study_jobs(study: str) -> str:
        """The jobs of a study, oldest first, without their results."""
        readable.named(study)
        shown = [JobView.of(job, job.state().model_copy(update={"result": None})) for job in jobs_of(study).all()]
        return json.dumps([view.model_dump(mode="json") for view in shown])

    @server.resource("harness://parameters", mime_type="application/json")
    def parameters() -> str:
        """What the keys of the pipeline mean, by the comments of the config files: group, choice, key."""
        found = {
            group: {choice: {"about": each.about, "keys": each.keys} for choice, each in meanings_of(group).items()}
            for group in GROUPS
        }
        return json.dumps(found)


def add_prompts(server: MCPServer) -> None:
    """Ways to begin."""

    @server.prompt(title="Search by reading failures")
    def start(study: str) -> str:
        """A way to begin: read where the base fails, form hypotheses, try them one by one."""
        experiment = readable.named(study)
        goals = ", ".join(f"{direction} {metric}" for metric, direction in experiment.objectives.items())
        return _START.format(study=study, goals=goals, budget=readable.spending(study).trials_left)

"""No tool works before it answers: what has to be computed is a job, and a lane computes it. Work is counted here, not
seconds, so that a busy machine changes nothing: files that are opened, and functions of the harness that are called.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.types import CallToolResult

import harness
from harness.base.conf import conf_dir
from harness.search import answers, server
from harness.search.experiment import read_experiment
from harness.search.ledger import Ledger
from harness.search.loop import search
from harness.search.work import KINDS
from tests.search.points import SPACE, evaluate

STUDY = "formula"
PHOTO, WHY = "set.jpg", "nobody can read this number"
POINT = {"link.min_drop": 0.5, "link.max_drop": 5.0, "link.half_width": 2.0}
#: A call of every tool, but for its study. A new tool has to be added here.
CALLS: dict[str, dict[str, Any]] = {
    "list_studies": {},
    "describe_space": {},
    "budget_status": {},
    "job_status": {"job": "JOB"},
    "get_baseline": {},
    "leaderboard": {},
    "get_trial": {"trial": 1},
    "compare_trials": {"trial": 1, "other": 2},
    "explain_trial": {"trial": 1},
    "list_failures": {"limit": 8},
    "what_if": {"photo": PHOTO, "params": POINT},
    "smallest_change": {"photo": PHOTO},
    "begin_study": {},
    "start_search": {"workers": 2},
    "ask": {},
    "run_trial": {"params": POINT, "hypothesis": WHY},
    "give_back_trial": {"trial": 0},
    "cancel_job": {"job": "JOB"},
    "propose_preset": {},
    "flag_label": {"photo": PHOTO, "what": "bib", "why": WHY},
    "judge": {"commit": "0" * 40, "hypothesis": WHY},
}
RESOURCES = ("studies", f"studies/{STUDY}", f"studies/{STUDY}/jobs", "parameters")

_OPENED: list[str] | None = None


def _audit(event: str, details: tuple[Any, ...]) -> None:
    if _OPENED is not None and event == "open" and isinstance(details[0], str | bytes):
        _OPENED.append(str(details[0]))


sys.addaudithook(_audit)  # it stays for as long as the process lives, and notes nothing unless it is asked to


@contextmanager
def opened_files() -> Iterator[list[str]]:
    """The files that this process opens in the block."""
    global _OPENED  # an audit hook cannot be removed, only told to rest
    _OPENED = found = list[str]()
    try:
        yield found
    finally:
        _OPENED = None


@contextmanager
def counted_calls() -> Iterator[list[int]]:
    """How many functions of the harness have been called in the block until now, by threads that begin in it, too."""
    count, own = [0], str(Path(harness.__file__).parent)

    def note(frame: Any, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(own):
            count[0] += 1

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield count
    finally:
        sys.setprofile(before)
        threading.setprofile(None)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one experiment, which also judges code, and no lane that would work on a job."""
    experiment = {
        "base": ["preset=fast", "references=sample"],
        "space": SPACE,
        "objectives": {"link/f1": "maximize"},
        "budget": {"trials": 1000, "minutes": 1000},
        "sampler": "random",
        "judge": {},
    }
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / f"{STUDY}.yaml").write_text(json.dumps(experiment))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(answers, "ensure_lane", lambda *_: None)
    monkeypatch.setattr(answers, "WAIT_SECONDS", 0.0)
    return tmp_path


def try_points(trials: int) -> None:
    """Let the sampler try so many points in the study; one more is asked for, as trial 0."""
    experiment = read_experiment(Path("experiments") / f"{STUDY}.yaml")
    ledger = Ledger.open(experiment, Path("experiments") / STUDY)
    if not ledger.trials():
        ledger.claim("", POINT, proposed_by="agent")
    budget = {"trials": trials, "minutes": 1000}
    ledger.note("budget", budget)
    search(ledger, evaluate)


def with_client(script: Callable[[Client], Awaitable[None]]) -> None:
    async def main() -> None:
        async with Client(server.make_server(), raise_exceptions=True) as client:
            await script(client)

    anyio.run(main)


async def call(client: Client, tool: str, job: str = "") -> dict[str, Any]:
    arguments = {name: job if value == "JOB" else value for name, value in CALLS[tool].items()}
    of = {} if tool == "list_studies" else {"study": STUDY}
    result = await client.call_tool(tool, {**of, **arguments})
    assert isinstance(result, CallToolResult)
    assert not result.is_error, (tool, result.content)
    return dict(result.structured_content or {})


def test_every_tool_answers_from_the_text_of_the_study_and_leaves_the_work_to_a_lane(desk: Path) -> None:
    try_points(3)
    read: dict[str, list[str]] = {}
    answered: dict[str, dict[str, Any]] = {}

    async def script(client: Client) -> None:
        job = (await call(client, "begin_study"))["job"]
        assert {tool.name for tool in (await client.list_tools()).tools} == set(CALLS)
        for tool in CALLS:
            with opened_files() as read[tool]:
                answered[tool] = await call(client, tool, job)
        for address in RESOURCES:
            with opened_files() as read[address]:
                await client.read_resource(f"harness://{address}")

    with_client(script)
    assert {tool for tool, answer in answered.items() if answer.get("job")} == {*KINDS, "job_status", "cancel_job"}
    for tool in KINDS:
        answer = answered[tool]
        assert (answer["status"], answer["result"], answer["partial"]) == ("queued", None, None), tool
    texts = (str(desk / "experiments"), "experiments", str(conf_dir()), str(Path(harness.__file__).parent))
    may_read = (*texts, sys.prefix, sys.base_prefix, "/proc", "/dev")
    for what, files in read.items():
        others = [file for file in files if not file.startswith(may_read)]
        assert not others, f"{what} reads more than experiments, ledgers, jobs and config files"


def test_what_a_tool_does_before_it_answers_does_not_grow_with_the_study(desk: Path) -> None:
    work: dict[str, list[int]] = {what: [] for what in (*CALLS, *RESOURCES)}
    del work["give_back_trial"]  # there is one trial to give back, once

    async def measure(client: Client) -> None:
        job = (await call(client, "begin_study"))["job"]
        for what, counts in work.items():
            for _ in range(2):  # what is new in the ledger is read once, by the first of them
                before = count[0]
                if what in CALLS:
                    await call(client, what, job)
                else:
                    await client.read_resource(f"harness://{what}")
                spent = count[0] - before
            counts.append(spent)

    for trials in (10, 200):
        try_points(trials)
        with counted_calls() as count:
            with_client(measure)
    for what, (few, many) in work.items():
        assert few > 0, what
        assert many <= 1.5 * few, f"{what}: {few} functions with 10 trials, {many} with 200"

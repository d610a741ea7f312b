"""An agent drives a whole study through the MCP server while another one reads, and processes are killed meanwhile.

Two clients of the SDK, each with a server of its own, work on one desk: the driver begins a study on an empty cache,
tries points and lets the sampler search; the reader reads whatever can be read, all the while. The driver's server is
killed while the base is evaluated, and again, with the process that works on the search, while the search is at work.
What must hold: no call takes longer than two seconds, be it of a tool, a resource or a prompt; every repeated call
finds its job; no point is claimed twice; and the budget is kept.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import yaml
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import CallToolResult, Implementation

from harness.base.locks import is_locked

STUDY = "agents"
HYPOTHESIS = "numbers are dropped that are read well enough"
#: The most that a call may take, how long a client waits for an answer, and how long a job may take.
MOST_SECONDS, TIME_OUT, JOB_SECONDS = 2.0, 60.0, 3600.0
#: What is varied: a rule that is judged anew from what was read, and one for which the models look again.
SPACE: Mapping[str, Any] = {
    "bib.rule.min_char_score": {"low": 0.2, "high": 0.9, "step": 0.05},
    "bib.torso.rival_share": {"low": 0.3, "high": 0.9, "step": 0.1},
    "link.max_drop": {"low": 3.0, "high": 9.0, "step": 0.5},
}
#: The tool that is about no study, and all that can be read without a tool.
ABOUT_ALL = ("list_studies",)
RESOURCES = ("studies", f"studies/{STUDY}", f"studies/{STUDY}/jobs", "parameters")
#: Labels of RBNR are tight on the digits.
RBNR = ("bib.plate.widen=1", "bib.plate.heighten=1", "bib.plate.least_width=0", "scoring.bib_iou=0.3")


@dataclass
class Agent:
    """A client that is patient with jobs, and keeps how long each call took."""

    client: Client
    study: str = STUDY
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:
        """Call a tool of the study."""
        of = {} if tool in ABOUT_ALL else {"study": self.study}
        with self._timed(tool):
            result = await self.client.call_tool(tool, {**of, **arguments})
        assert isinstance(result, CallToolResult)
        return result

    async def read(self, address: str) -> str:
        """What a resource says."""
        with self._timed(address.replace(self.study, "STUDY")):
            return str((await self.client.read_resource(address)).contents)

    async def prompted(self, prompt: str) -> str:
        """What a prompt says of the study."""
        with self._timed(f"prompt {prompt}"):
            return str((await self.client.get_prompt(prompt, {"study": self.study})).messages)

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        started = time.monotonic()
        yield
        self.seconds[what].append(time.monotonic() - started)

    async def answer(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a tool answers at once."""
        result = await self.call(tool, **arguments)
        assert not result.is_error, result.content
        return dict(result.structured_content or {})

    async def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a tool, also where it takes a job."""
        answer = await self.answer(tool, **arguments)
        return await self.wait(answer["job"]) if "job" in answer else answer

    async def wait(self, job: str) -> dict[str, Any]:
        """The result of a job."""
        answer = await self.finished(job)
        assert answer["status"] == "done", answer
        return dict(answer["result"])

    async def finished(self, job: str, **where: Any) -> dict[str, Any]:
        """A job that has ended, one way or the other."""
        with anyio.fail_after(JOB_SECONDS):
            while True:
                answer = await self.answer("job_status", job=job, **where)
                if answer["status"] not in ("queued", "running"):
                    return answer

    async def under_way(self, job: str, done: int = 1) -> dict[str, Any]:
        """A job that is so far, or at its end."""
        with anyio.fail_after(JOB_SECONDS):
            while True:
                answer = await self.answer("job_status", job=job)
                if answer["status"] not in ("queued", "running") or answer["done"] >= done:
                    return answer

    async def refused(self, tool: str, **arguments: Any) -> str:
        """Call a tool that must refuse, at once or by its job; gives its words."""
        words = await self.ended(tool, **arguments)
        assert words, f"{tool} was not refused"
        return words

    async def ended(self, tool: str, **arguments: Any) -> str:
        """Call a tool, and wait for its job; gives the words of a refusal, and none where there was none."""
        result = await self.call(tool, **arguments)
        if result.is_error:
            return " ".join(getattr(part, "text", "") for part in result.content)
        begun = dict(result.structured_content or {})
        return str((await self.finished(begun["job"], study=begun["study"]))["error"])


@asynccontextmanager
async def agent_at(
    desk: Path, name: str, environment: Mapping[str, str], study: str = STUDY
) -> AsyncIterator[tuple[Agent, int]]:
    """An agent with a server of its own on a desk, and the number of the server's process."""
    note = desk / f".{name}.pid"
    note.unlink(missing_ok=True)
    command = 'echo $$ > "$1"; shift; exec "$@"'
    server = StdioServerParameters(
        command="sh",
        args=["-c", command, "sh", str(note), sys.executable, "-m", "harness", "mcp"],
        cwd=desk,
        env={**os.environ, **environment},
    )
    me = Implementation(name=name, version="1")
    async with Client(server, read_timeout_seconds=TIME_OUT, client_info=me) as client:
        yield Agent(client, study), int(note.read_text())


async def read_on(reader: Agent, over: anyio.Event, rounds: list[int]) -> None:
    """Read all that can be read, again and again."""
    while not over.is_set():
        for tool in ("budget_status", "describe_space", "list_studies"):
            await reader.answer(tool)
        for tool in ("get_baseline", "leaderboard", "list_failures"):
            await reader.call(tool)  # a study that is not begun yet refuses
        for address in RESOURCES:
            await reader.read(f"harness://{address}")
        await reader.prompted("start")
        rounds[0] += 1
        await anyio.sleep(0.2)


async def drive(desk: Path, environment: Mapping[str, str], trials: int, seed: int) -> tuple[list[str], Agent]:
    """The driver's study, through three servers. Gives what did not hold, and the calls of all of them."""
    wrong, calls, chance = list[str](), Agent(None), random.Random(seed)  # type: ignore[arg-type]
    point = {"bib.rule.min_char_score": 0.35, "bib.torso.rival_share": 0.5, "link.max_drop": 7.0}
    tried = {"hypothesis": HYPOTHESIS, "params": point}

    async with agent_at(desk, "driver", environment) as (agent, server):
        agent.seconds = calls.seconds
        first = await agent.answer("begin_study", key="begin")
        await agent.under_way(first["job"], done=chance.randint(1, 3))
        os.kill(server, signal.SIGKILL)
    async with agent_at(desk, "driver", environment) as (agent, server):
        agent.seconds = calls.seconds
        again = await agent.answer("begin_study", key="begin")
        if again["job"] != first["job"]:
            wrong.append(f"begin_study was begun twice: {first['job']} and {again['job']}")
        await agent.wait(again["job"])
        jobs = {(await agent.answer("run_trial", **tried))["job"] for _ in range(3)}
        if len(jobs) != 1:
            wrong.append(f"run_trial was begun {len(jobs)} times")
        await agent.wait(jobs.pop())
        asked = await agent.ask("ask")
        await agent.answer("give_back_trial", trial=asked["trial"])
        search = await agent.answer("start_search", key="search")
        await agent.under_way(search["job"], done=1)
        for lane in _lanes(desk):
            os.kill(lane, signal.SIGKILL)
        os.kill(server, signal.SIGKILL)
    async with agent_at(desk, "driver", environment) as (agent, _):
        agent.seconds = calls.seconds
        again = await agent.answer("start_search", key="search")
        if again["job"] != search["job"]:
            wrong.append(f"start_search was begun twice: {search['job']} and {again['job']}")
        board = await agent.wait(again["job"])
        failures = await agent.ask("list_failures", limit=2)
        if failures["total"]:
            photo = failures["failures"][0]["sha256"]
            await agent.ask("what_if", photo=photo, params={"bib.rule.min_char_score": 0.3})
            await agent.ask("smallest_change", photo=photo)
            await agent.ask("flag_label", photo=photo, what="bib", why="nobody can read this number")
        first_trial = min(trial["trial"] for trial in board["trials"])
        for tool in ("get_trial", "compare_trials", "explain_trial"):
            await agent.ask(tool, trial=first_trial)
        await agent.ended("propose_preset")  # it is refused where nothing was found
        await agent.refused("judge", commit="0" * 40, hypothesis=HYPOTHESIS)  # nobody has made this commit
        await agent.answer("cancel_job", job=again["job"])  # it is done, and stays so
        left = (await agent.answer("budget_status"))["trials_left"]
        if left or board["budget"]["trials"] != trials:
            wrong.append(f"{board['budget']['trials']} of {trials} trials were made, and {left} are left")
    return wrong, calls


def _lanes(desk: Path) -> list[int]:
    """The processes that work on the searches of a desk."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            if b"harness.search.lane" in words and b"search" in words and (process / "cwd").resolve() == desk.resolve():
                found.append(int(process.name))
        except OSError:
            continue
    return found


def prepare(desk: Path, trials: int, base: Sequence[str]) -> None:
    """A desk with one experiment on the photos that its base names."""
    (desk / "experiments").mkdir(parents=True, exist_ok=True)
    experiment = {
        "description": "which readings are a bib's number",
        "base": list(base),
        "space": dict(SPACE),
        "objectives": {"number/f1": "maximize"},
        "budget": {"trials": trials, "minutes": 120},
        "sampler": "random",
        "judge": {},
    }
    (desk / "experiments" / f"{STUDY}.yaml").write_text(yaml.safe_dump(experiment))


def checked(desk: Path) -> list[str]:
    """What the ledger says of a study that was driven: no point twice, none past the budget, no job twice."""
    from harness.search.experiment import read_experiment
    from harness.search.jobs import Jobs
    from harness.search.ledger import Ledger
    from harness.search.space import point_key

    folder = desk / "experiments" / STUDY
    experiment = read_experiment(folder.with_suffix(".yaml"))
    counted = [trial for trial in Ledger.open(experiment, folder, create=False).trials() if trial.counts]
    twice = [key for key, count in Counter(point_key(trial.point) for trial in counted).items() if count > 1]
    wrong = [f"claimed twice: {key}" for key in twice]
    if len(counted) > experiment.budget.trials:
        wrong.append(f"{len(counted)} trials for a budget of {experiment.budget.trials}")
    wrong += [f"trial {trial.number}: {trial.state}: {trial.reason}" for trial in counted if trial.state != "complete"]
    begun = Counter(job.request.kind for job in Jobs.of(folder).all() if job.request.lane != "looks")
    return wrong + [f"{kind} has {count} jobs" for kind, count in begun.items() if count > 1]


def soak_agents(desk: Path, trials: int, seed: int, base: Sequence[str], idle: float = 20.0) -> list[str]:
    """Drive a study of so many trials on an empty cache; tell what was slow, and give what did not hold."""
    prepare(desk, trials, base)
    environment = {"HARNESS_CACHE": str(desk / "cache"), "HARNESS_LANE_SECONDS": str(idle)}
    wrong, calls = anyio.run(_both, desk, environment, trials, seed)
    locks = [desk / "experiments" / STUDY / "jobs" / f"{lane}.lock" for lane in ("trials", "search", "looks")]
    while any(is_locked(lock) for lock in locks):  # they end when they have had nothing to do for a while
        time.sleep(0.5)
    return wrong + too_slow(calls) + checked(desk)


async def _both(desk: Path, environment: Mapping[str, str], trials: int, seed: int) -> tuple[list[str], Agent]:
    over, rounds = anyio.Event(), [0]
    async with agent_at(desk, "reader", environment) as (reader, _), anyio.create_task_group() as group:
        group.start_soon(read_on, reader, over, rounds)
        wrong, calls = await drive(desk, environment, trials, seed)
        over.set()
    print(f"the reader has read everything {rounds[0]} times", flush=True)
    for tool, seconds in reader.seconds.items():
        calls.seconds[tool] += seconds
    return wrong, calls


def too_slow(calls: Agent) -> list[str]:
    """Tell the slowest call of each tool, resource and prompt. One that took too long is wrong, and so is a tool that
    was never called."""
    from harness.search.server import ACTORS, READERS

    for tool, seconds in sorted(calls.seconds.items(), key=lambda item: -max(item[1])):
        print(f"{tool:<30} {len(seconds):>5} calls, slowest {max(seconds):.2f} s", flush=True)
    slow = {tool: max(seconds) for tool, seconds in calls.seconds.items() if max(seconds) > MOST_SECONDS}
    tools = {tool.__name__ for tool in (*READERS, *ACTORS)}
    never = [f"{tool} was never called" for tool in sorted(tools - set(calls.seconds))]
    return [f"{tool} took {seconds:.2f} s" for tool, seconds in slow.items()] + never


def references(folder: Path, photos: Path | None) -> tuple[str, ...]:
    """The base of the experiment: on the photos and labels of a folder of RBNR, imported now, or on the sample."""
    if photos is None:
        return "references=sample", "preset=fast"
    from harness.formats.rbnr import read_set
    from harness.references.importing import ImportedSet, import_set
    from harness.references.store import LabelStore

    root = folder / "references"
    import_set(LabelStore(root), ImportedSet(tuple(read_set(photos, None).photos)))
    return "references=staging", f"references.root={root}", "preset=balanced", *RBNR

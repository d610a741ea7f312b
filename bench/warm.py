"""A run whose answers are all in the stage cache, and a further point of such a sweep.

The peer of a run is a process that imports MLflow and opens the same store. Whole processes, in turns, the best of
several rounds, on the wall and in processor time. A run is timed until its result is shown, until it is logged without
a report, with its report, and to the end of the command, whose audit computes some photos anew. Each run sets another
value of the links, which are computed every time, so that it is none that was made before; what is found hardly moves
by it, so that the pictures of its report are mostly those of the run before, and kept. A point of a sweep is the
difference between a sweep of many and one of few, less what the points take to be predicted and scored.

    scripts/bench warm
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from bench.measure import row

ROUNDS = 5
#: How many times as long as the peer a run may take, and how many seconds a point of a sweep beyond scoring it.
MOST, MOST_SECONDS = 1.3, 0.4
#: How many points the two sweeps have.
FEW, MANY = 2, 10
_OPEN = (
    "import sys; from mlflow import MlflowClient; MlflowClient('sqlite:///' + sys.argv[1]).search_experiments(None, 1)"
)
#: The line of a run's output that its numbers begin with.
_SHOWN = ", data "
_VALUES = count(1)


class Cost(NamedTuple):
    """Seconds on the wall, and of the processor."""

    wall: float
    processor: float


def measure() -> list[dict[str, Any]]:
    """A warm run, and a point of a warm sweep."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _timed([sys.executable, "-m", "harness"], folder)  # fills the cache, and makes the store
        peer, runs = _in_turns(folder)
        rows = [
            row(f"{what}, {kind}", mine, "import mlflow, open the store", theirs, 1 / MOST if asked else 0.0)
            for what, (cost, asked) in runs.items()
            for kind, mine, theirs in zip(("on the wall", "processor"), cost, peer, strict=True)
        ]
        return [*rows, *_point(folder)]


def _in_turns(folder: Path) -> tuple[Cost, dict[str, tuple[Cost, bool]]]:
    """The best of each, and whether it is held to the limit."""
    peer, shown, bare, reported, whole = ([] for _ in range(5))
    for _ in range(ROUNDS):
        peer.append(_timed([sys.executable, "-c", _OPEN, str(folder / "mlruns" / "mlflow.db")], folder)[0])
        bare.append(_timed(_run("report.make=off", "cache.audit=0"), folder)[0])
        reported.append(_timed(_run("cache.audit=0"), folder)[0])
        end, first = _timed(_run(), folder)
        assert first is not None, "the run has shown nothing"
        whole.append(end)
        shown.append(first)
    return _best(peer), {
        "warm run until its result is shown": (_best(shown), True),
        "warm run, logged, report.make=off cache.audit=0": (_best(bare), True),
        "warm run with its report, cache.audit=0": (_best(reported), True),
        "warm run with its report and its audit": (_best(whole), False),
    }


def _best(costs: Sequence[Cost]) -> Cost:
    return Cost(min(cost.wall for cost in costs), min(cost.processor for cost in costs))


def _run(*overrides: str) -> list[str]:
    return [sys.executable, "-m", "harness", f"link.half_width={1.5 + next(_VALUES) / 1000}", *overrides]


def _point(folder: Path) -> list[dict[str, Any]]:
    """What a point adds to a sweep, with all defaults, less predicting and scoring it."""
    few, many = (_best([_timed(_sweep(size), folder)[0] for _ in range(2)]) for size in (FEW, MANY))
    added = Cost(*((more - less) / (MANY - FEW) for more, less in zip(many, few, strict=True)))
    scoring = _scoring()
    print(f"  a point of a warm sweep: {added}, of which predicting and scoring it {scoring}", flush=True)
    return [
        row(f"a point of a warm sweep, beyond scoring it, {kind}", mine - known, "limit", MOST_SECONDS, 1.0)
        for kind, mine, known in zip(("on the wall", "processor"), added, scoring, strict=True)
    ]


def _sweep(size: int) -> list[str]:
    values = ",".join(str(1.5 + next(_VALUES) / 1000) for _ in range(size))
    return [sys.executable, "-m", "harness", "-m", f"link.half_width={values}"]


def _scoring() -> Cost:
    """Seconds of predicting the sample's photos from the cache and scoring them, both tasks, the best of several."""
    from harness.config import build, compose

    costs = []
    with tempfile.TemporaryDirectory() as name:
        for _ in range(ROUNDS):
            spec = build(compose([f"link.half_width={1.5 + next(_VALUES) / 1000}"]))
            for task in spec.tasks:
                task.load()
            start = Cost(time.perf_counter(), time.process_time())
            for task in spec.tasks:
                task.evaluate(Path(name), 0, quiet=True)
            costs.append(Cost(time.perf_counter() - start.wall, time.process_time() - start.processor))
    return _best(costs)


def _timed(command: Sequence[str], folder: Path) -> tuple[Cost, Cost | None]:
    """What a process takes from its start to its end, and until it shows a result, if it does."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    started, first, said = time.perf_counter(), None, []
    with (folder / "errors").open("w") as errors:
        process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment
        )
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line)
            if first is None and _SHOWN in line:
                first = Cost(time.perf_counter() - started, _processor(process.pid))
        _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}: {''.join(said[-5:])}{(folder / 'errors').read_text()}")
    return Cost(wall, usage.ru_utime + usage.ru_stime), first


def _processor(pid: int) -> float:
    """The seconds of the processor that a process has had so far."""
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, after_name[11:13])) / os.sysconf("SC_CLK_TCK")

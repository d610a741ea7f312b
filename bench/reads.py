"""How long commands that only read take on stores of 20, 2,000 and 10,000 runs, beside the import of MLflow alone.

Whole processes, from start to end, best of several rounds in turns, so that all meet the same machine. Each store has
two runs that were really scored, which `compare` reads, and copies of one of them, which has about 100 metrics, 60
params and 30 tags. The runs that are compared are the oldest. Memory is the most that a process ever held.

    scripts/bench reads
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.measure import row
from bench.stores import fabricate

SIZES = (20, 2_000, 10_000)
ROUNDS = 5
#: What a run has, at least.
METRICS, PARAMS, TAGS = 100, 60, 30
HARNESS = ("-m", "harness")
#: The most that a command may hold, in MB.
MOST_MEMORY = 200

#: A command, and how many runs its store has.
Work = tuple[str, int]


def measure() -> list[dict[str, Any]]:
    """Time and memory of reading."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        works: dict[Work, tuple[str, ...]] = {
            ("mlflow", 0): ("-c", "import mlflow"),
            ("--help", 0): (*HARNESS, "--help"),
        }
        for size in SIZES:
            # In another process: what this one holds would count as memory of those that it starts.
            subprocess.run([sys.executable, "-m", "bench.reads", str(folder / str(size)), str(size)], check=True)
            at = f"tracking.root={folder / str(size)}"
            works[("list", size)] = (*HARNESS, "list", at)
            works[("compare", size)] = (*HARNESS, "compare", "worse", "good", at)
            works[("baseline --list", size)] = (*HARNESS, "baseline", "--list", at)
        return _rows(_best(works, folder))


def _rows(best: dict[Work, tuple[float, float]]) -> list[dict[str, Any]]:
    imported, few, many = best[("mlflow", 0)][0], SIZES[0], SIZES[-1]
    rows = [row("harness --help", best[("--help", 0)][0], "import mlflow", imported, 10.0)]
    for command in ("list", "compare", "baseline --list"):
        rows += [
            row(f"{command}, {size:,} runs", best[(command, size)][0], "import mlflow", imported, 2.0) for size in SIZES
        ]
        (slow, large), (quick, _) = best[(command, many)], best[(command, few)]
        rows.append(row(f"{command}, {many:,} runs", slow, f"the same, {few} runs", quick, 1 / 3))
        memory = row(f"{command}, {many:,} runs: memory", large, "a limit", MOST_MEMORY, 1.0)
        rows.append({**memory, "unit": "MB"})
    return rows


def make_store(root: Path, size: int) -> None:
    """A store with two runs that were scored, and copies of the first."""
    import harness
    from harness.tracking.finding import find_run
    from harness.tracking.store import LocalStore
    from harness.tracking.upkeep import pin

    at = f"tracking.root={root}"
    good = _scored(at, "good", 1)
    _scored(at, "worse", 3)
    store = LocalStore(str(root), "harness")
    _fill(store.open(), good)
    fabricate(store.database, good, size - 2)
    pin(store.open(), find_run(store.open(), good))
    assert len(harness.list_runs(at, limit=size + 1)) == size


def _scored(at: str, name: str, every: int) -> str:
    """A run on predictions of the sample's labels, of which only every so many are there."""
    import harness

    photos = harness.load_references().photos
    lines = [_prediction(photo, number % every == 0) for number, photo in enumerate(photos)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.jsonl"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        return harness.score(path, at).id


def _prediction(photo: Any, seen: bool) -> dict[str, Any]:
    boxes = {"bibs": photo.labels.bibs if seen else (), "faces": photo.labels.faces if seen else ()}
    place = {
        key: [{"x": box.x, "y": box.y, "w": box.w, "h": box.h, "score": 0.9} for box in found]
        for key, found in boxes.items()
    }
    for line, box in zip(place["bibs"], boxes["bibs"], strict=True):
        line["number"] = box.number
    return {"photo": photo.name, **place}


def _fill(store: Any, run_id: str) -> None:
    """Give a run as many values as a run of the whole pipeline has."""
    from mlflow.entities import Metric, Param, RunTag

    run = store.reader.get(run_id)
    now = int(time.time() * 1000)
    metrics = [Metric(f"section/metric_{n}", n / 7, now, 0) for n in range(METRICS - len(run.metrics))]
    params = [Param(f"group.key_{n}", f"value {n}") for n in range(PARAMS - len(run.params))]
    tags = [RunTag(f"told.tag_{n}", f"value {n}" * 4) for n in range(TAGS - len(run.tags))]
    store.client.log_batch(run_id, metrics, params, tags)


def _best(works: dict[Work, tuple[str, ...]], folder: Path) -> dict[Work, tuple[float, float]]:
    """The least seconds of each, measured in turns, and the most memory in MB."""
    best: dict[Work, tuple[float, float]] = {}
    for _ in range(ROUNDS):
        for key, arguments in works.items():
            seconds, megabytes = _run(arguments, folder)
            known = best.get(key, (seconds, megabytes))
            best[key] = (min(seconds, known[0]), max(megabytes, known[1]))
    return best


def _run(arguments: tuple[str, ...], folder: Path) -> tuple[float, float]:
    """Seconds and MB of one process, from its start to its end."""
    with (folder / "said").open("w") as said:
        started = time.perf_counter()
        process = subprocess.Popen([sys.executable, *arguments], cwd=folder, stdout=said, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)}: {(folder / 'said').read_text()}")
    return seconds, usage.ru_maxrss / 1024


if __name__ == "__main__":
    make_store(Path(sys.argv[1]), int(sys.argv[2]))

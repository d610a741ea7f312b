"""Processor time of two ways to do the same thing, and how they compare."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any


def best_of(work: Callable[[], object], times: int = 5) -> float:
    """Least processor time, in seconds, of several goes."""
    seconds = []
    for _ in range(times):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def best_in_turns(ours: Callable[[], object], peer: Callable[[], object], times: int = 5) -> tuple[float, float]:
    """The same of two ways that take turns, so that whatever else the machine does slows both."""
    goes = [(best_of(ours, 1), best_of(peer, 1)) for _ in range(times)]
    return min(mine for mine, _ in goes), min(theirs for _, theirs in goes)


def row(name: str, ours: float, peer_name: str, peer: float, required_ratio: float) -> dict[str, Any]:
    """One comparison; the ratio says how many times faster than the peer we are."""
    return {
        "name": name,
        "ours_seconds": ours,
        "peer_name": peer_name,
        "peer_seconds": peer,
        "ratio": peer / ours,
        "required_ratio": required_ratio,
    }


def show(rows: Iterable[dict[str, Any]]) -> None:
    """Print comparisons, one line each."""
    for entry in rows:
        verdict = "ok" if entry["ratio"] >= entry["required_ratio"] else "TOO SLOW"
        print(
            f"{entry['name']}: {entry['ours_seconds']:.3f} s, {entry['peer_name']}: {entry['peer_seconds']:.3f} s, "
            f"{entry['ratio']:.2f} times as fast (required {entry['required_ratio']:.2f}): {verdict}"
        )


def in_child(module: str, *what: object) -> dict[str, float]:
    """What a module measures in a process of its own."""
    command = [sys.executable, "-m", module, *map(str, what)]
    told: dict[str, float] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return told


def peak() -> float:
    """Megabytes that this process took at most. Not ru_maxrss: a child takes over the peak of whoever started it."""
    highest = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(highest.split()[1]) / 1024

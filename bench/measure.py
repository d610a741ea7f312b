"""Processor time of two ways to do the same thing, and how they compare."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any


def best_of(work: Callable[[], object], times: int = 5) -> float:
    """Least processor time, in seconds, of several goes."""
    seconds = []
    for _ in range(times):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


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

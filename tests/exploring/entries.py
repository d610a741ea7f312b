"""Runs as a store lists them, made up."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from harness.tracking.entries import RunEntry

HEADLINES = {"number/f1": "numbers", "face/f1": "faces"}
START = datetime(2026, 1, 1, tzinfo=UTC)


def entry(number: int, **values: Any) -> RunEntry:
    """A finished run on some data, the newer the higher its number."""
    known: dict[str, Any] = {
        "run_id": f"{number:08x}" + 24 * "0",
        "name": f"run {number}",
        "status": "FINISHED",
        "started": START + timedelta(minutes=number),
        "data_name": "races",
        "data_split": "iteration",
        "data_digest": "d" * 64,
        "headlines": HEADLINES,
        "metrics": {"number/f1": 0.5, "face/f1": 0.5},
    }
    return RunEntry(**(known | values))

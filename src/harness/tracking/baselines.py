"""Pinning a run as the baseline of its data: the one that other runs on them are judged against."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from harness.base.errors import HarnessError
from harness.tracking.catalog import BASELINE_TAG, RunEntry, load_run
from harness.tracking.store import OpenStore


def choose_run(runs: Sequence[RunEntry]) -> RunEntry:
    """The newest finished run."""
    newest = next((run for run in runs if run.finished), None)
    if newest is None:
        raise HarnessError("no run has finished yet; there is nothing to pin")
    return newest


def baseline_of(runs: Sequence[RunEntry], run: RunEntry) -> RunEntry | None:
    """The present baseline of a run's data and split."""
    pinned = [other for other in runs if other.pinned and other.same_data(run)]
    return max(pinned, key=lambda other: other.pinned, default=None)


def pin(store: OpenStore, runs: Sequence[RunEntry], run: RunEntry) -> None:
    """Make a finished run the baseline of its data; whichever was it before is so no longer."""
    if not run.finished:
        raise HarnessError(
            f"run {run.short_id} ({run.name}) is {run.status}; only a run that FINISHED can be the baseline"
        )
    load_run(store, run.run_id)
    # The new one first: should anything fail between the two, the one pinned last counts.
    store.client.set_tag(run.run_id, BASELINE_TAG, datetime.now(UTC).isoformat(timespec="milliseconds"))
    for other in runs:
        if other.pinned and other.same_data(run) and other.run_id != run.run_id:
            store.client.delete_tag(other.run_id, BASELINE_TAG)

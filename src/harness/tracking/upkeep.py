"""Looking after stored runs: pinning one as the baseline of its data, which other runs on them are judged against; and
which runs may go, which stay and why. Nothing is deleted here: `Store.erase` does that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from harness.base.errors import HarnessError
from harness.runs.tags import BASELINE_MARK, BASELINE_TAG
from harness.tracking.entries import RunEntry
from harness.tracking.finding import list_baselines, newest_run, runs_query
from harness.tracking.store import OpenStore

#: A run that is under way for longer than this was killed without a word.
GIVEN_UP = timedelta(days=1)


def choose_run(store: OpenStore) -> RunEntry:
    """The newest finished run."""
    newest = newest_run(store, "FINISHED")
    if newest is None:
        raise HarnessError("no run has finished yet; there is nothing to pin")
    return newest


def baseline_of(store: OpenStore, run: RunEntry) -> RunEntry | None:
    """The present baseline of a run's data and split."""
    pinned = [other for other in list_baselines(store) if other.same_data(run)]
    return max(pinned, key=lambda other: other.pinned, default=None)


def pin(store: OpenStore, run: RunEntry) -> None:
    """Make a finished run the baseline of its data; whichever was it before is so no longer."""
    if not run.finished:
        raise HarnessError(
            f"run {run.short_id} ({run.name}) is {run.status}; only a run that FINISHED can be the baseline"
        )
    from harness.tracking.catalog import load_to_judge  # with all scorecards, which a plan to clean does not need

    load_to_judge(store, run)
    before = [other for other in list_baselines(store) if other.same_data(run) and other.run_id != run.run_id]
    # The new one first: should anything fail between the two, the one pinned last counts.
    store.client.set_tag(run.run_id, BASELINE_TAG, datetime.now(UTC).isoformat(timespec="milliseconds"))
    store.client.update_run(run.run_id, name=f"{BASELINE_MARK}{run.name}")
    for other in before:
        store.client.delete_tag(other.run_id, BASELINE_TAG)
        store.client.update_run(other.run_id, name=other.name)


def mark_baselines(store: OpenStore) -> None:
    """Mark the names of the baselines that an older harness has pinned."""
    for run in store.reader.search(replace(runs_query(store), having=(BASELINE_TAG,), metrics=False)):
        if not run.name.startswith(BASELINE_MARK):
            store.client.update_run(run.run_id, name=f"{BASELINE_MARK}{run.name}")


@dataclass(frozen=True)
class CleanPlan:
    """The runs that go, those that stay with the reason, and the overviews of sweeps of which no run is left."""

    runs: tuple[RunEntry, ...]
    kept: tuple[tuple[RunEntry, str], ...]
    sweeps: tuple[RunEntry, ...]

    @property
    def doomed(self) -> tuple[RunEntry, ...]:
        """All that goes."""
        return self.runs + self.sweeps


def plan_clean(
    runs: Sequence[RunEntry], sweeps: Sequence[RunEntry], keep_latest: int = 0, now: datetime | None = None
) -> CleanPlan:
    """Every run goes but the newest `keep_latest`, the baselines, those of a study and those under way."""
    now = now or datetime.now(UTC)
    kept, doomed = [], []
    for rank, run in enumerate(sorted(runs, key=lambda run: run.started, reverse=True), start=1):
        reason = _reason(run, rank <= keep_latest, now)
        if reason:
            kept.append((run, reason))
        else:
            doomed.append(run)
    # A sweep of which nothing was ever found among the runs is as dead as one whose runs go now.
    alive = {sweep_id for run, _ in kept for sweep_id in run.sweep_ids}
    dead = tuple(sweep for sweep in sweeps if not alive & set(sweep.sweep_ids))
    return CleanPlan(tuple(doomed), tuple(kept), dead)


def _reason(run: RunEntry, latest: bool, now: datetime) -> str:
    """Why a run stays; empty where it may go."""
    if run.pinned:
        return f"baseline of {run.data}"
    if run.study:
        return f"the study {run.study} refers to it"
    if run.status == "RUNNING" and now - run.started < GIVEN_UP:
        return "under way"
    return "one of the latest" if latest else ""

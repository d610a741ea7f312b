"""Finding runs in a store: the last ones, the baselines, and the one that a person means. Only what is asked for is
read, however many runs there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.base.errors import ConfigError
from harness.runs.tags import BASELINE_MARK, BASELINE_TAG, GRADING_TAG, STUDY_TABLE_TAG, STUDY_TAG
from harness.tracking.alive import end_dead
from harness.tracking.entries import RunEntry, entry_of
from harness.tracking.reading import Query
from harness.tracking.store import OpenStore

#: What stands for the newest run where a run is asked for.
LATEST = "latest"
#: An older harness kept the grades of students and cohorts among runs and sweeps.
_NO_GRADES = (GRADING_TAG,)


def runs_query(store: OpenStore) -> Query:
    """All runs."""
    return Query(store.runs_experiment, lacking=_NO_GRADES)


def list_runs(store: OpenStore, limit: int | None = None, metrics: bool = True) -> list[RunEntry]:
    """Every run, or the last ones, newest first."""
    return _entries(store, replace(runs_query(store), limit=limit, metrics=metrics))


def count_runs(store: OpenStore) -> int | None:
    """How many runs there are; None where the store cannot count them."""
    return store.reader.count(runs_query(store))


def list_baselines(store: OpenStore) -> list[RunEntry]:
    """The runs that are baselines, newest first."""
    return _entries(store, replace(runs_query(store), having=(BASELINE_TAG,)))


def baseline_ids(store: OpenStore) -> frozenset[str]:
    """The runs that are baselines."""
    query = replace(runs_query(store), having=(BASELINE_TAG,), metrics=False)
    return frozenset(run.run_id for run in store.reader.search(query))


def list_alike(store: OpenStore, run: RunEntry) -> list[RunEntry]:
    """The finished runs on the data of a run, without their metrics."""
    query = replace(runs_query(store), status="FINISHED", metrics=False)
    if run.data_digest:
        query = replace(query, tags={"data.digest": run.data_digest})
    return [other for other in _entries(store, query) if other.same_data(run)]


def list_running(store: OpenStore, study: str) -> list[RunEntry]:
    """The runs of a study that nobody has ended."""
    return _entries(store, replace(runs_query(store), tags={STUDY_TAG: study}, status="RUNNING"))


def list_sweeps(store: OpenStore) -> list[RunEntry]:
    """The overview of every sweep, newest first."""
    return _entries(store, Query(store.sweeps_experiment, lacking=(*_NO_GRADES, STUDY_TABLE_TAG), metrics=False))


def newest_run(store: OpenStore, status: str = "") -> RunEntry | None:
    """The run that was started last, or the last one that ended so."""
    return next(iter(_entries(store, replace(runs_query(store), status=status, limit=1))), None)


def has_run(store: OpenStore, run_id: str) -> bool:
    """Whether this store has a run of this very id."""
    query = replace(runs_query(store), id_begins=run_id, limit=1, metrics=False)
    return any(run.run_id == run_id for run in store.reader.search(query))


def find_run(store: OpenStore, wanted: str) -> RunEntry:
    """The run that a person means by an id, the beginning of one, a name (the newest of that name) or `latest`."""
    newest = newest_run(store)
    if newest is None:
        raise ConfigError("the store has no runs yet")
    if wanted == LATEST:
        return newest
    runs = runs_query(store)
    names = (wanted, f"{BASELINE_MARK}{wanted}") if wanted else ()
    named = [run for name in names for run in _entries(store, replace(runs, name=name, limit=1))]
    begun = _entries(store, replace(runs, id_begins=wanted, limit=2)) if wanted.isalnum() else []
    named += [run for run in begun if run.run_id == wanted]
    if named:
        return max(named, key=lambda run: run.started)
    if len(begun) > 1:
        raise ConfigError(f"{wanted}: several runs have an id that begins so; write more of it")
    if not begun:
        raise ConfigError(f"{wanted}: no run has this id or name")
    return begun[0]


def nearest_baseline(pinned: Sequence[RunEntry], data_digest: str, data_split: str) -> RunEntry | None:
    """Among the baselines the one of these data, or else the one pinned last."""
    near = [(run.data_digest == data_digest, run.data_split == data_split, run.pinned) for run in pinned]
    return max(zip(near, pinned, strict=True), key=lambda pair: pair[0], default=(None, None))[1]


def find_base(store: OpenStore, run: RunEntry) -> RunEntry:
    """What a run is compared with where nothing is named: the baseline of its data, or the one pinned last."""
    base = nearest_baseline(list_baselines(store), run.data_digest, run.data_split)
    if base is None:
        raise ConfigError("no run is pinned as the baseline yet; name a run to compare with, or pin one")
    if base.run_id == run.run_id:
        raise ConfigError(f"run {run.short_id} is itself the baseline; name a run to compare it with")
    return base


def _entries(store: OpenStore, query: Query) -> list[RunEntry]:
    """What a query finds. Runs under way whose process is dead are ended as KILLED."""
    runs = list(store.reader.search(query))
    ended = end_dead(store, [run for run in runs if run.status == "RUNNING"])
    return [entry_of(replace(run, status=ended.get(run.run_id, run.status))) for run in runs]

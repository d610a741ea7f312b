"""Sweeps in MLflow: flat runs that share a `sweep_id`, and an overview as a run in an experiment of its own.

MLflow's comparison views do not cope with nested runs, so that the jobs of a sweep are not nested.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.runs.selection import best_in_words, comparable, rate_items
from harness.runs.sweeps import SweepJob, quality
from harness.runs.tags import SWEEP_TAG, plain_name
from harness.tracking.alive import end_dead
from harness.tracking.catalog import find_baseline, load_run
from harness.tracking.entries import declared_by
from harness.tracking.pages import run_page, runs_page, sweep_filter
from harness.tracking.reading import Query, StoredRun
from harness.tracking.runs import RunRecord, tracked_run
from harness.tracking.store import OpenStore

#: `run_page` is imported from here as well.
__all__ = ["best_job", "chart_page", "find_jobs", "last_sweep", "log_overview", "run_page"]

#: Of larger sweeps, which cost a second a run of 2,000 photos, nothing is said about the best.
_MOST_SELECTED = 200


def chart_page(store: OpenStore, sweep_id: str) -> str:
    """The address of the chart that compares the jobs of a sweep."""
    return runs_page(store.runs_experiment, sweep_filter(sweep_id), chart=True)


def find_jobs(store: OpenStore, sweep_id: str) -> tuple[SweepJob, ...]:
    """The jobs of a sweep, in the order in which they were started."""
    query = Query(store.runs_experiment, words={SWEEP_TAG: sweep_id}, oldest_first=True, params=True)
    runs = list(store.reader.search(query))
    ended = end_dead(store, [run for run in runs if run.status == "RUNNING"])
    return tuple(
        SweepJob(
            run_id=run.run_id,
            name=plain_name(run.name),
            status=ended.get(run.run_id, run.status),
            preset=run.tags.get("preset", ""),
            params=run.params,
            metrics=run.metrics,
            verdict=run.tags.get("verdict", ""),
            predictions=run.tags.get("predictions.digest", ""),
            headlines=declared_by(run.tags)["headlines"],
        )
        for run in runs
    )


def best_job(store: OpenStore, jobs: Sequence[SweepJob]) -> str:
    """The best job by the first headline, in words: beside the baseline on the same data or, where there is none,
    beside the first job. Empty where there is nothing to choose from."""
    metric = quality(jobs)
    done = [job for job in jobs if job.finished and metric in job.metrics]
    if len(done) < 2:
        return ""
    if len(done) > _MOST_SELECTED:
        return f"not looked for among {len(done)} runs: more than {_MOST_SELECTED} take long to read item by item"
    first = load_run(store, done[0].run_id)
    rates = [rate_items(first, metric), *(rate_items(load_run(store, job.run_id), metric) for job in done[1:])]
    pinned = find_baseline(store, first.metadata.data_digest, first.metadata.data_split)
    baseline = rate_items(pinned.run, metric) if pinned.run else None
    against, base = ("the baseline", baseline) if comparable(baseline, rates[0]) else ("the first run", rates[0])
    skipped = pinned.run_id if base is baseline else done[0].run_id
    others = [(job.name, rate) for job, rate in zip(done, rates, strict=True) if job.run_id != skipped]
    return best_in_words(metric, against, base, others) if base else ""


def log_overview(store: OpenStore, sweep_id: str, record: RunRecord) -> str:
    """Write the overview of a sweep; returns the id of its run."""
    with tracked_run(store, store.sweeps_experiment, f"sweep {sweep_id}", {SWEEP_TAG: sweep_id}) as run:
        run.log(record)
    return run.run_id


def last_sweep(store: OpenStore) -> StoredRun | None:
    """The overview of the sweep that was made last."""
    # An older harness kept the overviews of cohorts here, too.
    return next(store.reader.search(Query(store.sweeps_experiment, having=(SWEEP_TAG,), limit=1)), None)

"""Sweeps in MLflow: flat runs that share a `sweep_id`, and an overview as a run in an experiment of its own.

MLflow's comparison views do not cope with nested runs, so that the jobs of a sweep are not nested.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from harness.runs.selection import best_in_words, comparable, rate_items
from harness.runs.sweeps import SweepJob, quality
from harness.tracking.catalog import declared_by, find_baseline, load_run
from harness.tracking.runs import RunRecord, tracked_run
from harness.tracking.store import OpenStore

_MOST_JOBS = 1000
#: Of larger sweeps, which cost a second a run of 2,000 photos, nothing is said about the best.
_MOST_SELECTED = 200


def runs_page(experiment: str, search: str = "", chart: bool = False, view: str = "") -> str:
    """The address of the runs page in MLflow's UI, below the server's own; a shared `view` brings its own search."""
    mode = "&compareRunsMode=CHART" if chart else ""
    shared = f"&viewStateShareKey={view}" if view else ""
    filtered = f"&searchFilter={quote(search)}" if search else ""
    return f"#/experiments/{experiment}/runs?workflowType=machine_learning{mode}{shared}{filtered}"


def run_page(experiment: str, run_id: str) -> str:
    """The address of one run in MLflow's UI."""
    return f"#/experiments/{experiment}/runs/{run_id}"


def sweep_filter(sweep_id: str) -> str:
    """What MLflow's search finds the jobs of a sweep by; a job that is reused belongs to several."""
    return f"tags.sweep_id LIKE '%{sweep_id}%'"


def chart_page(store: OpenStore, sweep_id: str) -> str:
    """The address of the chart that compares the jobs of a sweep."""
    return runs_page(store.runs_experiment, sweep_filter(sweep_id), chart=True)


def find_jobs(store: OpenStore, sweep_id: str) -> tuple[SweepJob, ...]:
    """The jobs of a sweep, in the order in which they were started."""
    runs = store.client.search_runs(
        [store.runs_experiment], sweep_filter(sweep_id), max_results=_MOST_JOBS, order_by=["start_time ASC"]
    )
    return tuple(
        SweepJob(
            run_id=run.info.run_id,
            name=run.info.run_name,
            status=run.info.status,
            preset=run.data.tags.get("preset", ""),
            params=run.data.params,
            metrics=run.data.metrics,
            verdict=run.data.tags.get("verdict", ""),
            predictions=run.data.tags.get("predictions.digest", ""),
            headlines=declared_by(run.data.tags)["headlines"],
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
    with tracked_run(store, store.sweeps_experiment, f"sweep {sweep_id}", {"sweep_id": sweep_id}) as run:
        run.log(record)
    return run.run_id


def last_sweep(store: OpenStore) -> str | None:
    """The sweep that was made last."""
    # An older harness kept the overviews of cohorts here, too.
    newest = ["start_time DESC"]
    runs = store.client.search_runs([store.sweeps_experiment], "tags.sweep_id LIKE '%'", max_results=1, order_by=newest)
    return runs[0].data.tags.get("sweep_id") if runs else None

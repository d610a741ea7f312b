"""The overview of a sweep: one run in an experiment of its own.

A sweep's jobs are flat runs that share a `sweep_id` tag, because MLflow's comparison views do not cope with nested
runs. The overview holds what the jobs have in common and a table of what differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from harness.text_tables import markdown_table, text_table
from harness.tracking.runs import RunRecord, tracked_run
from harness.tracking.store import Store

HEADLINES = ("number/f1", "ocr/accuracy", "bib/f1", "face/f1", "link/f1", "runtime/pipeline_seconds")
_MOST_JOBS = 1000


@dataclass(frozen=True)
class SweepOverview:
    """Where a sweep's overview is, its table, and the runs that a swept value left with identical predictions."""

    run_id: str
    jobs: int
    table: str
    identical: tuple[tuple[str, ...], ...]


def runs_page(experiment: str, search: str = "", chart: bool = False) -> str:
    """The address of the runs page in MLflow's UI, below the server's own."""
    mode = "&compareRunsMode=CHART" if chart else ""
    filtered = f"&searchFilter={quote(search)}" if search else ""
    return f"#/experiments/{experiment}/runs?workflowType=machine_learning{mode}{filtered}"


def log_sweep(store: Store, sweep_id: str) -> SweepOverview | None:
    """Write the overview of the sweep's runs so far; None where no job got as far as a run."""
    opened = store.open()
    search = f"tags.sweep_id LIKE '%{sweep_id}%'"
    runs = opened.client.search_runs(
        [opened.runs_experiment], search, max_results=_MOST_JOBS, order_by=["start_time ASC"]
    )
    if not runs:
        return None
    varied = _varied(runs)
    names = ["run", "status", *varied, *HEADLINES]
    rows = [
        [
            run.info.run_name,
            run.info.status,
            *(run.data.params.get(name, "") for name in varied),
            *(run.data.metrics.get(name) for name in HEADLINES),
        ]
        for run in runs
    ]
    table = markdown_table(names, rows)
    chart = runs_page(opened.runs_experiment, search, chart=True)
    identical = _identical(runs)
    description = f"{len(runs)} runs, sweep `{sweep_id}`. [Compare them in a chart]({chart}).\n\n{table}"
    description += "".join(f"\n\n**Same predictions on every photo**: {', '.join(same)}." for same in identical)
    with tracked_run(opened, opened.sweeps_experiment, f"sweep {sweep_id}", {"sweep_id": sweep_id}) as run:
        columns = {name: [row[number] for row in rows] for number, name in enumerate(names)}
        record = RunRecord(
            params={"swept": ", ".join(varied)},
            metrics={"jobs": len(runs), "jobs_failed": sum(job.info.status != "FINISHED" for job in runs)},
            tags={},
            description=description,
            tables={"sweep.json": columns},
        )
        run.log(record)
    return SweepOverview(run.run_id, len(runs), text_table(names, rows), identical)


def _varied(runs: Sequence[Any]) -> list[str]:
    """The parameters that are not the same in all runs."""
    keys = sorted({key for run in runs for key in run.data.params})
    return [key for key in keys if len({run.data.params.get(key) for run in runs}) > 1]


def _identical(runs: Sequence[Any]) -> tuple[tuple[str, ...], ...]:
    """Names of runs that predicted the same everywhere: what differs in their configs changed nothing."""
    groups: dict[str, list[str]] = {}
    for run in runs:
        if digest := run.data.tags.get("predictions.digest"):
            groups.setdefault(digest, []).append(run.info.run_name)
    return tuple(tuple(names) for names in groups.values() if len(names) > 1)

"""The straight line of a run: tasks -> gate -> report -> tracking; and that of a sweep. Nothing flows back."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from harness.config import RunSpec
from harness.report.canvas import write_pictures
from harness.report.html import REPORT_FILE
from harness.report.page import RunReport, write_report
from harness.report.sweep_page import SweepFindings, pareto_figure, sweep_markdown, sweep_page, sweep_table, sweep_text
from harness.runs.archive import BenchmarkRun, write_run
from harness.runs.comparison import compare
from harness.runs.gate import Judgement, judge
from harness.runs.records import all_data, archive, describe, result_tags, run_key, run_name, run_tags
from harness.runs.sweeps import varied
from harness.tracking.catalog import Baseline, find_baseline, find_finished, join, load_run, recent_runs
from harness.tracking.runs import RunRecord, tracked_run
from harness.tracking.store import OpenStore
from harness.tracking.sweeps import chart_page, find_jobs, log_overview


@dataclass(frozen=True)
class RunResult:
    """A run that is logged: made just now, or found again because nothing that it depends on has changed."""

    run_id: str
    run: BenchmarkRun
    judgement: Judgement
    reused: bool = False


def evaluate(spec: RunSpec) -> RunResult:
    """Evaluate every task of one configuration, judge the run against the baseline and log it."""
    data = all_data(spec)
    store = spec.tracking.open()
    baseline = find_baseline(store, data.digest, data.split)
    key = run_key(spec, baseline.run_id)
    if not spec.force and (found := find_finished(store, key)):
        return reuse(spec, store, found, baseline)
    for task in spec.tasks:
        task.load()
    tags = run_tags(spec, key)
    with (
        tempfile.TemporaryDirectory() as name,
        tracked_run(store, store.runs_experiment, run_name(spec), tags) as tracked,
    ):
        folder = Path(name)
        results = {task.name: task.evaluate(folder, spec.seed, quiet=spec.light) for task in spec.tasks}
        run = archive(spec, results, key)
        comparison = compare(spec.gate, run, baseline.run, spec.seed) if baseline.run else None
        judgement = comparison.judgement if comparison else judge(spec.gate, run, None)
        write_run(folder, run)
        (folder / "config.yaml").write_text(spec.config_yaml)
        shown: dict[str, str] = {}
        if not spec.light:
            report = RunReport(run, judgement, comparison, baseline.run_id, tags, spec.config_yaml)
            shown = write_report(folder, report, results, recent_runs(store, "data.digest", data.digest))
        tracked.log(
            RunRecord(
                params=spec.params,
                metrics={**run.metrics, **judgement.deltas()},
                tags=result_tags(run, results, judgement, baseline.run_id) | shown,
                description=describe(run, judgement),
                curves={name: steps for result in results.values() for name, steps in result.curves.items()},
                files=folder,
                tables={name: table for result in results.values() for name, table in result.tables.items()},
                dataset=(str(data), data.digest),
                failed=not run.complete,
            )
        )
    return RunResult(tracked.run_id, run, judgement)


def reuse(spec: RunSpec, store: OpenStore, run_id: str, baseline: Baseline) -> RunResult:
    """A finished run with the same key, as if it had just been made."""
    for tag, name in (("sweep_id", spec.sweep_id), ("study", spec.study)):
        if name:
            join(store, run_id, tag, name)
    run = load_run(store, run_id)
    return RunResult(run_id, run, judge(spec.gate, run, baseline.run, spec.seed), reused=True)


@dataclass(frozen=True)
class SweepOverview:
    """Where the overview of a sweep is, its table for a terminal, and what it found."""

    run_id: str
    table: str
    findings: SweepFindings


def evaluate_sweep(store: OpenStore, sweep_id: str) -> SweepOverview | None:
    """Write the overview of the sweep's runs so far; None where no job got as far as a run."""
    jobs = find_jobs(store, sweep_id)
    if not jobs:
        return None
    findings, figure = SweepFindings.of(jobs), pareto_figure(jobs)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_pictures(folder, [figure] if figure else [])
        (folder / REPORT_FILE).write_text(sweep_page(findings, sweep_id, figure))
        record = RunRecord(
            params={"swept": ", ".join(varied(jobs))},
            metrics={
                "jobs": len(jobs),
                "jobs_failed": sum(not job.finished for job in jobs),
                "front": len(findings.front),
                "ladder_inversions": len(findings.inversions),
            },
            tags={},
            description=sweep_markdown(findings, sweep_id, chart_page(store, sweep_id)),
            files=folder,
            tables={"sweep.json": sweep_table(jobs)},
        )
        return SweepOverview(log_overview(store, sweep_id, record), sweep_text(jobs), findings)

"""The straight line of a run: tasks -> gate -> report -> tracking; and that of a sweep. Nothing flows back."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import AuditError
from harness.base.texts import COMMAND
from harness.config import RunSpec
from harness.judging import Judged, judge_plan, log_judgement
from harness.report.canvas import write_pictures
from harness.report.html import REPORT_FILE
from harness.report.page import RunReport, write_report
from harness.report.sweep_page import SweepFindings, pareto_figure, sweep_markdown, sweep_page, sweep_table, sweep_text
from harness.runs.archive import BenchmarkRun, write_run
from harness.runs.gate import Judgement
from harness.runs.looks import is_sealed, unseal
from harness.runs.plan import MEASURED_TAG, TIMING_TAG, Audit, TaskResult
from harness.runs.provenance import CODE_FILE, code_record
from harness.runs.records import all_data, archive, plan_code, result_tags, run_key, run_name, run_tags
from harness.runs.sweeps import varied
from harness.tracking.catalog import (
    Baseline,
    find_baseline,
    find_finished,
    find_seconds,
    join,
    load_run,
    read_tags,
    recent_runs,
    tag_audit,
)
from harness.tracking.runs import RunRecord, tracked_run
from harness.tracking.store import OpenStore
from harness.tracking.sweeps import best_job, chart_page, find_jobs, log_overview

#: How many differences an audit lists.
_MOST_DIFFERENCES = 10


@dataclass(frozen=True)
class RunResult:
    """A run that is logged: made just now, or found again because nothing that it depends on has changed.

    `baseline_id` is the run that it was judged against, where there is one.
    """

    run_id: str
    run: BenchmarkRun
    judgement: Judgement
    reused: bool = False
    baseline_id: str | None = None
    audits: tuple[Callable[[], Audit], ...] = ()


def evaluate(spec: RunSpec, against: Baseline | None = None) -> RunResult:
    """Evaluate every task of one configuration, judge the run against the baseline of its data, or against another one,
    and log it."""
    data, code = all_data(spec), plan_code(spec)
    store = spec.tracking.open()
    root = spec.holdout.root if spec.holdout else None
    baseline = find_baseline(store, data.digest, data.split, root) if against is None else against
    key = run_key(spec, code)
    if not spec.force and (found := _made_before(spec, store, key)):
        return reuse(spec, store, found, baseline)
    for task in spec.tasks:
        task.load()
    tags = run_tags(spec, key, code)
    with (
        tempfile.TemporaryDirectory() as name,
        tracked_run(store, store.runs_experiment, run_name(spec), tags) as tracked,
    ):
        folder = Path(name)
        results = {task.name: task.evaluate(folder, spec.seed, quiet=spec.light) for task in spec.tasks}
        if spec.needs_seconds:
            results = {name: _timed(store, result) for name, result in results.items()}
        plan_code(spec)  # raises where the code was edited meanwhile: the key would not say what was run
        run = archive(spec, results, tags)
        judged = judge_plan(spec, store, run, baseline)
        if spec.sealed:
            folder, results = folder / "sealed", {name: result.sealed() for name, result in results.items()}
            folder.mkdir()
        else:
            write_run(folder, run)
        (folder / "config.yaml").write_text(spec.config_yaml)
        (folder / CODE_FILE).write_text(json.dumps(code_record(code), indent=1))
        told = {**tags, **result_tags(run, results)}
        shown = _report(spec, store, run, judged, results, told, folder)
        tracked.log(
            RunRecord(
                params=spec.params,
                metrics={**judged.run.metrics, **judged.deltas},
                tags=result_tags(run, results) | judged.tags | shown,
                description=judged.description,
                curves={name: steps for result in results.values() for name, steps in result.curves.items()},
                files=folder,
                tables={name: table for result in results.values() for name, table in result.tables.items()},
                dataset=(str(data), data.digest),
                failed=not run.complete,
            )
        )
    audits = tuple(result.audit for result in results.values() if result.audit is not None)
    return RunResult(tracked.run_id, judged.run, judged.judgement, baseline_id=baseline.run_id, audits=audits)


def _made_before(spec: RunSpec, store: OpenStore, key: str) -> str | None:
    """A finished run with this key. One whose sealed scores are gone cannot be judged, and is made again."""
    if spec.holdout and spec.sealed and not is_sealed(spec.holdout.root, key):
        return None
    return find_finished(store, key, timed=spec.needs_seconds, sealed=spec.sealed)


def _timed(store: OpenStore, result: TaskResult) -> TaskResult:
    """A result with seconds where the cache has answered: those of an earlier timing pass, or of one made now."""
    if result.timing is None:
        return result
    if known := find_seconds(store, result.timing.key):
        run_id, seconds = known
        return result.with_seconds(seconds, {MEASURED_TAG: f"timing pass of run {run_id[:8]}"})
    seconds = dict(result.timing.measure())
    tags = {MEASURED_TAG: result.timing.words, TIMING_TAG: result.timing.key}
    return result.with_seconds(seconds, tags if seconds else {})


def audit(spec: RunSpec, result: RunResult) -> tuple[Audit, ...]:
    """Compute some of what a run took from the cache anew, and note on the run what came of it. Raises AuditError where
    an answer differs. A run that was reused has computed nothing, and has nothing to audit."""
    done = []
    for check in result.audits:
        found = check()
        tag_audit(spec.tracking.open(), result.run_id, found)
        if found.differences:
            listed = "\n".join(f"  {text}" for text in found.differences[:_MOST_DIFFERENCES])
            raise AuditError(
                f"audit: {len(found.differences)} of {found.checked} answers from the stage cache come out otherwise "
                f"when computed anew:\n{listed}\nThe numbers of this run are not to be trusted, and it is FAILED in "
                f"MLflow. These entries were dropped; `{COMMAND} cache clear` drops the others."
            )
        done.append(found)
    return tuple(done)


def reuse(spec: RunSpec, store: OpenStore, run_id: str, baseline: Baseline) -> RunResult:
    """A finished run with the same key, as if it had just been made. It is judged as things stand now; where that is
    another judgement than the one it was logged with, its record and its report are written anew."""
    for tag, name in (("sweep_id", spec.sweep_id), ("study", spec.study)):
        if name:
            join(store, run_id, tag, name)
    sealed = unseal(spec.holdout.root, run_key(spec, plan_code(spec))) if spec.holdout and spec.sealed else None
    run, tags = sealed or load_run(store, run_id), read_tags(store, run_id)
    judged = judge_plan(spec, store, run, baseline, run_id)
    if baseline.run is not None and not judged.stands(run_id, tags):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            results = {} if spec.light or spec.sealed else _again(spec, folder)
            shown = _report(spec, store, run, judged, results, tags, folder)
            log_judgement(store, run_id, judged, shown, folder)
    return RunResult(run_id, judged.run, judged.judgement, reused=True, baseline_id=baseline.run_id)


def _again(spec: RunSpec, folder: Path) -> dict[str, TaskResult]:
    """What the tasks come to, for the pictures of a new report. The stages are in the cache."""
    for task in spec.tasks:
        task.load()
    return {task.name: task.evaluate(folder, spec.seed, quiet=True) for task in spec.tasks}


def _report(
    spec: RunSpec,
    store: OpenStore,
    run: BenchmarkRun,
    judged: Judged,
    results: Mapping[str, TaskResult],
    tags: Mapping[str, str],
    folder: Path,
) -> dict[str, str]:
    """Write the report, if the run is to have one; returns the tags that say what it shows. Trials of a search and runs
    whose scores are sealed have none."""
    if spec.light or spec.sealed:
        return {}
    recent = recent_runs(store, "data.digest", run.metadata.data_digest)
    others = [other for other in recent if other.metadata.key != run.metadata.key]
    report = RunReport(run, judged.judgement, judged.comparison, judged.baseline.run_id, tags, spec.config_yaml)
    return write_report(folder, report, results, others)


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
    findings, figure = SweepFindings.of(jobs, best_job(store, jobs)), pareto_figure(jobs)
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

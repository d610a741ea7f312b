"""The straight line of a run: tasks -> gate -> report -> tracking; and that of a sweep. Nothing flows back."""

from __future__ import annotations

import errno
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.errors import AuditError, HarnessError, SealedError
from harness.base.progress import warn
from harness.base.scratch import scratch
from harness.base.screen import screen
from harness.base.texts import COMMAND
from harness.config import stored_spec
from harness.judging import Judged, judge_plan, log_judgement
from harness.report.canvas import write_pictures
from harness.report.html import REPORT_FILE
from harness.report.page import RunReport, write_report
from harness.report.sweep_page import SweepFindings, pareto_figure, sweep_markdown, sweep_page, sweep_table, sweep_text
from harness.runs.archive import PHOTOS, BenchmarkRun, write_run
from harness.runs.gate import Judgement
from harness.runs.looks import is_sealed, unseal
from harness.runs.plan import CACHED_PHOTOS, Audit, Drawing, TaskResult
from harness.runs.provenance import CODE_FILE, code_record
from harness.runs.records import all_data, archive, plan_code, result_tags, run_key, run_name, run_tags
from harness.runs.sweeps import SweepJob, extremes, varied
from harness.runs.tags import MEASURED_TAG, STUDY_TAG, SWEEP_TAG, TIMING_TAG
from harness.spec import RunSpec
from harness.tracking.catalog import (
    Baseline,
    find_baseline,
    find_finished,
    find_seconds,
    has_artifact,
    join,
    killed_before,
    load_run,
    read_artifact,
    read_tags,
    recent_runs,
    tag_audit,
)
from harness.tracking.runs import RunRecord, tracked_run
from harness.tracking.store import OpenStore
from harness.tracking.sweeps import best_job, chart_page, find_jobs, log_overview

#: How many differences an audit lists.
_MOST_DIFFERENCES = 10
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True)
class RunResult:
    """A run that is logged: made just now, or found again because nothing that it depends on has changed.

    `baseline_id` is the run that it was judged against, where there is one. `resumed` says, in a sentence, what it has
    gone on from.
    """

    run_id: str
    run: BenchmarkRun
    judgement: Judgement
    reused: bool = False
    baseline_id: str | None = None
    audits: tuple[Callable[[], Audit], ...] = ()
    resumed: str = ""


def evaluate(
    spec: RunSpec, against: Baseline | None = None, show: Callable[[RunResult], None] | None = None
) -> RunResult:
    """Evaluate every task of one configuration, judge the run against the baseline of its data, or against another one,
    and log it. Whoever is to `show` the result gets it as soon as it is judged: its report and the log follow."""
    data, code = all_data(spec), plan_code(spec)
    store = spec.tracking.open()
    root = spec.holdout.root if spec.holdout else None
    baseline = find_baseline(store, data.digest, data.split, root) if against is None else against
    key = run_key(spec, code)
    if not spec.force and (found := _made_before(spec, store, key)):
        return reuse(spec, store, found, baseline, show=show)
    for task in spec.tasks:
        task.load()
    tags = run_tags(spec, key, code)
    with (
        temporary_room(),
        scratch() as folder,
        tracked_run(store, store.runs_experiment, run_name(spec), tags) as tracked,
    ):
        results = {task.name: task.evaluate(folder, spec.seed, quiet=spec.light) for task in spec.tasks}
        if spec.needs_seconds:
            results = {name: _timed(store, result) for name, result in results.items()}
        plan_code(spec)  # raises where the code was edited meanwhile: the key would not say what was run
        run = archive(spec, results, tags)
        judged = judge_plan(spec, store, run, baseline)
        outcome = RunResult(
            tracked.run_id,
            judged.run,
            judged.judgement,
            baseline_id=baseline.run_id,
            audits=tuple(result.audit for result in results.values() if result.audit is not None),
            resumed=_resumed(store, tracked.run_id, run),
        )
        if show is not None:
            show(outcome)
        if spec.sealed:
            folder, results = folder / "sealed", {name: result.sealed() for name, result in results.items()}
            folder.mkdir()
        else:
            write_run(folder, run)
        (folder / "config.yaml").write_text(spec.config_yaml)
        (folder / CODE_FILE).write_text(json.dumps(code_record(code), indent=1))
        told = {**tags, **result_tags(run, results)}
        shown = _report(spec, store, tracked.run_id, run, judged, results, told, folder) if spec.wants_report else {}
        tracked.log(
            RunRecord(
                params=spec.params,
                metrics=judged.metrics,
                tags=result_tags(run, results) | judged.tags | shown,
                description=judged.description(store, tracked.run_id),
                curves={name: steps for result in results.values() for name, steps in result.curves.items()},
                files=folder,
                tables={name: table for result in results.values() for name, table in result.tables.items()},
                dataset=(str(data), data.digest),
                failed=not run.complete,
            )
        )
    return outcome


@contextmanager
def temporary_room() -> Iterator[None]:
    """Say what to do where the disk of the temporary folder is full, which has the files of a run until it ends."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise HarnessError(
            f"no room for the files of the run: {error}; {tempfile.gettempdir()} has them until they are logged, and "
            "TMPDIR names another folder; what was predicted is in the stage cache"
        ) from error


def _resumed(store: OpenStore, run_id: str, run: BenchmarkRun) -> str:
    """What a run has gone on from: an earlier one with the same key that was killed, and left answers in the cache."""
    photos, cached = run.tasks.get(PHOTOS), run.metrics.get(CACHED_PHOTOS)
    if photos is None or not cached:
        return ""
    try:
        killed = killed_before(store, run.metadata.key, run_id)
    except HarnessError as error:  # the store is away; whatever was computed is still to be kept
        warn(f"a run that this one goes on from cannot be looked for: {error}")
        return ""
    if not killed:
        return ""
    shares = f"{cached:.0f} of {photos.counted()}"
    return f"Went on from run {killed[:8]}, which was killed: {shares} came from the stage cache."


def _made_before(spec: RunSpec, store: OpenStore, key: str) -> str | None:
    """A finished run with this key. One whose sealed scores are gone cannot be judged, and is made again."""
    if spec.holdout and spec.sealed and not is_sealed(spec.holdout.root, key):
        return None
    return find_finished(store, key, timed=spec.needs_seconds, sealed=spec.sealed)


def _timed(store: OpenStore, result: TaskResult) -> TaskResult:
    """A result with seconds where the cache has answered: those of an earlier timing pass, or of one made now."""
    if result.timing is None:
        return result
    try:
        known = find_seconds(store, result.timing.key)
    except HarnessError as error:  # the store is away; whatever was computed is still to be kept
        warn(f"an earlier timing pass cannot be looked for, and one is made: {error}")
        known = None
    if known:
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


def reuse(
    spec: RunSpec,
    store: OpenStore,
    run_id: str,
    baseline: Baseline,
    redraw: bool = False,
    show: Callable[[RunResult], None] | None = None,
) -> RunResult:
    """A finished run with the same key, as if it had just been made. It is judged as things stand now; where that is
    another judgement than the one it was logged with, its record and its report are written anew. A report that it was
    made without is made now, where this run would have one; with `redraw` it is made in any case."""
    for tag, name in ((SWEEP_TAG, spec.sweep_id), (STUDY_TAG, spec.study)):
        if name:
            join(store, run_id, tag, name)
    sealed = unseal(spec.holdout.root, run_key(spec, plan_code(spec))) if spec.holdout and spec.sealed else None
    run, tags = sealed or load_run(store, run_id), read_tags(store, run_id)
    judged = judge_plan(spec, store, run, baseline, run_id)
    outcome = RunResult(run_id, judged.run, judged.judgement, reused=True, baseline_id=baseline.run_id)
    if show is not None:
        show(outcome)
    reported = has_artifact(store, run_id, REPORT_FILE)
    anew = baseline.run is not None and not judged.stands(run_id, tags)
    if anew or redraw or (spec.wants_report and not reported):
        with scratch() as folder:
            shown: dict[str, str] = {}
            if reported or spec.wants_report:
                shown = _report(spec, store, run_id, run, judged, _again(spec, folder), tags, folder)
            log_judgement(store, run_id, judged, shown, folder)
    return outcome


def make_report(store: OpenStore, run_id: str, drawing: Drawing | None = None) -> None:
    """Make the report of a run, from its config and the stage cache, as it is drawn by its config or otherwise. Raises
    a HarnessError where it would be another run by now, or one of which nothing may be shown."""
    spec = replace(remade(store, run_id, "pictures"), reports="on")
    data = all_data(spec)
    root = spec.holdout.root if spec.holdout else None
    spec = replace(spec, drawing=drawing or spec.drawing)
    reuse(spec, store, run_id, find_baseline(store, data.digest, data.split, root), redraw=True)


def remade(store: OpenStore, run_id: str, wanted: str) -> RunSpec:
    """The plan of a stored run, whose stages are in the cache. Raises a HarnessError, which says that the `wanted`
    cannot be made, where it would be another run by now."""
    spec = replace(stored_spec(read_artifact(store, run_id, "config.yaml").decode()), sweep_id=None)
    key, code = load_run(store, run_id).metadata.key, plan_code(spec)
    if key not in (run_key(spec, code), run_key(replace(spec, light=True), code)):
        raise HarnessError(
            f"run {run_id[:8]}: its photos, labels, models or code have changed since, so that its {wanted} cannot be "
            "made any more; run it again"
        )
    return spec


def _again(spec: RunSpec, folder: Path) -> dict[str, TaskResult]:
    """What the tasks come to, for the pictures of a new report. The stages are in the cache."""
    for task in spec.tasks:
        task.load()
    return {task.name: task.evaluate(folder, spec.seed, quiet=True) for task in spec.tasks}


def _report(
    spec: RunSpec,
    store: OpenStore,
    run_id: str,
    run: BenchmarkRun,
    judged: Judged,
    results: Mapping[str, TaskResult],
    tags: Mapping[str, str],
    folder: Path,
) -> dict[str, str]:
    """Write the report; returns the tags that say what it shows."""
    try:
        recent = recent_runs(store, "data.digest", run.metadata.data_digest)
    except HarnessError as error:  # the store is away; whatever was computed is still to be kept
        warn(f"the report leaves out the runs before this one: {error}")
        recent = ()
    others = [other for other in recent if other.metadata.key != run.metadata.key]
    report = RunReport(
        run,
        judged.judgement,
        judged.comparison,
        judged.baseline.run_id,
        tags,
        spec.config_yaml,
        run_id=run_id,
        drawing=spec.drawing,
    )
    return write_report(folder, report, results, others)


@dataclass(frozen=True)
class SweepOverview:
    """Where the overview of a sweep is, its table for a terminal, and what it found."""

    run_id: str
    table: str
    findings: SweepFindings


def evaluate_sweep(store: OpenStore, sweep_id: str, missing: Sequence[str] = ()) -> SweepOverview | None:
    """Write the overview of the sweep's runs so far; None where no job got as far as a run. `missing` are the jobs that
    came to no end."""
    jobs = find_jobs(store, sweep_id)
    if not jobs:
        return None
    findings, figure = SweepFindings.of(jobs, best_job(store, jobs), missing), pareto_figure(jobs)
    with scratch() as folder:
        write_pictures(folder, [figure] if figure else [])
        (folder / REPORT_FILE).write_text(sweep_page(findings, sweep_id, figure))
        record = RunRecord(
            params={"swept": ", ".join(varied(jobs))},
            metrics={
                "jobs": len(jobs),
                "jobs_failed": sum(not job.finished for job in jobs),
                "jobs_missing": len(missing),
                "front": len(findings.front),
                "ladder_inversions": len(findings.inversions),
            },
            tags={},
            description=sweep_markdown(findings, sweep_id, chart_page(store, sweep_id)),
            files=folder,
            tables={"sweep.json": sweep_table(jobs)},
        )
        overview = SweepOverview(log_overview(store, sweep_id, record), sweep_text(jobs, screen()), findings)
    for job in extremes(jobs):
        _make_report_of(store, job)
    return overview


def _make_report_of(store: OpenStore, job: SweepJob) -> None:
    """Make the report of a job. A sweep does not fail for it."""
    try:
        make_report(store, job.run_id)
    except SealedError:
        return
    except HarnessError as error:
        warn(f"no report of {job.name}: {error}")

"""The straight line of a run: tasks -> gate -> report -> tracking. Nothing flows back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from harness.base.errors import AuditError, HarnessError
from harness.base.progress import busy, warn
from harness.base.scratch import scratch, temporary_room
from harness.base.texts import COMMAND
from harness.judging import judge_plan
from harness.remaking import RunResult, baseline_for, report_of, reuse, saying
from harness.runs.archive import PHOTOS, BenchmarkRun, write_run
from harness.runs.looks import is_sealed
from harness.runs.plan import CACHED_PHOTOS, Audit, TaskResult
from harness.runs.provenance import CODE_FILE, code_record
from harness.runs.records import all_data, archive, plan_code, result_tags, run_key, run_name, run_tags
from harness.runs.tags import MEASURED_TAG, TIMING_TAG
from harness.spec import RunSpec
from harness.tracking.catalog import Baseline, find_finished, find_seconds, killed_before, tag_audit
from harness.tracking.runs import RunRecord, tracked_run
from harness.tracking.store import OpenStore

#: How many differences an audit lists.
_MOST_DIFFERENCES = 10


def evaluate(
    spec: RunSpec, against: Baseline | None = None, show: Callable[[RunResult], None] | None = None
) -> RunResult:
    """Evaluate every task of one configuration, judge the run against the baseline of its data, or against another one,
    and log it. Whoever is to `show` the result gets it as soon as it is judged: its report and the log follow."""
    step = saying(spec)
    with step("reading photos and labels"):
        data, code = all_data(spec), plan_code(spec)
    with step("opening the store of runs"):
        store = spec.tracking.open()
        baseline = baseline_for(spec, store, data) if against is None else against
        key = run_key(spec, code)
        found = None if spec.force else _made_before(spec, store, key)
    if found:
        return reuse(spec, store, found, baseline, show=show)
    with step("opening models"):
        for task in spec.tasks:
            task.load()
    tags = run_tags(spec, key, code)
    with temporary_room(), scratch() as folder, ExitStack() as ending:
        with step("beginning the run"):
            tracked = ending.enter_context(tracked_run(store, store.runs_experiment, run_name(spec), tags))
        with step("evaluating"):
            results = _evaluated(spec, store, folder)
            plan_code(spec)  # raises where the code was edited meanwhile: the key would not say what was run
            run = archive(spec, results, tags)
        with step("judging"):
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
            results = {name: result.sealed() for name, result in results.items()}
        files = _written(spec, run, code_record(code), folder)
        found_out, shown = result_tags(run, results), dict[str, str]()
        if spec.wants_report:
            with step("drawing the report"):
                shown = report_of(spec, store, tracked.run_id, run, judged, results, tags | found_out, files)
        record = RunRecord(
            params=spec.params,
            metrics=judged.metrics,
            tags=found_out | judged.tags | shown,
            description=judged.description(store, tracked.run_id),
            curves={name: steps for result in results.values() for name, steps in result.curves.items()},
            files=files,
            tables={name: table for result in results.values() for name, table in result.tables.items()},
            dataset=(str(data), data.digest),
            failed=not run.complete,
        )
        with step("logging to MLflow"):
            tracked.log(record)
    return outcome


def _evaluated(spec: RunSpec, store: OpenStore, folder: Path) -> dict[str, TaskResult]:
    """What each task comes to, with seconds where somebody asks for them."""
    results = {task.name: task.evaluate(folder, spec.seed, quiet=spec.light) for task in spec.tasks}
    if spec.needs_seconds:
        return {name: _timed(spec, store, result) for name, result in results.items()}
    return results


def _written(spec: RunSpec, run: BenchmarkRun, code: Mapping[str, object], folder: Path) -> Path:
    """The folder of what is logged with a run. Of a sealed one it has no scores, and nothing that tasks have left."""
    if spec.sealed:
        folder = folder / "sealed"
        folder.mkdir()
    else:
        write_run(folder, run)
    (folder / "config.yaml").write_text(spec.config_yaml)
    (folder / CODE_FILE).write_text(json.dumps(code, indent=1))
    return folder


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


def _timed(spec: RunSpec, store: OpenStore, result: TaskResult) -> TaskResult:
    """A result with seconds where the cache has answered: those of an earlier timing pass, or of one made now. The
    trials of a search that is after seconds are held against each other and the base, so that each has those of a pass,
    whatever was computed in its run."""
    if result.timing is None or (MEASURED_TAG in result.tags and not (spec.study and spec.timing == "on")):
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
        with busy("auditing answers from the cache"):
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

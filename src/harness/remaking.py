"""A run that was made before: judged as things stand now, and its report made anew from the stage cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.progress import busy, warn
from harness.base.scratch import scratch
from harness.config import stored_spec
from harness.judging import Judged, judge_plan, log_judgement
from harness.report.html import REPORT_FILE
from harness.report.page import RunReport, write_report
from harness.runs.archive import BenchmarkRun, TaskData
from harness.runs.gate import Judgement
from harness.runs.looks import unseal
from harness.runs.plan import Audit, Drawing, TaskResult
from harness.runs.records import all_data, plan_code, run_key
from harness.runs.tags import STUDY_TAG, SWEEP_TAG
from harness.spec import RunSpec
from harness.tracking.catalog import (
    Baseline,
    find_baseline,
    has_artifact,
    join,
    load_run,
    read_artifact,
    read_tags,
    recent_runs,
)
from harness.tracking.store import OpenStore


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


def baseline_for(spec: RunSpec, store: OpenStore, data: TaskData) -> Baseline:
    """The baseline that a run on these data is judged against."""
    return find_baseline(store, data.digest, data.split, spec.holdout.root if spec.holdout else None)


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
    with saying(spec)("reading the run that was made before"):
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
                with saying(spec)("drawing the report"):
                    shown = report_of(spec, store, run_id, run, judged, _again(spec, folder), tags, folder)
            log_judgement(store, run_id, judged, shown, folder)
    return outcome


def make_report(store: OpenStore, run_id: str, drawing: Drawing | None = None) -> None:
    """Make the report of a run, from its config and the stage cache, as it is drawn by its config or otherwise. Raises
    a HarnessError where it would be another run by now, or one of which nothing may be shown."""
    spec = replace(remade(store, run_id, "pictures"), reports="on")
    spec = replace(spec, drawing=drawing or spec.drawing)
    reuse(spec, store, run_id, baseline_for(spec, store, all_data(spec)), redraw=True)


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


def report_of(
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
        same = tags.get("predictions.digest")  # the run itself, and others that can tell nothing new
        recent = recent_runs(store, "data.digest", run.metadata.data_digest, but=same)
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


def saying(spec: RunSpec) -> Callable[[str], AbstractContextManager[None]]:
    """What says on a terminal what is being done. A trial says nothing: its search shows how far it is."""
    return (lambda _: nullcontext()) if spec.light else busy

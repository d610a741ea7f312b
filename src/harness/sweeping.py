"""The overview of a sweep: its table, its page, and the reports of its best and its worst run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.base.errors import HarnessError, SealedError
from harness.base.progress import warn
from harness.base.scratch import scratch
from harness.base.screen import screen
from harness.remaking import make_report
from harness.report.canvas import write_pictures
from harness.report.html import REPORT_FILE
from harness.report.sweep_page import SweepFindings, pareto_figure, sweep_markdown, sweep_page, sweep_table, sweep_text
from harness.runs.sweeps import SweepJob, extremes, varied
from harness.tracking.runs import RunRecord
from harness.tracking.store import OpenStore
from harness.tracking.sweeps import best_job, chart_page, find_jobs, log_overview


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

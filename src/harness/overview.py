"""The overview of a sweep: its jobs -> what they show -> report -> tracking."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from harness.report.canvas import write_pictures
from harness.report.figures import pareto_figure
from harness.report.html import REPORT_FILE
from harness.report.sweep_page import SweepFindings, sweep_markdown, sweep_page, sweep_table, sweep_text
from harness.runs.sweeps import varied
from harness.tracking.runs import RunRecord
from harness.tracking.store import OpenStore
from harness.tracking.sweeps import chart_page, find_jobs, log_overview


@dataclass(frozen=True)
class SweepOverview:
    """Where the overview of a sweep is, its table for a terminal, and what it found."""

    run_id: str
    table: str
    findings: SweepFindings


def log_sweep(store: OpenStore, sweep_id: str) -> SweepOverview | None:
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

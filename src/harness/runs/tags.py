"""The tags that the harness finds runs by. They stand in every store, and are never renamed."""

from __future__ import annotations

#: What a run is found again by.
KEY_TAG = "key"
#: Present on the runs that a search made, with its name.
STUDY_TAG = "study"
#: Present on those of its trials, with the name of the worker that evaluates it.
WORKER_TAG = "study.worker"
#: Present on the run that has the trials of a study as one table, with the study's name.
STUDY_TABLE_TAG = "study.trials"
#: On the jobs of sweeps and on their overviews: the sweeps that they belong to.
SWEEP_TAG = "sweep_id"
#: What its judgement depends on; one with another key is made anew.
JUDGEMENT_TAG = "judgement.key"
#: Which rule it was judged by.
JUDGE_TAG = "verdict.judge_version"
#: Present on runs whose scores are sealed, with the folder of the reference set that has them.
SEALED_TAG = "sealed"
#: Says which metrics and pictures a run declares as worth a column or a chart, so that lists need not read the run.
DECLARED_TAG = "declared"
#: On a run: what was measured there by a timing pass, for later runs to find; and how its seconds were measured.
TIMING_TAG, MEASURED_TAG = "timing.key", "runtime.measured"
#: Present on the runs that are baselines, with the time at which they were pinned.
BASELINE_TAG = "baseline"
#: On the runs whose audit was made: what it came to.
AUDIT_TAG = "audit"
#: Present on the runs that are grades of a student, and on the overview of a cohort.
GRADING_TAG = "grading_id"
#: Present on the runs in which a gated metric moved: which, and by how many points.
MOVED_TAG = "verdict.moved"
#: What the names of baselines begin with in MLflow, so that they stand out in every table and chart. Nowhere else.
BASELINE_MARK = "◆ baseline: "


def plain_name(name: str) -> str:
    """The name of a run as it was given."""
    return name.removeprefix(BASELINE_MARK)

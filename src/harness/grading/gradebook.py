"""Grade one student or a cohort from files, and keep the grades in MLflow.

A student whose work cannot be read is named with the reason and the others are graded all the same. In MLflow each
student is one run in the experiment of grades, tagged with the cohort, which stays the same from one grading to the
next, and with the grading, which does not; the overview of a cohort is a run beside them.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.base.code import code_of
from harness.base.errors import ConfigError, GradingError
from harness.base.progress import track
from harness.base.scratch import scratch
from harness.grading.cohort import Cohort, cohort_page
from harness.grading.graded import GradedSubmission, grade_submission
from harness.grading.rules import GivenOverride, read_overrides, read_rules
from harness.grading.shown import cohort_markdown, grade_markdown
from harness.grading.submissions import Submission, read_submission
from harness.grading.written import columns, rows, write_grade, write_text
from harness.runs.provenance import provenance
from harness.runs.tags import GRADING_TAG
from harness.scoring import SCORER_VERSION, GradingRules
from harness.tracking.pages import runs_page
from harness.tracking.runs import RunRecord, tracked_run
from harness.tracking.store import LocalStore, OpenStore


@dataclass(frozen=True)
class GradingJob:
    """What is to be graded, by which rules, with which overrides, and where the images are.

    Annotations that cannot be read are skipped, or refused with their file where `strict`.
    """

    ground_truth: Path
    student: Path
    rules: Path | None = None
    overrides: Path | None = None
    images: Path | None = None
    strict: bool = False


def grade_student(job: GradingJob) -> GradedSubmission:
    """Grade one submission. Raises where it, or an override, cannot be used."""
    truth, rules, words = _given(job)
    student = read_submission(job.student, job.strict)
    for word in words:
        if word.student not in ("", student.name):
            raise GradingError(f"{word.where}: student {word.student!r}: the student here is {student.name!r}")
    return grade_submission(truth, student, rules, [word.override for word in words])


def grade_cohort(job: GradingJob, submissions: dict[str, Path], name: str) -> Cohort:
    """Grade every submission; those that cannot be graded are kept with the reason."""
    truth, rules, words = _given(job)
    for word in words:
        if word.student not in submissions:
            known = ", ".join(submissions)
            raise GradingError(f"{word.where}: student {word.student!r}: no such student; there are {known}")
    graded, failed = [], {}
    for student, path in track(submissions.items(), "students"):
        own = [word.override for word in words if word.student == student]
        try:
            graded.append(grade_submission(truth, read_submission(path, job.strict), rules, own))
        except GradingError as error:
            failed[student] = str(error)
    graded.sort(key=lambda one: (-one.report.overall, one.student.name))
    return Cohort(name, truth.name, tuple(graded), failed)


def log_student(store: LocalStore, graded: GradedSubmission, cohort: str | None, images: Path | None) -> str:
    """Log one student; returns the id of the run."""
    return _log_student(store.open(), graded, _tags(cohort), images)


def log_cohort(store: LocalStore, cohort: Cohort, images: Path | None) -> tuple[str, list[str]]:
    """Log every student, then the overview; returns the ids of their runs."""
    check_cohort_name(cohort.name)
    opened, tags = store.open(), _tags(cohort.name)
    experiment = opened.grades_experiment()
    runs = [_log_student(opened, graded, tags, images) for graded in cohort.graded]
    now = f"tags.{GRADING_TAG} = '{tags[GRADING_TAG]}' and tags.student LIKE '%'"
    chart = runs_page(experiment, now, chart=True)
    ever = runs_page(experiment, f"tags.cohort = '{cohort.name}' and tags.student LIKE '%'", chart=True)
    links = f"[Compare them in a chart]({chart}); [all gradings of this cohort]({ever})."
    overall = [graded.report.overall for graded in cohort.graded]
    metrics = {"students": float(len(cohort.graded)), "students_failed": float(len(cohort.failed))}
    metrics |= {"overall_mean": sum(overall) / len(overall), "overall_best": max(overall)} if overall else {}
    with (
        scratch() as folder,
        tracked_run(opened, experiment, f"cohort {cohort.name}", tags | provenance(code_of(__name__))) as run,
    ):
        write_text(folder / "cohort.html", cohort_page(cohort, {}))
        run.log(
            RunRecord(
                params={"ground_truth": cohort.ground_truth},
                metrics=metrics,
                tags={},
                description=f"Cohort `{cohort.name}`. {links}\n\n{cohort_markdown(cohort)}",
                files=folder,
                tables={"cohort.json": columns(cohort.table())},
                failed=bool(cohort.failed),
            )
        )
    return run.run_id, runs


def check_cohort_name(name: str) -> None:
    """Refuse a name that MLflow's search could not find again."""
    if not re.fullmatch(r"[\w .()+-]+", name):
        raise ConfigError(f"--cohort {name!r}: expected letters, digits, spaces, and . ( ) + - _")


def _given(job: GradingJob) -> tuple[Submission, GradingRules, Sequence[GivenOverride]]:
    rules, words = read_rules(job.rules), read_overrides(job.overrides)
    truth = read_submission(job.ground_truth, job.strict)
    if job.images is not None and not any((job.images / name).is_file() for name in truth.images):
        raise GradingError(f"{job.images}: none of the images of {job.ground_truth} is here")
    return truth, rules, words


def _tags(cohort: str | None) -> dict[str, str]:
    grading = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"
    return {GRADING_TAG: grading} | ({"cohort": cohort} if cohort else {})


def _log_student(store: OpenStore, graded: GradedSubmission, tags: dict[str, str], images: Path | None) -> str:
    own = {
        "student": graded.student.name,
        "student.digest": graded.student.digest,
        "data.name": graded.ground_truth.name,
        "data.digest": graded.ground_truth.digest,
        "scorer_version": str(SCORER_VERSION),
    }
    name = f"grade {graded.student.name}"
    with (
        scratch() as folder,
        tracked_run(store, store.grades_experiment(), name, tags | own | provenance(code_of(__name__))) as run,
    ):
        write_grade(folder, graded, images)
        run.log(
            RunRecord(
                params=_params(graded),
                metrics=graded.metrics(),
                tags={},
                description=grade_markdown(graded),
                files=folder,
                tables={"annotations.json": columns(rows(graded))},
                dataset=(graded.ground_truth.name, graded.ground_truth.digest),
            )
        )
    return run.run_id


def _params(graded: GradedSubmission) -> dict[str, str]:
    rules = asdict(graded.report.rules)
    return {"student": graded.student.name, **{f"grading.{name}": str(value) for name, value in rules.items()}}

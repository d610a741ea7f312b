"""Grade a student's annotations, or those of a whole cohort, against a ground truth.

GT and STUDENT are COCO files, CVAT files, or folders of Pascal VOC, LabelMe or other such files. A STUDENT folder with
a file or a folder for each student is a cohort. Annotations that cannot be graded are skipped and listed. With --out,
the reports say why each point was lost; with --log, the grades are kept in MLflow, one run a student.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.base.errors import ConfigError, IncompleteError
from harness.base.texts import COMMAND
from harness.cli.terminal import add_json, add_overrides, show_json

if TYPE_CHECKING:
    from harness.grading.gradebook import GradingJob

NAME = "grade"
HELP = "grade annotations against a ground truth"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("ground_truth", type=Path, metavar="GT", help="the ground truth")
    parser.add_argument("student", type=Path, metavar="STUDENT", help="a submission, or a folder with one a student")
    parser.add_argument("--rules", type=Path, metavar="YAML", help="match key, attributes, weights, beta, blend, ...")
    parser.add_argument("--overrides", type=Path, metavar="CSV", dest="words", help="scores that a trainer replaced")
    parser.add_argument("--images", type=Path, metavar="DIR", help="folder of the images, to draw the shapes on")
    parser.add_argument("--strict", action="store_true", help="refuse a file with annotations that cannot be graded")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where to write JSON, CSV and HTML")
    parser.add_argument("--log", action="store_true", help="keep the grades in MLflow")
    parser.add_argument("--cohort", metavar="NAME", help="what the runs are tagged with (default: STUDENT's name)")
    add_json(parser)
    add_overrides(parser, "references.root=FOLDER")


def run(arguments: argparse.Namespace) -> int:
    """Grade, show, write, log."""
    from harness.grading.gradebook import GradingJob, check_cohort_name
    from harness.grading.submissions import students

    if arguments.overrides and not arguments.log:
        raise ConfigError(f"{arguments.overrides[0]}: config overrides select the store of --log, which is not given")
    if arguments.cohort is not None:
        check_cohort_name(arguments.cohort)
    job = GradingJob(
        arguments.ground_truth,
        arguments.student,
        arguments.rules,
        arguments.words,
        arguments.images,
        arguments.strict,
    )
    submissions = students(arguments.student)
    if submissions is None:
        return _run_student(job, arguments)
    return _run_cohort(job, submissions, arguments)


def _run_student(job: GradingJob, arguments: argparse.Namespace) -> int:
    from harness.grading.gradebook import grade_student, log_student
    from harness.grading.shown import grade_text
    from harness.grading.written import as_dict, write_grade

    graded = grade_student(job)
    if arguments.out:
        write_grade(arguments.out, graded, job.images)
    run_id = log_student(_store(arguments), graded, arguments.cohort, job.images) if arguments.log else None
    if arguments.json:
        show_json(as_dict(graded))
    else:
        print(grade_text(graded))
        _say_where(arguments, "report.html", run_id)
    return 0


def _run_cohort(job: GradingJob, submissions: dict[str, Path], arguments: argparse.Namespace) -> int:
    from harness.grading.cohort import as_dict, write_cohort
    from harness.grading.gradebook import grade_cohort, log_cohort
    from harness.grading.shown import cohort_text

    cohort = grade_cohort(job, submissions, arguments.cohort or arguments.student.resolve().name)
    if arguments.out:
        write_cohort(arguments.out, cohort, job.images)
    run_id = log_cohort(_store(arguments), cohort, job.images)[0] if arguments.log else None
    if arguments.json:
        show_json(as_dict(cohort))
    else:
        print(cohort_text(cohort))
        _say_where(arguments, "index.html", run_id)
    if cohort.failed:
        raise IncompleteError(f"{len(cohort.failed)} of {len(submissions)} students could not be graded")
    return 0


def _say_where(arguments: argparse.Namespace, page: str, run_id: str | None) -> None:
    if arguments.out:
        print(f"\nwritten to {arguments.out}; open {arguments.out / page}")
    if run_id:
        print(f"\nMLflow run {run_id}; {COMMAND} mlflow shows it")


def _store(arguments: argparse.Namespace) -> Any:
    from harness.building import instantiate
    from harness.config import compose

    return instantiate(compose(arguments.overrides), "tracking")

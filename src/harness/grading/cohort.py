"""Students who did the same work, side by side: who is best at what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.grading.graded import GradedSubmission
from harness.grading.page import render
from harness.grading.written import as_csv, as_json, columns, write_grade, write_text

SKILLS = ("localisation", "labels", "attributes", "completeness")


@dataclass(frozen=True)
class Cohort:
    """The graded submissions, best first, and why some could not be graded."""

    name: str
    ground_truth: str
    graded: tuple[GradedSubmission, ...]
    failed: Mapping[str, str] = field(default_factory=dict)

    def table(self) -> list[dict[str, Any]]:
        """One row a student, out of 100; those who could not be graded stand last."""
        done = [_row(graded) for graded in self.graded]
        gap = dict.fromkeys(done[0] if done else ("student", "overall"))
        return [*done, *(gap | {"student": name} for name in self.failed)]

    def best(self) -> dict[str, list[str]]:
        """For each skill those who are best at it; several where they are equal to a thousandth."""
        found = {}
        for skill in SKILLS:
            values = {g.student.name: round(v, 3) for g in self.graded if (v := getattr(g.skills, skill)) is not None}
            if values:
                found[skill] = [name for name, value in values.items() if value == max(values.values())]
        return found


def write_cohort(folder: Path, cohort: Cohort, images: Path | None = None) -> None:
    """A folder a student with its report, and the cohort as `cohort.json`, `cohort.csv` and `index.html`."""
    for graded in cohort.graded:
        write_grade(folder / graded.student.name, graded, images)
    write_text(folder / "cohort.json", as_json(as_dict(cohort)))
    write_text(folder / "cohort.csv", as_csv(cohort.table()))
    links = {graded.student.name: f"{graded.student.name}/report.html" for graded in cohort.graded}
    write_text(folder / "index.html", cohort_page(cohort, links))


def cohort_page(cohort: Cohort, links: Mapping[str, str]) -> str:
    """The table as a page that leads to the reports."""
    numbers = {name for name, values in columns(cohort.table()).items() if name != "student"}
    return render("cohort.html", cohort=cohort, table=cohort.table(), best=cohort.best(), links=links, numbers=numbers)


def as_dict(cohort: Cohort) -> dict[str, Any]:
    """The cohort as plain values."""
    return {
        "cohort": cohort.name,
        "ground_truth": cohort.ground_truth,
        "students": cohort.table(),
        "best": cohort.best(),
        "failed": dict(cohort.failed),
    }


def _row(graded: GradedSubmission) -> dict[str, Any]:
    report = graded.report
    return {
        "student": graded.student.name,
        "overall": round(report.overall, 3),
        "quality": round(report.quality, 3) if report.matched else None,
        **{name: None if (v := getattr(graded.skills, name)) is None else round(v, 3) for name in SKILLS},
        **{name: getattr(report, name) for name in ("matched", "missed", "extra", "overridden")},
        "skipped": len(graded.student.skipped),
    }

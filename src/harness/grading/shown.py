"""Grades as text: for the terminal, and as Markdown for MLflow."""

from __future__ import annotations

from typing import Any

from harness.base.texts import markdown_table, text_table
from harness.grading.cohort import Cohort
from harness.grading.graded import GradedSubmission
from harness.grading.page import skipped_words, worst_first
from harness.scoring import ImageGrade
from harness.scoring.format import rests_on

_MOST_IMAGES = 20
#: Skipped annotations that are named one by one.
_MOST_SKIPPED = 5
_IMAGE_COLUMNS = ("image", "matched", "missed", "extra", "original", "final")


def grade_text(graded: GradedSubmission) -> str:
    """The images, the grade, and where its points went."""
    report = graded.report
    images = _images(graded)
    more = len(report.images) - len(images)
    lines = [f"{graded.student.name} beside {graded.ground_truth.name}", ""]
    lines += [f"  {line}" for line in _images_table(images).splitlines()]
    lines += [f"  ... and {more:,} images that lost less"] if more else []
    lines += ["", *(f"  {name:<14} {value}" for name, value in _facts(graded).items())]
    lines += [f"    {line}" for line in _skipped(graded)]
    return "\n".join(lines)


def cohort_text(cohort: Cohort) -> str:
    """The table of the students, and who is best at what."""
    names, rows = _table(cohort)
    lines = [f"{cohort.name} beside {cohort.ground_truth}, out of 100", ""]
    lines += [f"  {line}" for line in text_table(names, rows, decimals=1).splitlines()]
    lines += ["", *(f"  best at {skill}: {', '.join(best)}" for skill, best in cohort.best().items())]
    lines += [f"  not graded: {name}: {reason}" for name, reason in cohort.failed.items()]
    return "\n".join(lines)


def grade_markdown(graded: GradedSubmission) -> str:
    """The description of a student's run."""
    facts = markdown_table(("", ""), list(_facts(graded).items()))
    images = markdown_table(_IMAGE_COLUMNS, [_image_row(image) for image in _images(graded)], decimals=1)
    skipped = "".join(f"\n- skipped: {line}" for line in _skipped(graded))
    return f"**{graded.student.name}** beside `{graded.ground_truth.name}`.\n\n{facts}\n{skipped}\n\n{images}"


def cohort_markdown(cohort: Cohort) -> str:
    """The description of a cohort's overview."""
    parts = [markdown_table(*_table(cohort), decimals=1)]
    parts += [f"- best at {skill}: **{', '.join(best)}**" for skill, best in cohort.best().items()]
    parts += [f"- **not graded**: {name}: {reason}" for name, reason in cohort.failed.items()]
    return parts[0] + "\n\n" + "\n".join(parts[1:])


def _images_table(images: list[ImageGrade]) -> str:
    return text_table(_IMAGE_COLUMNS, [_image_row(image) for image in images], decimals=1)


def _table(cohort: Cohort) -> tuple[list[str], list[list[Any]]]:
    table = cohort.table()
    return list(table[0]), [list(row.values()) for row in table]


def _images(graded: GradedSubmission) -> list[ImageGrade]:
    """The images to show: all in their order, or the worst ones."""
    images = graded.report.images
    return list(images) if len(images) <= _MOST_IMAGES else worst_first(graded)[:_MOST_IMAGES]


def _image_row(image: ImageGrade) -> list[Any]:
    original, final = ([m.original_score for m in image.matched], image.matched.final_scores)
    means = [sum(scores) / len(scores) if scores else None for scores in (original, final)]
    return [image.image, len(image.matched), len(image.missed), len(image.extra), *means]


def _skipped(graded: GradedSubmission) -> list[str]:
    """The first of the annotations that were skipped, and how many more there are."""
    shown = [f"{item.side}: {item.where}: {item.why}" for item in graded.skipped[:_MOST_SKIPPED]]
    more = len(graded.skipped) - len(shown)
    return shown + ([f"... and {more:,} more; grade.json has all"] if more else [])


def _facts(graded: GradedSubmission) -> dict[str, str]:
    return _grade_facts(graded) | ({"skipped": skipped_words(graded)} if graded.skipped else {})


def _grade_facts(graded: GradedSubmission) -> dict[str, str]:
    report = graded.report
    if not report.matched + report.missed + report.extra:
        return {"overall": "n/a, there is nothing to grade"}
    interval = report.intervals()["grade/overall"]
    lost = ", ".join(f"{aspect} {points:.1f}" for aspect, points in graded.points_lost.items() if round(points, 1))
    words = f", {report.overridden} overridden" if report.overridden else ""
    return {
        "overall": f"{report.overall:.1f} of 100  [{interval.low:.1f}, {interval.high:.1f}], {rests_on(interval)}",
        "quality": f"{report.quality:.1f} over {report.matched} matches{words}" if report.matched else "n/a, no match",
        "completeness": f"{100 * report.f_beta:.1f}, {report.missed} missed, {report.extra} extra",
        "points lost": lost or "none",
    }

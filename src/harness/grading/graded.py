"""One graded submission, item by item, with the reason for every point that was lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from harness.base.errors import GradingError
from harness.formats import Skipped
from harness.grading.submissions import Submission
from harness.scoring import Annotation, GradeReport, GradingRules, ImageGrade, MatchGrade, Override, grade
from harness.scoring.grade_reasons import Aspect, Loss, Skills, losses, points_lost, skills


@dataclass(frozen=True)
class Item:
    """An annotation of either side: a match of two, one that was missed or one that is extra."""

    truth: Annotation | None
    student: Annotation | None
    match: MatchGrade | None = None
    losses: tuple[Loss, ...] = ()

    @property
    def status(self) -> str:
        """`matched`, `missed` or `extra`."""
        return "matched" if self.match else "missed" if self.truth else "extra"


@dataclass(frozen=True)
class SkippedItem:
    """An annotation of the `student` or of the `ground truth` that could not be read, and so is not in the grade.

    `where` names its file, without the folder of the submission, and its record there.
    """

    side: str
    image: str
    annotation: str
    kind: str
    where: str
    why: str


@dataclass(frozen=True)
class GradedSubmission:
    """A student's work beside the ground truth."""

    ground_truth: Submission
    student: Submission
    report: GradeReport

    @cached_property
    def skills(self) -> Skills:
        """What the student is good at."""
        return skills(self.report, self.ground_truth.annotations)

    @cached_property
    def points_lost(self) -> dict[Aspect, float]:
        """Where the points of the overall grade went."""
        return points_lost(self.report)

    @cached_property
    def skipped(self) -> tuple[SkippedItem, ...]:
        """What could not be read on either side, that of the student first."""
        sides = {"student": self.student, "ground truth": self.ground_truth}
        return tuple(_skipped(side, given, *one) for side, given in sides.items() for one in given.skipped)

    @property
    def overall_if_counted(self) -> float:
        """What the grade would be with the student's skipped annotations as extra and those of the truth as missed."""
        return self.report.overall_with(missed=len(self.ground_truth.skipped), extra=len(self.student.skipped))

    @property
    def missed_cost(self) -> float:
        """Points of the overall grade that one missed annotation cost."""
        return self.points_lost[Aspect.MISSED] / self.report.missed if self.report.missed else 0.0

    @property
    def extra_cost(self) -> float:
        """Points of the overall grade that one extra annotation cost."""
        return self.points_lost[Aspect.EXTRA] / self.report.extra if self.report.extra else 0.0

    def items(self, image: ImageGrade) -> Iterator[Item]:
        """The matches of an image in the order of the ground truth, then what was missed, then what is extra."""
        truth, student = _by_id(self.ground_truth, image.image), _by_id(self.student, image.image)
        for match in image.matched:
            a, b = truth[match.ground_truth], student[match.student]
            yield Item(a, b, match, losses(match, a, b, self.report.rules))
        yield from (Item(truth[id], None) for id in image.missed)
        yield from (Item(None, student[id]) for id in image.extra)

    def metrics(self) -> dict[str, float]:
        """What is logged: grade, counts, rates, skills, where the points went, and intervals."""
        metrics = self.report.metrics()
        by_name = {name: getattr(self.skills, name) for name in ("localisation", "labels", "attributes")}
        metrics |= {f"grade/{name}": value for name, value in by_name.items() if value is not None}
        metrics |= {f"lost/{aspect.replace(' ', '_')}": points for aspect, points in self.points_lost.items()}
        metrics |= {
            "grade/skipped": float(len(self.student.skipped)),
            "grade/skipped_truth": float(len(self.ground_truth.skipped)),
        }
        for name, interval in self.report.intervals().items():
            metrics |= interval.logged(name)
        return metrics


def grade_submission(
    ground_truth: Submission, student: Submission, rules: GradingRules, overrides: Iterable[Override] = ()
) -> GradedSubmission:
    """Grade one student. What cannot be graded is an error that names the annotation or the override."""
    try:
        report = grade(ground_truth.annotations, student.annotations, rules, overrides)
    except ValueError as error:
        raise GradingError(f"{student.path} against {ground_truth.path}: {error}") from error
    return GradedSubmission(ground_truth, student, report)


def _skipped(side: str, submission: Submission, image: str, one: Skipped) -> SkippedItem:
    folder = submission.path.parent if submission.path.is_file() else submission.path
    where = one.where.removeprefix(f"{folder}/")
    return SkippedItem(side, image, one.id, one.kind, where, one.why)


def _by_id(submission: Submission, image: str) -> Mapping[str, Annotation]:
    found = submission.images.get(image)
    return {annotation.id: annotation for annotation in found.annotations} if found else {}

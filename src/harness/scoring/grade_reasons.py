"""Why a grade is what it is: every point that a match lost has a reason, and so has every point of the overall grade.

A match loses its weight of IoU times 1 - IoU to localisation, and in the same way to its label and to each of its
attributes, which share their weight. Of the overall grade, the share of quality is lost match by match, and the share
of completeness to missed and extra annotations: F-beta is matched / (matched + what they cost), so the cost of each is
its own. What is lost and what is left add up to 100.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from harness.scoring.annotations import Annotation, Annotations
from harness.scoring.grade_report import GradeReport, MatchGrade
from harness.scoring.grading_rules import FULL, GradingRules
from harness.scoring.shapes import Drawing, furthest, left_and_added
from harness.scoring.text import similarity


class Aspect(StrEnum):
    """What a point can be lost to."""

    LOCALISATION = "localisation"
    LABELS = "labels"
    ATTRIBUTES = "attributes"
    OVERRIDES = "overrides"
    NO_MATCH = "no match at all"
    MISSED = "missed"
    EXTRA = "extra"


@dataclass(frozen=True, slots=True)
class Loss:
    """Points that a match lost, out of 100, and why. A trainer may give some back: then they are negative."""

    aspect: Aspect
    points: float
    reason: str


@dataclass(frozen=True, slots=True)
class Skills:
    """How good a student is at what, out of 100; None where there was nothing to be good at."""

    localisation: float | None
    labels: float | None
    attributes: float | None
    completeness: float | None


def losses(match: MatchGrade, truth: Annotation, student: Annotation, rules: GradingRules) -> tuple[Loss, ...]:
    """What a match lost and why; it all adds up to 100 - its final score."""
    found = [
        Loss(Aspect.LOCALISATION, rules.iou_weight * (1 - match.iou), _place_reason(match.iou, truth, student, rules)),
        Loss(
            Aspect.LABELS,
            rules.label_weight * (1 - match.label_similarity),
            f"label {student.label!r}, expected {truth.label!r}",
        ),
    ]
    names = rules.compared(truth.label)
    for name in names:
        expected, given = truth.attributes.get(name, ""), student.attributes.get(name, "")
        lost = rules.attribute_weight / len(names) * (1 - similarity(expected, given, rules.ignore_case))
        reason = f"{name} {repr(given) if given else 'not given'}, expected {repr(expected) if expected else 'none'}"
        found.append(Loss(Aspect.ATTRIBUTES, lost, reason))
    if word := match.override:
        found.append(Loss(Aspect.OVERRIDES, match.original_score - word.score, f"{word.who}: {word.reason}"))
    return tuple(loss for loss in found if abs(loss.points) > 1e-9)


def points_lost(report: GradeReport) -> dict[Aspect, float]:
    """Points of the overall grade that each aspect cost; nothing where there is nothing to grade."""
    rules, matched = report.rules, report.matched
    cost = {Aspect.MISSED: rules.beta**2 * report.missed, Aspect.EXTRA: float(report.extra)}
    below = (1 + rules.beta**2) * matched + sum(cost.values())
    if not below:
        return {}
    lost = {aspect: (1 - rules.blend) * FULL * units / below for aspect, units in cost.items()}
    if not matched:
        return {Aspect.NO_MATCH: rules.blend * FULL} | lost
    means = np.mean(
        [
            (m.iou, m.label_similarity, m.attribute_similarity, m.original_score - m.final_score)
            for image in report.images
            for m in image.matched
        ],
        axis=0,
    ).tolist()
    quality = {
        Aspect.LOCALISATION: rules.iou_weight * (1 - means[0]),
        Aspect.LABELS: rules.label_weight * (1 - means[1]),
        Aspect.ATTRIBUTES: rules.attribute_weight * (1 - means[2]),
        Aspect.OVERRIDES: means[3],
    }
    return {aspect: rules.blend * points for aspect, points in quality.items()} | lost


def skills(report: GradeReport, ground_truth: Annotations) -> Skills:
    """Mean IoU and similarities of the matches, and F-beta. Labels without attributes say nothing about attributes."""
    matches = [(match, image.image) for image in report.images for match in image.matched]
    labels = {(image, note.id): note.label for image, notes in ground_truth.items() for note in notes}
    described = [m for m, image in matches if report.rules.compared(labels[image, m.ground_truth])]
    anything = report.matched + report.missed + report.extra
    return Skills(
        localisation=_mean([match.iou for match, _ in matches]),
        labels=_mean([match.label_similarity for match, _ in matches]),
        attributes=_mean([match.attribute_similarity for match in described]),
        completeness=FULL * report.f_beta if anything else None,
    )


def _mean(values: list[float]) -> float | None:
    return FULL * sum(values) / len(values) if values else None


def _place_reason(iou: float, truth: Annotation, student: Annotation, rules: GradingRules) -> str:
    """The IoU, and what it is too low by: an edge, a distance or areas."""
    a, b = truth.drawing, student.drawing
    if a is None and b is None:
        return _box_reason(iou, truth, student)
    if iou <= 0:
        return "IoU 0: the shapes do not overlap"
    if a and b and a.kind == b.kind == "points" and a.parts != b.parts:
        return f"IoU {iou:.2f}: points drawn {b.parts}, expected {a.parts}"
    if a and b and a.image_side and b.image_side:
        return f"IoU {iou:.2f}: off by up to {furthest(a, b):.4g}"
    expected, drawn = a or Drawing.of_box(truth.box), b or Drawing.of_box(student.box)
    left, added = (100 * share for share in left_and_added(expected, drawn, rules.point_radius))
    return f"IoU {iou:.2f}: {left:.0f} % of the expected area is left out, {added:.0f} % of the drawn area is beside it"


def _box_reason(iou: float, truth: Annotation, student: Annotation) -> str:
    """The IoU, and the edge that is furthest off."""
    if iou <= 0:
        return "IoU 0: the boxes do not overlap"
    (ax, ay, aw, ah), (bx, by, bw, bh) = truth.box, student.box
    off = {"left": bx - ax, "top": by - ay, "right": bx + bw - ax - aw, "bottom": by + bh - ay - ah}
    edge = max(off, key=lambda name: abs(off[name]))
    towards = {"left": ("left", "right"), "right": ("left", "right")}.get(edge, ("up", "down"))[off[edge] > 0]
    return f"IoU {iou:.2f}: the {edge} edge is too far {towards} by {abs(off[edge]):.4g}"

"""What would another threshold do, and does a score mean what it says?

A curve drops the predictions below a threshold and matches the rest anew, so that each of its points is what the
detection scorecard would be. A prediction without a score stays at every threshold.

Reliability sets scores beside outcomes. A face is right when it is found; a bib when it is found and, where its number
is known in full, read exactly. What covers an ignore region is neither right nor wrong, and no part of it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from harness.scoring.bibs import detect_bibs, judge_readings
from harness.scoring.boxes import Bools
from harness.scoring.calibration import CalibrationScorecard, calibration
from harness.scoring.detection import Detection
from harness.scoring.faces import detect_faces
from harness.types import BibBox, FaceBox, PhotoLabels, PhotoPrediction

#: A curve's points: every second hundredth.
STEPS = tuple(range(0, 101, 2))
_THRESHOLDS = [step / 100 for step in STEPS]
#: What a point counts: found, false and missed.
_COUNTED = ("detection_tp", "detection_fp", "detection_fn")

B = TypeVar("B", BibBox, FaceBox)
Detect = Callable[[Sequence[PhotoLabels], Sequence[PhotoPrediction]], Detection]


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What is left at a threshold (`step` hundredths); a rate without a denominator is None."""

    step: int
    found: int
    false: int
    missed: int

    @property
    def threshold(self) -> float:
        """The least score that is kept."""
        return self.step / 100

    @property
    def precision(self) -> float | None:
        """Share of the predictions that are right."""
        return self.found / (self.found + self.false) if self.found + self.false else None

    @property
    def recall(self) -> float | None:
        """Share of the targets that are found."""
        return self.found / (self.found + self.missed) if self.found + self.missed else None


@dataclass(frozen=True)
class Behaviour:
    """How one kind of box depends on its score: the curve over thresholds, and the reliability of the scores."""

    curve: tuple[CurvePoint, ...]
    reliability: CalibrationScorecard

    def metrics(self, what: str) -> dict[str, dict[int, float]]:
        """The curve as metrics with a value a step."""
        rates = {
            f"curve/{what}_precision": {point.step: point.precision for point in self.curve},
            f"curve/{what}_recall": {point.step: point.recall for point in self.curve},
        }
        return {name: {step: v for step, v in steps.items() if v is not None} for name, steps in rates.items()}


def bib_behaviour(
    labels: Sequence[PhotoLabels], predictions: Sequence[PhotoPrediction], iou_threshold: float = 0.5
) -> Behaviour:
    """How bibs depend on their scores."""

    def detect(labels: Sequence[PhotoLabels], predictions: Sequence[PhotoPrediction]) -> Detection:
        return detect_bibs(labels, predictions, iou_threshold)

    detection = detect(labels, predictions)
    complete, correct = judge_readings(detection, labels, predictions)
    right = detection.matches.matched & (correct | ~complete)
    scores = _scores([photo.bibs if known.bibs is not None else () for known, photo in _pairs(labels, predictions)])
    curve = _curve(
        labels,
        predictions,
        detect,
        lambda photo: [box.score for box in photo.bibs],
        lambda photo, least: replace(photo, bibs=_kept(photo.bibs, least)),
    )
    return Behaviour(curve, _reliability(scores, right, detection))


def face_behaviour(
    labels: Sequence[PhotoLabels], predictions: Sequence[PhotoPrediction], iou_threshold: float = 0.5
) -> Behaviour:
    """How faces depend on their scores."""

    def detect(labels: Sequence[PhotoLabels], predictions: Sequence[PhotoPrediction]) -> Detection:
        return detect_faces(labels, predictions, iou_threshold)

    detection = detect(labels, predictions)
    scores = _scores([photo.faces if known.faces is not None else () for known, photo in _pairs(labels, predictions)])
    curve = _curve(
        labels,
        predictions,
        detect,
        lambda photo: [box.score for box in photo.faces],
        lambda photo, least: replace(photo, faces=_kept(photo.faces, least)),
    )
    return Behaviour(curve, _reliability(scores, detection.matches.matched, detection))


def _pairs(
    labels: Sequence[PhotoLabels], predictions: Sequence[PhotoPrediction]
) -> list[tuple[PhotoLabels, PhotoPrediction]]:
    return list(zip(labels, predictions, strict=True))


def _kept(boxes: Sequence[B], least: float) -> tuple[B, ...]:
    return tuple(box for box in boxes if box.score is None or box.score >= least)


def _scores(photos: Sequence[Sequence[BibBox | FaceBox]]) -> list[float | None]:
    return [box.score for boxes in photos for box in boxes]


def _curve(
    labels: Sequence[PhotoLabels],
    predictions: Sequence[PhotoPrediction],
    detect: Detect,
    scores: Callable[[PhotoPrediction], Sequence[float | None]],
    keep: Callable[[PhotoPrediction, float], PhotoPrediction],
) -> tuple[CurvePoint, ...]:
    """The curve, point by point. Counts add up over photos, and only photos that lose a box are matched anew."""
    points: list[CurvePoint] = []
    losing = _losing([scores(photo) for photo in predictions])
    counts = {name: np.zeros(len(labels), dtype=np.int64) for name in _COUNTED}
    for place, step in enumerate(STEPS):
        rows = losing.get(place, []) if place else list(range(len(labels)))
        left = [keep(replace(predictions[row], links=()), step / 100) for row in rows]
        for name, column in detect([labels[row] for row in rows], left).columns().items() if rows else ():
            if name in counts:
                counts[name][rows] = column
        points.append(CurvePoint(step, *(int(counts[name].sum()) for name in _COUNTED)))
    return tuple(points)


def _losing(photos: Sequence[Sequence[float | None]]) -> dict[int, list[int]]:
    """For each place in `STEPS` the photos that lose a box there: one whose score is below it, and not before."""
    losing: dict[int, list[int]] = {}
    for row, scores in enumerate(photos):
        for place in {bisect_right(_THRESHOLDS, score) for score in scores if score is not None}:
            losing.setdefault(place, []).append(row)
    return losing


def _reliability(scores: Sequence[float | None], right: Bools, detection: Detection) -> CalibrationScorecard:
    judged = detection.matches.matched | detection.false_predictions
    known = judged & np.array([score is not None for score in scores], dtype=bool)
    values = np.array([0.0 if score is None else score for score in scores])
    return calibration(np.clip(values[known], 0, 1), right[known])

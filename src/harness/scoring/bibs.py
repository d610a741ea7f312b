"""Bib scorecard: are the bibs found, and is the number on a found bib read right?

Targets are `bib` and `bib_clipped`; `bib_obscured` is an ignore region; `not_bib` is a known non-object. Reading is
judged on matched pairs only: exact equality of the stripped strings. A label with a `?` is a partial number: there is
nothing exact to compare with, so it is counted apart. A number that was read in part is wrong where the label is whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from harness.scoring.boxes import Bools, Ints
from harness.scoring.cards import Declaration, Note, Rate, Section, Tally
from harness.scoring.detection import Detection, DetectionScorecard, declare_detection, detect
from harness.types import BibBox, BibScope, PhotoLabels, PhotoPrediction

SCORED = frozenset({BibScope.BIB, BibScope.BIB_CLIPPED})
IGNORE = frozenset({BibScope.BIB_OBSCURED})
#: What stands for a character that cannot be seen.
HIDDEN = "?"


def _declaration() -> Declaration:
    """Detection, and reading as a section of its own."""
    detection = declare_detection(
        "bib",
        "Bib detection",
        precision="no",
        recall="no",
        f1="judged",
        mistakes=("missed_bibs", "false_bibs", "misread_bibs"),
    )
    accuracy = Rate.of("ocr/accuracy", "ocr_correct", "ocr_total", label="accuracy", headline="reading", gate="judged")
    reading = Section("Bib reading (OCR)", (accuracy.metric,), (Note("ocr_partial", "partial labels left out"),))
    counts = {name: f"count/{name}" for name in ("ocr_correct", "ocr_total", "ocr_partial")}
    return replace(
        detection,
        rates={**detection.rates, "ocr_accuracy": accuracy},
        counts={**detection.counts, **counts},
        sections=(*detection.sections, reading),
    )


@dataclass(frozen=True)
class BibScorecard(DetectionScorecard):
    """Detection and reading of bibs; `ocr_partial` found bibs have a label that cannot be compared exactly."""

    ocr_correct: int = 0
    ocr_total: int = 0
    ocr_partial: int = 0

    DECLARED: ClassVar = _declaration()

    @property
    def ocr_accuracy(self) -> float:
        """Share of found bibs with a complete label whose number was read exactly."""
        return self.rate("ocr_accuracy")


def is_complete(number: str | None) -> bool:
    """Whether a label's number can be compared exactly: it is there and has no `?`."""
    return bool(number and number.strip()) and HIDDEN not in str(number)


def score_bibs(predicted: Sequence[BibBox], labels: Sequence[BibBox], iou_threshold: float = 0.5) -> BibScorecard:
    """Score the bibs of one photo."""
    photo = PhotoLabels(bibs=tuple(labels))
    return tally_bibs([photo], [PhotoPrediction(bibs=tuple(predicted))], iou_threshold).scorecard()


def detect_bibs(
    labels: Sequence[PhotoLabels], predictions: Sequence[PhotoPrediction], iou_threshold: float = 0.5
) -> Detection:
    """Match the bibs of many photos at once."""
    found, expected = [photo.bibs for photo in predictions], [photo.bibs for photo in labels]
    return detect(found, expected, SCORED, IGNORE, iou_threshold, "bib")


def tally_bibs(
    labels: Sequence[PhotoLabels], predictions: Sequence[PhotoPrediction], iou_threshold: float = 0.5
) -> Tally[BibScorecard]:
    """Score the bibs of many photos at once; a photo whose bibs nobody labelled is counted and not scored."""
    detection = detect_bibs(labels, predictions, iou_threshold)
    return Tally.of(BibScorecard, detection.columns() | _reading(detection, labels, predictions), len(labels))


def judge_readings(
    detection: Detection, labels: Sequence[PhotoLabels], predictions: Sequence[PhotoPrediction]
) -> tuple[Bools, Bools]:
    """Which predictions found a bib whose number is known in full, and which of them read it exactly."""
    photos = list(zip(labels, predictions, strict=True))
    read = [(box.number or "").strip() for photo, p in photos if photo.bibs is not None for box in p.bibs]
    labelled = [box.number for photo in labels for box in photo.bibs or ()]
    matched = detection.matches.matched
    complete, correct = np.zeros(len(read), dtype=bool), np.zeros(len(read), dtype=bool)
    for row in np.flatnonzero(matched).tolist():
        label = labelled[detection.matches.target_of[row]]
        complete[row] = is_complete(label)
        correct[row] = complete[row] and read[row] == str(label).strip()
    return complete, correct


def _reading(
    detection: Detection, labels: Sequence[PhotoLabels], predictions: Sequence[PhotoPrediction]
) -> dict[str, Ints]:
    complete, correct = judge_readings(detection, labels, predictions)
    return {
        "ocr_correct": detection.predictions.count(correct),
        "ocr_total": detection.predictions.count(complete),
        "ocr_partial": detection.predictions.count(detection.matches.matched & ~complete),
    }

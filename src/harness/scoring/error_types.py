"""Why detections are wrong, in the spirit of TIDE for one class. The kinds add up.

A false prediction is a *duplicate* when it overlaps a target enough, but another prediction took that target; an error
of *localisation* when it overlaps a target by at least 0.1, but not enough; and else *background*. A missed target is
*missed by localisation* when such a prediction overlaps no other target more, and else *missed* altogether. A bib that
is found and read wrong is *wrong text*. So false predictions = duplicate + localisation + background, and missed
targets = missed by localisation + missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from harness.scoring import bibs as bib_rules
from harness.scoring import faces as face_rules
from harness.scoring.boxes import Floats, Ints
from harness.scoring.cards import CountRow, Declaration, Scorecard, Section, Tally
from harness.scoring.detection import Detection
from harness.scoring.matching import UNMATCHED
from harness.scoring.overlaps import overlapping_pairs
from harness.types import PhotoLabels, PhotoPrediction

#: Below this IoU a prediction has nothing to do with a target.
BACKGROUND_IOU = 0.1


@dataclass(frozen=True)
class ErrorScorecard(Scorecard):
    """How many false predictions and missed targets there are of each kind."""

    duplicate: int
    localisation: int
    background: int
    missed_by_localisation: int
    missed: int
    wrong_text: int = 0

    @property
    def false_predictions(self) -> int:
        """The detection scorecard's false positives."""
        return self.duplicate + self.localisation + self.background

    @property
    def missed_targets(self) -> int:
        """The detection scorecard's false negatives."""
        return self.missed_by_localisation + self.missed


def _declaration(noun: str, *kinds: str, text: str = "") -> Declaration:
    """The kinds of errors in one row, which bibs and faces show below one title."""
    false = "false: {background} background, {localisation} localisation, {duplicate} duplicate"
    missed = "missed: {missed} outright, {missed_by_localisation} by localisation"
    row = CountRow(f"{noun}s", kinds, f"{false}; {missed}{text}")
    counts = {kind: f"error/{noun}_{kind}" for kind in kinds}
    return Declaration(f"{noun}_errors", counts=counts, sections=(Section("Kinds of errors", rows=(row,)),))


_KINDS = ("duplicate", "localisation", "background", "missed_by_localisation", "missed")


@dataclass(frozen=True)
class BibErrorScorecard(ErrorScorecard):
    """What is wrong with bibs."""

    DECLARED: ClassVar = _declaration("bib", *_KINDS, "wrong_text", text="; {wrong_text} wrong text")


@dataclass(frozen=True)
class FaceErrorScorecard(ErrorScorecard):
    """What is wrong with faces."""

    DECLARED: ClassVar = _declaration("face", *_KINDS)


def tally_bib_errors(
    labels: Sequence[PhotoLabels], predictions: Sequence[PhotoPrediction], iou_threshold: float = 0.5
) -> Tally[BibErrorScorecard]:
    """Sort the errors of bib detection and reading by kind, photo by photo."""
    detection = bib_rules.detect_bibs(labels, predictions, iou_threshold)
    reading = bib_rules.tally_bibs(labels, predictions, iou_threshold)
    columns = _columns(detection, iou_threshold)
    columns["wrong_text"] = reading.column("ocr_total") - reading.column("ocr_correct")
    return Tally.of(BibErrorScorecard, columns, len(labels))


def tally_face_errors(
    labels: Sequence[PhotoLabels], predictions: Sequence[PhotoPrediction], iou_threshold: float = 0.5
) -> Tally[FaceErrorScorecard]:
    """Sort the errors of face detection by kind, photo by photo."""
    detection = face_rules.detect_faces(labels, predictions, iou_threshold)
    return Tally.of(FaceErrorScorecard, _columns(detection, iou_threshold), len(labels))


def _columns(detection: Detection, iou_threshold: float) -> dict[str, Ints]:
    overlap, nearest = _nearest_target(detection)
    false = detection.false_predictions
    duplicate = false & (overlap >= iou_threshold)
    placed = false & ~duplicate & (overlap >= min(BACKGROUND_IOU, iou_threshold))
    lost = detection.is_target & ~detection.matches.found
    found_badly = lost & np.isin(np.arange(len(lost)), nearest[placed])
    return {
        "duplicate": detection.predictions.count(duplicate),
        "localisation": detection.predictions.count(placed),
        "background": detection.predictions.count(false & ~duplicate & ~placed),
        "missed_by_localisation": detection.targets.count(found_badly),
        "missed": detection.targets.count(lost & ~found_badly),
    }


def _nearest_target(detection: Detection) -> tuple[Floats, Ints]:
    """For each prediction the greatest IoU with a target, and that target (the first of equals); -1 where none."""
    pairs = overlapping_pairs(detection.predictions, detection.targets)
    pairs = pairs.where(detection.is_target[pairs.right])
    best, nearest = np.zeros(len(detection.predictions)), np.full(len(detection.predictions), UNMATCHED, dtype=np.int64)
    order = np.lexsort((-pairs.right, pairs.iou))  # the last write wins: greatest IoU, then the lowest row
    best[pairs.left[order]], nearest[pairs.left[order]] = pairs.iou[order], pairs.right[order]
    return best, nearest

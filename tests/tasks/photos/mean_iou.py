"""A scorecard as somebody would add it, the worked example of docs/architecture.md: how well found faces are boxed.

Its rate is the mean IoU of a found face with its label: a count that is a fraction, over one that is whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from harness.scoring.boxes import iou
from harness.scoring.cards import Declaration, Note, Rate, Scorecard, Section, Tally
from harness.scoring.faces import detect_faces
from harness.types import PhotoLabels, PhotoPrediction


@dataclass(frozen=True)
class OverlapScorecard(Scorecard):
    """The IoU of found faces with their labels, summed, and how many were found."""

    overlap: float = 0.0
    found: int = 0

    DECLARED: ClassVar = Declaration(
        name="overlap",
        rates={
            "mean_iou": Rate.of(
                "overlap/face_iou", "overlap", "found", label="mean IoU", headline="face fit", gate="judged"
            )
        },
        counts={"found": "count/overlap_faces"},
        sections=(Section("Face overlap", ("overlap/face_iou",), (Note("found", "faces found", always=True),)),),
    )


def tally_overlap(
    labels: Sequence[PhotoLabels], predictions: Sequence[PhotoPrediction], iou_threshold: float
) -> Tally[OverlapScorecard]:
    """The scorecard photo by photo."""
    detection = detect_faces(labels, predictions, iou_threshold)
    rows = np.flatnonzero(detection.matches.matched)
    overlaps = iou(detection.predictions.xywh[rows], detection.targets.xywh[detection.matches.target_of[rows]])
    photo = detection.predictions.photo_index[rows]
    columns = {
        "overlap": np.bincount(photo, weights=overlaps, minlength=len(labels)),
        "found": np.bincount(photo, minlength=len(labels)),
    }
    return Tally.of(OverlapScorecard, columns, len(labels))

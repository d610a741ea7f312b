"""Face scorecard: are the faces found?

Targets are `keep` faces, participants and bystanders alike; `uncertain` is an ignore region; `exclude` is a known
non-object.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from harness.scoring.cards import Tally
from harness.scoring.detection import DetectionScorecard, detect, detection_counts, detection_ratios
from harness.types import FaceBox, FaceScope, PhotoLabels, PhotoPrediction

SCORED = frozenset({FaceScope.KEEP})
IGNORE = frozenset({FaceScope.UNCERTAIN})


@dataclass(frozen=True)
class FaceScorecard(DetectionScorecard):
    """Detection of faces."""

    RATIOS: ClassVar = detection_ratios("face")
    COUNTS: ClassVar = detection_counts("face")


def score_faces(predicted: Sequence[FaceBox], labels: Sequence[FaceBox], iou_threshold: float = 0.5) -> FaceScorecard:
    """Score the faces of one photo."""
    photo = PhotoLabels(faces=tuple(labels))
    return tally_faces([photo], [PhotoPrediction(faces=tuple(predicted))], iou_threshold).scorecard()


def tally_faces(
    labels: Sequence[PhotoLabels], predictions: Sequence[PhotoPrediction], iou_threshold: float = 0.5
) -> Tally[FaceScorecard]:
    """Score the faces of many photos at once; a photo whose faces nobody labelled is counted and not scored."""
    scored = np.array([photo.faces is not None for photo in labels], dtype=bool)
    predicted = [p.faces if photo.faces is not None else () for photo, p in zip(labels, predictions, strict=True)]
    expected = [photo.faces or () for photo in labels]
    columns = detect(predicted, expected, SCORED, IGNORE, iou_threshold, "face").columns()
    columns |= {"photos": scored.astype(np.int64), "unlabeled_photos": (~scored).astype(np.int64)}
    return Tally.of(FaceScorecard, columns, len(labels))

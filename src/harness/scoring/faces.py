"""Face scorecard: are the faces found?

Targets are `keep` faces, participants and bystanders alike; `uncertain` is an ignore region; `exclude` is a known
non-object.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from harness.scoring.cards import Tally
from harness.scoring.detection import Detection, DetectionScorecard, declare_detection, detect
from harness.types import FaceBox, FaceScope, PhotoLabels, PhotoPrediction

SCORED = frozenset({FaceScope.KEEP})
IGNORE = frozenset({FaceScope.UNCERTAIN})


@dataclass(frozen=True)
class FaceScorecard(DetectionScorecard):
    """Detection of faces."""

    # A bystander's face that is found does no harm, so precision is shown and not judged.
    DECLARED: ClassVar = declare_detection(
        "face",
        "Face detection",
        precision="shown",
        recall="judged",
        f1="no",
        mistakes=("missed_faces", "false_faces"),
    )


def score_faces(predicted: Sequence[FaceBox], labels: Sequence[FaceBox], iou_threshold: float = 0.5) -> FaceScorecard:
    """Score the faces of one photo."""
    photo = PhotoLabels(faces=tuple(labels))
    return tally_faces([photo], [PhotoPrediction(faces=tuple(predicted))], iou_threshold).scorecard()


def detect_faces(
    labels: Sequence[PhotoLabels], predictions: Sequence[PhotoPrediction], iou_threshold: float = 0.5
) -> Detection:
    """Match the faces of many photos at once."""
    found, expected = [photo.faces for photo in predictions], [photo.faces for photo in labels]
    return detect(found, expected, SCORED, IGNORE, iou_threshold, "face")


def tally_faces(
    labels: Sequence[PhotoLabels], predictions: Sequence[PhotoPrediction], iou_threshold: float = 0.5
) -> Tally[FaceScorecard]:
    """Score the faces of many photos at once; a photo whose faces nobody labelled is counted and not scored."""
    return Tally.of(FaceScorecard, detect_faces(labels, predictions, iou_threshold).columns(), len(labels))

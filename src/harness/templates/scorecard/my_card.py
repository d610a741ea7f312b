"""A scorecard of photos: are faces found in a crowd as well as faces of people alone? A start to build on.

Counts are kept photo by photo and add up; `DECLARED` says which rates they make, which way is better and how they are
shown. The terminal, MLflow, the report, `compare`, the gate and searches follow from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from harness.scoring import Declaration, ItemCounts, Rate, Scorecard, Section, Tally, Thresholds, detect_faces
from harness.types import PhotoLabels, PhotoPrediction

#: From how many labelled faces on a photo shows a crowd.
_CROWD = 3


@dataclass(frozen=True)
class MyCard(Scorecard):
    """Labelled faces that were found and missed, in photos of few people and of many."""

    found_few: int = 0
    missed_few: int = 0
    found_crowd: int = 0
    missed_crowd: int = 0

    DECLARED: ClassVar = Declaration(
        name="my_card",
        rates={
            "few": Rate.share("my_card/recall_few", "found_few", "missed_few", label="few people"),
            # `headline` makes it a column of `harness list`; gate="judged" would let the verdict depend on it.
            "crowd": Rate.share(
                "my_card/recall_crowd",
                "found_crowd",
                "missed_crowd",
                label="crowds",
                headline="crowds",
                gate="shown",
            ),
        },
        sections=(Section("Faces found, by company", ("my_card/recall_few", "my_card/recall_crowd")),),
    )


def score(labels: Sequence[PhotoLabels], found: Sequence[PhotoPrediction], thresholds: Thresholds) -> ItemCounts:
    """Count, photo by photo. A photo whose faces are None was never labelled, and counts nothing."""
    detection = detect_faces(labels, found, thresholds.face_iou)
    hits = detection.targets.count(detection.is_target & detection.matches.found)
    misses = detection.targets.count(detection.is_target & ~detection.matches.found)
    crowd = hits + misses >= _CROWD
    columns = {
        "found_few": np.where(crowd, 0, hits),
        "missed_few": np.where(crowd, 0, misses),
        "found_crowd": np.where(crowd, hits, 0),
        "missed_crowd": np.where(crowd, misses, 0),
    }
    return Tally.of(MyCard, columns, len(labels)).items()

"""Where is the pipeline weak? Recall by tag, with its n and an interval.

A target is in a slice when its own label or its photo carries the tag. A target with several tags is in several slices,
so slices do not add up to the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.scoring import bibs as bib_rules
from harness.scoring import faces as face_rules
from harness.scoring.boxes import Floats
from harness.scoring.cards import Count
from harness.scoring.detection import Detection
from harness.scoring.uncertainty import Interval, rate_intervals
from harness.types import Box, PhotoLabels, PhotoPrediction


@dataclass(frozen=True, slots=True)
class Slice:
    """How many of the targets with a tag were found, whole or by shares; runs of an older harness have no interval."""

    scorecard: str
    tag: str
    found: Count
    total: int
    interval: Interval | None = None

    @property
    def recall(self) -> float:
        """Share of the targets that were found; a slice has at least one."""
        return self.found / self.total

    @property
    def metric(self) -> str:
        """The name it is logged under."""
        return f"slice/{self.scorecard}_recall_{self.tag}"


def slice_bibs(
    labels: Sequence[PhotoLabels],
    predictions: Sequence[PhotoPrediction],
    iou_threshold: float = 0.5,
    groups: Sequence[str] | None = None,
) -> tuple[Slice, ...]:
    """Bib recall for every tag that a target has, in the order of the tags' names; `groups` has each photo's group."""
    detection = bib_rules.detect_bibs(labels, predictions, iou_threshold)
    tags = [_tags(photo.bibs or (), photo.bib_tags) for photo in labels]
    return _slices("bib", detection, tags, groups)


def slice_faces(
    labels: Sequence[PhotoLabels],
    predictions: Sequence[PhotoPrediction],
    iou_threshold: float = 0.5,
    groups: Sequence[str] | None = None,
) -> tuple[Slice, ...]:
    """Face recall for every tag that a target has, in the order of the tags' names; `groups` has each photo's group."""
    detection = face_rules.detect_faces(labels, predictions, iou_threshold)
    tags = [_tags(photo.faces or (), photo.face_tags) for photo in labels]
    return _slices("face", detection, tags, groups)


def _tags(boxes: Sequence[Box], of_photo: Sequence[str]) -> list[set[str]]:
    return [{*getattr(box, "tags", ()), *of_photo} for box in boxes]


def _slices(
    scorecard: str, detection: Detection, tags: Sequence[Sequence[set[str]]], groups: Sequence[str] | None
) -> tuple[Slice, ...]:
    """`tags` has those of each box of each photo."""
    flat = [(photo, of_box) for photo, boxes in enumerate(tags) for of_box in boxes]
    counts: dict[str, Floats] = {}
    targets = zip(detection.is_target.tolist(), detection.matches.found.tolist(), flat, strict=True)
    for is_target, found, (photo, of_box) in targets:
        for tag in of_box if is_target else ():
            count = counts.setdefault(tag, np.zeros((2, len(tags))))
            count[:, photo] += (found, 1)
    spread = rate_intervals({tag: (above, below) for tag, (above, below) in counts.items()}, groups)
    return tuple(
        Slice(scorecard, tag, int(above.sum()), int(below.sum()), spread[tag])
        for tag, (above, below) in sorted(counts.items())
    )

"""Where is the pipeline weak? Recall by tag, with its n.

A target is in a slice when its own label or its photo carries the tag. A target with several tags is in several slices,
so slices do not add up to the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from harness.scoring import bibs as bib_rules
from harness.scoring import faces as face_rules
from harness.scoring.detection import Detection
from harness.types import Box, PhotoLabels, PhotoPrediction


@dataclass(frozen=True, slots=True)
class Slice:
    """How many of the targets with a tag were found."""

    scorecard: str
    tag: str
    found: int
    total: int

    @property
    def recall(self) -> float:
        """Share of the targets that were found; a slice has at least one."""
        return self.found / self.total

    @property
    def metric(self) -> str:
        """The name it is logged under."""
        return f"slice/{self.scorecard}_recall_{self.tag}"


def slice_bibs(
    labels: Sequence[PhotoLabels], predictions: Sequence[PhotoPrediction], iou_threshold: float = 0.5
) -> tuple[Slice, ...]:
    """Bib recall for every tag that a target has, in the order of the tags' names."""
    detection = bib_rules.detect_bibs(labels, predictions, iou_threshold)
    return _slices("bib", detection, [photo.bibs or () for photo in labels], [photo.bib_tags for photo in labels])


def slice_faces(
    labels: Sequence[PhotoLabels], predictions: Sequence[PhotoPrediction], iou_threshold: float = 0.5
) -> tuple[Slice, ...]:
    """Face recall for every tag that a target has, in the order of the tags' names."""
    detection = face_rules.detect_faces(labels, predictions, iou_threshold)
    return _slices("face", detection, [photo.faces or () for photo in labels], [photo.face_tags for photo in labels])


def _slices(
    scorecard: str, detection: Detection, boxes: Sequence[Sequence[Box]], photo_tags: Sequence[Sequence[str]]
) -> tuple[Slice, ...]:
    tags = chain.from_iterable(
        ({*getattr(box, "tags", ()), *of_photo} for box in of_this)
        for of_this, of_photo in zip(boxes, photo_tags, strict=True)
    )
    counts: dict[str, list[int]] = {}
    targets = zip(detection.is_target.tolist(), detection.matches.found.tolist(), tags, strict=True)
    for is_target, found, its_tags in targets:
        for tag in its_tags if is_target else ():
            count = counts.setdefault(tag, [0, 0])
            count[0] += found
            count[1] += 1
    return tuple(Slice(scorecard, tag, found, total) for tag, (found, total) in sorted(counts.items()))

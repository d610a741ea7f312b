"""Boxes found and missed, for bibs and faces alike; strict beside lenient.

Targets are the labels of a scored scope. A prediction that matches none of them but covers an *ignore* region (IoU at
or above the threshold, or at least half of its own area inside) is neither right nor wrong in the lenient score, which
is the headline, and wrong in the strict one. A prediction on anything else is wrong in both.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from harness.scoring.boxes import Bools, Boxes, Ints, intersection, same_photos
from harness.scoring.cards import Declaration, Figure, Gating, Ledger, Note, Rate, Scorecard, Section
from harness.scoring.matching import Matches, match_greedy
from harness.scoring.overlaps import overlapping_pairs
from harness.types import BibBox, FaceBox

HALF = 0.5


@dataclass(frozen=True)
class Thresholds:
    """The least overlap at which a prediction matches a label; runs with different ones are not comparable."""

    bib_iou: float
    face_iou: float

    def __post_init__(self) -> None:
        for name in ("bib_iou", "face_iou"):
            if not 0 < getattr(self, name) <= 1:
                raise ValueError(f"{name} is {getattr(self, name)}; expected a number above 0 and at most 1")


@dataclass(frozen=True)
class DetectionScorecard(Scorecard):
    """Found, false and missed boxes. `ignored` predictions covered an ignore region."""

    detection_tp: int
    detection_fp: int
    detection_fn: int
    ignored: int = 0
    photos: int = 0
    unlabeled_photos: int = 0

    @property
    def detection_precision(self) -> float:
        """Share of predictions that are right, without those on an ignore region."""
        return self.rate("detection_precision")

    @property
    def detection_recall(self) -> float:
        """Share of targets that were found."""
        return self.rate("detection_recall")

    @property
    def detection_f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return self.rate("detection_f1")

    @property
    def strict_precision(self) -> float:
        """Precision that counts a prediction on an ignore region as wrong."""
        return self.rate("strict_precision")

    @property
    def strict_f1(self) -> float:
        """F1 with the strict precision."""
        return self.rate("strict_f1")


#: What is told beside the title of a scorecard of photos.
PHOTOS = (Note("photos", "photos", always=True), Note("unlabeled_photos", "unlabelled left out"))


def declare_detection(
    noun: str, title: str, *, precision: Gating, recall: Gating, f1: Gating, mistakes: tuple[str, ...]
) -> Declaration:
    """The declaration of a detection scorecard, logged as `<noun>/...`; the gating of its three main rates is given."""
    tp, fp, fn, ignored = "detection_tp", "detection_fp", "detection_fn", "ignored"
    rates = {
        "detection_precision": Rate.share(f"{noun}/precision", tp, fp, label="precision", gate=precision),
        "detection_recall": Rate.share(f"{noun}/recall", tp, fn, label="recall", gate=recall),
        "detection_f1": Rate.f1(f"{noun}/f1", tp, fp, fn, label="F1", headline=f"{noun}s", gate=f1),
        "strict_precision": Rate.share(f"{noun}/strict_precision", tp, fp, ignored, label="strict precision"),
        "strict_f1": Rate.f1(f"{noun}/strict_f1", tp, fp, ignored, fn, label="strict F1"),
    }
    shown = (*(rate.metric for rate in rates.values()), f"{noun}/ap")
    return Declaration(
        name=noun,
        rates=rates,
        counts={
            tp: f"count/{noun}_tp",
            fp: f"count/{noun}_fp",
            fn: f"count/{noun}_fn",
            ignored: f"count/{noun}_ignored",
            "photos": f"count/{noun}_photos",
            "unlabeled_photos": f"count/{noun}_unlabeled_photos",
        },
        figures=(Figure(f"{noun}/ap", label="AP", basis=(tp, fn), words="targets"),),
        sections=(Section(title, shown, (*PHOTOS, Note(ignored, "ignored", always=True))),),
        ledger=Ledger(noun, tp, fp, fn),
        mistakes=mistakes,
    )


@dataclass(frozen=True, slots=True)
class Detection:
    """How the predictions of a batch fared against its targets; nothing is kept of photos that are not labelled."""

    labeled: Bools
    predictions: Boxes
    targets: Boxes
    is_target: Bools
    matches: Matches
    ignored: Bools

    @property
    def false_predictions(self) -> Bools:
        """Which predictions are wrong in the lenient score."""
        return self.predictions.has_coords & ~self.matches.matched & ~self.ignored

    def columns(self) -> dict[str, Ints]:
        """The counts of a detection scorecard, photo by photo."""
        return {
            "detection_tp": self.predictions.count(self.matches.matched),
            "detection_fp": self.predictions.count(self.false_predictions),
            "detection_fn": self.targets.count(self.is_target & ~self.matches.found),
            "ignored": self.predictions.count(self.ignored),
            "photos": self.labeled.astype(np.int64),
            "unlabeled_photos": (~self.labeled).astype(np.int64),
        }


def detect(
    predicted: Sequence[Sequence[BibBox | FaceBox]],
    labels: Sequence[Sequence[BibBox | FaceBox] | None],
    scored: Collection[str],
    ignore: Collection[str],
    iou_threshold: float,
    what: str,
) -> Detection:
    """Match predictions with the labels whose scope is scored, then set aside what covers an ignore region.

    A photo whose labels are None was never labelled: whatever is predicted there is neither right nor wrong.
    """
    if not 0 < iou_threshold <= 1:
        raise ValueError(f"iou_threshold {iou_threshold}: expected a number above 0 and at most 1")
    same_photos(labels, predicted)
    labeled = np.array([boxes is not None for boxes in labels], dtype=bool)
    expected = [boxes or () for boxes in labels]
    judged = [boxes if known else () for boxes, known in zip(predicted, labeled.tolist(), strict=True)]
    predictions, targets = Boxes.of(judged, f"predicted {what}"), Boxes.of(expected, f"{what} label")
    scopes = [box.scope for box in chain.from_iterable(expected)]
    is_target = np.array([scope in scored for scope in scopes], dtype=bool) & targets.has_coords
    is_region = np.array([scope in ignore for scope in scopes], dtype=bool) & targets.has_coords
    matches = match_greedy(predictions, targets, iou_threshold, eligible=is_target)
    ignored = _covers(predictions, targets, is_region, iou_threshold) & ~matches.matched
    return Detection(labeled, predictions, targets, is_target, matches, ignored)


def _covers(predictions: Boxes, regions: Boxes, eligible: Bools, threshold: float) -> Bools:
    pairs = overlapping_pairs(predictions, regions)
    pairs = pairs.where(eligible[pairs.right])
    a = predictions.xywh[pairs.left]
    inside = intersection(a, regions.xywh[pairs.right]) >= HALF * a[:, 2] * a[:, 3]
    result = np.zeros(len(predictions), dtype=bool)
    result[pairs.left[(pairs.iou >= threshold) | inside]] = True
    return result

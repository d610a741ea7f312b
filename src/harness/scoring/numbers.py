"""Number scorecard: does a search by bib number find this photo? No boxes needed.

Per photo, the set of complete numbers on its scored bibs is compared with the set of numbers read. PASS: all of them
and nothing else. MISS: something expected and nothing right. PARTIAL: anything between. With nothing expected, reading
nothing is a PASS and reading something is PARTIAL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from harness.scoring.bibs import SCORED, is_complete
from harness.scoring.boxes import same_photos
from harness.scoring.cards import Declaration, Ledger, Note, Rate, Scorecard, Section, Tally
from harness.scoring.detection import PHOTOS
from harness.types import PhotoLabels, PhotoPrediction


class NumberStatus(StrEnum):
    """How one photo fared."""

    PASS = "PASS"
    PARTIAL = "PARTIAL"
    MISS = "MISS"
    UNLABELED = "UNLABELED"


_STATUSES = (("passed", "PASS"), ("partial", "PARTIAL"), ("missed", "MISS"))


@dataclass(frozen=True)
class NumberScorecard(Scorecard):
    """Numbers found, invented and missed over all photos, and how many photos came out how."""

    number_tp: int
    number_fp: int
    number_fn: int
    passed: int = 0
    partial: int = 0
    missed: int = 0
    photos: int = 0
    unlabeled_photos: int = 0

    DECLARED: ClassVar = Declaration(
        name="number",
        rates={
            "number_precision": Rate.share(
                "number/precision", "number_tp", "number_fp", label="precision", gate="judged"
            ),
            "number_recall": Rate.share("number/recall", "number_tp", "number_fn", label="recall"),
            "number_f1": Rate.f1(
                "number/f1", "number_tp", "number_fp", "number_fn", label="F1", headline="numbers", gate="judged"
            ),
            "pass_rate": Rate.of("number/pass_rate", "passed", "photos", label="photos PASS"),
        },
        counts={
            "number_tp": "count/number_tp",
            "number_fp": "count/number_fp",
            "number_fn": "count/number_fn",
            "passed": "count/number_passed",
            "partial": "count/number_partial",
            "missed": "count/number_missed",
            "photos": "count/number_photos",
            "unlabeled_photos": "count/number_unlabeled_photos",
        },
        sections=(
            Section(
                "Numbers",
                ("number/precision", "number/recall", "number/f1", "number/pass_rate"),
                (*PHOTOS, *(Note(*told, always=True) for told in _STATUSES)),
            ),
        ),
        ledger=Ledger("number", "number_tp", "number_fp", "number_fn"),
    )

    @property
    def number_precision(self) -> float:
        """Share of the numbers read that are on a labelled bib of their photo."""
        return self.rate("number_precision")

    @property
    def number_recall(self) -> float:
        """Share of the labelled numbers that were read in their photo."""
        return self.rate("number_recall")

    @property
    def number_f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return self.rate("number_f1")

    @property
    def pass_rate(self) -> float:
        """Share of photos with every number and nothing else."""
        return self.rate("pass_rate")


def expected_numbers(labels: PhotoLabels) -> frozenset[str]:
    """The numbers that a search should find this photo by."""
    return frozenset(
        str(box.number).strip() for box in labels.bibs or () if box.scope in SCORED and is_complete(box.number)
    )


def read_numbers(prediction: PhotoPrediction) -> frozenset[str]:
    """The numbers that a search would find this photo by."""
    return frozenset(box.number.strip() for box in prediction.bibs if box.number and box.number.strip())


def number_status(labels: PhotoLabels, prediction: PhotoPrediction) -> NumberStatus:
    """PASS, PARTIAL or MISS for one photo."""
    if labels.bibs is None:
        return NumberStatus.UNLABELED
    expected, read = expected_numbers(labels), read_numbers(prediction)
    if expected == read:
        return NumberStatus.PASS
    return NumberStatus.MISS if expected and not expected & read else NumberStatus.PARTIAL


def tally_numbers(labels: Sequence[PhotoLabels], predictions: Sequence[PhotoPrediction]) -> Tally[NumberScorecard]:
    """Compare the numbers of many photos; a photo whose bibs nobody labelled is counted and not scored."""
    same_photos(labels, predictions)
    rows = []
    for photo, prediction in zip(labels, predictions, strict=True):
        status = number_status(photo, prediction)
        if status is NumberStatus.UNLABELED:
            rows.append(NumberScorecard(0, 0, 0, unlabeled_photos=1))
            continue
        expected, read = expected_numbers(photo), read_numbers(prediction)
        rows.append(
            NumberScorecard(
                number_tp=len(expected & read),
                number_fp=len(read - expected),
                number_fn=len(expected - read),
                passed=status is NumberStatus.PASS,
                partial=status is NumberStatus.PARTIAL,
                missed=status is NumberStatus.MISS,
                photos=1,
            )
        )
    return Tally.of_cards(NumberScorecard, rows)

"""Number scorecard: does a search by bib number find this photo? No boxes needed.

Per photo, the set of complete numbers on its scored bibs is compared with the set of whole numbers read. PASS: all of
them and nothing else. MISS: something expected and nothing right. PARTIAL: anything between. With nothing expected,
reading nothing is a PASS and reading something is PARTIAL.

A number that was read in part, such as `33?`, is not among the numbers read, so that what it may stand for stays
missed. Where a label of the photo agrees with it, it is ignored and counted apart; otherwise it is false.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from harness.scoring.bibs import HIDDEN, SCORED, is_complete
from harness.scoring.boxes import same_photos
from harness.scoring.cards import Declaration, Ledger, Note, Rate, Scorecard, Section, Tally
from harness.scoring.detection import PHOTOS
from harness.types import BibScope, PhotoLabels, PhotoPrediction


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
    number_partial: int = 0

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
            "number_partial": "number/partial",
        },
        sections=(
            Section(
                "Numbers",
                ("number/precision", "number/recall", "number/f1", "number/pass_rate"),
                (
                    *PHOTOS,
                    *(Note(*told, always=True) for told in _STATUSES),
                    Note("number_partial", "read in part and ignored"),
                ),
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
    """The numbers that a search would find this photo by: those that were read whole."""
    return frozenset(number for number in _texts(prediction) if HIDDEN not in number)


def partial_numbers(prediction: PhotoPrediction) -> frozenset[str]:
    """The numbers that were read in part."""
    return frozenset(number for number in _texts(prediction) if HIDDEN in number)


def false_partials(labels: PhotoLabels, prediction: PhotoPrediction) -> frozenset[str]:
    """The numbers read in part that no bib of the photo can have, obscured ones among them."""
    parts = partial_numbers(prediction)
    bibs = [box for box in labels.bibs or () if parts and box.number and box.scope != BibScope.NOT_BIB]
    return frozenset(part for part in parts if not any(agree(part, str(box.number)) for box in bibs))


def agree(one: str, other: str) -> bool:
    """Whether two numbers, of which either may be partial, can be the same one and have a character in common.

    A `?` between characters stands for one that is hidden. How many are hidden at an end cannot be seen: `?` there
    stand for at least as many as there are. So `33?` agrees with 331, 3312 and `3?1`, but not with 33 or 1332; and with
    `?` nothing agrees, since it says nothing.

        >>> agree("33?", "3312"), agree("?12", "3312"), agree("33?", "33"), agree("33?", "?")
        (True, True, False, False)
    """
    first, second = _Shape.of(one), _Shape.of(other)
    shifts = range(1 - len(second.core), len(first.core))
    return any(first.fits(second, shift) for shift in shifts)


@dataclass(frozen=True, slots=True)
class _Shape:
    """A number without the `?` at its ends, and how many of them there were before and behind it."""

    core: str
    before: int
    behind: int

    @classmethod
    def of(cls, number: str) -> _Shape:
        text = number.strip()
        core = text.lstrip(HIDDEN)
        return cls(core.rstrip(HIDDEN), len(text) - len(core), len(core) - len(core.rstrip(HIDDEN)))

    def fits(self, other: _Shape, shift: int) -> bool:
        """Whether both can be one number where the other's core begins `shift` characters after this one's."""
        start = _same_end(self.before, other.before, shift)
        end = _same_end(self.behind, other.behind, len(self.core) - shift - len(other.core))
        both = list(zip(self.core[max(shift, 0) :], other.core[max(-shift, 0) :], strict=False))
        differ = any(a != b and HIDDEN not in (a, b) for a, b in both)
        return start and end and not differ and any(a == b != HIDDEN for a, b in both)


def _same_end(hidden: int, others_hidden: int, lead: int) -> bool:
    """Whether two numbers can end in one place, where this core ends `lead` characters further out than the other."""
    if not hidden and not others_hidden:
        return lead == 0
    if not hidden:
        return lead >= others_hidden
    return bool(others_hidden) or -lead >= hidden


def _texts(prediction: PhotoPrediction) -> list[str]:
    return [box.number.strip() for box in prediction.bibs if box.number and box.number.strip()]


def number_status(labels: PhotoLabels, prediction: PhotoPrediction) -> NumberStatus:
    """PASS, PARTIAL or MISS for one photo."""
    if labels.bibs is None:
        return NumberStatus.UNLABELED
    expected, read = expected_numbers(labels), read_numbers(prediction)
    if expected == read and not false_partials(labels, prediction):
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
        expected, read, false = expected_numbers(photo), read_numbers(prediction), false_partials(photo, prediction)
        rows.append(
            NumberScorecard(
                number_tp=len(expected & read),
                number_fp=len(read - expected) + len(false),
                number_fn=len(expected - read),
                passed=status is NumberStatus.PASS,
                partial=status is NumberStatus.PARTIAL,
                missed=status is NumberStatus.MISS,
                photos=1,
                number_partial=len(partial_numbers(prediction) - false),
            )
        )
    return Tally.of_cards(NumberScorecard, rows)

"""Number scorecard."""

from __future__ import annotations

import pytest

from harness.scoring import BibBox, NumberScorecard, number_status, tally_numbers
from harness.scoring.numbers import read_numbers
from harness.types import PhotoLabels, PhotoPrediction


def labels(*numbers: str, scope: str = "bib") -> PhotoLabels:
    return PhotoLabels(bibs=tuple(BibBox(x=0, y=0, w=0, h=0, number=number, scope=scope) for number in numbers))


def reading(*numbers: str) -> PhotoPrediction:
    return PhotoPrediction(bibs=tuple(BibBox(x=0, y=0, w=0.1, h=0.1, number=number) for number in numbers))


@pytest.mark.parametrize(
    ("expected", "read", "status"),
    [
        (labels("1", "2"), reading("2", "1"), "PASS"),
        (labels("1", "2"), reading("1"), "PARTIAL"),
        (labels("1"), reading("1", "9"), "PARTIAL"),
        (labels("1"), reading("9"), "MISS"),
        (labels("1"), reading(), "MISS"),
        (labels(), reading(), "PASS"),
        (labels(), reading("9"), "PARTIAL"),
        (labels("62?"), reading(), "PASS"),
        (labels("1", scope="bib_obscured"), reading(), "PASS"),
        (PhotoLabels(), reading("1"), "UNLABELED"),
    ],
)
def test_status_of_a_photo(expected: PhotoLabels, read: PhotoPrediction, status: str) -> None:
    assert number_status(expected, read) == status


def test_a_number_read_twice_counts_once() -> None:
    card = tally_numbers([labels("1", "1")], [reading("1", "1")]).scorecard()
    assert (card.number_tp, card.number_fp, card.number_fn) == (1, 0, 0)


def test_counts_over_photos() -> None:
    batch = [labels("1", "2"), labels("3"), labels(), PhotoLabels()]
    card = tally_numbers(batch, [reading("1", "8"), reading("3"), reading(), reading("5")]).scorecard()
    assert card == NumberScorecard(2, 1, 1, passed=2, partial=1, missed=0, photos=3, unlabeled_photos=1)
    assert card.number_precision == card.number_recall == pytest.approx(2 / 3)
    assert card.number_f1 == card.metrics()["number/f1"] == pytest.approx(2 / 3)
    assert card.pass_rate == card.metrics()["number/pass_rate"] == pytest.approx(2 / 3)
    assert NumberScorecard.from_dict(card.to_dict()) == card


def test_a_reading_of_blanks_is_no_number() -> None:
    seen = PhotoPrediction(bibs=(BibBox(x=0, y=0, w=1, h=1, number="  "), BibBox(x=0, y=0, w=1, h=1, number=" 417 ")))
    assert read_numbers(seen) == {"417"}

"""Reliability bins and the expected calibration error."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scoring.calibration import CalibrationScorecard, calibration


def test_bins_say_how_many_how_sure_and_how_right() -> None:
    card = calibration([0.1, 0.6, 0.8, 0.95], [0, 1, 0, 1], bins=2)
    low, high = card.bins
    assert (low.low, low.high, low.n, low.mean_score, low.accuracy) == (0.0, 0.5, 1, 0.1, 0.0)
    assert (high.low, high.high, high.n) == (0.5, 1.0, 3)
    assert (high.mean_score, high.accuracy) == pytest.approx((2.35 / 3, 2 / 3))


def test_the_error_weighs_bins_by_their_items() -> None:
    card = calibration([0.1, 0.6, 0.8, 0.95], [0, 1, 0, 1], bins=2)
    assert card.ece == pytest.approx(0.25 * 0.1 + 0.75 * abs(2.35 / 3 - 2 / 3))


def test_sure_and_right_is_perfect_sure_and_wrong_is_the_worst() -> None:
    assert calibration([1.0, 1.0, 0.0], [1, 1, 0]).ece == 0.0
    assert calibration([1.0, 0.0], [0, 1]).ece == 1.0


@pytest.mark.parametrize(("score", "place"), [(0.0, 0), (0.1, 1), (0.29, 2), (0.3, 3), (0.7, 7), (0.999, 9), (1.0, 9)])
def test_a_score_on_an_edge_belongs_to_the_upper_bin(score: float, place: int) -> None:
    assert [entry.n for entry in calibration([score], [1]).bins].index(1) == place


def test_an_empty_bin_has_no_rates() -> None:
    first, last = calibration([0.9], [True], bins=2).bins
    assert (first.n, first.mean_score, first.accuracy) == (0, None, None)
    assert (last.n, last.accuracy) == (1, 1.0)


def test_without_items_no_error_is_logged() -> None:
    card = calibration([], [])
    assert card.ece is None
    assert card.metrics("ocr") == {"ocr/ece_n": 0.0}
    assert calibration([0.5], [1]).metrics("ocr") == {"ocr/ece": 0.5, "ocr/ece_n": 1.0}


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1), st.integers(1, 20))
def test_equals_the_definition_and_reads_back(items: list[tuple[float, bool]], bins: int) -> None:
    card = calibration([score for score, _ in items], [right for _, right in items], bins)
    edges = [n / bins for n in range(bins)]
    expected = 0.0
    for n, low in enumerate(edges):
        inside = [i for i in items if i[0] >= low and (n == bins - 1 or i[0] < edges[n + 1])]
        expected += abs(sum(score - right for score, right in inside)) / len(items)
    assert card.ece == pytest.approx(expected, abs=1e-9)
    assert sum(entry.n for entry in card.bins) == card.n == len(items)
    assert CalibrationScorecard.from_dict(json.loads(json.dumps(card.to_dict()))) == card


@pytest.mark.parametrize(
    ("scores", "correct", "message"),
    [
        ([0.5, float("nan")], [1, 1], "item 1: score nan; expected a number from 0 to 1"),
        ([1.5], [1], "item 0: score 1.5"),
        ([0.5], [2], r"item 0: outcome 2; expected right \(1\) or wrong \(0\)"),
        ([0.5], [1, 0], "1 scores for 2 outcomes"),
    ],
)
def test_bad_input_is_refused_by_place(scores: Any, correct: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        calibration(np.array(scores), np.array(correct))


def test_no_bins_are_refused() -> None:
    with pytest.raises(ValueError, match="bins 0: expected at least 1"):
        calibration([0.5], [1], bins=0)

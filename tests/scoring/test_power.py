"""How many photos a loss takes, told before there is a run: the same figures as the verdict gives afterwards."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from harness.runs.judge import judge
from harness.scoring.pairing import PairedRate, judge_together
from harness.scoring.power import CHURNS, photos_needed, smallest_loss
from tests.benchmark_runs import benchmark_run, gate


@pytest.mark.parametrize("churn", CHURNS)
@pytest.mark.parametrize("together", [1, 6])
def test_it_is_the_published_formula(churn: float, together: int) -> None:
    """docs/statistics.md: h (K^2 w + sqrt(K^4 w^2 + 4 K^2 S)) / 2 with w = 1, h = 1 / n and S = churn x n."""
    square, photos = (norm.ppf(1 - 0.05 / together) + norm.ppf(0.8)) ** 2, 1000
    by_hand = (square + math.sqrt(square**2 + 4 * square * churn * photos)) / 2 / photos
    assert smallest_loss(photos, churn, together) == pytest.approx(by_hand)
    assert photos_needed(0.05, churn, together) == math.ceil(square * (churn + 0.05) / 0.05**2)


def test_on_as_many_photos_as_are_needed_the_loss_is_seen() -> None:
    needed = photos_needed(0.05, 0.1, 6)
    assert needed is not None
    assert smallest_loss(needed, 0.1, 6) == pytest.approx(0.05, rel=0.01)


def test_a_run_with_that_churn_is_told_the_same() -> None:
    """The example of docs/statistics.md: of 60 faces one is lost and another one found."""
    faces = [(1, 0, 0)] * 58
    before, after = benchmark_run([*faces, (1, 0, 0), (0, 0, 1)]), benchmark_run([*faces, (0, 0, 1), (1, 0, 0)])
    (told,) = judge(gate(), after, before).metrics
    assert told.unseen == pytest.approx(smallest_loss(60, 2 / 60, 1))
    assert told.unseen == pytest.approx(0.1296, abs=5e-5)


def test_a_loss_of_that_size_is_seen_in_about_four_of_five_cases() -> None:
    """Six rates of 240 photos; one of them loses what is promised to be seen, beside a churn of 3 %."""
    photos, churn, rates = 240, 0.03, [f"rate {place}" for place in range(6)]
    loss, draw = smallest_loss(photos, churn, len(rates)), np.random.default_rng(7)
    seen, pairs = 0, 150
    for _ in range(pairs):
        moved = {
            name: _rate(draw.choice([-1.0, 0.0, 1.0], photos, p=_chances(churn, loss if name == rates[0] else 0)))
            for name in rates
        }
        verdicts = judge_together(moved, dict.fromkeys(rates, 1), draws=1000)
        seen += verdicts[rates[0]] == -1
    assert 0.68 < seen / pairs < 0.95


def _chances(churn: float, loss: float) -> list[float]:
    return [churn / 2 + loss, 1 - churn - loss, churn / 2]


def _rate(moves: np.ndarray) -> PairedRate:
    delta, photos = float(moves.mean()), len(moves)
    return PairedRate(0.9, 0.9 + delta, moves, 1 / photos, photos, photos)

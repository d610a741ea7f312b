"""Rates on the same resamples, and several of them judged at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scoring.cards import Sides
from harness.scoring.pairing import PairedRate, judge_together, paired_rates


def sides(above: list[float], below: list[float]) -> Sides:
    return np.array(above, dtype=float), np.array(below, dtype=float)


def test_the_difference_is_that_of_the_rates_over_all_items() -> None:
    base, run = sides([1, 1, 0, 2], [1, 2, 1, 2]), sides([1, 2, 1, 2], [1, 2, 1, 2])
    rate = paired_rates({"recall": base}, {"recall": run})["recall"]
    assert (rate.baseline, rate.candidate) == (4 / 6, 1.0)
    assert rate.delta == pytest.approx(2 / 6)
    assert (rate.items, rate.counted) == (4, 4)
    difference = rate.difference()
    assert difference is not None
    assert difference.low <= rate.delta <= difference.high
    assert (difference.p_worse, difference.photos) == (0.0, 4)


def test_what_makes_an_item_hard_for_both_cancels_out() -> None:
    random = np.random.default_rng(0)
    hits, below = random.integers(0, 5, 50).astype(float), np.full(50, 4.0)
    rate = paired_rates({"x": (hits, below)}, {"x": (np.minimum(hits + 1, 5), below + 1)})["x"]
    unpaired = paired_rates({"x": (hits, below)}, {"x": (np.roll(hits, 7) + 1, below + 1)})["x"]
    assert np.std(rate.resampled) < np.std(unpaired.resampled) / 2


def test_only_rates_that_both_have_and_that_are_measured_are_compared() -> None:
    known, empty = sides([1, 0], [1, 1]), sides([0, 0], [0, 0])
    compared = paired_rates({"a": known, "b": known, "c": empty}, {"a": known, "b": empty, "c": empty, "d": known})
    assert set(compared) == {"a"}
    assert paired_rates({"a": known}, {"b": known}) == {}


def test_an_item_without_a_denominator_is_not_counted() -> None:
    rate = paired_rates({"a": sides([1, 0, 0], [1, 0, 1])}, {"a": sides([1, 0, 0], [1, 0, 1])})["a"]
    assert (rate.items, rate.counted) == (3, 2)
    either = paired_rates({"a": sides([1, 0, 0], [1, 0, 0])}, {"a": sides([0, 0, 0], [0, 1, 0])})["a"]
    assert (either.items, either.counted) == (3, 2)


def test_the_same_seed_gives_the_same_resamples() -> None:
    base, run = {"a": sides([1, 0, 1], [1, 1, 2])}, {"a": sides([0, 1, 1], [1, 1, 2])}
    first, again, other = (paired_rates(base, run, seed=seed)["a"].resampled for seed in (3, 3, 4))
    assert np.array_equal(first, again, equal_nan=True)
    assert not np.array_equal(first, other, equal_nan=True)


def rate(delta: float, resampled: list[float], counted: int = 50) -> PairedRate:
    return PairedRate(0.5, 0.5 + delta, np.array(resampled), counted, counted)


SPREAD = list(np.random.default_rng(1).normal(0, 0.02, 2000))


@pytest.mark.parametrize(("delta", "sign", "verdict"), [(-0.06, 1, -1), (-0.06, -1, 1), (0.06, 1, 1), (-0.02, 1, 0)])
def test_a_rate_moves_when_it_moves_by_more_than_chance(delta: float, sign: int, verdict: int) -> None:
    moved = rate(delta, [delta + error for error in SPREAD])
    assert judge_together({"a": moved}, {"a": sign}) == {"a": verdict}


def test_more_rates_ask_for_more_evidence() -> None:
    random = np.random.default_rng(2)

    def moved(delta: float) -> PairedRate:
        return rate(delta, list(delta + random.normal(0, 0.02, 4000)))

    edge = moved(-0.037)
    assert judge_together({"edge": edge}, {"edge": 1}) == {"edge": -1}
    many = {"edge": edge} | {f"other {number}": moved(0.0) for number in range(20)}
    assert judge_together(many, dict.fromkeys(many, 1))["edge"] == 0
    twins = {f"twin {number}": edge for number in range(20)}
    assert set(judge_together(twins, dict.fromkeys(twins, 1)).values()) == {-1}, "rates that move as one cost nothing"


@pytest.mark.parametrize(("counted", "verdict"), [(4, 0), (5, -1)])
def test_items_that_all_moved_alike_are_an_accident_only_where_they_are_few(counted: int, verdict: int) -> None:
    assert judge_together({"a": rate(-0.5, [-0.5] * 100, counted)}, {"a": 1}) == {"a": verdict}


@pytest.mark.parametrize(("alpha", "verdict"), [(1 / 16, -1), (1 / 17, 0)])
def test_four_of_four_happen_by_chance_once_in_sixteen(alpha: float, verdict: int) -> None:
    assert judge_together({"a": rate(-0.5, [-0.5] * 100, counted=4)}, {"a": 1}, alpha) == {"a": verdict}


def test_nothing_to_judge_is_no_verdict() -> None:
    assert judge_together({}, {}) == {}
    assert judge_together({"a": rate(0.0, [0.0] * 100)}, {"a": 1}) == {"a": 0}


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_swapping_the_runs_turns_every_verdict_round(pairs: list[tuple[int, int]]) -> None:
    left, right = (sides([pair[side] for pair in pairs], [3.0] * len(pairs)) for side in (0, 1))
    there = judge_together(paired_rates({"a": left}, {"a": right}), {"a": 1})
    back = judge_together(paired_rates({"a": right}, {"a": left}), {"a": 1})
    assert there["a"] == -back["a"]

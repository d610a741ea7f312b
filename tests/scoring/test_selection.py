"""The best of many trials: against a plain calculation, on pure noise, and on a real gain."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from harness.scoring.cards import Sides
from harness.scoring.selection import Finding, Selection, select

#: Whether a photo is right: one row a configuration, the base's first.
Hits = NDArray[Any]
#: What a standing simulation may find beyond its level: 3.5 standard errors.
ERRORS = 3.5


def of_photos(correct: Hits) -> list[Sides]:
    """One target a photo."""
    return [(row.astype(float), np.ones(len(row))) for row in correct]


def chosen(correct: Hits, groups: list[str] | None = None, seed: int = 0) -> Selection:
    base, *trials = of_photos(correct)
    return select(base, trials, groups or [""] * len(base[0]), seed=seed)


def plain_share(base: Sides, trials: list[Sides], groups: list[str], trial: int) -> float:
    """In which share of all flips the largest z of all trials is at least that of one: loops, and nothing else."""
    names = sorted(set(groups))
    scores = []
    for above, below in trials:
        pooled = (sum(above) + sum(base[0])) / (sum(below) + sum(base[1]))
        scores.append(
            [
                sum(
                    (above[row] - pooled * below[row]) - (base[0][row] - pooled * base[1][row])
                    for row in range(len(groups))
                    if groups[row] == name
                )
                for name in names
            ]
        )
    spreads = [math.sqrt(sum(score**2 for score in row)) for row in scores]

    def largest(signs: tuple[int, ...]) -> float:
        return max(
            float(np.dot(signs, row)) / spread for row, spread in zip(scores, spreads, strict=True) if spread > 1e-9
        )

    observed = sum(scores[trial]) / spreads[trial]
    return float(np.mean([largest(signs) >= observed - 1e-9 for signs in product((1, -1), repeat=len(names))]))


@pytest.mark.parametrize("seed", range(12))
def test_a_bound_is_above_zero_exactly_where_a_plain_sign_flip_test_rejects(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = [f"g{row % 9}" for row in range(18)]
    below = rng.integers(1, 4, size=(5, 18)).astype(float)
    above = np.minimum(rng.integers(0, 4, size=(5, 18)), below)
    above[1:3] = np.minimum(above[1:3] + rng.integers(0, 3, size=(2, 18)), below[1:3])  # two that are often better
    base, *trials = zip(above, below, strict=True)
    found = select(base, trials, groups, seed=seed)
    for place, (numerator, denominator) in enumerate(trials):
        gain = numerator.sum() / denominator.sum() - base[0].sum() / base[1].sum()
        assert found.gains[place] == pytest.approx(gain)
        if gain <= 0:
            assert found.of(place).finding is Finding.NOTHING
            continue
        share = plain_share(base, trials, groups, place)
        assert (found.bounds_95[place] > 0) == (share <= 0.05), share
        assert (found.bounds_80[place] > 0) == (share <= 0.2), share
        assert found.bounds_95[place] <= found.bounds_80[place] <= found.gains[place]


@pytest.mark.parametrize(
    ("moved", "finding"),
    [(2, Finding.NOTHING), (3, Finding.CANDIDATE), (4, Finding.CANDIDATE), (5, Finding.SHOWN), (9, Finding.SHOWN)],
)
@pytest.mark.parametrize("photos", [12, 40])
def test_fewer_than_five_groups_that_moved_all_one_way_show_nothing(moved: int, finding: Finding, photos: int) -> None:
    correct = np.ones((4, photos))
    correct[0, :moved] = 0  # the base misses them; two trials are equal, one is the base again
    correct[3] = correct[0]
    selected = chosen(correct).of(0)
    assert (selected.finding, selected.moved, selected.groups) == (finding, moved, photos)
    assert ("never show a gain" in selected.words()) == (moved < 5)


def test_photos_of_one_group_count_once() -> None:
    correct = np.ones((2, 24))
    correct[0, :6] = 0
    assert chosen(correct).of(0).finding is Finding.SHOWN
    together = ["a"] * 3 + ["b"] * 3 + [""] * 18
    selected = chosen(correct, together).of(0)
    assert (selected.finding, selected.groups, selected.moved) == (Finding.NOTHING, 20, 2)


def test_many_tries_make_the_same_gain_less() -> None:
    rng = np.random.default_rng(3)
    alone = np.ones((2, 60))
    alone[0, :6] = 0
    noise = np.where(rng.random((200, 60)) < 0.1, 1 - alone[0], alone[0])
    assert chosen(alone).of(0).finding is Finding.SHOWN
    among = chosen(np.vstack([alone, noise])).of(0)
    assert among.observed == pytest.approx(0.1)
    assert among.bound_95 < 0


def test_trials_that_are_equal_to_others_change_nothing() -> None:
    rng = np.random.default_rng(1)
    correct = rng.random((6, 30)) < 0.8
    alone, repeated = chosen(correct), chosen(np.vstack([correct, correct[1:]]))
    assert repeated.bounds_95[:5] == pytest.approx(alone.bounds_95)
    assert repeated.left_out == pytest.approx(alone.left_out)
    assert chosen(np.vstack([correct, correct[:1]])).bounds_95[:5] == pytest.approx(alone.bounds_95)


def test_a_rate_that_is_better_when_lower_is_the_same_the_other_way_round() -> None:
    rng = np.random.default_rng(2)
    correct = rng.random((6, 30)) < 0.8
    base, *trials = of_photos(1.0 - correct)
    lower, higher = select(base, trials, [""] * 30, sign=-1), chosen(correct)
    assert lower.gains == pytest.approx(higher.gains)
    assert lower.bounds_95 == pytest.approx(higher.bounds_95)
    assert lower.best == higher.best
    assert lower.left_out == pytest.approx(higher.left_out)


def test_the_left_out_gain_is_that_of_a_plain_loop() -> None:
    rng = np.random.default_rng(5)
    below = (rng.random((4, 7)) < 0.5).astype(float)  # so that some draws have nothing to choose or to measure by
    below[:, 0] = 1
    above = below * (rng.random((4, 7)) < 0.6)
    counted = [row for row in range(7) if below[:, row].any()]
    base, *trials = zip(above, below, strict=True)
    gains = []
    for draw in np.random.default_rng(8).integers(len(counted), size=(500, len(counted))):
        drawn = [counted[row] for row in draw]
        others = [row for row in counted if row not in drawn]
        rates = {t: above[t][drawn].sum() / below[t][drawn].sum() for t in (1, 2, 3) if below[t][drawn].sum()}
        if rates:
            best = max(rates, key=lambda t: (rates[t], -t))
            if below[best][others].sum() and below[0][others].sum():
                measured = [above[t][others].sum() / below[t][others].sum() for t in (best, 0)]
                gains.append(measured[0] - measured[1])
    assert 0 < len(gains) < 500
    assert select(base, trials, [""] * 7, seed=8).left_out == pytest.approx(np.mean(gains))


def test_a_single_group_can_leave_nothing_out() -> None:
    selected = chosen(np.array([[0, 0, 1], [1, 1, 1]]), ["a", "a", "a"]).of(0)
    assert (selected.left_out, selected.finding) == (None, Finding.NOTHING)
    assert selected.words() == (
        "observed +0.6667, 95 % bound +0.0000: nothing found (1 of 1 groups moved; fewer than 5 never show a gain)"
    )


def test_what_cannot_be_held_against_each_other_is_refused() -> None:
    one = (np.ones(3), np.ones(3))
    with pytest.raises(ValueError, match="no trials; expected at least one"):
        select(one, [], [""] * 3)
    with pytest.raises(ValueError, match="2 groups for 3 items; expected the group of each item"):
        select(one, [one], [""] * 2)
    with pytest.raises(ValueError, match="trial 1 has a rate without denominator"):
        select(one, [one, (np.zeros(3), np.zeros(3))], [""] * 3)


def fresh_noise(rng: np.random.Generator, groups: int) -> Hits:
    """41 configurations, each right on nine photos of ten by its own chance."""
    return rng.random((41, groups)) < 0.9


def churn(rng: np.random.Generator, groups: int) -> Hits:
    """41 configurations that agree but on a tenth of the photos, where each guesses; every second one is a copy."""
    shared = rng.random(groups) < 0.9
    own = np.where(rng.random((41, groups)) < 0.1, rng.random((41, groups)) < 0.9, shared)
    own[2::2] = own[1:-1:2]
    return own


@pytest.mark.simulation
@pytest.mark.parametrize(("model", "groups"), [(fresh_noise, 60), (churn, 24), (churn, 240)])
def test_under_pure_noise_the_best_of_40_is_seldom_called_better_and_gains_nothing_on_left_out_groups(
    model: Callable[[np.random.Generator, int], Hits], groups: int
) -> None:
    rng, repeats = np.random.default_rng(20), 200
    found = [(each := chosen(model(rng, groups), seed=seed)).of(each.best) for seed in range(repeats)]
    for level, good in ((0.05, {Finding.SHOWN}), (0.2, {Finding.SHOWN, Finding.CANDIDATE})):
        share = np.mean([one.finding in good for one in found])
        assert share <= level + ERRORS * np.sqrt(level * (1 - level) / repeats)
    left_out = np.array([one.left_out for one in found], float)
    observed = np.array([one.observed for one in found])
    assert abs(left_out.mean()) <= 3 * left_out.std() / np.sqrt(repeats)
    assert observed.mean() > 10 * observed.std() / np.sqrt(repeats)


@pytest.mark.simulation
def test_a_real_gain_of_several_points_on_240_photos_is_found_among_40_trials() -> None:
    rng, repeats = np.random.default_rng(21), 40
    found = []
    for seed in range(repeats):
        correct = churn(rng, 240)
        correct[7] |= rng.random(240) < 0.6  # mends three mistakes of five: six points of the ten
        selection = chosen(correct, seed=seed)
        found.append(selection.of(selection.best))
    assert np.mean([one.finding is Finding.SHOWN for one in found]) >= 0.75
    assert np.mean([one.finding is not Finding.NOTHING for one in found]) >= 0.9
    assert 0.045 < np.mean(np.array([one.left_out for one in found], float)) < 0.07

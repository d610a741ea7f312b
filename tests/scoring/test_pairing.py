"""Two runs compared group by group: equal to the rule written out plainly, and the same whichever way one looks."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import fields
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import t

from harness.scoring.bibs import BibScorecard
from harness.scoring.cards import Sides, Tally
from harness.scoring.faces import FaceScorecard
from harness.scoring.pairing import (
    PairedRate,
    _student,
    flip_chances,
    groups_wanted,
    judge_together,
    paired_difference,
    paired_left_out,
    paired_rates,
)
from harness.scoring.uncertainty import LeftOut

Pairs = list[tuple[int, int, int, int, str]]


def sides(above: Sequence[float], below: Sequence[float]) -> Sides:
    return np.array(above, dtype=float), np.array(below, dtype=float)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.975, 0.9975])
def test_the_quantile_of_students_t_is_that_of_scipy(level: float) -> None:
    freedom = [1, 1.0001, 1.5, 2.7, 9, 99.5, 1e3, 2e4, 1e6]
    assert [_student(each, level) for each in freedom] == pytest.approx(t.ppf(level, freedom), rel=1e-7)


def both(rows: Pairs) -> tuple[Sides, Sides, list[str]]:
    """Rows of (right, wrong) before, the same after, and a group."""
    before = sides([a for a, _, _, _, _ in rows], [a + b for a, b, _, _, _ in rows])
    after = sides([c for _, _, c, _, _ in rows], [c + d for _, _, c, d, _ in rows])
    return before, after, [row[4] for row in rows]


def moves(rows: Pairs) -> list[float]:
    """By how much each group moves the rate, number by number."""
    total, whole = sum(a + c for a, _, c, _, _ in rows), sum(a + b + c + d for a, b, c, d, _ in rows)
    pooled, found = total / whole, defaultdict[object, float](float)
    for place, (a, b, c, d, group) in enumerate(rows):
        found[group or place] += (c - pooled * (c + d)) - (a - pooled * (a + b))
    return list(found.values())


def chances(moved: Mapping[str, Sequence[float]], signs: Mapping[str, int]) -> dict[str, tuple[float, float]]:
    """Every way to flip the signs of the groups, one after the other."""
    length = {name: math.sqrt(sum(each**2 for each in values)) for name, values in moved.items()}
    known = {name: [signs[name] * each / length[name] for each in values] for name, values in moved.items()}
    hits = {name: [0, 0] for name in moved}
    ways = list(itertools.product((-1, 1), repeat=len(next(iter(moved.values())))))
    for way in ways:
        reached = [sum(s * each for s, each in zip(way, values, strict=True)) for values in known.values()]
        for name, values in known.items():
            hits[name][0] += max(-each for each in reached) >= -sum(values) - 1e-9
            hits[name][1] += max(reached) >= sum(values) - 1e-9
    return {name: (worse / len(ways), better / len(ways)) for name, (worse, better) in hits.items()}


counts = st.integers(0, 3)
rows = st.lists(
    st.tuples(counts, counts, counts, counts, st.sampled_from(["", "", "a", "b", "c"])), min_size=1, max_size=9
)


@settings(max_examples=100)
@given(rows)
def test_moves_and_chances_are_those_of_the_rule(given_rows: Pairs) -> None:
    before, after, groups = both(given_rows)
    assume(before[1].sum() and after[1].sum())
    rate = paired_rates({"a": before}, {"a": after}, groups)["a"]
    expected = moves(given_rows)
    assert sorted(rate.moves) == pytest.approx(sorted(expected), abs=1e-9)
    assert rate.scale * sum(rate.moves) == pytest.approx(rate.delta, abs=1e-9), "the moves are the difference"
    if max(map(abs, expected)) > 1e-9:
        assert flip_chances({"a": rate}, {"a": 1})["a"] == pytest.approx(chances({"a": expected}, {"a": 1})["a"])
    else:
        assert flip_chances({"a": rate}, {"a": 1})["a"] == (1.0, 1.0)


@settings(max_examples=60)
@given(st.lists(st.tuples(*[counts] * 4), min_size=2, max_size=9), st.sampled_from([1, -1]))
def test_several_rates_are_held_against_the_one_that_moves_most(pairs: list[tuple[int, ...]], sign: int) -> None:
    """The two rates have the same photos, and the second moves otherwise."""
    first = [(a, 3 - a, b, 3 - b, "") for a, b, _, _ in pairs]
    second = [(c, 3 - c, d, 3 - d, "") for _, _, c, d in pairs]
    moved = {"first": moves(first), "second": moves(second)}
    assume(all(max(map(abs, values)) > 1e-9 for values in moved.values()))
    rates: dict[str, PairedRate] = {}
    for name, given_rows in (("first", first), ("second", second)):
        before, after, _ = both(given_rows)
        rates |= paired_rates({name: before}, {name: after})
    signs = {"first": 1, "second": sign}
    found, expected = flip_chances(rates, signs), chances(moved, signs)
    for name in rates:
        assert found[name] == pytest.approx(expected[name])
    alone = flip_chances(rates, signs, alone=True)
    assert alone["first"] == pytest.approx(chances({"first": moved["first"]}, signs)["first"])


many = st.lists(st.tuples(counts, counts, counts, counts, st.sampled_from(["", *"abcdefgh"])), min_size=15, max_size=40)


@settings(max_examples=50)
@given(many, st.randoms())
def test_names_and_order_and_scale_change_nothing_and_swapping_the_runs_turns_it_round(
    given_rows: Pairs, random: object
) -> None:
    before, after, groups = both(given_rows)
    assume(before[1].sum() and after[1].sum())
    rate = paired_rates({"a": before}, {"a": after}, groups)["a"]
    worse, better = flip_chances({"a": rate}, {"a": 1})["a"]

    back = paired_rates({"a": after}, {"a": before}, groups)["a"]
    assert back.moves.tolist() == (-rate.moves).tolist()
    assert flip_chances({"a": back}, {"a": 1})["a"] == (better, worse)
    assert flip_chances({"a": rate}, {"a": -1})["a"] == (better, worse)
    assert judge_together({"a": back}, {"a": 1})["a"] == -judge_together({"a": rate}, {"a": 1})["a"]

    order = list(range(len(given_rows)))
    random.shuffle(order)  # type: ignore[attr-defined]
    shuffled = [(*given_rows[place][:4], given_rows[place][4] and f"group {given_rows[place][4]}") for place in order]
    other_before, other_after, other_groups = both(shuffled)
    other = paired_rates({"a": other_before}, {"a": other_after}, other_groups)["a"]
    assert flip_chances({"a": other}, {"a": 1})["a"] == (worse, better)
    for ours, theirs in ((other.interval(), rate.interval()), ((other.smallest_loss(),), (rate.smallest_loss(),))):
        assert ours == theirs or ours == pytest.approx(theirs)

    larger = paired_rates({"a": (4 * before[0], 4 * before[1])}, {"a": (4 * after[0], 4 * after[1])}, groups)["a"]
    assert flip_chances({"a": larger}, {"a": 1})["a"] == (worse, better)


def test_the_difference_is_that_of_the_rates_over_all_items() -> None:
    base, run = sides([1, 1, 0, 2], [1, 2, 1, 2]), sides([1, 2, 1, 2], [1, 2, 1, 2])
    rate = paired_rates({"recall": base}, {"recall": run}, ["a", "a", "", ""])["recall"]
    assert (rate.baseline, rate.candidate) == (4 / 6, 1.0)
    assert rate.delta == pytest.approx(2 / 6)
    assert (rate.items, rate.groups, rate.moved) == (4, 3, 2)


def test_only_rates_that_both_have_and_that_are_measured_are_compared() -> None:
    known, empty = sides([1, 0], [1, 1]), sides([0, 0], [0, 0])
    compared = paired_rates({"a": known, "b": known, "c": empty}, {"a": known, "b": empty, "c": empty, "d": known})
    assert set(compared) == {"a"}
    assert paired_rates({"a": known}, {"b": known}) == {}


def test_a_group_without_a_denominator_has_no_part_in_the_rate() -> None:
    rate = paired_rates({"a": sides([1, 0, 0], [1, 0, 1])}, {"a": sides([1, 0, 0], [1, 0, 1])})["a"]
    assert (rate.items, rate.groups) == (3, 2)
    either = paired_rates({"a": sides([1, 0, 0], [1, 0, 0])}, {"a": sides([0, 0, 0], [0, 1, 0])})["a"]
    assert (either.items, either.groups) == (3, 2)


def rate(*moved: float, groups: int | None = None, targets: float = 100) -> PairedRate:
    """A rate that groups moved so, on so many targets."""
    return PairedRate(0.9, 0.9 + sum(moved) / targets, np.array(moved), 1 / targets, 60, groups or len(moved))


@pytest.mark.parametrize(("groups", "verdict"), [(4, 0), (5, -1), (20, -1)])
def test_fewer_than_five_groups_that_all_moved_one_way_prove_nothing(groups: int, verdict: int) -> None:
    lost = rate(*[-1.0] * groups, *[0.0] * 50)
    assert judge_together({"a": lost}, {"a": 1}) == {"a": verdict}
    assert judge_together({"a": lost}, {"a": -1}) == {"a": -verdict}
    assert judge_together({"a": lost}, {"a": 1}, level_better=0.5, level_worse=0.5) == {"a": verdict}


@pytest.mark.parametrize(("level", "verdict"), [(2**-8, 1), (2**-8.1, 0)])
def test_eight_of_eight_happen_by_chance_once_in_256(level: float, verdict: int) -> None:
    gained = rate(*[1.0] * 8)
    assert flip_chances({"a": gained}, {"a": 1})["a"] == (1.0, 2**-8)
    assert judge_together({"a": gained}, {"a": 1}, level_better=level, level_worse=0.05) == {"a": verdict}
    assert judge_together({"a": gained}, {"a": -1}, level_better=level, level_worse=0.05) == {"a": -1}


@pytest.mark.parametrize(("level", "groups"), [(0.5, 5), (0.05, 5), (0.005, 8)])
def test_how_many_groups_a_level_wants(level: float, groups: int) -> None:
    assert groups_wanted(level) == groups


def test_a_drawn_chance_is_near_the_exact_one_and_never_zero() -> None:
    moved = [1.0, -2.0, 3.0, 1.0, 1.0, -1.0, 2.0, 2.0, 1.0, -1.0, 1.0, 2.0, -1.0, 1.0, 1.0]
    drawn = flip_chances({"a": rate(*moved)}, {"a": 1})["a"]
    assert drawn == pytest.approx(chances({"a": moved}, {"a": 1})["a"], abs=0.01)
    assert flip_chances({"a": rate(*[1.0] * 40)}, {"a": 1}, draws=1000)["a"] == (1.0, 1 / 1001)


def test_the_seed_and_the_number_of_draws_decide_what_is_drawn() -> None:
    random = np.random.default_rng(3)
    moved = {"a": rate(*random.normal(0.1, 1, 60))}
    first, again, other = (flip_chances(moved, {"a": 1}, seed) for seed in (3, 3, 4))
    assert first == again != other
    assert flip_chances(moved, {"a": 1}, 3, draws=500) != first


def test_more_rates_ask_for_more_evidence_and_rates_that_move_as_one_for_none() -> None:
    random = np.random.default_rng(2)
    edge = rate(*[-1.0] * 9, 1.0, 1.0, *[0.0] * 40)
    assert judge_together({"edge": edge}, {"edge": 1}) == {"edge": -1}
    noise = {f"other {number}": rate(*random.choice([-1.0, 1.0], 51)) for number in range(20)}
    together = {"edge": edge, **noise}
    assert judge_together(together, dict.fromkeys(together, 1))["edge"] == 0
    twins = {f"twin {number}": edge for number in range(20)}
    assert set(judge_together(twins, dict.fromkeys(twins, 1)).values()) == {-1}


def test_nothing_to_judge_is_no_verdict() -> None:
    assert judge_together({}, {}) == {}
    assert judge_together({"a": rate(0.0, 0.0)}, {"a": 1}) == {"a": 0}


def needed(level: float, together: int) -> float:
    return NormalDist().inv_cdf(1 - level / together) + NormalDist().inv_cdf(0.8)


@pytest.mark.parametrize(
    ("moved", "weight"), [([1, -1, 0, 2, -3, 0, 1, -1], 17 / 9), ([0.0] * 8, 1.0), ([0.5, -0.25, 0, 0, 0, 0, 0, 0], 1)]
)
@pytest.mark.parametrize(("together", "level"), [(1, 0.05), (7, 0.05), (3, 0.005)])
def test_the_smallest_loss_that_could_have_been_seen(
    moved: list[float], weight: float, together: int, level: float
) -> None:
    scatter = sum((each - sum(moved) / 8) ** 2 for each in moved)
    square = needed(level, together) ** 2
    expected = 0.01 * (square * weight + math.sqrt(square**2 * weight**2 + 4 * square * scatter)) / 2
    assert rate(*moved).smallest_loss(together, level) == pytest.approx(expected)
    assert expected > 0


def test_on_as_many_items_as_are_needed_the_margin_would_be_seen() -> None:
    """Twice the items are twice the targets and twice the scatter."""
    once = rate(*[1.0, -1.0, 0.0, 2.0] * 5)
    times = once.items_needed(0.05, 3)
    assert times is not None
    factor = times / once.items
    more = PairedRate(0.9, 0.9, np.sqrt(factor) * (once.moves - once.moves.mean()), once.scale / factor, times, 20)
    # The weight of a typical move stays what it is, so the loss is worked out by hand.
    square = needed(0.05, 3) ** 2
    seen = more.scale * (square * once.weight + math.sqrt((square * once.weight) ** 2 + 4 * square * more.scatter)) / 2
    assert seen == pytest.approx(0.05, rel=0.02)
    assert once.items_needed(0.0) is None


def test_a_loss_is_excluded_by_what_the_moves_leave_open() -> None:
    moved = [1.0, -1.0, 0.0, 2.0, -1.0, *[0.0] * 25]
    found = rate(*moved, targets=200)
    squares = [each**2 for each in moved]
    carried = sum(squares) ** 2 / sum(each**2 for each in squares)
    freedom, weight = min(29, carried + 8), max(1.0, sum(squares) / 5)
    scatter = sum((each - sum(moved) / 30) ** 2 for each in moved)

    def excluded(margin: float, sign: int) -> bool:
        variance = max(scatter + weight**2, weight * margin * 200)
        return bool(sign * sum(moved) / 200 + margin > t.ppf(0.95, freedom) / 200 * math.sqrt(variance))

    margins = [0.005 * step for step in range(40)]
    for sign in (1, -1):
        assert [found.no_worse(margin, sign) for margin in margins] == [excluded(margin, sign) for margin in margins]
        assert {found.no_worse(margin, sign) for margin in margins} == {True, False}
    half = t.ppf(0.975, freedom) / 200 * math.sqrt(scatter + weight**2)
    assert found.interval() == pytest.approx((sum(moved) / 200 - half, sum(moved) / 200 + half))


def test_nothing_that_moved_is_no_proof_by_itself() -> None:
    assert not rate(*[0.0] * 20, targets=20).no_worse(0.05)
    assert rate(*[0.0] * 20, targets=400).no_worse(0.05)


def test_one_group_says_nothing() -> None:
    single = rate(1.0)
    assert single.interval() is None
    assert not single.no_worse(0.99)


def test_an_interval_of_rates_ends_where_rates_end() -> None:
    wide = rate(1.0, -2.0, 1.0, targets=3)
    assert wide.interval() == (-1.0, 1.0)
    distances = PairedRate(3.0, 4.0, np.array([1.0, -2.0, 1.0]), 1.0, 3, 3).interval()
    assert distances is not None
    assert distances[0] < -1 < 1 < distances[1]


def test_groups_of_other_tasks_have_no_part() -> None:
    alone = rate(1.0, -1.0, 2.0, 0.0, 1.0, 1.0, 1.0)
    among = alone.placed(3, 2)
    assert among.moves.tolist() == [0, 0, 0, *alone.moves, 0, 0]
    assert (among.interval(), among.smallest_loss()) == (alone.interval(), alone.smallest_loss())
    assert flip_chances({"a": among}, {"a": 1}) == flip_chances({"a": alone}, {"a": 1})


def left_out(values: Mapping[str, float]) -> LeftOut:
    """The mean of some values, and what it is without each."""
    total = sum(values.values())
    return LeftOut(len(values), {name: (total - value) / (len(values) - 1) for name, value in values.items()})


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=30))
def test_a_mean_by_its_pseudo_values_is_what_it_is_as_a_rate(pairs: list[tuple[float, float]]) -> None:
    """A mean is a ratio of sums too: both ways to pair it agree."""
    before, after = ({str(row): pair[side] for row, pair in enumerate(pairs)} for side in (0, 1))
    means = tuple(sum(run.values()) / len(run) for run in (before, after))
    found = paired_left_out((means[0], means[1]), left_out(before), left_out(after), 40)
    plain = [(sides([*run.values()], [1.0] * len(run))) for run in (before, after)]
    rate = paired_rates({"mean": plain[0]}, {"mean": plain[1]})["mean"]
    assert found is not None
    assert sorted(found.moves) == pytest.approx(sorted(rate.moves), abs=1e-7)
    assert (found.groups, found.items) == (len(pairs), 40)
    assert (found.scale, found.delta) == pytest.approx((rate.scale, rate.delta))


def test_runs_that_left_out_other_parts_are_not_paired() -> None:
    ours, theirs = left_out({"a": 0.1, "b": 0.4}), left_out({"a": 0.1, "c": 0.4})
    assert paired_left_out((0.2, 0.3), ours, theirs, 2) is None
    assert paired_left_out((0.2, 0.3), LeftOut(0, {}), LeftOut(0, {}), 2) is None


def tally(*photos: tuple[int, int, int], unlabeled: int = 0) -> Tally[FaceScorecard]:
    """A tally of (found, false, missed) photos, then of photos that nobody labelled."""
    made = [FaceScorecard(*photo, photos=1) for photo in photos]
    made += [FaceScorecard(0, 0, 0, unlabeled_photos=1)] * unlabeled
    return Tally.of_cards(FaceScorecard, made)


def random_tally(photos: int, recall: float, seed: int) -> Tally[FaceScorecard]:
    """Photos of six targets each; their hardness depends on the photo's place, not on the seed."""
    hardness = np.random.default_rng(99).normal(0, 0.15, photos)
    found = np.random.default_rng(seed).binomial(6, np.clip(recall + hardness, 0, 1))
    return tally(*((n, 1, 6 - n) for n in found.tolist()))


class TestPairedDifference:
    def test_a_run_beside_itself_differs_in_nothing(self) -> None:
        run = random_tally(100, 0.8, seed=1)
        for difference in paired_difference(run, run).values():
            assert (difference.delta, difference.photos) == (0.0, 100)
            assert (difference.chance_worse, difference.chance_better) == (1.0, 1.0)
            assert difference.low is not None
            assert difference.low < 0, "also where nothing moved, something may"

    def test_a_clear_loss_is_told_from_chance(self) -> None:
        lost = paired_difference(random_tally(300, 0.8, 1), random_tally(300, 0.7, 2))["face/recall"]
        assert lost.low is not None
        assert lost.high is not None
        assert lost.low <= lost.delta <= lost.high < 0
        assert (lost.chance_worse, lost.chance_better) == (1 / 10_001, 1.0)

    def test_delta_is_the_difference_of_the_two_rates(self) -> None:
        a, b = random_tally(60, 0.6, 1), random_tally(60, 0.65, 2)
        there, back = paired_difference(a, b), paired_difference(b, a)
        assert there["face/f1"].delta == pytest.approx(b.scorecard().detection_f1 - a.scorecard().detection_f1)
        assert back["face/f1"].delta == -there["face/f1"].delta
        assert back["face/f1"].chance_worse == there["face/f1"].chance_better

    def test_pairing_is_sharper_than_two_runs_apart(self) -> None:
        """One more target found in every third photo: certain when paired, lost in the noise otherwise."""
        baseline = random_tally(200, 0.5, seed=1)
        better = baseline.counts.copy()
        names = [field.name for field in fields(FaceScorecard)]
        gains = (np.arange(200) % 3 == 0) & (better[:, names.index("detection_fn")] > 0)
        better[gains, names.index("detection_tp")] += 1
        better[gains, names.index("detection_fn")] -= 1
        there = paired_difference(baseline, Tally(FaceScorecard, better))["face/recall"]
        apart = paired_difference(baseline, Tally(FaceScorecard, np.roll(better, 7, axis=0)))["face/recall"]
        assert there.delta == pytest.approx(apart.delta)
        assert there.low is not None
        assert apart.low is not None
        assert there.delta - there.low < (apart.delta - apart.low) / 3

    def test_groups_are_those_of_the_photos_that_were_scored(self) -> None:
        photos = [(1, 0, 1), (2, 0, 0), (0, 1, 1), (1, 0, 0)]
        before, after = tally(*photos, unlabeled=2), tally(*photos[::-1], unlabeled=2)
        found = paired_difference(before, after, ["a", "a", "b", "c", "x", "y"])
        assert found == paired_difference(tally(*photos), tally(*photos[::-1]), ["a", "a", "b", "c"])

    def test_a_rate_that_only_one_run_has_is_left_out(self) -> None:
        silent, speaking = tally((0, 0, 2), (0, 0, 1)), tally((1, 0, 1), (0, 1, 1))
        assert set(paired_difference(silent, speaking)) == {"face/recall", "face/f1", "face/strict_f1"}

    def test_what_cannot_be_compared_is_refused(self) -> None:
        with pytest.raises(ValueError, match="baseline has 2 photos, candidate 1"):
            paired_difference(tally((1, 0, 0), (1, 0, 0)), tally((1, 0, 0)))
        with pytest.raises(ValueError, match="photo 1: scored in the baseline only"):
            paired_difference(tally((1, 0, 0), (1, 0, 0)), tally((1, 0, 0), unlabeled=1))
        with pytest.raises(ValueError, match="cannot compare a bib scorecard with a face scorecard"):
            paired_difference(tally((1, 0, 0)), Tally.of_cards(BibScorecard, [BibScorecard(1, 0, 0)]))

"""Intervals of one run: equal to the recipe written out plainly, and never of no width."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, t

from harness.scoring.cards import Declaration, ItemCounts, Rate, Scorecard, Tally
from harness.scoring.faces import FaceScorecard
from harness.scoring.uncertainty import (
    AVERAGE,
    F1,
    MOST_PARTS,
    SHARE,
    Interval,
    group_numbers,
    intervals,
    parts_of,
    rate_intervals,
    statistic_interval,
)

GROUPS = ["a", "a", "b", "", "", "c", "d", "d", "d", "e", "", "a"]


def oracle(above: Sequence[float], below: Sequence[float], groups: Sequence[str], floor: float) -> Interval:
    """The recipe for one rate, number by number."""
    ours: dict[object, float] = defaultdict(float)
    sizes: dict[object, float] = defaultdict(float)
    for place, (y, n, group) in enumerate(zip(above, below, groups, strict=True)):
        ours[group or place] += y
        sizes[group or place] += n
    total, parts = sum(below), [name for name in sizes if sizes[name] > 0]
    rate, count = sum(above) / total, len(parts)
    s_ph, s_gr = sum(n * n for n in below) / total, sum(n * n for n in sizes.values()) / total
    prior = 1 + 0.1 * max(0.0, s_ph - 1) + 0.3 * (s_gr - s_ph)
    if floor == AVERAGE and count > 1:
        without = {name: (sum(above) - ours[name]) / (total - sizes[name]) for name in parts}
        middle = sum(without.values()) / count
        z = [total * (count - 1) / count * (middle - value) for value in without.values()]
    else:
        z = [ours[name] - rate * sizes[name] for name in parts]
    square, fourth = sum(each**2 for each in z), sum(each**4 for each in z)
    if count < 5:
        n_eff = min(total, count)
    elif rate in (0, 1) or max(map(abs, z)) < 1e-9:
        n_eff = total / prior
    else:
        deff = count / (count - 1) * square / (total * rate * (1 - rate))
        d = square**2 / fourth
        mixed = (d * max(floor, deff) + 3 * prior) / (d + 3)
        ratio = t.ppf(0.975, max(total - 1, 1)) / t.ppf(0.975, min(count - 1, d + 8))
        n_eff = total / mixed * min(1, ratio**2)
    right, wrong = rate * n_eff, (1 - rate) * n_eff
    low = beta.ppf(0.025, right, wrong + 1) if right > 0 else 0.0
    high = beta.ppf(0.975, right + 1, wrong) if wrong > 0 else 1.0
    return Interval(float(low), float(high), float(n_eff), count)


def same(found: Interval, expected: Interval) -> bool:
    pairs = zip((found.low, found.high, found.n_eff), (expected.low, expected.high, expected.n_eff), strict=True)
    return found.groups == expected.groups and all(math.isclose(a or 0, b or 0, abs_tol=1e-9) for a, b in pairs)


items = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from(["", "a", "b", "c", "d", "e", "f"])),
    min_size=1,
    max_size=40,
)


@settings(max_examples=150)
@given(items, st.sampled_from([SHARE, F1, AVERAGE]))
def test_every_interval_is_that_of_the_recipe(rows: list[tuple[int, int, str]], floor: float) -> None:
    part = 0.3 if floor == AVERAGE else 1.0
    above = [part * right for right, _, _ in rows]
    below = [float(right + wrong) for right, wrong, _ in rows]
    groups = [group for _, _, group in rows]
    found = rate_intervals({"rate": (above, below)}, groups, {"rate": floor})
    if not sum(below):
        assert found == {}
        return
    assert same(found["rate"], oracle(above, below, groups, floor))
    assert 0 <= found["rate"].low <= sum(above) / sum(below) <= found["rate"].high <= 1
    assert found["rate"].low < found["rate"].high


@settings(max_examples=60)
@given(items, st.permutations(range(40)))
def test_the_order_of_items_and_the_names_of_groups_are_nothing(
    rows: list[tuple[int, int, str]], order: list[int]
) -> None:
    def found(kept: Sequence[tuple[int, int, str]], prefix: str) -> dict[str, Interval]:
        sides = [float(right) for right, _, _ in kept], [float(right + wrong) for right, wrong, _ in kept]
        return rate_intervals({"rate": sides}, [group and prefix + group for _, _, group in kept])

    shuffled = [rows[place] for place in order if place < len(rows)]
    before, after = found(rows, ""), found(shuffled, "the group of ")
    assert before.keys() == after.keys()
    assert all(same(before[name], after[name]) for name in before)


@pytest.mark.parametrize(("n", "low"), [(5, 0.478), (32, 0.891), (500, 0.993)])
def test_all_right_on_independent_photos_is_what_clopper_and_pearson_say(n: int, low: float) -> None:
    found = rate_intervals({"rate": ([1.0] * n, [1.0] * n)})["rate"]
    assert (round(found.low, 3), found.high, found.n_eff, found.groups) == (low, 1.0, n, n)
    none = rate_intervals({"rate": ([0.0] * n, [1.0] * n)})["rate"]
    assert (none.low, round(none.high, 3)) == (0.0, round(1 - found.low, 3))


def test_below_five_groups_each_is_taken_for_one_target_and_it_is_said() -> None:
    above, below = [3.0, 4.0, 4.0, 2.0], [4.0] * 4
    few = rate_intervals({"rate": (above, below)})["rate"]
    assert (few.n_eff, few.groups, few.few_groups) == (4, 4, True)
    enough = rate_intervals({"rate": ([*above, 3.0], [*below, 4.0])})["rate"]
    assert (enough.groups, enough.few_groups) == (5, False)
    single = rate_intervals({"rate": ([9.0], [9.0])})["rate"]
    assert single.low == pytest.approx(0.025)
    assert (single.high, single.n_eff) == (1.0, 1)
    assert Interval(0.5, 0.9).few_groups is False, "a run of an older harness does not say"


def test_photos_of_one_burst_tell_less_than_as_many_others() -> None:
    right = [1.0 if place // 6 % 4 else 0.0 for place in range(60)]
    alone = rate_intervals({"rate": (right, [1.0] * 60)})["rate"]
    bursts = rate_intervals({"rate": (right, [1.0] * 60)}, [f"burst {place // 6}" for place in range(60)])["rate"]
    assert bursts.n_eff is not None
    assert alone.n_eff is not None
    assert bursts.n_eff < alone.n_eff / 3
    assert bursts.low < alone.low < alone.high < bursts.high


def tally(*photos: tuple[int, int, int], unlabeled: int = 0) -> Tally[FaceScorecard]:
    """A tally of (found, false, missed) photos, then of photos that nobody labelled."""
    rows = [FaceScorecard(*photo, photos=1) for photo in photos]
    rows += [FaceScorecard(0, 0, 0, unlabeled_photos=1)] * unlabeled
    return Tally.of_cards(FaceScorecard, rows)


PHOTOS = [(3, 1, 0), (1, 0, 2), (2, 2, 2), (4, 0, 1), (1, 1, 0), (2, 0, 0), (0, 1, 2)]


def test_an_f1_is_counted_in_targets_and_a_share_in_its_own_denominator() -> None:
    found = intervals(tally(*PHOTOS), GROUPS[: len(PHOTOS)])
    tp, fp, fn = (np.array(column, float) for column in zip(*PHOTOS, strict=True))
    groups = GROUPS[: len(PHOTOS)]
    assert same(found["face/recall"], oracle(tp.tolist(), (tp + fn).tolist(), groups, SHARE))
    assert same(found["face/precision"], oracle(tp.tolist(), (tp + fp).tolist(), groups, SHARE))
    assert same(found["face/f1"], oracle(tp.tolist(), (tp + (fp + fn) / 2).tolist(), groups, F1))


@dataclass(frozen=True)
class Overlaps(Scorecard):
    overlap: float = 0.0
    found: int = 0

    DECLARED: ClassVar = Declaration("overlaps", {"mean": Rate.of("overlap/mean", "overlap", "found")})


def test_a_rate_of_fractional_counts_is_an_average() -> None:
    values = [0.9, 0.8, 0.95, 0.7, 0.99, 0.85, 0.9]
    found = intervals(Tally.of_cards(Overlaps, [Overlaps(value, 1) for value in values]))
    assert same(found["overlap/mean"], oracle(values, [1.0] * 7, [""] * 7, AVERAGE))


def test_a_mean_of_what_has_no_bounds_has_no_interval() -> None:
    far = [Overlaps(value, 1) for value in (12.0, 3.5, 8.0, 4.0, 0.5)]
    assert intervals(Tally.of_cards(Overlaps, far)) == {}
    below_zero = [Overlaps(value, 1) for value in (-0.5, 0.5, 0.8, 0.4, 0.5)]
    assert intervals(Tally.of_cards(Overlaps, below_zero)) == {}


def test_a_statistic_that_is_no_ratio_goes_by_leaving_groups_out() -> None:
    above, below = np.array([0.9, 1.7, 0.8, 2.4, 0.6, 1.0]), np.array([1.0, 2.0, 1.0, 3.0, 1.0, 1.0])
    without = (above.sum() - above) / (below.sum() - below)
    found = statistic_interval(float(above.sum() / below.sum()), without, below, np.arange(6))
    assert same(found, rate_intervals({"rate": (above, below)}, floors={"rate": AVERAGE})["rate"])


@given(st.lists(st.integers(0, 250), min_size=1, max_size=400), st.randoms())
def test_parts_are_groups_or_as_many_of_them_each_in_whatever_order(of: list[int], random: Random) -> None:
    items = [f"photo {row}" for row in range(len(of))]
    groups = ["" if group > 200 else f"group {group}" for group in of]
    names, numbers = parts_of(items, groups)
    told = {item: names[number] for item, number in zip(items, numbers.tolist(), strict=True)}
    units = {group or item for group, item in zip(groups, items, strict=True)}
    assert len(names) == len(set(names)) == min(len(units), MOST_PARTS)
    for group in set(groups) - {""}:
        assert len({told[item] for item, own in zip(items, groups, strict=True) if own == group}) == 1
    rows = list(range(len(of)))
    random.shuffle(rows)
    again, moved = parts_of([items[row] for row in rows], [groups[row] for row in rows])
    assert {items[row]: again[number] for row, number in zip(rows, moved.tolist(), strict=True)} == told


def test_a_part_is_known_by_its_items() -> None:
    """So that two runs whose groups differ are not taken for paired."""
    items = ["a", "b", "c"]
    assert set(parts_of(items, ["x", "x", "y"])[0]) != set(parts_of(items, ["x", "y", "y"])[0])
    assert set(parts_of(items, ["x", "x", "y"])[0]) == set(parts_of(items, ["1", "1", "2"])[0])


def test_a_rate_without_a_denominator_has_none() -> None:
    assert set(intervals(tally((0, 0, 3), (0, 0, 1)))) == {"face/recall", "face/f1", "face/strict_f1"}
    assert rate_intervals({"rate": ([0.0, 0.0], [0.0, 0.0])}) == {}
    assert rate_intervals({}) == {}
    assert intervals(tally()) == {} == intervals(tally(unlabeled=3))


def test_photos_that_nobody_labelled_are_no_part_of_the_sample() -> None:
    groups = GROUPS[: len(PHOTOS)]
    assert intervals(tally(*PHOTOS, unlabeled=5), [*groups, *"vwxyz"]) == intervals(tally(*PHOTOS), groups)


def test_groups_have_to_fit_the_items() -> None:
    with pytest.raises(ValueError, match="2 groups for 7 items; expected the group of each item"):
        intervals(tally(*PHOTOS), ["a", "b"])
    with pytest.raises(ValueError, match=r"rates over \[1, 2\] items; expected rates over the same items"):
        rate_intervals({"a": ([1.0], [1.0]), "b": ([1.0, 1.0], [1.0, 1.0])})
    assert group_numbers(["x", "", "x", ""], 4).tolist() == [0, 1, 0, 2]


def test_rates_side_by_side_are_those_one_by_one() -> None:
    random = np.random.default_rng(0)
    below = random.integers(0, 4, (5, 30)).astype(float)
    rates = {str(row): (random.binomial(below[row].astype(int), 0.8).astype(float), below[row]) for row in range(5)}
    together = rate_intervals(rates, [str(place % 9) for place in range(30)])
    for name, sides in rates.items():
        assert same(together[name], rate_intervals({name: sides}, [str(place % 9) for place in range(30)])[name])


def test_an_interval_is_logged_with_its_effective_n() -> None:
    assert Interval(0.5, 0.9, 31.5, 12).logged("face/f1") == {
        "interval/face_f1_low": 0.5,
        "interval/face_f1_high": 0.9,
        "interval/face_f1_n_eff": 31.5,
    }
    assert Interval(0.5, 0.9).logged("f1") == {"interval/f1_low": 0.5, "interval/f1_high": 0.9}
    assert Interval(0.5, 0.9, 3.0, 4).scaled(100) == Interval(50, 90, 3.0, 4)


def test_counts_of_which_nothing_is_known_have_none() -> None:
    counts = ItemCounts(FaceScorecard.DECLARED, {}, 3, ("detection_tp",))
    assert intervals(counts) == {}

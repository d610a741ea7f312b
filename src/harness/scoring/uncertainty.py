"""How sure is a rate? An interval for each, from one run, without resampling.

Items of one group, such as photos of one burst, are no independent samples, so whole groups are what is counted. For
example, 228 of 240 numbers are right, on 240 photos of 24 bursts. The scatter between bursts says that they tell as
much as 96 independent numbers would; 96 is the effective n, and the interval is that of 91.2 of 96 by Clopper and
Pearson. Few groups say little about their own scatter, so that it is mixed with what groups of this size usually have.
docs/statistics.md has the rule in full, an example worked by hand, and the coverage that was simulated.

A photo that nobody labelled is no part of the sample.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness.scoring.boxes import Floats, Ints
from harness.scoring.cards import ItemCounts, Rate, Sides, Tally, by_items

LEVEL = 0.95
#: Below so many groups their scatter says nothing.
FEWEST_GROUPS = 5
#: The least that the variance may be of that of independent samples: of a share, an F1, and an average of values.
SHARE, F1, AVERAGE = 1.0, 0.5, 0.25
#: The design effect that is expected: how much of the targets' clustering in photos, and of photos in groups, counts,
#: and how many groups this expectation weighs as much as.
_IN_PHOTOS, _IN_GROUPS, _WEIGHT = 0.1, 0.3, 3
#: What the degrees of freedom have beyond the number of groups that carry the scatter.
MORE_FREEDOM = 8
#: A number that is no ratio of sums is computed anew without each group; more groups than this are left out in parts.
MOST_PARTS = 100
#: A difference below this is rounding.
_ROUNDING = 1e-9

#: A rate item by item as it is kept in a file.
Listed = tuple[Sequence[float], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval. `n_eff` independent targets would tell as much as those of the `groups` that there are; runs of
    an older harness do not say either."""

    low: float
    high: float
    n_eff: float | None = None
    groups: int | None = None

    @property
    def few_groups(self) -> bool:
        """Whether there are too few groups to know how they scatter: the interval then takes each for one target."""
        return self.groups is not None and self.groups < FEWEST_GROUPS

    def logged(self, metric: str) -> dict[str, float]:
        """What MLflow has of it."""
        key = f"interval/{metric.replace('/', '_')}"
        known = {} if self.n_eff is None else {f"{key}_n_eff": self.n_eff}
        return {f"{key}_low": self.low, f"{key}_high": self.high, **known}

    def scaled(self, factor: float) -> Interval:
        """The interval of a number that is so many times as large."""
        return replace(self, low=factor * self.low, high=factor * self.high)


def one_sided(value: float, n_eff: float, certainty: float) -> tuple[float, float]:
    """Below and above what a rate, or a bounded average, is with this certainty, each by itself: the interval's rule
    with one side. `n_eff` is that of its 95 % interval, which is a little small for a lesser certainty, never large."""
    low, high = _clopper_pearson(np.array([min(max(value, 0.0), 1.0)]), np.array([n_eff]), 2 * certainty - 1)
    return float(low[0]), float(high[0])


def intervals(counts: ItemCounts | Tally[Any], groups: Sequence[str] | None = None) -> dict[str, Interval]:
    """An interval for each rate that is logged, by metric name; `groups` has the group of each item.

    A rate of which a count above the line is fractional is an average of values; an F1 is told by its weights; any
    other rate is a share.
    """
    items = by_items(counts)
    scored = items.scored()
    numbers = group_numbers(groups, items.items)[scored]
    floors = {rate.metric: _floor(items, rate) for rate in items.declared.rates.values()}
    return _intervals(items.sides(scored), numbers, floors)


def rate_intervals(
    rates: Mapping[str, Sides | Listed], groups: Sequence[str] | None = None, floors: Mapping[str, float] | None = None
) -> dict[str, Interval]:
    """The same for rates given item by item, all over the same items. Each is a share where `floors` does not say
    otherwise."""
    arrays = {name: (np.asarray(above, float), np.asarray(below, float)) for name, (above, below) in rates.items()}
    lengths = {len(side) for sides in arrays.values() for side in sides}
    if len(lengths) > 1:
        raise ValueError(f"rates over {sorted(lengths)} items; expected rates over the same items")
    return _intervals(arrays, group_numbers(groups, lengths.pop()), floors or {}) if lengths else {}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a number that is no ratio of sums comes to `without` each part of the items in turn (the delete-one-group
    jackknife): how far it may be off, and how far a change of it, is told by that. It rests on `n` targets."""

    n: float
    without: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Jackknifed:
    """The interval of a statistic and, where it is known without each part of the items, what it comes to then."""

    interval: Interval
    left_out: LeftOut | None


def jackknifed(value: float, without: Floats, names: Sequence[str], below: Floats, groups: Sequence[str]) -> Jackknifed:
    """How sure a number is that is no ratio of sums. `without` has its value without each part in turn, NaN where there
    is none, by the `names` of the parts; `below` has the n of each item, and `groups` its group."""
    interval = statistic_interval(value, without, below, group_numbers(groups, len(groups)))
    if np.isnan(without).any():
        return Jackknifed(interval, None)
    return Jackknifed(interval, LeftOut(float(below.sum()), dict(zip(names, without.tolist(), strict=True))))


def parts_of(items: Sequence[str], groups: Sequence[str]) -> tuple[tuple[str, ...], Ints]:
    """The parts that are left out in turn, by a digest of their items, and the number of each item's part.

    A part is a group. Where there are more than `MOST_PARTS`, each part has several, put together by their hashes.
    """
    members: dict[str, list[int]] = {}
    for row, (item, group) in enumerate(zip(items, groups, strict=True)):
        members.setdefault(group or item, []).append(row)
    by_hash = sorted(members, key=lambda name: hashlib.sha256(name.encode()).digest())
    numbers = np.zeros(len(items), dtype=np.int64)
    for place, name in enumerate(by_hash):
        numbers[members[name]] = place % MOST_PARTS
    names: dict[int, list[str]] = {}
    for number, item in sorted(zip(numbers.tolist(), items, strict=True)):
        names.setdefault(number, []).append(item)
    return tuple(hashlib.sha256("\n".join(names[part]).encode()).hexdigest()[:12] for part in sorted(names)), numbers


def statistic_interval(value: float, without: Floats, below: Floats, numbers: Ints) -> Interval:
    """An interval for a number between 0 and 1 that is no ratio of sums, such as average precision or a grade.

    `without` has its value without each part in turn, `below` the n of each item, and `numbers` the group of each item.
    """
    sizes = group_sums(below[:, None], numbers)
    deviations = below.sum() * (1 - 1 / len(without)) * (without.mean() - without)
    return _listed(np.array([value]), below[:, None], sizes, deviations[:, None], np.array([AVERAGE]))[0]


def group_numbers(groups: Sequence[str] | None, items: int) -> Ints:
    """A number for each item, the same for items of one group. An item whose group is "" is a group of its own."""
    if groups is None:
        return np.arange(items)
    if len(groups) != items:
        raise ValueError(f"{len(groups)} groups for {items} items; expected the group of each item")
    numbers: dict[str | int, int] = {}
    found = (numbers.setdefault(group or row, len(numbers)) for row, group in enumerate(groups))
    return np.fromiter(found, dtype=np.int64, count=items)


def group_sums(columns: Floats, numbers: Ints) -> Floats:
    """The sums of the rows of each group: one row a group, in the order of their numbers."""
    groups = int(numbers.max()) + 1 if len(numbers) else 0
    sums = [np.bincount(numbers, column, groups) for column in columns.T]
    return np.stack(sums, axis=1) if sums else np.zeros((groups, 0))


def _floor(items: ItemCounts, rate: Rate) -> float:
    if any(name in items.columns and items.columns[name].dtype.kind == "f" for name in rate.numerator):
        return AVERAGE
    return F1 if rate.is_f1 else SHARE


def _intervals(rates: Mapping[str, Sides], numbers: Ints, floors: Mapping[str, float]) -> dict[str, Interval]:
    known = {metric: sides for metric, sides in rates.items() if sides[1].sum() > 0}
    if not known:
        return {}
    above, below = (np.stack([sides[side] for sides in known.values()], axis=1) for side in (0, 1))
    ours, sizes = group_sums(above, numbers), group_sums(below, numbers)
    floor = np.array([floors.get(metric, SHARE) for metric in known])
    n = sizes.sum(axis=0)
    value = ours.sum(axis=0) / n
    averages = floor == AVERAGE
    deviations = ours - value * sizes
    deviations[:, averages] = _left_out(ours[:, averages], sizes[:, averages])
    # What is no share of its own denominator, such as a mean of distances, has no bounds to count from.
    bounded = np.all((ours > -_ROUNDING) & (ours < sizes + _ROUNDING), axis=0)
    found = _listed(value, below, sizes, deviations, floor)
    return {metric: found[place] for place, metric in enumerate(known) if bounded[place]}


def _left_out(above: Floats, below: Floats) -> Floats:
    """How far each rate moves when a group is left out, times n: what a group's own deviation is for a share."""
    n, part = below.sum(axis=0), below > 0
    rest = n - below
    without = np.divide(above.sum(axis=0) - above, rest, out=np.zeros_like(above), where=part & (rest > 0))
    groups = part.sum(axis=0)
    return np.where(part, n * (1 - 1 / groups) * (without.sum(axis=0) / groups - without), 0.0)


def _listed(value: Floats, below: Floats, sizes: Floats, deviations: Floats, floor: Floats) -> list[Interval]:
    """Intervals of rates side by side: their values, their n by item and by group, and the groups' deviations."""
    groups = np.count_nonzero(sizes > 0, axis=0)
    effective = _effective(value, below, sizes, deviations, floor)
    near = np.abs(value - np.rint(value)) < _ROUNDING  # sums of fractions miss 1 by a rounding error
    low, high = _clopper_pearson(np.where(near, np.rint(value), value).clip(0, 1), effective)
    columns = (low.tolist(), high.tolist(), effective.tolist(), groups.tolist())
    return [Interval(*row) for row in zip(*columns, strict=True)]


def _effective(value: Floats, below: Floats, sizes: Floats, deviations: Floats, floor: Floats) -> Floats:
    """How many independent targets would tell as much as there are, for each rate."""
    n, groups = sizes.sum(axis=0), np.count_nonzero(sizes > 0, axis=0)
    in_photos, in_groups = (np.square(part).sum(axis=0) / n for part in (below, sizes))
    expected = 1 + _IN_PHOTOS * np.maximum(0, in_photos - 1) + _IN_GROUPS * (in_groups - in_photos)
    squares = np.square(deviations)
    scatter, chance = squares.sum(axis=0), n * value * (1 - value)
    # Where all is right, or all wrong, or every group like the others, there is no scatter to go by.
    seen = (chance > _ROUNDING) & (scatter > _ROUNDING**2 * n)
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = groups / (groups - 1) * scatter / chance
        carried = scatter**2 / np.square(squares).sum(axis=0)
        mixed = (carried * np.maximum(floor, effect) + _WEIGHT * expected) / (carried + _WEIGHT)
        independent, clustered = np.maximum(n - 1, 1), np.minimum(groups - 1, carried + MORE_FREEDOM)
        scattered = n / mixed * np.minimum(1, (student(independent) / student(clustered)) ** 2)
        known: Floats = np.where(seen, scattered, n / expected)
    few: Floats = np.where(groups < FEWEST_GROUPS, np.minimum(n, groups), known)
    return few


def student(freedom: Floats, level: float = (1 + LEVEL) / 2) -> Floats:
    """The quantile of Student's t."""
    from scipy.special import stdtrit  # slow to load, and not needed to read a run

    quantiles: Floats = np.asarray(stdtrit(freedom, level))
    return quantiles


def _clopper_pearson(value: Floats, n: Floats, level: float = LEVEL) -> tuple[Floats, Floats]:
    """The exact interval of a share; the beta distribution takes fractions of targets as well."""
    from scipy.special import betaincinv

    right, wrong = value * n, (1 - value) * n
    with np.errstate(invalid="ignore"):
        low = np.where(right > 0, betaincinv(right, wrong + 1, (1 - level) / 2), 0.0)
        high = np.where(wrong > 0, betaincinv(right + 1, wrong, (1 + level) / 2), 1.0)
    return low, high

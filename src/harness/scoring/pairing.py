"""Is the candidate better or worse than the baseline? Both are looked at on the same items, group by group.

What makes a photo hard for both runs cancels out. A rate is a sum over items divided by another, so that photos, tables
and samples are all compared in one way. Each group of items moves the rate by so much, up or down; if the runs were
equally good, each might as well have moved it the other way. How far a rate moves when the signs of the groups are
flipped by chance is what chance can do.

With several rates to judge, one of them moves by chance more often than each alone would. `judge_together` asks of all
of them at once how far the one that moved most gets by flipped signs (Westfall and Young), which keeps false alarms at
the level for the whole comparison. Rates that move together, as those of one pipeline do, cost little power.

A rate that was not shown to move may still have. `PairedRate.smallest_loss` says which loss could have been seen, and
`PairedRate.no_worse` whether a loss of some size can be excluded. docs/statistics.md has the rules with examples.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.scoring.boxes import Bools, Floats
from harness.scoring.cards import ItemCounts, Sides, Tally, by_items
from harness.scoring.flips import DRAWS, furthest_by_chance
from harness.scoring.uncertainty import (
    FEWEST_GROUPS,
    LEVEL,
    MORE_FREEDOM,
    LeftOut,
    group_numbers,
    group_sums,
)

#: Changes whenever a rule of judging changes, so that it can be told which one a verdict was made by.
JUDGE_VERSION = 3
#: How often one of the rates that are judged together may be called worse, or better, when none is.
ALPHA = 0.05
#: How often a loss that could have been seen is seen.
POWER = 0.8
#: Below so many groups the smallest loss that could have been seen is a rough figure.
ROUGH_GROUPS = 20
#: A move below this is rounding; of a number that is no ratio of sums, per target.
_NO_MOVE, _NO_STRAY = 1e-12, 1e-9


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Candidate minus baseline for one rate, over the `photos` (or other items) that both scored, with a 95 % interval
    that is unknown where there are fewer than two groups.

    `chance_worse` is how often flipped signs lower the rate as much as was measured, or more; `chance_better` how often
    they raise it so. A small one says that the rate did move that way.
    """

    delta: float
    low: float | None
    high: float | None
    chance_worse: float
    chance_better: float
    photos: int


@dataclass(frozen=True)
class PairedRate:
    """Candidate and baseline for one rate. `moves` says by how much each group moved it, in targets; a sum of moves
    times `scale` is a difference of rates. Of the groups, `groups` have a part in the rate: a photo without a face has
    none in a rate of faces."""

    baseline: float
    candidate: float
    moves: Floats
    scale: float
    items: int
    groups: int

    @property
    def delta(self) -> float:
        """The difference as measured."""
        return self.candidate - self.baseline

    @cached_property
    def moved(self) -> int:
        """How many groups moved the rate."""
        return int(np.count_nonzero(self.moves))

    @cached_property
    def weight(self) -> float:
        """What a typical move weighs, in targets; at least one target."""
        total = float(np.abs(self.moves).sum())
        return max(1.0, float(np.square(self.moves).sum()) / total) if total else 1.0

    @cached_property
    def scatter(self) -> float:
        """How much the moves differ from each other: their squared deviations from their mean, summed."""
        square = float(np.square(self.moves).sum())
        return max(0.0, square - float(self.moves.sum()) ** 2 / self.groups) if self.groups else 0.0

    @cached_property
    def freedom(self) -> float:
        """The degrees of freedom that the moves leave; below 1 nothing can be said."""
        squares = np.square(self.moves)
        carried = float(squares.sum() ** 2 / np.square(squares).sum()) if self.moved else 0.0
        return min(self.groups - 1, carried + MORE_FREEDOM)

    def interval(self) -> tuple[float, float] | None:
        """A 95 % interval of the difference, by the variance that `no_worse` goes by; None below two groups."""
        if self.freedom < 1:
            return None
        spread = _student(self.freedom, (1 + LEVEL) / 2) * self.scale * math.sqrt(self.scatter + self.weight**2)
        low, high = self.delta - spread, self.delta + spread
        if all(0 <= value <= 1 for value in (self.baseline, self.candidate)):
            return max(low, -1.0), min(high, 1.0)
        return low, high

    def no_worse(self, margin: float, sign: int = 1, level: float = ALPHA) -> bool:
        """Whether a loss of `margin` or more can be excluded; `sign` is -1 for a rate that is better when lower."""
        if self.freedom < 1:
            return False
        variance = max(self.scatter + self.weight**2, self.weight * margin / self.scale)
        return sign * self.delta + margin > _student(self.freedom, 1 - level) * self.scale * math.sqrt(variance)

    def smallest_loss(self, together: int = 1, level: float = ALPHA) -> float:
        """The loss that would have been seen in four of five cases, where so many rates are judged together."""
        least, spread = self._needed(together, level)
        return self.scale * (least + math.sqrt(least**2 + spread)) / 2

    def items_needed(self, margin: float, together: int = 1, level: float = ALPHA) -> int | None:
        """On how many items like these a loss of `margin` would have been seen; None where no number is enough."""
        if margin <= 0:
            return None
        least, spread = self._needed(together, level)
        wanted = 2 * margin / self.scale
        return math.ceil(self.items * (spread + 2 * least * wanted) / wanted**2)

    def _needed(self, together: int, level: float) -> tuple[float, float]:
        normal = NormalDist()
        square = (normal.inv_cdf(1 - level / together) + normal.inv_cdf(POWER)) ** 2
        return square * self.weight, 4 * square * self.scatter

    def placed(self, before: int, after: int) -> PairedRate:
        """The same among more groups, which have no part in it."""
        return replace(self, moves=np.pad(self.moves, (before, after)))


def paired_rates(
    baseline: Mapping[str, Sides], candidate: Mapping[str, Sides], groups: Sequence[str] | None = None
) -> dict[str, PairedRate]:
    """Compare each rate that both runs have. Items stand in the same order on both sides and in `groups`."""
    shared = [name for name in baseline if name in candidate and _known(baseline[name]) and _known(candidate[name])]
    if not shared:
        return {}
    numbers = group_numbers(groups, len(baseline[shared[0]][0]))
    return {name: _paired(baseline[name], candidate[name], numbers) for name in shared}


def _paired(baseline: Sides, candidate: Sides, numbers: NDArray[np.int64]) -> PairedRate:
    above, below, above_now, below_now = group_sums(np.stack([*baseline, *candidate], axis=1), numbers).T
    moves, scale = group_moves((above, below), (above_now, below_now))
    return PairedRate(
        baseline=float(above.sum() / below.sum()),
        candidate=float(above_now.sum() / below_now.sum()),
        moves=moves,
        scale=float(scale),
        items=len(baseline[0]),
        groups=int(np.count_nonzero((below > 0) | (below_now > 0))),
    )


def group_moves(baseline: Sides, candidate: Sides) -> tuple[Floats, Floats]:
    """By how much each group, a row, moves a rate, and by what a sum of moves is multiplied to be the difference of the
    two rates. Swapping the runs flips every sign. Rates may stand side by side, one a column."""
    (above, below), (above_now, below_now) = baseline, candidate
    whole, whole_now = below.sum(axis=0), below_now.sum(axis=0)
    pooled = (above.sum(axis=0) + above_now.sum(axis=0)) / (whole + whole_now)
    moves = (above_now - above) - pooled * (below_now - below)
    moves[np.abs(moves) < _NO_MOVE] = 0.0
    return moves, (whole + whole_now) / (2 * whole * whole_now)


def paired_left_out(
    values: tuple[float, float], baseline: LeftOut, candidate: LeftOut, items: int
) -> PairedRate | None:
    """Compare a number that is no ratio of sums by its pseudo-values, in targets; `values` are the baseline's and the
    candidate's. None where the parts that were left out are not the same."""
    if not baseline.without or baseline.without.keys() != candidate.without.keys():
        return None
    parts, (before, after) = len(baseline.without), values
    strayed = np.array([candidate.without[part] - baseline.without[part] for part in sorted(baseline.without)])
    n = (baseline.n + candidate.n) / 2
    moves = n / parts * (parts * (after - before) - (parts - 1) * strayed)
    moves[np.abs(moves) < _NO_STRAY * n] = 0.0
    return PairedRate(before, after, moves, 1 / n, items, parts)


def judge_together(
    rates: Mapping[str, PairedRate],
    signs: Mapping[str, int],
    level_better: float = ALPHA,
    level_worse: float = ALPHA,
    seed: int = 0,
    draws: int | None = None,
) -> dict[str, int]:
    """-1 for each rate that got worse, 1 for each that got better, 0 for what chance explains.

    `signs` has 1 for a rate that is better when higher and -1 for one that is better when lower. The rates are over the
    same groups. A rate that fewer than five groups moved has not been shown to move.
    """
    drawn = max(DRAWS, math.ceil(20 / min(level_better, level_worse))) if draws is None else draws
    verdicts = {}
    for name, (worse, better) in flip_chances(rates, signs, seed, drawn).items():
        enough = rates[name].moved >= FEWEST_GROUPS
        verdicts[name] = -1 if enough and worse <= level_worse else 1 if enough and better <= level_better else 0
    return verdicts


def groups_wanted(level: float = ALPHA) -> int:
    """How many groups have to move, if all of them move one way, before that is no accident."""
    return max(FEWEST_GROUPS, math.ceil(-math.log2(level)))


def flip_chances(
    rates: Mapping[str, PairedRate],
    signs: Mapping[str, int],
    seed: int = 0,
    draws: int = DRAWS,
    alone: bool = False,
) -> dict[str, tuple[float, float]]:
    """How often the rate that moves most by flipped signs gets as far down, and as far up, as each of them did; with
    `alone`, how often each of them gets there itself."""
    chances = dict.fromkeys(rates, (1.0, 1.0))
    moving = [name for name, rate in rates.items() if rate.moved]
    if not moving:
        return chances
    moves = np.stack([signs[name] * rates[name].moves for name in moving], axis=1)
    moves = moves / np.sqrt(np.square(moves).sum(axis=0))
    together = None if alone else furthest_by_chance(moves, seed, draws)
    for place, name in enumerate(moving):
        reached = together or furthest_by_chance(moves[:, [place]], seed, draws)
        measured = moves[:, place].sum()
        chances[name] = reached.share(-measured), reached.share(measured)
    return chances


def paired_difference(
    baseline: ItemCounts | Tally[Any], candidate: ItemCounts | Tally[Any], groups: Sequence[str] | None = None
) -> dict[str, PairedDifference]:
    """Compare two scorecards over the same photos, for each rate that both have, by metric name."""
    before, after = by_items(baseline), by_items(candidate)
    scored = _same_photos(before, after)
    if groups is not None:
        groups = [group for group, counts in zip(groups, scored.tolist(), strict=True) if counts]
    rates = paired_rates(before.sides(scored), after.sides(scored), groups)
    chances = flip_chances(rates, dict.fromkeys(rates, 1), alone=True)
    result = {}
    for metric, rate in rates.items():
        low, high = rate.interval() or (None, None)
        result[metric] = PairedDifference(rate.delta, low, high, *chances[metric], rate.items)
    return result


def _known(sides: Sides) -> bool:
    return bool(sides[1].sum() > 0)


def _student(freedom: float, level: float) -> float:
    """The quantile of Student's t above its middle. SciPy has it, and takes a fifth of the time of `harness compare` to
    import; a test holds the two side by side.

    With t = sqrt(freedom) tan(angle) the density is a power of a cosine. Its integral bends down, so that Newton's
    steps from the normal quantile, which is the smaller one, never go too far."""
    height = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
    angle, step = math.atan(NormalDist().inv_cdf(level) / math.sqrt(freedom)), 1.0
    while step > 1e-9 * angle:  # the next one would be smaller than rounding
        density = height * np.cos(angle * _SIMPSON_AT) ** (freedom - 1)
        step = (level - 0.5 - angle * float(density @ _SIMPSON)) / float(density[-1])
        angle += step
    return math.sqrt(freedom) * math.tan(angle)


#: Simpson's rule from 0 to 1: where it looks, and what each place weighs.
_SIMPSON_AT = np.linspace(0, 1, 2001)
_SIMPSON = np.r_[1, np.tile([4, 2], 999), 4, 1] / 6000


def _same_photos(baseline: ItemCounts, candidate: ItemCounts) -> Bools:
    ours, theirs = candidate.declared.name, baseline.declared.name
    if ours != theirs:
        raise ValueError(f"cannot compare a {ours} scorecard with a {theirs} scorecard")
    if baseline.items != candidate.items:
        raise ValueError(f"baseline has {baseline.items} photos, candidate {candidate.items}; expected the same photos")
    scored = baseline.scored()
    differing = np.flatnonzero(scored != candidate.scored())
    if len(differing):
        row = int(differing[0])
        side = "baseline" if scored[row] else "candidate"
        raise ValueError(f"photo {row}: scored in the {side} only; expected the same photos")
    return scored

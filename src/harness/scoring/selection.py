"""Is the best of many trials better than the base, or merely the luckiest?

The best of 40 trials that differ from the base by chance alone looks better than the base: it was chosen for its luck.
For example, "observed +0.0097, on left-out groups +0.0022, 95 % bound -0.0031: nothing found". Three numbers say more
than the observed gain, and all of them count groups of items that belong together as one:

- The *left-out gain* draws as many groups as there are, with replacement, chooses the trial with the best rate on the
  drawn groups, and measures its gain over the base on the groups that were not drawn; it is the mean over the draws.
  Choice and measurement never share a group, so that luck in the one says nothing about the other: where no trial
  differs from the base but by chance, it is zero on average. It is an estimate, never a criterion.
- The *lower bounds* hold for all trials at once. With y and x the sums of numerator and denominator in group g, and R
  the rate of base and trial taken together, e_g = (y - R x) of the trial minus that of the base; a trial's z is
  sum(e) / sqrt(sum(e^2)). Chance is what sign flips of the groups can do, the same flips for all trials: `c` is what
  the largest z of all trials reaches in 5 % (or 20 %) of the flips. The bound is h (sum(e) - c sqrt(sum(e^2))), in
  which h sum(e) is the gain itself. It is above zero exactly where the sign-flip test of the largest z rejects.
- *Shown to be better* is a trial with a 95 % bound above zero, a *candidate* one with an 80 % bound above zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from harness.scoring.boxes import Floats
from harness.scoring.cards import Sides
from harness.scoring.flips import Furthest, furthest_by_chance
from harness.scoring.pairing import group_moves
from harness.scoring.uncertainty import group_numbers, group_sums

#: How often one of the trials may be called better by chance: what is shown, and what is worth a second look.
SHOWN_LEVEL, CANDIDATE_LEVEL = 0.05, 0.2
#: How often groups are drawn for the left-out gain.
_DRAWS = 500
#: A product of matrices of at most so many multiplications is made by one thread, and several by turns are faster than
#: threads that wait for each other; below so many rows a turn, threads are.
_ONE_THREAD, _FEWEST_ROWS = 1 << 18, 16
#: So many trials are taken at a time: 8 MB for all draws.
_TRIALS = 2048
#: A difference below this is rounding.
_ROUNDING = 1e-9


class Finding(StrEnum):
    """What can be said of a trial beside the base."""

    SHOWN = "shown to be better"
    CANDIDATE = "candidate"
    NOTHING = "nothing found"


@dataclass(frozen=True, slots=True)
class Selected:
    """One trial beside the base; plus is better. `left_out` is there for the best trial alone, and only where groups
    can be left out. `moved` of the `groups` came out otherwise than with the base."""

    observed: float
    left_out: float | None
    bound_95: float
    bound_80: float
    finding: Finding
    trials: int
    groups: int
    moved: int

    def among(self) -> str:
        """What it was chosen from, as in `40 trials on 60 groups`."""
        return " on ".join(
            f"{count} {noun}{'' if count == 1 else 's'}"
            for count, noun in ((self.trials, "trial"), (self.groups, "group"))
        )

    def words(self) -> str:
        """The same as a sentence, without its full stop."""
        left_out = "" if self.left_out is None else f", on left-out groups {self.left_out:+.4f}"
        bounds = f"95 % bound {self.bound_95:+.4f}"
        if self.finding is Finding.CANDIDATE:
            bounds += f", 80 % bound {self.bound_80:+.4f}"
        told = f"observed {self.observed:+.4f}{left_out}, {bounds}: {self.finding}"
        if self.moved >= (few := fewest_moved(SHOWN_LEVEL)):
            return told
        return f"{told} ({self.moved} of {self.groups} groups moved; fewer than {few} never show a gain)"


@dataclass(frozen=True)
class Selection:
    """All trials beside the base, in the order in which they were given; `left_out` is that of choosing the best."""

    gains: Floats
    bounds_95: Floats
    bounds_80: Floats
    moved: tuple[int, ...]
    left_out: float | None
    groups: int

    @property
    def best(self) -> int:
        """The trial with the largest gain; of equals, the first."""
        return int(np.argmax(self.gains))

    def of(self, trial: int) -> Selected:
        """One trial, by its place."""
        strict, lenient = float(self.bounds_95[trial]), float(self.bounds_80[trial])
        chosen = self.gains[trial] >= self.gains.max() - _ROUNDING
        return Selected(
            observed=float(self.gains[trial]),
            left_out=self.left_out if chosen else None,
            bound_95=strict,
            bound_80=lenient,
            finding=Finding.SHOWN if strict > 0 else Finding.CANDIDATE if lenient > 0 else Finding.NOTHING,
            trials=len(self.gains),
            groups=self.groups,
            moved=self.moved[trial],
        )


def select(base: Sides, trials: Sequence[Sides], groups: Sequence[str], sign: int = 1, seed: int = 0) -> Selection:
    """Hold all trials against the base in one rate, given item by item; items stand in the same order everywhere.

    Items of one group belong together, and "" is an item of its own. `sign` is -1 for a rate that is better when lower.
    """
    if not trials:
        raise ValueError("no trials; expected at least one")
    numbers = group_numbers(groups, len(base[0]))
    above, below = (group_sums(np.stack([side[part] for side in (base, *trials)], axis=1), numbers) for part in (0, 1))
    if empty := [place for place, total in enumerate(below.sum(axis=0)) if total <= 0]:
        who = f"trial {empty[0] - 1}" if empty[0] else "the base"
        raise ValueError(f"{who} has a rate without denominator; expected at least one item that counts")
    counted = (above != 0).any(axis=1) | (below != 0).any(axis=1)
    above, below = above[counted], below[counted]
    moves, scale = group_moves((above[:, :1], below[:, :1]), (above[:, 1:], below[:, 1:]))
    moves = sign * moves
    chance = _chance(moves, seed)
    return Selection(
        gains=scale * moves.sum(axis=0),
        bounds_95=_bounds(moves, scale, chance, SHOWN_LEVEL),
        bounds_80=_bounds(moves, scale, chance, CANDIDATE_LEVEL),
        moved=tuple(np.count_nonzero(moves, axis=0).tolist()),
        left_out=_left_out_gain(above, below, sign, seed),
        groups=len(above),
    )


def left_out_gain(base: Sides, trials: Sequence[Sides], groups: Sequence[str], sign: int = 1) -> float | None:
    """The left-out gain of choosing the best of these trials alone, which is cheap beside the bounds; None where no
    group can be left out."""
    numbers = group_numbers(groups, len(base[0]))
    above, below = (group_sums(np.stack([side[part] for side in (base, *trials)], axis=1), numbers) for part in (0, 1))
    return _left_out_gain(above, below, sign, 0) if len(trials) and len(above) > 1 else None


def fewest_moved(level: float) -> int:
    """How many groups have to move, all one way, before chance does the same in at most `level` of the flips."""
    return math.ceil(-math.log2(level))


def _chance(moves: Floats, seed: int) -> Furthest | None:
    """What sign flips of the groups can do to the best of all trials. Trials that moved nowhere and trials that are
    equal add nothing; None where no trial moved."""
    moved = np.unique(moves[:, (moves != 0).any(axis=0)], axis=1)
    return furthest_by_chance(moved / np.sqrt((moved**2).sum(axis=0)), seed) if moved.size else None


def _bounds(moves: Floats, scale: Floats, chance: Furthest | None, level: float) -> Floats:
    """The lower bound of each trial's gain."""
    critical = chance.critical(level) if chance else 0.0
    beyond = moves.sum(axis=0) - critical * np.sqrt((moves**2).sum(axis=0))
    bounds: Floats = scale * np.where(np.abs(beyond) < _ROUNDING, 0.0, beyond)
    few = np.count_nonzero(moves, axis=0) < fewest_moved(level)
    return np.where(few, np.minimum(bounds, 0.0), bounds)


def _left_out_gain(above: Floats, below: Floats, sign: int, seed: int) -> float | None:
    """The gain of the trial that is best on drawn groups, measured on the others; the mean over all draws in which the
    drawn groups have a rate to choose by and the others have one of the chosen trial and of the base. Many trials are
    taken some at a time, and the best of all of them is chosen."""
    groups = len(above)
    draws = np.random.default_rng(seed).integers(groups, size=(_DRAWS, groups))
    draws += np.arange(_DRAWS)[:, None] * groups
    times = np.bincount(draws.ravel(), minlength=_DRAWS * groups).reshape(_DRAWS, groups).astype(np.float64)
    others = np.equal(times, 0).astype(np.float64)
    base = _rates(_product(others, above[:, :1]), _product(others, below[:, :1]))[:, 0]
    rows, best, measured = np.arange(_DRAWS), np.full(_DRAWS, -np.inf), np.full(_DRAWS, np.nan)
    for first in range(1, above.shape[1], _TRIALS):
        some = slice(first, first + _TRIALS)
        rates = sign * _rates(_product(times, above[:, some]), _product(times, below[:, some]))
        chosen = np.argmax(np.nan_to_num(rates, nan=-np.inf), axis=1)
        better = rates[rows, chosen] > best  # of equals, the first; a rate that is none is never better
        left = _rates(_product(others, above[:, some]), _product(others, below[:, some]))[rows, chosen]
        best, measured = np.where(better, rates[rows, chosen], best), np.where(better, left, measured)
    gains = sign * (measured - base)
    gains = gains[~np.isnan(gains)]
    return float(gains.mean()) if len(gains) else None


def _product(left: Floats, right: Floats) -> Floats:
    rows = _ONE_THREAD // right.size
    if rows < _FEWEST_ROWS:
        return left @ right
    return np.concatenate([left[start : start + rows] @ right for start in range(0, len(left), rows)])


def _rates(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0)

"""Is the candidate better or worse than the baseline? Both are looked at on the same resamples of the same items.

What makes a photo hard for both runs cancels out. A rate is a sum over items divided by another, so that photos, tables
and samples are all compared in one way.

With several rates to judge, one of them moves by chance more often than each alone would. `judge_together` asks of
all of them at once how far the most extreme one strays when nothing has changed, and so keeps false alarms at `ALPHA`
for the whole comparison. It does so on the joint resamples (the single-step max-t of Westfall and Young): rates that
move together, as those of one pipeline do, cost little power.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.scoring.boxes import Bools, Floats
from harness.scoring.cards import ItemCounts, Sides, Tally, by_items
from harness.scoring.uncertainty import RESAMPLES, Interval, resampled_rates

#: How often one of the rates that are judged together may be called worse, or better, when none is.
ALPHA = 0.05
#: A spread or a difference below this is rounding.
_NO_SPREAD = 1e-12


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Candidate minus baseline for one rate, over the `photos` (or other items) that both scored.

    `p_worse` is the share of resamples in which the candidate's rate is the lower one, `p_better` in which it is the
    higher one; what is missing from 1 came out equal.
    """

    delta: float
    low: float
    high: float
    p_worse: float
    p_better: float
    photos: int


@dataclass(frozen=True, slots=True)
class PairedRate:
    """Candidate minus baseline for one rate, and the same in every resample; NaN where a resample has no rate.

    Of the `items`, `counted` have a part in the rate: a photo without a face has none in a rate of faces.
    """

    baseline: float
    candidate: float
    resampled: Floats
    items: int
    counted: int

    @property
    def delta(self) -> float:
        """The difference as measured."""
        return self.candidate - self.baseline

    def difference(self) -> PairedDifference | None:
        """The resamples in a few numbers; None where not one of them has a rate."""
        values = self.resampled[~np.isnan(self.resampled)]
        if not len(values):
            return None
        interval = Interval.of(values)
        worse, better = float(np.mean(values < 0)), float(np.mean(values > 0))
        return PairedDifference(self.delta, interval.low, interval.high, worse, better, self.items)


def paired_rates(
    baseline: Mapping[str, Sides], candidate: Mapping[str, Sides], seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, PairedRate]:
    """Compare, on the same draws, each rate that both runs have. Items stand in the same order on both sides."""
    shared = [name for name in baseline if name in candidate and _known(baseline[name]) and _known(candidate[name])]
    if not shared:
        return {}
    drawn = resampled_rates(
        {(side, name): rates[name] for side, rates in enumerate((baseline, candidate)) for name in shared},
        seed,
        resamples,
    )
    return {
        name: PairedRate(
            baseline=_rate(baseline[name]),
            candidate=_rate(candidate[name]),
            resampled=drawn[1, name] - drawn[0, name],
            items=len(baseline[name][0]),
            counted=int(np.count_nonzero((baseline[name][1] > 0) | (candidate[name][1] > 0))),
        )
        for name in shared
    }


def judge_together(rates: Mapping[str, PairedRate], signs: Mapping[str, int], alpha: float = ALPHA) -> dict[str, int]:
    """-1 for each rate that got worse, 1 for each that got better, 0 for what chance explains.

    `signs` has 1 for a rate that is better when higher and -1 for one that is better when lower. Each rate is measured
    in its own standard errors; the yardstick is how far the lowest (or highest) of all of them strays, over the
    resamples, from what was measured. Where all resamples agree, every item moved alike, and the yardstick is how
    likely that is when each might as well have moved the other way.
    """
    verdicts = {name: signs[name] * _moved_alike(rate, alpha / len(rates)) for name, rate in rates.items()}
    spread = {name: float(np.nanstd(rate.resampled)) for name, rate in rates.items()}
    known = {name: rate for name, rate in rates.items() if spread[name] > _NO_SPREAD}
    if not known:
        return verdicts
    strayed = np.stack(
        [signs[name] * (rate.resampled - rate.delta) / spread[name] for name, rate in known.items()], axis=1
    )
    strayed = np.nan_to_num(strayed, nan=0.0)
    lowest, highest = np.quantile(strayed.min(axis=1), alpha), np.quantile(strayed.max(axis=1), 1 - alpha)
    for name, rate in known.items():
        moved = signs[name] * rate.delta / spread[name]
        verdicts[name] = -1 if moved < lowest else 1 if moved > highest else 0
    return verdicts


def paired_difference(
    baseline: ItemCounts | Tally[Any], candidate: ItemCounts | Tally[Any], seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, PairedDifference]:
    """Compare two scorecards over the same photos, for each rate that both have, by metric name."""
    before, after = by_items(baseline), by_items(candidate)
    scored = _same_photos(before, after)
    rates = paired_rates(before.sides(scored), after.sides(scored), seed, resamples)
    differences = {metric: rate.difference() for metric, rate in rates.items()}
    return {metric: difference for metric, difference in differences.items() if difference is not None}


def _moved_alike(rate: PairedRate, alpha: float) -> int:
    """1 or -1 where every item raised or lowered the rate, and there are enough of them for that to be no accident."""
    certain = np.nanstd(rate.resampled) <= _NO_SPREAD and abs(rate.delta) > _NO_SPREAD
    return int(np.sign(rate.delta)) if certain and 0.5**rate.counted <= alpha else 0


def _known(sides: Sides) -> bool:
    return bool(sides[1].sum() > 0)


def _rate(sides: Sides) -> float:
    return float(sides[0].sum() / sides[1].sum())


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

"""How sure is a rate, and how sure is a difference between two runs? Seeded bootstrap over photos.

A resample draws as many photos, with replacement, as were scored; a photo that nobody labelled is no part of the
sample. Intervals are the middle 95 % of the resamples. Two runs are compared photo by photo: both are looked at on the
same draws, so that what makes a photo hard for both cancels out. The same seed gives the same numbers everywhere: sums
of counts are exact, whatever the machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from harness.scoring.boxes import Bools, Floats
from harness.scoring.cards import Ratio, Tally

RESAMPLES = 2000
LEVEL = 0.95
#: Photos that are drawn together: few enough to stay in a processor's cache.
BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval."""

    low: float
    high: float

    @classmethod
    def of(cls, values: Floats) -> Interval:
        """The middle 95 % of the values."""
        low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return cls(float(low), float(high))


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Candidate minus baseline for one rate, over the `photos` that both scored.

    `p_worse` is the share of resamples in which the candidate's rate is the lower one, `p_better` in which it is the
    higher one; what is missing from 1 came out equal.
    """

    delta: float
    low: float
    high: float
    p_worse: float
    p_better: float
    photos: int


def intervals(tally: Tally[Any], seed: int = 0, resamples: int = RESAMPLES) -> dict[str, Interval]:
    """A percentile bootstrap interval for each rate that is logged, by metric name.

    A resample in which a rate has no denominator says nothing about it and is left out for that rate.
    """
    drawn = _draw([tally], scored_rows(tally), seed, resamples)
    rates = {ratio.metric: _rates(drawn, name, 0) for name, ratio in _ratios(tally).items()}
    known = {metric: values[~np.isnan(values)] for metric, values in rates.items()}
    return {metric: Interval.of(values) for metric, values in known.items() if len(values)}


def rate_intervals(
    rates: Mapping[str, tuple[Sequence[float], Sequence[float]]], seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, Interval]:
    """The same for rates given as numerators and denominators, item by item and all over the same items."""
    sides = [np.asarray(side, dtype=np.float64) for pair in rates.values() for side in pair]
    if not sides:
        return {}
    sums = resampled_sums(np.stack(sides, axis=1), seed, resamples)
    drawn = {(name, 0): (sums[:, 2 * i], sums[:, 2 * i + 1]) for i, name in enumerate(rates)}
    known = {name: values[~np.isnan(values)] for name in rates for values in [_rates(drawn, name, 0)]}
    return {name: Interval.of(values) for name, values in known.items() if len(values)}


def paired_difference(
    baseline: Tally[Any], candidate: Tally[Any], seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, PairedDifference]:
    """Compare two runs over the same photos, for each rate that both have, by metric name."""
    scored = _same_photos(baseline, candidate)
    drawn = _draw([baseline, candidate], scored, seed, resamples)
    result = {}
    for name, ratio in _ratios(baseline).items():
        if name not in _ratios(candidate):
            continue
        values = _rates(drawn, name, 1) - _rates(drawn, name, 0)
        values = values[~np.isnan(values)]
        if not len(values):
            continue
        interval = Interval.of(values)
        result[ratio.metric] = PairedDifference(
            delta=candidate.scorecard().rate(name) - baseline.scorecard().rate(name),
            low=interval.low,
            high=interval.high,
            p_worse=float(np.mean(values < 0)),
            p_better=float(np.mean(values > 0)),
            photos=int(scored.sum()),
        )
    return result


def scored_rows(tally: Tally[Any]) -> Bools:
    """Which photos of a tally were scored."""
    if "unlabeled_photos" not in (field.name for field in fields(tally.card)):
        return np.ones(len(tally.counts), dtype=bool)
    return np.equal(tally.column("unlabeled_photos"), 0)


def resampled_sums(columns: Floats, seed: int = 0, resamples: int = RESAMPLES) -> Floats:
    """Column sums over each resample of the rows: one row a resample."""
    if resamples < 1:
        raise ValueError(f"resamples {resamples}: expected at least 1")
    rows = len(columns)
    result = np.zeros((resamples, columns.shape[1]))
    if not rows:
        return result
    rng = np.random.default_rng(seed)
    together = max(1, BLOCK // rows)
    for start in range(0, resamples, together):
        block = result[start : start + together]
        draws = rng.integers(rows, size=(len(block), rows))
        draws += np.arange(len(block))[:, None] * rows
        times = np.bincount(draws.ravel(), minlength=block.shape[0] * rows).reshape(-1, rows)
        # Not `@`: the threads that the linear algebra library starts for it cost more than they gain here.
        block[:] = np.einsum("ij,jk->ik", times.astype(np.float64), columns)
    return result


def _ratios(tally: Tally[Any]) -> dict[str, Ratio]:
    """The rates that have a denominator at all."""
    card = tally.scorecard()
    return {name: ratio for name, ratio in tally.card.RATIOS.items() if card.denominator(name)}


def _draw(
    tallies: list[Tally[Any]], scored: Bools, seed: int, resamples: int
) -> dict[tuple[str, int], tuple[Floats, Floats]]:
    """Numerator and denominator of each rate of each tally, resample by resample, on the same draws."""
    sides = {
        (name, which): (tally.weights(ratio.numerator), tally.weights(ratio.denominator))
        for which, tally in enumerate(tallies)
        for name, ratio in tally.card.RATIOS.items()
    }
    columns = [side for pair in sides.values() for side in pair]
    stacked = np.stack(columns, axis=1) if columns else np.zeros((len(scored), 0))
    sums = resampled_sums(stacked[scored], seed, resamples)
    return {key: (sums[:, 2 * i], sums[:, 2 * i + 1]) for i, key in enumerate(sides)}


def _rates(drawn: dict[tuple[str, int], tuple[Floats, Floats]], name: str, which: int) -> Floats:
    """A rate, resample by resample; NaN where it has no denominator."""
    above, below = drawn[name, which]
    return np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0)


def _same_photos(baseline: Tally[Any], candidate: Tally[Any]) -> Bools:
    if baseline.card is not candidate.card:
        raise ValueError(f"cannot compare a {candidate.card.__name__} with a {baseline.card.__name__}")
    if len(baseline.counts) != len(candidate.counts):
        raise ValueError(
            f"baseline has {len(baseline.counts)} photos, candidate {len(candidate.counts)}; expected the same photos"
        )
    scored = scored_rows(baseline)
    differing = np.flatnonzero(scored != scored_rows(candidate))
    if len(differing):
        row = int(differing[0])
        side = "baseline" if scored[row] else "candidate"
        raise ValueError(f"photo {row}: scored in the {side} only; expected the same photos")
    return scored

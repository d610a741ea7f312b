"""How sure is a rate? Seeded bootstrap over photos.

A resample draws as many photos, with replacement, as were scored; a photo that nobody labelled is no part of the
sample. Intervals are the middle 95 % of the resamples. The same seed gives the same numbers everywhere: sums of counts
are exact, whatever the machine.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from harness.scoring.boxes import Floats
from harness.scoring.cards import ItemCounts, Sides, Tally, by_items

RESAMPLES = 2000
LEVEL = 0.95
#: Photos that are drawn together: few enough to stay in a processor's cache.
BLOCK = 1 << 16

#: A rate item by item as it is kept in a file.
Listed = tuple[Sequence[float], Sequence[float]]
K = TypeVar("K", bound=Hashable)


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


def intervals(counts: ItemCounts | Tally[Any], seed: int = 0, resamples: int = RESAMPLES) -> dict[str, Interval]:
    """A percentile bootstrap interval for each rate that is logged, by metric name.

    A resample in which a rate has no denominator says nothing about it and is left out for that rate.
    """
    items = by_items(counts)
    return rate_intervals(items.sides(items.scored()), seed, resamples)


def rate_intervals(
    rates: Mapping[str, Sides | Listed], seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, Interval]:
    """The same for rates given item by item, all over the same items."""
    arrays = {name: (np.asarray(above, float), np.asarray(below, float)) for name, (above, below) in rates.items()}
    drawn = resampled_rates(arrays, seed, resamples)
    known = {metric: values[~np.isnan(values)] for metric, values in drawn.items()}
    return {metric: Interval.of(values) for metric, values in known.items() if len(values)}


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


def resampled_rates(rates: Mapping[K, Sides], seed: int = 0, resamples: int = RESAMPLES) -> dict[K, Floats]:
    """Each rate in every resample, all on the same draws; NaN where a resample has no denominator."""
    if not rates:
        return {}
    columns = [side for sides in rates.values() for side in sides]
    lengths = {len(column) for column in columns}
    if len(lengths) != 1:
        raise ValueError(f"rates over {sorted(lengths)} items; expected rates over the same items")
    sums = resampled_sums(np.stack(columns, axis=1), seed, resamples)
    above, below = sums[:, ::2], sums[:, 1::2]
    values = np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0)
    return {key: values[:, number] for number, key in enumerate(rates)}

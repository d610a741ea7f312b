"""How sure is a rate? Seeded bootstrap intervals over photos."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.scoring.cards import Tally

RESAMPLES = 2000
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval."""

    low: float
    high: float


def intervals(tally: Tally[Any], seed: int = 0, resamples: int = RESAMPLES) -> dict[str, Interval]:
    """A percentile bootstrap interval for each rate that is logged, by metric name.

    Photos are drawn with replacement; a resample in which a rate has no denominator says nothing about it and is left
    out for that rate.
    """
    photos = len(tally.counts)
    if not photos:
        return {}
    draws = np.random.default_rng(seed).multinomial(photos, np.full(photos, 1 / photos), size=resamples)
    card = tally.scorecard()
    result = {}
    for name, ratio in tally.card.RATIOS.items():
        if not card.denominator(name):
            continue
        above = draws @ tally.weights(ratio.numerator)
        below = draws @ tally.weights(ratio.denominator)
        low, high = np.quantile(above[below > 0] / below[below > 0], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        result[ratio.metric] = Interval(float(low), float(high))
    return result

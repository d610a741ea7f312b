"""The bootstrap beside one that resamples in a loop: 10,000 resamples of 500 photos, two runs compared."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.measure import best_of, row, show
from harness.scoring.cards import Tally
from harness.scoring.faces import FaceScorecard
from harness.scoring.pairing import paired_difference
from harness.scoring.uncertainty import intervals

PHOTOS, RESAMPLES = 500, 10_000
#: What «well under a second» is held to, in seconds.
LIMIT = 0.5


def make_tally(seed: int) -> Tally[FaceScorecard]:
    """A run over photos with a handful of faces each."""
    rng = np.random.default_rng(seed)
    names = ("detection_tp", "detection_fp", "detection_fn", "ignored")
    columns = {name: rng.integers(0, 6, PHOTOS) for name in names}
    return Tally.of(FaceScorecard, columns | {"photos": np.ones(PHOTOS, dtype=np.int64)}, PHOTOS)


def loop(baseline: Tally[FaceScorecard], candidate: Tally[FaceScorecard]) -> dict[str, Any]:
    """Resample by resample: draw photos, make both scorecards, take the differences of their rates."""
    rng = np.random.default_rng(0)
    differences: dict[str, list[float]] = {name: [] for name in FaceScorecard.DECLARED.rates}
    for _ in range(RESAMPLES):
        drawn = rng.integers(PHOTOS, size=PHOTOS)
        a = FaceScorecard(*baseline.counts[drawn].sum(axis=0).tolist())
        b = FaceScorecard(*candidate.counts[drawn].sum(axis=0).tolist())
        for name, values in differences.items():
            values.append(b.rate(name) - a.rate(name))
    return {name: np.quantile(values, [0.025, 0.975]) for name, values in differences.items()}


def measure() -> list[dict[str, Any]]:
    """Time the paired bootstrap beside the loop, and both forms against the limit."""
    a, b = make_tally(0), make_tally(1)
    paired = best_of(lambda: paired_difference(a, b, resamples=RESAMPLES))
    single = best_of(lambda: intervals(a, resamples=RESAMPLES))
    return [
        row("paired bootstrap", paired, "loop over resamples", best_of(lambda: loop(a, b), 2), 3),
        row("paired bootstrap", paired, "limit", LIMIT, 1),
        row("bootstrap intervals", single, "limit", LIMIT, 1),
    ]


if __name__ == "__main__":
    show(measure())

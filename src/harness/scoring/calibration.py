"""Does a score of 0.8 mean right in 80 % of cases? Reliability bins and the expected calibration error.

Bins are of equal width over [0, 1]; a score on an edge belongs to the upper bin, 1 to the last. The expected
calibration error is the mean, over all items, of the distance between a bin's mean score and its accuracy. Without an
item there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from harness.scoring.cards import SCORER_VERSION

BINS = 10


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Scores from `low` up to `high`; an empty bin has neither a mean score nor an accuracy."""

    low: float
    high: float
    n: int
    mean_score: float | None
    accuracy: float | None


@dataclass(frozen=True)
class CalibrationScorecard:
    """How far scores and accuracy are apart, bin by bin and in all."""

    bins: tuple[ReliabilityBin, ...]
    n: int
    ece: float | None

    def metrics(self, prefix: str) -> dict[str, float]:
        """What is logged, as `<prefix>/ece`: the error, if there is one, and its n."""
        error = {} if self.ece is None else {f"{prefix}/ece": self.ece}
        return error | {f"{prefix}/ece_n": float(self.n)}

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        bins = [asdict(entry) for entry in self.bins]
        return {"bins": bins, "n": self.n, "ece": self.ece, "scorer_version": SCORER_VERSION}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CalibrationScorecard:
        """Read what `to_dict` wrote."""
        return cls(tuple(ReliabilityBin(**entry) for entry in data["bins"]), data["n"], data["ece"])


def calibration(scores: ArrayLike, correct: ArrayLike, bins: int = BINS) -> CalibrationScorecard:
    """Compare scores with whether they were right."""
    score, right = np.asarray(scores, dtype=np.float64).ravel(), np.asarray(correct).ravel()
    if bins < 1:
        raise ValueError(f"bins {bins}: expected at least 1")
    if len(score) != len(right):
        raise ValueError(f"{len(score)} scores for {len(right)} outcomes; expected one each")
    _refuse(~((score >= 0) & (score <= 1)), score, "score {}; expected a number from 0 to 1")
    _refuse(~((right == 0) | (right == 1)), right, "outcome {}; expected right (1) or wrong (0)")

    edges = np.arange(bins + 1) / bins
    place = np.minimum(np.searchsorted(edges, score, side="right") - 1, bins - 1)
    n = np.bincount(place, minlength=bins)
    filled = np.maximum(n, 1)
    mean_score = np.bincount(place, score, bins) / filled
    accuracy = np.bincount(place, right.astype(np.float64), bins) / filled
    total = len(score)
    ece = float(np.sum(n * np.abs(mean_score - accuracy)) / total) if total else None
    rows = zip(*(a.tolist() for a in (edges[:-1], edges[1:], n, mean_score, accuracy)), strict=True)
    entries = (ReliabilityBin(low, high, k, m if k else None, a if k else None) for low, high, k, m, a in rows)
    return CalibrationScorecard(tuple(entries), total, ece)


def _refuse(wrong: np.ndarray[Any, np.dtype[np.bool_]], values: np.ndarray[Any, Any], why: str) -> None:
    if wrong.any():
        item = int(np.argmax(wrong))
        raise ValueError(f"item {item}: {why.format(values[item])}")

"""What every scorecard has in common: counts that add up over photos, and rates that are ratios of those counts.

A rate with an empty denominator reads 0.0 as a property, but is left out of `rates()` and so of everything that is
logged or shown: an empty scorecard never looks like a 0 % or a 100 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from harness.scoring.boxes import Floats, Ints

#: Changes whenever a rule changes, so that runs scored by different rules are never compared.
SCORER_VERSION = 1


@dataclass(frozen=True, slots=True)
class Ratio:
    """A rate of a scorecard: a weighted sum of its counts over another, and the name it is logged under."""

    metric: str
    numerator: Mapping[str, int]
    denominator: Mapping[str, int]

    @classmethod
    def share(cls, metric: str, part: str, *rest: str) -> Ratio:
        """part / (part + rest)."""
        return cls(metric, {part: 1}, dict.fromkeys((part, *rest), 1))

    @classmethod
    def of(cls, metric: str, part: str, whole: str) -> Ratio:
        """part / whole."""
        return cls(metric, {part: 1}, {whole: 1})

    @classmethod
    def f1(cls, metric: str, tp: str, *errors: str) -> Ratio:
        """2 tp / (2 tp + errors), which is the harmonic mean of precision and recall."""
        return cls(metric, {tp: 2}, {tp: 2, **dict.fromkeys(errors, 1)})


@dataclass(frozen=True)
class Scorecard:
    """Base of all scorecards over photos. Fields are counts; `RATIOS` names the rates made of them."""

    RATIOS: ClassVar[Mapping[str, Ratio]] = {}
    #: Metric name of each count that is logged beside the rates.
    COUNTS: ClassVar[Mapping[str, str]] = {}

    def rate(self, name: str) -> float:
        """A rate by its name; 0.0 where its denominator is empty."""
        ratio = self.RATIOS[name]
        below = self._sum(ratio.denominator)
        return self._sum(ratio.numerator) / below if below else 0.0

    def denominator(self, name: str) -> int:
        """The n of a rate: what its denominator counts (an F1's is the number of targets and predictions)."""
        return self._sum(self.RATIOS[name].denominator)

    def metrics(self) -> dict[str, float]:
        """What is logged: every rate that has a denominator, and the counts."""
        rates = {ratio.metric: self.rate(name) for name, ratio in self.RATIOS.items() if self.denominator(name)}
        return rates | {metric: float(getattr(self, field)) for field, metric in self.COUNTS.items()}

    def to_dict(self) -> dict[str, Any]:
        """Counts and rates; the rates are there to be read, `from_dict` makes them anew."""
        counts = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**counts, **{name: self.rate(name) for name in self.RATIOS}, "scorer_version": SCORER_VERSION}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote; counts that an older file lacks keep their default."""
        return cls(**{field.name: data[field.name] for field in fields(cls) if field.name in data})

    def _sum(self, weights: Mapping[str, int]) -> int:
        return sum(weight * int(getattr(self, name)) for name, weight in weights.items())


C = TypeVar("C", bound=Scorecard)


@dataclass(frozen=True)
class Tally(Generic[C]):
    """The counts of a scorecard photo by photo: one row a photo, one column a field of the card."""

    card: type[C]
    counts: Ints

    @classmethod
    def of(cls, card: type[C], columns: Mapping[str, Ints], photos: int) -> Tally[C]:
        """Put named columns into the order of the card's fields; a field without a column counts nothing."""
        empty = np.zeros(photos, dtype=np.int64)
        return cls(card, np.stack([columns.get(field.name, empty) for field in fields(card)], axis=1))

    @classmethod
    def of_cards(cls, card: type[C], photos: Sequence[C]) -> Tally[C]:
        """One row from each photo's own card."""
        return cls(
            card,
            np.array([astuple(photo) for photo in photos], dtype=np.int64).reshape(-1, len(fields(card))),
        )

    def column(self, name: str) -> Ints:
        """One count, photo by photo."""
        return self.counts[:, [field.name for field in fields(self.card)].index(name)]

    def photo_counts(self) -> list[dict[str, int]]:
        """Every count by name, photo by photo."""
        names = [field.name for field in fields(self.card)]
        return [dict(zip(names, row, strict=True)) for row in self.counts.tolist()]

    def scorecard(self) -> C:
        """The card of all photos together."""
        return self.card(*self.counts.sum(axis=0).tolist())

    def weights(self, part: Mapping[str, int]) -> Floats:
        """The weighted sum that one side of a ratio takes, photo by photo."""
        total = np.zeros(len(self.counts))
        for name, weight in part.items():
            total += weight * self.column(name)
        return total

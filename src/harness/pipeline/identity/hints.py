"""What else than their vectors suggests that two faces are one person's, in a form that adds up over clusters."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from harness.scoring.boxes import Floats, Ints

#: Clocks that tell how close two photos are, each a part of `seconds_apart` ahead of the one before.
CLOCKS = 4


@dataclass(frozen=True, slots=True)
class Hints:
    """What else suggests that two faces are one person's: the whole number that was read on the bib linked to each
    face, and when its photo was taken, in seconds; None and NaN where that is not known."""

    numbers: Sequence[str | None]
    seconds: Floats

    @classmethod
    def none(cls, faces: int) -> Hints:
        """Nothing is known but the vectors."""
        return cls([None] * faces, np.full(faces, np.nan))


class Weights(Protocol):
    """How much hints count (`clustering.py`)."""

    @property
    def number_weight(self) -> float:
        """Of equal and of different numbers."""

    @property
    def time_weight(self) -> float:
        """Of photos of one moment."""

    @property
    def seconds_apart(self) -> float:
        """From here on a moment is another one."""


@dataclass(frozen=True, slots=True)
class Traits:
    """What hints say about clusters. Each cluster has an amount of each trait; what two clusters have in common is the
    sum of the products, less the product of their `known`. Both add up when clusters are merged."""

    amounts: list[dict[Hashable, float]]
    known: Floats

    @classmethod
    def of(cls, weights: Weights, hints: Hints, rows: Ints) -> Traits | None:
        """The traits of each face; None where no hint has a weight. Faces beyond `rows` have none."""
        if not (weights.number_weight or weights.time_weight):
            return None
        amounts: list[dict[Hashable, float]] = [{} for _ in hints.numbers]
        known = np.zeros(len(amounts))
        for face in rows:
            if weights.number_weight and (number := hints.numbers[face]) is not None:
                # Twice the weight where the numbers are the same, less once the weight where both are known.
                amounts[face][number] = float(np.sqrt(2 * weights.number_weight))
                known[face] = np.sqrt(weights.number_weight)
            if weights.time_weight and not np.isnan(seconds := hints.seconds[face]):
                for clock in range(CLOCKS):
                    tick = int(np.floor(seconds / weights.seconds_apart + clock / CLOCKS))
                    amounts[face][clock, tick] = float(np.sqrt(weights.time_weight / CLOCKS))
        return cls(amounts, known)

    def common(self, cluster: int, others: Ints) -> Floats:
        """What a cluster has in common with each of others, summed over the pairs of their faces."""
        mine = self.amounts[cluster]
        shared = np.zeros(len(others))
        for place, theirs in enumerate(self.amounts[other] for other in others.tolist()):
            if not mine.keys().isdisjoint(theirs.keys()):  # hardly any two of many clusters share one
                shared[place] = sum(mine[trait] * theirs[trait] for trait in mine.keys() & theirs.keys())
        return np.asarray(shared - self.known[cluster] * self.known[others], dtype=np.float64)

    def join(self, low: int, high: int) -> None:
        """Merge the second cluster into the first."""
        less, more = sorted((self.amounts[low], self.amounts[high]), key=len)
        for trait, amount in less.items():
            more[trait] = more.get(trait, 0.0) + amount
        self.amounts[low], self.amounts[high] = more, {}
        self.known[low] += self.known[high]

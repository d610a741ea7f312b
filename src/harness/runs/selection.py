"""The best of many runs beside the one that they are held against, in one rate of their items.

What is needed of each run is one rate item by item, and is small: a search keeps it in its ledger, and a sweep reads
one run after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

import numpy as np

from harness.runs.archive import BenchmarkRun
from harness.scoring.cards import Better, Sides
from harness.scoring.selection import Selection, select


@dataclass(frozen=True)
class RateItems:
    """One rate of a run item by item, in the order of the items' ids, with the group of each. Only runs of equal
    `rules`, which are the data and what they were scored by, can be held against each other."""

    items: tuple[str, ...]
    groups: tuple[str, ...]
    sides: Sides
    better: Better
    rules: tuple[object, ...]

    @property
    def sign(self) -> int:
        """1 where more is better, -1 where less is."""
        return 1 if self.better == "higher" else -1

    def with_sides(self, above: Sequence[float], below: Sequence[float]) -> RateItems:
        """The same of another run on the same items."""
        return replace(self, sides=(np.asarray(above, float), np.asarray(below, float)))

    def listed(self) -> tuple[list[float], list[float]]:
        """Numerators and denominators as they are kept in a ledger."""
        return listed(self.sides)


def listed(sides: Sides) -> tuple[list[float], list[float]]:
    """Numerators and denominators as lists; whole numbers are shorter to write."""
    above, below = ([int(n) if n.is_integer() else n for n in side.tolist()] for side in sides)
    return above, below


def rate_items(run: BenchmarkRun, metric: str) -> RateItems | None:
    """A rate of a run item by item; None where the run has none of that name, as for seconds or average precision."""
    for task in run.tasks.values():
        for name, card in task.cards.items():
            for rate in card.declared.rates.values():
                if rate.metric != metric or not card.knows(*rate.numerator, *rate.denominator):
                    continue
                if card.denominator(rate) <= 0:
                    return None
                items = [(item.id, item.group) for item in task.items]
                order = sorted(range(len(items)), key=lambda row: items[row][0])
                above, below = task.tally(name).sides()[metric]
                meta = run.metadata
                return RateItems(
                    items=tuple(items[row][0] for row in order),
                    groups=tuple(items[row][1] for row in order),
                    sides=(above[order], below[order]),
                    better=rate.better,
                    rules=(task.data.digest, meta.scorer_version, tuple(sorted(meta.thresholds.items()))),
                )
    return None


def comparable(trial: RateItems | None, base: RateItems | None) -> TypeGuard[RateItems]:
    """Whether a run can be held against the base: the same rate of the same items, scored by the same rules."""
    return base is not None and trial is not None and (trial.items, trial.rules) == (base.items, base.rules)


def select_runs(base: RateItems, trials: Sequence[RateItems], sign: int, seed: int = 0) -> Selection:
    """Hold runs against the base, all at once; items belong together as the base says."""
    return select(base.sides, [trial.sides for trial in trials], base.groups, sign, seed)


def best_in_words(
    metric: str, against: str, base: RateItems, runs: Sequence[tuple[str, RateItems | None]], seed: int = 0
) -> str:
    """The best of some named runs beside the base, and what is left of its gain once it is counted in how many there
    were; empty where none can be held against the base."""
    held = [(name, rate) for name, rate in runs if comparable(rate, base)]
    if not held:
        return ""
    selection = select_runs(base, [rate for _, rate in held], base.sign, seed)
    selected = selection.of(selection.best)
    among = f"the best of {len(held)} runs" if len(held) > 1 else "the only run"
    groups = f"{selected.groups} group{'' if selected.groups == 1 else 's'}"
    left_out = len(runs) - len(held)
    others = f"; {left_out} on other data or scored by other rules take no part" if left_out else ""
    return (
        f"{held[selection.best][0]}, {among} held against {against} in {metric} on {groups}: {selected.words()}{others}"
    )

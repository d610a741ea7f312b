"""How often a judge keeps what is no better: candidates that differ from the base by noise alone, one after the other.

Each base is met by as many candidates as an agent may try. A candidate finds, on the photos on which it differs from
the base, what a new draw gives. None is better in truth, so that every KEEP is false.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tests.benchmark_runs import benchmark_run, gate

from harness.candidates.deciding import decide
from harness.candidates.scorer import Question, Scored, Sides, compare_runs, gate_with
from harness.candidates.tries import Answer
from harness.runs.archive import BenchmarkRun

METRIC = "number/f1"
Bools = NDArray[np.bool_]
#: 5 % and what a simulation of so many bases may find beyond it: 3.5 standard errors.
_LEVEL, _ERRORS = 0.05, 3.5


@dataclass(frozen=True)
class Kept:
    """Of so many bases, beside how many at least one candidate was kept, and how many bases had their best candidate
    kept when it was judged as the last of all."""

    bases: int
    any_kept: int
    best_kept: int

    @property
    def limit(self) -> float:
        """The largest share that chance explains."""
        return _LEVEL + _ERRORS * float(np.sqrt(_LEVEL * (1 - _LEVEL) / self.bases))


def false_keeps(bases: int, tries: int, seed: int, photos: int = 60, rate: float = 0.8, churn: float = 0.1) -> Kept:
    """Judge `tries` candidates beside each of some bases, in the order in which they come, and the best one last."""
    any_kept = best_kept = 0
    for place in range(bases):
        random = np.random.default_rng([seed, place])
        base = random.random(photos) < rate
        drawn = [np.where(random.random(photos) < churn, random.random(photos) < rate, base) for _ in range(tries)]
        answers = _judged(base, drawn)
        any_kept += Answer.KEEP in answers
        best = int(np.argmax([found.sum() for found in drawn]))
        last = [*(each for other, each in enumerate(drawn) if other != best), drawn[best]]
        best_kept += _judged(base, last, only_last=True)[-1] is Answer.KEEP
    return Kept(bases, any_kept, best_kept)


def _judged(base: Bools, drawn: list[Bools], only_last: bool = False) -> list[Answer]:
    baseline = _run(base)
    before: list[Sides] = []
    answers: list[Answer] = []
    for place, found in enumerate(drawn):
        sides = _sides(found)
        if not only_last or place == len(drawn) - 1:
            answers.append(_answer(baseline, _run(found), tuple((each, _sides(base)) for each in before)))
        before.append(sides)
    return answers


def _answer(base: BenchmarkRun, candidate: BenchmarkRun, before: tuple[tuple[Sides, Sides], ...]) -> Answer:
    question = Question((), METRIC, 1, "", "", before=before)
    scored: Scored = compare_runs(question, gate_with(question, gate()), candidate, base)
    return decide(METRIC, scored, [])[0]


def _run(found: Bools) -> BenchmarkRun:
    numbers = [(int(each), 0, int(not each)) for each in found]
    return benchmark_run([(1, 0, 0)] * len(found), numbers)


def _sides(found: Bools) -> Sides:
    """As the scorecard of numbers has them: what is found, and what is found or half of what is missed."""
    return found.astype(int).tolist(), [1 if each else 0.5 for each in found]


def soak_keeps(folder: Path, size: int, seed: int) -> list[str]:  # noqa: ARG001 - nothing is written
    """What did not hold, in words."""
    wrong = []
    for churn in (0.03, 0.1, 0.3):
        kept = false_keeps(size, 20, seed, churn=churn)
        shares = f"any of 20 {kept.any_kept / size:.1%}, the best of 20 {kept.best_kept / size:.1%}"
        print(f"churn {churn:.0%}, {size} bases: kept though no better: {shares} (limit {kept.limit:.1%})", flush=True)
        if max(kept.any_kept, kept.best_kept) / size > kept.limit:
            wrong.append(f"churn {churn:.0%}: {shares}, expected at most {kept.limit:.1%}")
    return wrong

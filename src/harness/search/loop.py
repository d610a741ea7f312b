"""The loop of a search: claim a trial, evaluate it, tell the ledger. Any number of processes may run it at once.

Evaluating a trial comes to the numbers of a run, or to a glance at some photos that was enough to give it up.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.base.errors import HarnessError, StaleCodeError
from harness.runs.archive import BenchmarkRun
from harness.runs.selection import rate_items
from harness.scoring import Interval
from harness.search.experiment import Experiment
from harness.search.ledger import Ledger
from harness.search.trials import Sides, TrialRecord


@dataclass(frozen=True)
class Outcome:
    """A run of a trial, in numbers: objectives in their order, and by how much each constraint is broken. `sides` are
    numerators and denominators of the first objective, item by item, where it is a rate of items."""

    run_id: str
    values: tuple[float, ...]
    violations: Mapping[str, float]
    metrics: Mapping[str, float]
    sides: Sides | None = None
    #: What a constraint with a certainty is held against in place of the metric: its bound.
    bounds: Mapping[str, float] = field(default_factory=dict)

    def notes(self) -> dict[str, Any]:
        """What the ledger keeps of it beside the values."""
        kept = {"mlflow_run_id": self.run_id, "metrics": dict(self.metrics), "sides": self.sides}
        return {**kept, "bounds": dict(self.bounds)} if self.bounds else kept


@dataclass(frozen=True)
class Glance:
    """What a look at the first photos has shown: the rate there, that of the best trial, and how sure it is."""

    best: int
    photos: int
    value: float
    best_value: float
    certainty: float

    def words(self) -> str:
        """Why the trial was given up."""
        return (
            f"{self.value:.4f} on the first {self.photos} photos, where trial {self.best} has {self.best_value:.4f}; "
            f"chance does as much in {1 - self.certainty:.1%} of the cases"
        )


@dataclass(frozen=True)
class Pruned:
    """A trial that was given up after a glance at some of the photos."""

    run_id: str
    glance: Glance


#: Evaluates the point of a trial. Raises where there is nothing to tell.
Evaluate = Callable[[TrialRecord], Outcome | Pruned]
#: Is called with each trial that is finished.
Watch = Callable[[TrialRecord], None]


def search(ledger: Ledger, evaluate: Evaluate, watch: Watch = lambda _: None) -> None:
    """Go on until the ledger has no more trials to give. A trial that fails does not end the search."""
    with ledger.worker() as worker:
        while trial := ledger.claim(worker):
            watch(conclude(ledger, trial, evaluate))


def conclude(ledger: Ledger, trial: TrialRecord, evaluate: Evaluate) -> TrialRecord:
    """Evaluate a trial that was claimed, and tell what came of it."""
    try:
        outcome = evaluate(trial)
    except StaleCodeError as error:  # whatever is evaluated from here on would not be what the files say
        ledger.fail(trial.number, str(error))
        raise
    except HarnessError as error:
        return ledger.fail(trial.number, str(error))
    except Exception as error:  # noqa: BLE001 - whatever a backend raises fails this trial, loudly, and no other
        traceback.print_exc(file=sys.stderr)
        return ledger.fail(trial.number, f"{type(error).__name__}: {error}")
    if isinstance(outcome, Outcome):
        return ledger.tell(trial.number, outcome.values, outcome.violations, **outcome.notes())
    glance = outcome.glance
    return ledger.prune(trial.number, glance.value, glance.photos, mlflow_run_id=outcome.run_id, reason=glance.words())


def outcome_of(experiment: Experiment, run_id: str, run: BenchmarkRun) -> Outcome:
    """The numbers that a search is after; raises where the run does not have them."""
    if not run.complete:
        raise HarnessError(f"{run.shortfall}; {run.failures[0]}")
    rate = rate_items(run, experiment.metric)
    sure = {name: interval for task in run.tasks.values() for name, interval in task.intervals.items()}
    return make_outcome(experiment, run_id, run.metrics, sure, rate.listed() if rate else None)


def make_outcome(
    experiment: Experiment,
    run_id: str,
    metrics: Mapping[str, float],
    sure: Mapping[str, Interval],
    sides: Sides | None,
) -> Outcome:
    """The same from metrics, from the intervals of those that a constraint asks to be certain, and from the sides of
    the first objective; raises where one is missing."""
    wanted = dict.fromkeys([*experiment.objectives, *experiment.constraints])
    if missing := [name for name in wanted if name not in metrics]:
        raise HarnessError(f"{missing[0]}: the run has no such number; nothing is labelled that it could be made of")
    held = {name: limit.held(name, metrics[name], sure.get(name)) for name, limit in experiment.constraints.items()}
    return Outcome(
        run_id,
        tuple(metrics[name] for name in experiment.objectives),
        {name: experiment.constraints[name].violation(value) for name, value in held.items()},
        {name: metrics[name] for name in wanted},
        sides,
        {name: value for name, value in held.items() if experiment.constraints[name].certainty is not None},
    )

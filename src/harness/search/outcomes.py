"""What evaluating a trial's point comes to: a run in MLflow and its values, or a look at a part of the photos."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from harness.archive import BenchmarkRun
from harness.errors import HarnessError
from harness.evaluate import RunResult, evaluate
from harness.search.experiment import Experiment
from harness.search.ledger import Ledger
from harness.search.pruning import Glance, Pruner
from harness.search.searchable import trial_spec
from harness.search.trials import TrialRecord


@dataclass(frozen=True)
class Outcome:
    """A run of a trial, in numbers: objectives in their order, and by how much each constraint is broken."""

    run_id: str
    values: tuple[float, ...]
    violations: Mapping[str, float]
    metrics: Mapping[str, float]


@dataclass(frozen=True)
class Pruned:
    """A trial that was given up after a glance at some of the photos."""

    run_id: str
    glance: Glance


#: Evaluates the point of a trial. Raises where there is nothing to tell.
Evaluate = Callable[[TrialRecord], Outcome | Pruned]


def outcome_of(experiment: Experiment, run_id: str, run: BenchmarkRun) -> Outcome:
    """The numbers that a search is after; raises where the run does not have them."""
    if not run.complete:
        failed = run.failed_photos[0]
        raise HarnessError(f"{len(run.failed_photos)} photos could not be evaluated; {failed.name}: {failed.reason}")
    wanted = dict.fromkeys([*experiment.objectives, *experiment.constraints])
    if missing := [name for name in wanted if name not in run.metrics]:
        raise HarnessError(f"{missing[0]}: the run has no such number; nothing is labelled that it could be made of")
    return Outcome(
        run_id,
        tuple(run.metrics[name] for name in experiment.objectives),
        {name: limit.violation(run.metrics[name]) for name, limit in experiment.constraints.items()},
        {name: run.metrics[name] for name in wanted},
    )


def run_trial(experiment: Experiment, trial: TrialRecord) -> RunResult:
    """Evaluate a trial's point as a run of its study."""
    spec = trial_spec(experiment, trial.point)
    return evaluate(replace(spec, study=experiment.study, light=True, note=trial.hypothesis))


def evaluator(ledger: Ledger) -> Evaluate:
    """How the workers of a search evaluate: a glance first where that may save the rest, then the whole."""
    experiment, pruner = ledger.experiment, Pruner(ledger)

    def evaluate_trial(trial: TrialRecord) -> Outcome | Pruned:
        if glance := pruner.glance(trial):
            return Pruned(pruner.log(trial, glance), glance)
        result = run_trial(experiment, trial)
        return outcome_of(experiment, result.run_id, result.run)

    return evaluate_trial

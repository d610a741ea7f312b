"""A trial as a run: the same `evaluate` as every other run, tagged with the study."""

from __future__ import annotations

from dataclasses import replace

from harness.evaluate import evaluate
from harness.search.experiment import Experiment
from harness.search.ledger import Ledger
from harness.search.outcomes import Evaluate, Outcome, Pruned, outcome_of
from harness.search.pruning import Pruner
from harness.search.searchable import trial_spec
from harness.search.trials import TrialRecord


def run_trial(experiment: Experiment, trial: TrialRecord) -> Outcome:
    """Evaluate a trial's point on all photos."""
    spec = trial_spec(experiment, trial.point)
    spec = replace(spec, study=experiment.study, worker=trial.worker, light=True, note=trial.hypothesis)
    result = evaluate(spec)
    return outcome_of(experiment, result.run_id, result.run)


def evaluator(ledger: Ledger) -> Evaluate:
    """How the workers of a search evaluate: a glance first where that may save the rest, then the whole."""
    pruner = Pruner(ledger)

    def evaluate_trial(trial: TrialRecord) -> Outcome | Pruned:
        if glance := pruner.glance(trial):
            return Pruned(pruner.log(trial, glance), glance)
        return run_trial(ledger.experiment, trial)

    return evaluate_trial

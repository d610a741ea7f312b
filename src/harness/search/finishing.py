"""What a search leaves in MLflow: all trials as one table on the run of the study, and the best as runs of their own.

A trial that was judged from memory has no run. The base has one, and so get the best trial and those of the front, a
few at most. With `log: all` in the experiment file every trial is a run when it is evaluated.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.base.errors import HarnessError
from harness.base.progress import warn
from harness.base.scratch import scratch
from harness.search.base import open_runs
from harness.search.experiment import Experiment
from harness.search.ledger import Ledger
from harness.search.loop import Outcome
from harness.search.trials import State, TrialRecord, pareto_front
from harness.search.workers import run_trial
from harness.tracking.runs import RunRecord
from harness.tracking.studies import log_study

TABLE, LIST = "trials.json", "trials.csv"
#: So many trials of a front become runs.
MOST_FINALISTS = 5
#: While a search goes on, its table is written so often.
SECONDS_BETWEEN_TABLES = 300.0


def log_trials(ledger: Ledger) -> str:
    """Write the trials of a study as a table to its run in MLflow; returns the id of the run."""
    trials, known = ledger.trials(), ledger.noted("trials_run", "")
    table = trial_table(ledger.experiment, trials)
    with scratch() as folder:
        with (folder / LIST).open("w", newline="") as file:
            csv.writer(file).writerows([list(table), *zip(*table.values(), strict=True)])
        record = RunRecord(
            params={},
            metrics={"trials": sum(trial.counts for trial in trials)},
            tags={},
            description=f"The trials of the study {ledger.experiment.study}: {ledger.experiment.description}",
            files=folder,
            tables={TABLE: table},
        )
        run_id = log_study(open_runs(ledger.experiment), ledger.experiment.study, record, known)
    if run_id != known:
        ledger.note("trials_run", run_id)
    return run_id


def trial_table(experiment: Experiment, trials: Sequence[TrialRecord]) -> Mapping[str, Sequence[Any]]:
    """The trials as columns by name, one row a trial: what became of it, its numbers and its parameters."""
    metrics = dict.fromkeys([*experiment.objectives, *experiment.constraints])
    bounds = [name for name, limit in experiment.constraints.items() if limit.certainty is not None]
    columns: dict[str, Sequence[Any]] = {
        "trial": [trial.number for trial in trials],
        "state": [str(trial.state) for trial in trials],
        "feasible": [trial.feasible for trial in trials],
    }
    columns |= {name: [_number(experiment, trial, name) for trial in trials] for name in metrics}
    columns |= {f"{name} bound": [trial.bounds.get(name) for trial in trials] for name in bounds}
    columns |= {key: [trial.point.get(key) for trial in trials] for key in experiment.space}
    told: dict[str, Callable[[TrialRecord], Any]] = {
        "proposed_by": lambda trial: trial.proposed_by,
        "hypothesis": lambda trial: trial.hypothesis,
        "reason": lambda trial: trial.reason,
        "seconds": lambda trial: trial.seconds,
        "run_id": lambda trial: trial.run_id,
    }
    return columns | {name: [tell(trial) for trial in trials] for name, tell in told.items()}


def _number(experiment: Experiment, trial: TrialRecord, name: str) -> float | None:
    """A metric of a trial; what a trial that was given up has seen is that of some photos, and stands in its reason."""
    if trial.state is not State.COMPLETE:
        return None
    named = dict(zip(experiment.objectives, trial.values, strict=False))
    return trial.metrics.get(name, named.get(name))


def log_finalists(ledger: Ledger) -> None:
    """Log the best trial and those of the front as runs, where they are none yet. Raises HarnessError where a run comes
    to other numbers than the trial has."""
    experiment, best = ledger.experiment, ledger.best()
    front = pareto_front(experiment, ledger.trials()) if len(experiment.objectives) > 1 else []
    chosen = {trial.number: trial for trial in [*([best] if best else []), *front][: MOST_FINALISTS + 1]}
    for trial in chosen.values():
        if not trial.run_id:
            log_as_run(ledger, trial)


def log_as_run(ledger: Ledger, trial: TrialRecord) -> Outcome:
    """Evaluate a trial that was judged from memory as a run like every other."""
    outcome = run_trial(ledger.experiment, trial)
    if outcome.values != trial.values:
        raise HarnessError(
            f"trial {trial.number}: its run {outcome.run_id} comes to {outcome.values}, and the trial had "
            f"{trial.values}: a stage does not give the same answer twice"
        )
    ledger.note_run(trial.number, outcome.run_id)
    return outcome


class TableKeeper:
    """Writes the table of a study now and then while trials are finished, and at the end, whatever ends the search."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._last = time.monotonic()

    def __call__(self, _trial: TrialRecord) -> None:
        """Write it where it is due."""
        if time.monotonic() - self._last >= SECONDS_BETWEEN_TABLES:
            self.write()
            self._last = time.monotonic()

    def write(self) -> None:
        """Write it now. A store that does not take it ends no search: the ledger has all of it."""
        try:
            log_trials(self._ledger)
        except HarnessError as error:
            warn(f"the table of trials is not in MLflow: {error}")

"""Workers of a search: this process, or several on one ledger; how they evaluate a trial; the runs that dead ones
leave; and the line that shows how far they are."""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.process import BaseProcess
from pathlib import Path

from harness.base.errors import CrashError, HarnessError
from harness.base.signals import ended_by_signals, interrupted_code
from harness.evaluate import evaluate
from harness.search.experiment import Experiment, read_experiment, study_folder
from harness.search.ledger import Ledger
from harness.search.loop import Evaluate, Outcome, Pruned, Watch, outcome_of, search
from harness.search.pruning import Race, log_pruned
from harness.search.replay import Replay
from harness.search.searchable import trial_spec
from harness.search.trials import UNDER_WAY, TrialRecord
from harness.tracking.catalog import end_killed
from harness.tracking.finding import list_running
from harness.tracking.store import OpenStore

_POLL_SECONDS = 0.5


def work(ledger: Ledger, path: Path, workers: int, watch: Watch) -> None:
    """Search until the ledger has no more trials to give."""
    if workers == 1:
        search(ledger, evaluator(ledger), watch)
    else:
        run_processes(ledger, lambda: _process(path), workers, watch)


def run_processes(ledger: Ledger, make: Callable[[], BaseProcess], count: int, watch: Watch) -> None:
    """Run several workers side by side and wait for them. Raises CrashError where one has died; its trial is taken over
    when the search is resumed."""
    processes = [make() for _ in range(count)]
    shown = {trial.number for trial in ledger.trials() if trial.state not in UNDER_WAY}
    with ended_by_signals(), _ended_with_us(processes):
        for process in processes:
            process.start()
        while any(process.is_alive() for process in processes):
            time.sleep(_POLL_SECONDS)
            for trial in ledger.trials():
                if trial.number not in shown and trial.state not in UNDER_WAY:
                    shown.add(trial.number)
                    watch(trial)
    if dead := [process for process in processes if process.exitcode]:
        raise CrashError(
            f"{len(dead)} of {count} workers died, with exit code {dead[0].exitcode}; the same command resumes"
        )


@contextmanager
def _ended_with_us(processes: Sequence[BaseProcess]) -> Iterator[None]:
    """End what still runs after the block: SIGTERM, on which a worker ends its run as KILLED."""
    try:
        yield
    finally:
        for process in processes:
            if process.pid is not None:
                if process.is_alive():
                    process.terminate()
                process.join()


def _process(path: Path) -> BaseProcess:
    return multiprocessing.get_context("spawn").Process(target=_work, args=(path,))


def _work(path: Path) -> None:
    """The life of one process."""
    try:
        experiment = read_experiment(path)
        ledger = Ledger.open(experiment, study_folder(path, experiment))
        search(ledger, evaluator(ledger))
    except HarnessError as error:
        print(f"harness: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt as error:
        sys.exit(interrupted_code(error))


def run_trial(experiment: Experiment, trial: TrialRecord) -> Outcome:
    """Evaluate a trial's point on all photos, as a run like every other that is tagged with the study."""
    spec = trial_spec(experiment, trial.point)
    spec = replace(spec, study=experiment.study, worker=trial.worker, light=True, note=trial.hypothesis)
    result = evaluate(spec)
    return outcome_of(experiment, result.run_id, result.run)


def evaluator(ledger: Ledger, racing: bool = True) -> Evaluate:
    """How trials are evaluated: from memory, and raced first where that may save models. Where every trial is to be a
    run, and where seconds are asked for, which the store keeps, each is evaluated as a run."""
    experiment = ledger.experiment
    replay = Replay.open(experiment)
    race = Race(ledger, replay)
    logged = experiment.log == "all" or experiment.is_timed

    def evaluate_trial(trial: TrialRecord) -> Outcome | Pruned:
        if racing and (glance := race.glance(trial)):
            return Pruned(log_pruned(experiment, trial, glance) if logged else "", glance)
        return run_trial(experiment, trial) if logged else replay.outcome(trial.point)

    return evaluate_trial


def end_abandoned(ledger: Ledger, store: OpenStore) -> None:
    """End the runs that nobody will end, as KILLED: their worker on this ledger died while it evaluated a trial.

    A study of the same name may be on another ledger, with workers that this one cannot see: their runs are left alone.
    """
    for run in list_running(store, ledger.experiment.study):
        if run.worker and ledger.is_gone(run.worker):
            end_killed(store, run.run_id)

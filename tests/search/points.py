"""A search without photos: a real ledger, real processes, and a formula in place of the pipeline.

As a program, it is one worker: `python -m tests.search.points FOLDER LOG TRIALS SECONDS`. It writes a line for each
trial that it begins and each that it ends.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from harness.base.errors import HarnessError
from harness.search.experiment import Experiment
from harness.search.ledger import Ledger
from harness.search.loop import Outcome, search
from harness.search.trials import TrialRecord

SPACE = {
    "link.min_drop": {"low": 0.0, "high": 2.0, "step": 0.1},
    "link.max_drop": {"low": 2.5, "high": 8.0, "step": 0.1},
    "link.half_width": {"low": 0.5, "high": 4.0, "step": 0.1},
}


def experiment(**changes: Any) -> Experiment:
    data = {
        "study": "formula",
        "space": SPACE,
        "objectives": {"link/f1": "maximize"},
        "budget": {"trials": 10, "minutes": 10},
        **changes,
    }
    return Experiment.model_validate(data)


def value_of(trial: TrialRecord) -> float:
    """Best, 1.0, at a drop of 1 to 5 and a half width of 2."""
    drop, reach, width = (float(trial.point[key]) for key in SPACE)
    return 1 - ((drop - 1) ** 2 + (reach - 5) ** 2 / 9 + (width - 2) ** 2 / 4) / 10


def evaluate(trial: TrialRecord) -> Outcome:
    if trial.point["link.min_drop"] == 2.0:
        raise HarnessError("no bib hangs so low")
    value = value_of(trial)
    return Outcome(f"run-{trial.number}", (value,), {}, {"link/f1": value})


def work(folder: Path, log: Path, trials: int, seconds: float) -> None:
    def say(what: str, trial: TrialRecord) -> None:
        line = f"{what} {trial.number} {os.getpid()}\n".encode()
        file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, line)
        os.close(file)

    def slow(trial: TrialRecord) -> Outcome:
        say("begin", trial)
        time.sleep(seconds)
        return evaluate(trial)

    ledger = Ledger.open(experiment(budget={"trials": trials, "minutes": 10}), folder)
    search(ledger, slow, lambda trial: say("end", trial))


if __name__ == "__main__":
    work(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))

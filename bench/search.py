"""TPE beside random search, on the same budget and ten seeds; and a trial from the stage cache beside a cold one.

The objective is a real scorecard: `link/f1` on the sample set for thresholds and geometry that re-judge what the
models have seen, through the same ledger that a search uses, kept in memory.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import optuna
from optuna.storages import BaseStorage, InMemoryStorage

from bench.measure import row
from harness.evaluate import evaluate
from harness.search.experiment import Experiment
from harness.search.ledger import Ledger
from harness.search.loop import Outcome, search
from harness.search.samplers import make_sampler
from harness.search.searchable import check_experiment, trial_spec
from harness.search.space import point_key
from harness.search.trials import TrialRecord, ranked
from harness.search.verification import COLD
from harness.tasks.photos.predicting import predict
from harness.tasks.photos.scores import score_cards

TRIALS, SEEDS = 40, 10
METRIC = "link/f1"
SPACE = {
    "face.threshold": {"low": 0.5, "high": 0.95, "step": 0.01},
    "bib.rule.min_char_score": {"low": 0.1, "high": 0.98, "step": 0.01},
    "bib.rule.clearance": {"low": 0.0, "high": 0.5, "step": 0.05},
    "bib.torso.half_width": {"low": 0.5, "high": 3.0, "step": 0.1},
    "bib.torso.max_drop": {"low": 2.0, "high": 8.0, "step": 0.1},
    "bib.torso.min_height": {"low": 0.05, "high": 0.6, "step": 0.05},
    "bib.torso.rival_share": {"low": 0.2, "high": 0.95, "step": 0.05},
    "bib.plate.widen": {"low": 0.8, "high": 2.0, "step": 0.05},
    "bib.plate.heighten": {"low": 0.8, "high": 3.0, "step": 0.05},
    "link.min_drop": {"low": 0.0, "high": 2.0, "step": 0.1},
    "link.max_drop": {"low": 2.5, "high": 8.0, "step": 0.1},
    "link.half_width": {"low": 0.3, "high": 4.0, "step": 0.1},
    "link.threshold": {"low": 0.0, "high": 0.6, "step": 0.05},
}


class MemoryPlace:
    """A ledger's place for one process: no file, and nobody to lock out."""

    def __init__(self) -> None:
        self.storage: BaseStorage = InMemoryStorage()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Nobody else is there."""
        yield

    @contextmanager
    def lease(self, _worker: str) -> Iterator[None]:
        """The worker is this process."""
        yield

    def is_alive(self, _worker: str) -> bool:
        """The worker is this process."""
        return True


def experiment(
    sampler: str, seed: int = 0, space: Mapping[str, Any] = SPACE, trials: int = TRIALS, study: str = "repeated"
) -> Experiment:
    """A search for the best links; without a space, the one that is repeated."""
    return Experiment.model_validate(
        {
            "study": f"{study}-{sampler}-{seed}",
            "base": ["preset=balanced"],
            "space": dict(space),
            "objectives": {METRIC: "maximize"},
            "budget": {"trials": trials, "minutes": 10_000},
            "sampler": sampler,
            "seed": seed,
        }
    )


class Scorecards:
    """The objective: a scorecard from the stage cache, made once a point."""

    def __init__(self) -> None:
        self._base = experiment("tpe", 0)
        check_experiment(self._base)
        spec = trial_spec(self._base, {})
        self._photos, self._cache = spec.photos.references.photos, spec.photos.cache.open()
        self._known: dict[str, float] = {}

    def __call__(self, trial: TrialRecord) -> Outcome:
        """Predict and score, as a run does."""
        key = point_key(trial.point)
        if key not in self._known:
            task = trial_spec(self._base, trial.point).photos
            evaluated, _ = predict(task.pipeline, self._photos, self._cache, quiet=True)
            self._known[key] = score_cards(evaluated, task.scoring)["link"].total().metrics()[METRIC]
        return Outcome("", (self._known[key],), {}, {})


def best_of(sampler: str, seed: int, objective: Scorecards) -> float:
    """The best value of one search."""
    made, place = experiment(sampler, seed), MemoryPlace()
    study = optuna.create_study(
        storage=place.storage, study_name=made.study, direction="maximize", sampler=make_sampler(made, 0)
    )
    ledger = Ledger(made, Path(), place, study)
    ledger.note("budget", made.budget.model_dump())
    search(ledger, objective)
    return ranked(made, ledger.trials())[0].values[0]


def compare_samplers() -> dict[str, Any]:
    """Median shortfall from a perfect score after the budget, TPE beside random."""
    objective = Scorecards()
    best = {sampler: [best_of(sampler, seed, objective) for seed in range(SEEDS)] for sampler in ("tpe", "random")}
    for sampler, values in best.items():
        listed = " ".join(f"{value:.4f}" for value in values)
        print(f"best {METRIC} after {TRIALS} trials, {sampler:<6} median {statistics.median(values):.4f}   {listed}")
    tpe, random = (1 - statistics.median(best[sampler]) for sampler in ("tpe", "random"))
    name = f"shortfall of {METRIC}, median of {SEEDS} seeds, TPE"
    return {**row(name, tpe, "random search", random, 1.0), "unit": " "}


def compare_replay() -> dict[str, Any]:
    """A trial that re-links what is in the cache, beside the same run without it."""
    with tempfile.TemporaryDirectory() as folder:
        made = experiment("tpe", 0)
        made = made.model_copy(update={"base": (*made.base, f"tracking.root={folder}")})
        warm = trial_spec(made, {"bib.torso.half_width": 1.9})
        evaluate(replace(warm, light=True))
        seconds = []
        for point, changes in (({"bib.torso.half_width": 1.8}, {}), ({"bib.torso.half_width": 1.8}, COLD)):
            spec = replace(trial_spec(made, point, changes), light=True)
            start = time.process_time()
            evaluate(spec)
            seconds.append(time.process_time() - start)
    return row(
        "a trial from the stage cache, logged to MLflow", seconds[0], "the same without the cache", seconds[1], 5.0
    )


def measure() -> list[dict[str, Any]]:
    """Both comparisons."""
    return [compare_replay(), compare_samplers()]

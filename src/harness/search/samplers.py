"""Who proposes the next point.

A sampler is made anew for each proposal, seeded by the study and the number of the trial, so that a search which was
killed and resumed goes on as if nothing had happened.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from harness.base.extras import need
from harness.search.experiment import Experiment
from harness.search.space import Value

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler

#: Proposals of TPE and GP that are drawn at random, before there is anything to learn from.
STARTUP = 10
#: A generation of NSGA-II; small, since budgets are.
POPULATION = 16


def make_sampler(experiment: Experiment, number: int) -> BaseSampler:
    """The sampler that proposes trial `number`."""
    from optuna.exceptions import ExperimentalWarning
    from optuna.samplers import GPSampler, NSGAIISampler, RandomSampler, TPESampler

    makers: Mapping[str, Callable[..., BaseSampler]] = {
        "tpe": partial(TPESampler, n_startup_trials=STARTUP, multivariate=True, group=True),
        "random": RandomSampler,
        "grid": RandomSampler,  # a grid is walked by the ledger; chance has no part in it
        "nsga2": partial(NSGAIISampler, population_size=POPULATION),
        "gp": partial(GPSampler, n_startup_trials=STARTUP, deterministic_objective=True),
    }
    if experiment.sampler == "gp":
        need("sampler: gp", "torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        return makers[experiment.sampler](seed=_seed(experiment, number))


def fixed_sampler(point: Mapping[str, Value]) -> BaseSampler:
    """A sampler that proposes one point."""
    from optuna.exceptions import ExperimentalWarning
    from optuna.samplers import PartialFixedSampler, RandomSampler

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        return PartialFixedSampler(dict(point), RandomSampler(seed=0))


def _seed(experiment: Experiment, number: int) -> int:
    digest = hashlib.sha256(f"{experiment.seed}/{number}".encode()).digest()
    return int.from_bytes(digest[:4])

"""The Hydra half of the command line: one run, or a sweep of runs and its overview."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Sequence

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from harness.config import build, compose, conf_dir, explain, instantiate
from harness.errors import ConfigError, HarnessError, IncompleteError

_SWEEP = ("-m", "--multirun", "hydra.mode=MULTIRUN")
#: How the user calls the harness, for the commands that it suggests.
_COMMAND = os.environ.get("HARNESS_COMMAND", "harness")
#: Overrides that stand in a run's tags and are no part of its name.
_NOT_IN_NAME = ("sweep_id=", "tracking", "references", "note=", "hydra")


def run_app(arguments: Sequence[str]) -> int:
    """Run what Hydra's command line asks for. Raises a HarnessError that says what is wrong; returns 0 otherwise."""
    # Hydra shortens errors to its own taste and exits; with this it lets them through, and `explain` words them.
    os.environ["HYDRA_FULL_ERROR"] = "1"
    if any(argument in _SWEEP for argument in arguments):
        _sweep(arguments)
    else:
        _run_once(arguments)
    return 0


def _run_once(arguments: Sequence[str]) -> None:
    errors: list[HarnessError] = []

    def job(config: DictConfig) -> None:
        try:
            _job(config)
        except HarnessError as error:
            errors.append(error)  # past Hydra, which would add lines of its own

    _run_hydra(job, arguments)
    if errors:
        raise errors[0]


def _sweep(arguments: Sequence[str]) -> None:
    """Run every job, whatever becomes of the others, and then the overview."""
    sweep_id = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"
    try:
        _run_hydra(_sweep_job, [*arguments, f"sweep_id={sweep_id}"])
    finally:
        _close_sweep(sweep_id, arguments)


def _sweep_job(config: DictConfig) -> None:
    try:
        _job(config)
    except HarnessError as error:
        print(f"harness: {error}", file=sys.stderr, flush=True)
        error.shown = True
        raise


def _run_hydra(job: Callable[[DictConfig], None], arguments: Sequence[str]) -> None:
    sys.argv = ["harness", *arguments]
    try:
        hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="config")(job)()
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(explain(error)) from error


def _job(config: DictConfig) -> None:
    """One run: evaluate and show. Raises where the run is incomplete, so that every launcher reports it."""
    from harness.evaluate import evaluate, run_name

    overrides = [item for item in HydraConfig.get().overrides.task if not item.startswith(_NOT_IN_NAME)]
    spec = build(config, overrides)
    print(f"\n{run_name(spec)}", flush=True)
    result = evaluate(spec)
    evaluation, references = result.evaluation, result.references
    photos = f"{evaluation.photos} photos of {references.name} ({references.split})"
    seconds = evaluation.metrics()["runtime/pipeline_seconds"]
    print(f"{photos}, data {references.digest[:12]}, pipeline {seconds:.1f} s\n\n{result.text()}\n")
    print(f"MLflow run {result.run_id}   see it with: {_COMMAND} mlflow", flush=True)
    if evaluation.idle_steps:
        steps = ", ".join(evaluation.idle_steps)
        print(f"harness: switched on, but without effect on any photo: {steps}", file=sys.stderr, flush=True)
    if not evaluation.complete:
        listed = "\n".join(f"  {failure}" for failure in evaluation.failures)
        raise IncompleteError(f"INCOMPLETE: {evaluation.shortfall}:\n{listed}")


def _close_sweep(sweep_id: str, arguments: Sequence[str]) -> None:
    """Write the overview of a sweep, however it ended. A sweep that never got to a run leaves nothing behind."""
    tracking = [item for item in arguments if item.startswith("tracking")]
    try:
        store = instantiate(compose(tracking), "tracking")
    except HarnessError:
        return  # the sweep itself has failed on this, and says so
    from harness.tracking.sweeps import log_sweep

    overview = log_sweep(store, sweep_id) if store.exists else None
    if overview is None:
        shutil.rmtree(store.folder / "sweeps" / sweep_id, ignore_errors=True)
        return
    print(f"\nSweep {sweep_id}: {overview.jobs} runs\n\n{overview.table}\n")
    for same in overview.identical:
        print(f"harness: the same predictions on every photo: {', '.join(same)}", file=sys.stderr, flush=True)
    print(f"MLflow overview {overview.run_id}   compare the runs with: {_COMMAND} mlflow", flush=True)

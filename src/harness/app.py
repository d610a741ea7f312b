"""The Hydra half of the command line: one run, or a sweep of runs and its overview."""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from harness.base.errors import ConfigError, GateError, HarnessError, IncompleteError
from harness.base.texts import COMMAND
from harness.config import RunSpec, build, chosen_keys, compose, conf_dir, explain, instantiate, open_overrides

_SWEEP = ("-m", "--multirun", "hydra.mode=MULTIRUN")
#: Overrides that stand in a run's tags and are no part of its name.
_NOT_IN_NAME = ("sweep_id=", "tracking", "references", "note=", "force=", "gate", "hydra")


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
    sys.argv = ["harness", *open_overrides(arguments)]
    try:
        hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="config")(job)()
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(explain(error)) from error


def _job(config: DictConfig) -> None:
    """One run: evaluate and show. Raises where the run is incomplete, so that every launcher reports it."""
    from harness.evaluate import evaluate
    from harness.runs.gate import Verdict
    from harness.runs.records import run_name
    from harness.runs.verdicts import text_judgement
    from harness.scoring.speed import SECONDS

    typed = HydraConfig.get().overrides.task
    spec = build(config, [item for item in typed if not item.startswith(_NOT_IN_NAME)])
    store = _store_words(typed)
    print(f"\n{run_name(spec)}", flush=True)
    result = evaluate(spec)
    run, judgement = result.run, result.judgement
    data = run.metadata
    took = f", pipeline {run.metrics[SECONDS]:.1f} s" if SECONDS in run.metrics else ""
    print(f"{run.described()}, data {data.data_digest[:12]}{took}\n\n{run.text()}\n")
    print(f"{text_judgement(judgement)}\n")
    if result.reused:
        print(f"Nothing has changed since this run was made on {data.timestamp}; force=true runs it again.")
    if judgement.verdict is Verdict.NO_BASELINE:
        print(f"To judge later runs against this one: {COMMAND} baseline {result.run_id[:8]}{store}\n")
    print(f"MLflow run {result.run_id}   see it with: {COMMAND} mlflow{store}", flush=True)
    warn_of_idle(spec, run.idle_steps)
    if not run.complete:
        listed = "\n".join(f"  {failure}" for failure in run.failures)
        raise IncompleteError(f"INCOMPLETE: {run.shortfall}:\n{listed}")
    if spec.gate.fails(judgement.verdict):
        raise GateError(f"gate=strict: {judgement.verdict}")


def warn_of_idle(spec: RunSpec, steps: Sequence[str]) -> None:
    """Name the steps that did nothing though somebody asked for them. Those that a backend has on by itself are a
    safety net, and stand in the run's tag and report alone."""
    chosen = chosen_keys(spec) if steps else frozenset()
    asked_for = [step for step in steps if any(f"{step}.".startswith(f"{key}.") for key in chosen)]
    if asked_for:
        listed = ", ".join(asked_for)
        print(f"harness: switched on, but without effect on any photo: {listed}", file=sys.stderr, flush=True)


def _store_words(arguments: Sequence[str]) -> str:
    """What a suggested command needs in order to find the store that this one was given."""
    words = [item for item in arguments if item.startswith("tracking")]
    return f" {shlex.join(words)}" if words else ""


def _close_sweep(sweep_id: str, arguments: Sequence[str]) -> None:
    """Write the overview of a sweep, however it ended. A sweep that never got to a run leaves nothing behind."""
    tracking = [item for item in arguments if item.startswith("tracking")]
    try:
        config = compose(tracking)
        store = instantiate(config, "tracking")
    except HarnessError:
        return  # the sweep itself has failed on this, and says so
    from harness.evaluate import evaluate_sweep

    overview = evaluate_sweep(store.open(), sweep_id) if store.exists else None
    if overview is None:
        shutil.rmtree(Path(config.tracking.get("root", "mlruns")) / "sweeps" / sweep_id, ignore_errors=True)
        return
    print(f"\nSweep {sweep_id}: {len(overview.findings.jobs)} runs\n\n{overview.table}\n")
    for warning in overview.findings.warnings:
        print(f"harness: {warning}", file=sys.stderr, flush=True)
    print(
        f"MLflow overview {overview.run_id}   compare the runs with: {COMMAND} mlflow{_store_words(arguments)}",
        flush=True,
    )

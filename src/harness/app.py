"""The Hydra half of the command line: one run, or a sweep of runs and its overview."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

from hydra._internal.hydra import Hydra
from hydra._internal.utils import _run_app, get_args_parser
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from harness.base.errors import ConfigError, HarnessError
from harness.base.texts import COMMAND
from harness.composition import Loader
from harness.config import build, compose, instantiate, open_overrides, shadow_lines
from harness.explaining import explain
from harness.showing import in_name, run_and_show, store_words

_SWEEP = ("-m", "--multirun", "hydra.mode=MULTIRUN")


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
    """What `hydra.main` does with its command line, on our loader."""
    parser = get_args_parser()
    given = parser.parse_args(open_overrides(arguments))
    if given.config_path or given.config_name or given.experimental_rerun:
        raise ConfigError("--config-path, --config-name, --experimental-rerun: not here; --config-dir adds a folder")
    if sum(map(bool, (given.run, given.multirun, given.cfg, given.info, given.shell_completion))) > 1:
        raise ConfigError("--run, --multirun, --cfg, --info, --shell-completion: only one of them at a time")
    hydra = Hydra(task_name="harness", config_loader=Loader())
    GlobalHydra.instance().clear()
    GlobalHydra.instance().initialize(hydra)
    try:
        _do(hydra, job, parser, given)
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(explain(error)) from error
    finally:
        GlobalHydra.instance().clear()


def _do(hydra: Hydra, job: Callable[[DictConfig], None], parser: ArgumentParser, given: Namespace) -> None:
    name, overrides = "config", given.overrides
    if given.help:
        hydra.app_help(config_name=name, args_parser=parser, args=given)
    elif given.hydra_help:
        hydra.hydra_help(config_name=name, args_parser=parser, args=given)
    elif given.cfg:
        for line in shadow_lines(compose(overrides)):
            print(f"harness: {line}", file=sys.stderr, flush=True)
        hydra.show_cfg(name, overrides, given.cfg, given.package, given.resolve)
    elif given.shell_completion:
        hydra.shell_completion(config_name=name, overrides=overrides)
    elif given.info:
        hydra.show_info(given.info, config_name=name, overrides=overrides)
    else:
        mode = hydra.get_mode(config_name=name, overrides=overrides)
        _run_app(not given.multirun, given.multirun, mode, hydra, name, job, overrides)


def _job(config: DictConfig) -> None:
    """One run: evaluate and show."""
    typed = HydraConfig.get().overrides.task
    run_and_show(build(config, in_name(typed)), typed)


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
    if overview.findings.best:
        print(f"Best: {overview.findings.best}.\n")
    for warning in overview.findings.warnings:
        print(f"harness: {warning}", file=sys.stderr, flush=True)
    print(
        f"MLflow overview {overview.run_id}   compare the runs with: {COMMAND} mlflow{store_words(arguments)}",
        flush=True,
    )

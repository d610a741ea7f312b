"""The Hydra half of the command line: one run, or a sweep of runs and its overview."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor
from pathlib import Path

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra._internal.hydra import Hydra
from hydra._internal.utils import _run_app, get_args_parser
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from harness.base import conf
from harness.base.errors import ConfigError, CrashError, HarnessError
from harness.base.garbage import importing
from harness.base.loopback import keep_ray_here
from harness.base.signals import ended_by_signals
from harness.base.texts import COMMAND, meant
from harness.building import instantiate
from harness.composition import Loader
from harness.config import build, compose, open_overrides, shadow_lines
from harness.explaining import explain
from harness.showing import in_name, run_and_show, store_words

_SWEEP = ("-m", "--multirun", "hydra.mode=MULTIRUN")
#: The options of a run that people need.
_OPTIONS = ("-m", "--cfg", "--config-dir", "--help", "--version")
#: What `--cfg` shows: the config of a run, that of Hydra, or both.
_SHOWN = ("job", "hydra", "all")
#: The folder in that of a sweep with a file for each job that has ended.
_ENDED = "ended"
#: How `hydra/launcher=ray` starts Ray, without its dashboard, and how it joins one: with no wish for its memory.
_START_RAY = (
    "++hydra.launcher.ray.init.include_dashboard=false",
    "++hydra.launcher.ray.init._node_ip_address=127.0.0.1",
)
_JOIN_RAY = ("++hydra.launcher.ray.init.object_store_memory=null",)


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
    here, planned, begun = Path.cwd(), len(_jobs(arguments)), time.time()

    def job(config: DictConfig) -> None:
        os.chdir(here)  # a launcher may start it anywhere, and the paths of a config may be relative
        _tell_progress(planned, begun)
        _sweep_job(config)

    with ended_by_signals():
        try:
            with ended_by_signals():
                _run_hydra(job, [*arguments, *_ray_overrides(arguments), f"sweep_id={sweep_id}"])
        except BrokenExecutor as error:
            raise CrashError(
                "a worker of the sweep was killed, and the others ended with it; call the same command again to make "
                "the missing runs"
            ) from error
        finally:
            _close_sweep(sweep_id, arguments)


def _ray_overrides(arguments: Sequence[str]) -> tuple[str, ...]:
    """What Ray needs where a sweep asks for it: one that is started listens on loopback, and reports to nobody."""
    if "hydra/launcher=ray" not in arguments:
        return ()
    starts = not any("hydra.launcher.ray.init.address=" in argument for argument in arguments)
    keep_ray_here(starts)
    return _START_RAY if starts else _JOIN_RAY


def _sweep_job(config: DictConfig) -> None:
    """One job, which leaves a mark when it has come to an end, good or bad; one that is killed leaves none."""
    hydra = HydraConfig.get()
    try:
        _job(config)
    except HarnessError as error:
        print(f"harness: {error}", file=sys.stderr, flush=True)
        error.shown = True
        _mark_ended(Path(hydra.sweep.dir), hydra.job.num)
        raise
    _mark_ended(Path(hydra.sweep.dir), hydra.job.num)


def _tell_progress(planned: int, begun: float) -> None:
    """Which of the jobs begins and, by those that have ended, how long the rest will take."""
    hydra = HydraConfig.get()
    ended = len(list((Path(hydra.sweep.dir) / _ENDED).glob("*")))
    from tqdm import tqdm

    left = f", about {tqdm.format_interval((time.time() - begun) / ended * (planned - ended))} left" if ended else ""
    if planned:
        print(f"\nsweep: run {hydra.job.num + 1} of {planned}, {ended} done{left}", file=sys.stderr, flush=True)


def _mark_ended(folder: Path, job: int) -> None:
    (folder / _ENDED).mkdir(parents=True, exist_ok=True)
    (folder / _ENDED / str(job)).touch()


def _missing(folder: Path, arguments: Sequence[str]) -> list[str]:
    """The jobs of a sweep that were killed, or never begun, each by what it overrides."""
    return [words for number, words in enumerate(_jobs(arguments)) if not (folder / _ENDED / str(number)).exists()]


def _jobs(arguments: Sequence[str]) -> list[str]:
    """The jobs of a sweep, each by what it overrides. Another sweeper than Hydra's own decides as it goes which jobs
    there are; of those nothing is known."""
    if any(item.startswith("hydra/sweeper") for item in arguments):
        return []
    overrides = [item for item in open_overrides(arguments) if not item.startswith("-")]
    try:
        parsed = OverridesParser.create().parse_overrides(overrides)
    except HydraException:
        return []  # the sweep itself has failed on this, and says so
    jobs = [job for batch in BasicSweeper.split_arguments(parsed, None) for job in batch]
    varied = [item.is_sweep_override() for item in parsed]
    return [" ".join(item for item, several in zip(job, varied, strict=True) if several) for job in jobs]


def _run_hydra(job: Callable[[DictConfig], None], arguments: Sequence[str]) -> None:
    """What `hydra.main` does with its command line, on our loader."""
    parser = get_args_parser()
    _check_options(parser, arguments)
    given = parser.parse_args(open_overrides(arguments))
    if given.config_path or given.config_name or given.experimental_rerun:
        raise ConfigError(
            "--config-path, --config-name, --experimental-rerun: not supported; --config-dir adds a folder"
        )
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


def _check_options(parser: ArgumentParser, arguments: Sequence[str]) -> None:
    """Refuse an option that a run does not have, or a wrong `--cfg`, in one sentence: the parser of Hydra prints
    all that it has itself."""
    known = set(parser._option_string_actions)
    for place, word in enumerate(arguments):
        name, _, value = word.partition("=")
        if name in ("-c", "--cfg") and (value or "".join(arguments[place + 1 : place + 2])) not in _SHOWN:
            raise ConfigError(f"{name}: expected one of {', '.join(_SHOWN)}, as in harness --cfg job preset=fast")
        if word.startswith("-") and word.partition("=")[0] not in known:
            override, listed = conf.override_meant(word), f"; it has {', '.join(_OPTIONS)}"
            near = f"; did you mean {override}?" if override else meant(word, [*_OPTIONS, *known]) or listed
            raise ConfigError(f"{word}: no such option of a run{near} (harness --help tells more)")


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
    with importing():  # most of it are imports
        spec = build(config, in_name(typed))
    run_and_show(spec, typed)


def _close_sweep(sweep_id: str, arguments: Sequence[str]) -> None:
    """Write the overview of a sweep, however it ended. A sweep that never got to a run leaves nothing behind."""
    tracking = [item for item in arguments if item.startswith("tracking")]
    try:
        config = compose(tracking)
        store = instantiate(config, "tracking")
    except HarnessError:
        return  # the sweep itself has failed on this, and says so
    from harness.sweeping import evaluate_sweep

    folder = Path(config.tracking.get("root", "mlruns")) / "sweeps" / sweep_id
    missing = _missing(folder, arguments)
    (folder / "multirun.yaml").unlink(missing_ok=True)  # Hydra's, with every value that was typed, secrets as well
    overview = evaluate_sweep(store.open(), sweep_id, missing) if store.exists else None
    if overview is None:
        shutil.rmtree(folder, ignore_errors=True)
        return
    shutil.rmtree(folder / _ENDED, ignore_errors=True)
    print(f"\nSweep {sweep_id}: {len(overview.findings.jobs)} runs\n\n{overview.table}\n")
    if overview.findings.best:
        print(f"Best: {overview.findings.best}.\n")
    for warning in overview.findings.warnings:
        print(f"harness: {warning}", file=sys.stderr, flush=True)
    others = f"; {COMMAND} report RUN makes that of any other" if len(overview.findings.jobs) > 2 else ""
    print(f"Reports are made of the best run and of the worst{others}.")
    print(
        f"MLflow overview {overview.run_id}   compare the runs with: {COMMAND} mlflow{store_words(arguments)}",
        flush=True,
    )

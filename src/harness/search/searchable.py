"""What a search may touch: the stages of the pipeline, and nothing that decides how they are judged.

An experiment is checked against the composed config before anything runs: each key exists, may be searched, and each
choice, both ends of each range and a value inside it are accepted by the class that the group names.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from harness.base.code import code_of, modules_of
from harness.base.conf import choices, conf_dir, conf_folders
from harness.base.errors import ConfigError
from harness.base.objects import described_only
from harness.building import STAGES, build_pipeline
from harness.config import build, chosen_files, compose, value_at, vary, written_at
from harness.scoring.speed import RUNTIME
from harness.search.experiment import Experiment
from harness.search.space import Parameter, Point, Value, describe, faults, is_active, overrides
from harness.spec import RunSpec

#: The groups that make up the pipeline; `preset` sets several of them at once.
GROUPS = ("preset", "bib", "face", "link", "identity")
#: The keys that say which weights a backend has, and what they may be used for.
WEIGHTS = frozenset({"package", "file", "path", "sha256", "licence", "provided_by"})
#: What is named most often by mistake, and why it stays out of reach.
REFUSED = {
    "seed": "luck is not a parameter",
    "references": "the data stay as they are",
    "scoring": "the rules of scoring stay as they are",
    "holdout": "the scores of the holdout are not for a search",
    "gate": "how runs are judged stays as it is",
    "tracking": "where runs are kept has no part in their quality",
    "cache": "the cache changes no result",
    "executor": "it changes no result",
    "force": "it changes no result",
    "note": "it changes no result",
    "timing": "it changes no result",
    "sweep_id": "it changes no result",
    "confidence": "its files are data",
    "tables": "a search varies the pipeline of photos alone",
    "task": "a search varies the pipeline of photos alone",
}
#: Hydra's parser is not known to be safe in threads, and a server's tools run in threads.
_ONE_AT_A_TIME = threading.Lock()
#: Overrides that the base of a search must not hold: what it says is the search's own business.
_NOT_IN_BASE = ("references.split", "holdout", "sweep_id", "force", "note", "hydra", "+", "~")


def check_words(experiment: Experiment) -> None:
    """Refuse an experiment by its text alone, before anything that it names is composed, looked up or imported: it may
    choose backends by their names, and neither name code nor ask the environment. Raises ConfigError."""
    for override in experiment.base:
        if override.startswith(_NOT_IN_BASE):
            raise ConfigError(f"base: {override}: not for a search to set")
        _check_word("base", override)
    for key, parameter in experiment.space.items():
        if "_target_" in key:
            told = f"choose a backend by its name, as in {key.split('.')[0]}=NAME"
            raise ConfigError(f"space.{key}: not searchable: {told}")
        _check_word("space", key)
        for value in (*(parameter.choices or ()), *(each for some in parameter.when.values() for each in some)):
            _check_word(f"space.{key}", str(value))


def _check_word(place: str, text: str) -> None:
    if "_target_" in text:
        raise ConfigError(f"{place}: {text}: an experiment names no code; choose a backend by its name: face=NAME")
    if "${" in text:
        raise ConfigError(f"{place}: {text}: an experiment holds plain values, and nothing that is looked up")


def described_values(experiment: Experiment) -> dict[str, Any]:
    """What the base has for each key of the space, as the config files write it. Nothing that they name is imported,
    and nothing is looked up in the environment. A group that is chosen has no value of its own."""
    check_words(experiment)
    plain = [key for key, parameter in experiment.space.items() if "." in key and not parameter.when]
    return dict(_written(experiment.base, tuple(plain), _conf_stamp()))


@lru_cache(maxsize=64)
def _written(base: tuple[str, ...], keys: tuple[str, ...], _: tuple[tuple[str, int, int], ...]) -> tuple[Any, ...]:
    """Keys with what the base has for them, composed once for as long as no config file changes."""
    with described_only(), _ONE_AT_A_TIME:
        config = compose(base)
    return tuple((key, written_at(config, key)) for key in keys)


def _conf_stamp() -> tuple[tuple[str, int, int], ...]:
    """What changes when a config file is edited, added or removed."""
    files = [file for folder in conf_folders() for file in sorted(folder.path.glob("*/*.yaml"))]
    found = [(str(file), file.stat()) for file in (conf_dir() / "config.yaml", *files)]
    return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in found)


def check_experiment(experiment: Experiment) -> None:
    """Refuse an experiment that asks for what does not exist or may not be searched. Raises ConfigError."""
    check_words(experiment)
    if not experiment.space:
        raise ConfigError(
            f"study {experiment.study} has no space to search; candidates of it are judged: harness judge"
        )
    base = composed(experiment.base)
    if (split := str(value_at(base, "references.split"))) != "iteration":
        raise ConfigError(f"base: references.split is {split}; a search sees the iteration split alone")
    known = known_metrics(build(base))
    for part, named in (("objectives", experiment.objectives), ("constraints", experiment.constraints)):
        if unknown := [name for name in named if name not in known]:
            raise ConfigError(f"{part}: {unknown[0]}: no such metric; there are: {', '.join(known)}")
    for name, limit in experiment.constraints.items():
        if limit.certainty is not None and name.startswith(RUNTIME):
            raise ConfigError(f"constraints: {name}: a time has no interval, so that it takes no certainty")
    for key, parameter in experiment.space.items():
        _check_key(base, key, parameter)
        for value in parameter.samples():
            _check_value(experiment, key, parameter, value)


def known_metrics(spec: RunSpec) -> tuple[str, ...]:
    """Every metric that a search may be after, or limited by: the rates and figures that the run's tasks declare."""
    return tuple(dict.fromkeys(metric for task in spec.tasks for card in task.declares() for metric in card.metrics))


def trial_config(experiment: Experiment, point: Mapping[str, Value]) -> Any:
    """The config of a point: groups are chosen as on the command line, plain keys are set on top."""
    chosen = {key: value for key, value in point.items() if "." not in key}
    return vary(
        composed((*experiment.base, *overrides(chosen))),
        {key: value for key, value in point.items() if key not in chosen},
    )


def trial_choices(experiment: Experiment, point: Mapping[str, Value]) -> dict[str, str]:
    """The choice of each group in a point: which backends it is about."""
    chosen = {key: value for key, value in point.items() if "." not in key}
    with _ONE_AT_A_TIME:
        return chosen_files((*experiment.base, *overrides(chosen)))


def trial_spec(experiment: Experiment, point: Mapping[str, Value], changes: Mapping[str, Any] | None = None) -> RunSpec:
    """The run of a point. `changes` are further keys of the config, such as `cache.enabled`. Where seconds are asked
    for, no earlier run is taken for it: its seconds may be those of another hour, and were measured in another way."""
    timing = {"timing": "on", "force": True} if experiment.is_timed else {}
    return build(vary(trial_config(experiment, point), timing | dict(changes or {})), overrides(point))


def base_point(experiment: Experiment) -> Point | None:
    """The base as a point of the space; None where it is none."""
    point = _in_space(experiment, experiment.base)
    return None if point is None or faults(experiment.space, point) else point


def preset_points(experiment: Experiment) -> dict[str, Point]:
    """The presets on the space, by name: with what each says about the keys that are varied, at the nearest value that
    these may have. One of other backends than the base, or with a choice that the space does not have, is left out."""
    kept = [item for item in experiment.base if item.split("=")[0] not in (*experiment.space, "preset")]
    fixed = [group for group in STAGES if group not in experiment.space]
    chosen, found = trial_choices(experiment, {}), dict[str, Point]()
    for name in choices("preset"):
        given = (f"preset={name}", *kept)
        try:
            with _ONE_AT_A_TIME:
                own = chosen_files(given)
            point = _in_space(experiment, given)
        except ConfigError:  # it does not go together with the rest of the base
            continue
        same = "preset" in experiment.space or all(own.get(group) == chosen.get(group) for group in fixed)
        if point is not None and same:
            near = {key: experiment.space[key].nearest(value) for key, value in point.items()}
            if None not in near.values() and not faults(experiment.space, near):  # type: ignore[arg-type]
                found[name] = near  # type: ignore[assignment]
    return found


def completed(experiment: Experiment, values: Mapping[str, Value]) -> Point:
    """The point of some values: what they leave out stays as the base has it, or what is chosen on top of it. Raises
    ConfigError where that is no point of the space."""
    chosen = overrides({key: value for key, value in values.items() if "." not in key})
    point = {**(_in_space(experiment, (*experiment.base, *chosen), values) or {}), **values}
    for key, value in point.items():
        if key not in values and not experiment.space[key].holds(value):
            allowed = describe(experiment.space[key])
            raise ConfigError(f"{key}: left out, and the base's {value!r} is not in the space, which has {allowed}")
    if found := faults(experiment.space, point):
        raise ConfigError(f"not a point of the space: {'; '.join(found)}")
    return point


def _in_space(experiment: Experiment, given: Sequence[str], values: Mapping[str, Value] | None = None) -> Point | None:
    """What a config has for the keys of the space that are active in it, with some values on top; None where it lacks
    one."""
    config = composed(tuple(given))
    with _ONE_AT_A_TIME:
        chosen = chosen_files(given)
    point: Point = {}
    for key, parameter in experiment.space.items():
        if not is_active(parameter, point):
            continue
        if values and key in values:
            point[key] = values[key]
        else:
            try:
                point[key] = chosen[key] if "." not in key else value_at(config, key)
            except (ConfigError, KeyError):
                return None
    return point


def study_digests(experiment: Experiment) -> tuple[str, str]:
    """Digests of the code and of the configuration of a study: those of its base, and of each choice of a group."""
    points: list[Point] = [{}]
    for key, parameter in experiment.space.items():
        if "." not in key:
            points += [{**_conditions(experiment, parameter), key: value} for value in parameter.choices or ()]
    specs = [trial_spec(experiment, point) for point in points]
    code = code_of(*(name for spec in specs for name in modules_of(*spec.tasks)))
    config = json.dumps([sorted(spec.params.items()) for spec in specs])
    return code.digest, hashlib.sha256(config.encode()).hexdigest()


def composed(given: tuple[str, ...]) -> Any:
    """The config that overrides select, composed once."""
    with _ONE_AT_A_TIME:
        return _compose(given)


def forget_composed() -> None:
    """Read the config files anew from here on: a process that lives for long must see that they were edited."""
    _compose.cache_clear()


@lru_cache(maxsize=64)
def _compose(given: tuple[str, ...]) -> Any:
    return compose(given)


def _check_key(base: Any, key: str, parameter: Parameter) -> None:
    root, *rest = key.split(".")
    if root not in GROUPS:
        value_at(base, key)  # raises, with what exists, where there is no such key
        raise ConfigError(f"space.{key}: not searchable: {REFUSED.get(root, 'it is no part of the pipeline')}")
    if not rest and parameter.choices is None:
        raise ConfigError(f"space.{key}: a group has choices, not a range")


def _check_value(experiment: Experiment, key: str, parameter: Parameter, value: Value) -> None:
    """Try one value on the base, with what its condition asks for."""
    point = _conditions(experiment, parameter)
    if "." in key:
        _check_place(trial_config(experiment, point), key)
    try:
        build_pipeline(trial_config(experiment, {**point, key: value}))
    except ConfigError as error:
        raise ConfigError(f"space.{key}: {value!r} is not accepted: {error}") from error


def _check_place(config: Any, key: str) -> None:
    """Refuse keys that hold more than a value, and those that say which weights a backend has."""
    if isinstance(value_at(config, key), Mapping | list):
        raise ConfigError(f"space.{key}: holds several values; name one of them")
    above, _, name = key.rpartition(".")
    if name in WEIGHTS and "sha256" in value_at(config, above):
        raise ConfigError(f"space.{key}: not searchable: weights belong to a backend")


def _conditions(experiment: Experiment, parameter: Parameter) -> Point:
    """A point in which a parameter is active."""
    point: Point = {}
    for key, values in parameter.when.items():
        point |= {**_conditions(experiment, experiment.space[key]), key: values[0]}
    return point

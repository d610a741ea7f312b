"""From Hydra's config to a typed, checked RunSpec; nothing past this module sees a DictConfig.

Each config group names a class as `_target_`: a frozen dataclass whose annotated fields are the group's keys, types and
ranges. So the YAML is the registry, and a backend's own class says what can be set.
"""

from __future__ import annotations

import copy
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.core.config_store import ConfigStore
from hydra.errors import ConfigCompositionException, HydraException, MissingConfigException, OverrideParseException
from omegaconf import MISSING, DictConfig, OmegaConf
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException
from pydantic import TypeAdapter, ValidationError

from harness.base.checks import first_error
from harness.base.errors import ConfigError
from harness.runs.plan import Plan

if TYPE_CHECKING:
    from harness.pipeline import Pipeline
    from harness.runs.plan import Task
    from harness.tasks.photos.task import PhotosTask
    from harness.tracking.store import Store


@dataclass
class HarnessConfig:
    """The root of the schema. The groups are checked against the class that each of them names."""

    preset: str = MISSING
    seed: int = 0
    note: str = ""
    force: bool = False
    sweep_id: str | None = None
    references: Any = MISSING
    bib: Any = MISSING
    face: Any = MISSING
    link: Any = MISSING
    scoring: Any = MISSING
    cache: Any = MISSING
    confidence: Any = MISSING
    tables: Any = MISSING
    gate: Any = MISSING
    tracking: Any = MISSING


#: The groups that name what a run evaluates. `references` names photos, which the pipeline is run on.
TASKS = ("references", "tables", "confidence")

ConfigStore.instance().store(name="schema", node=HarnessConfig)


@dataclass(frozen=True)
class RunSpec(Plan):
    """Everything that one run needs to know, where it is kept included."""

    tracking: Store

    @property
    def photos(self) -> PhotosTask:
        """The task of photos. Raises where the run has none."""
        from harness.tasks.photos.task import PhotosTask

        found = next((task for task in self.tasks if isinstance(task, PhotosTask)), None)
        if found is None:
            raise ConfigError("references=off: this needs photos; choose references=sample, staging or frozen")
        return found


def conf_dir() -> Path:
    """The config folder: inside an installed wheel, or at the root of a checkout."""
    packaged = Path(__file__).parent / "conf"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "conf"


def compose(overrides: Sequence[str] = ()) -> DictConfig:
    """The config that the given overrides select, for commands that are not a run."""
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir

    try:
        with initialize_config_dir(str(conf_dir()), version_base="1.3"):
            return hydra_compose("config", overrides=open_overrides(overrides))
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(explain(error)) from error


def open_overrides(overrides: Sequence[str]) -> list[str]:
    """Overrides in Hydra's words. Rules of the gate stand in no file, so that each is added where it is not there."""
    return [f"++{item}" if item.startswith("gate.metrics.") else item for item in overrides]


def vary(config: DictConfig, values: Mapping[str, Any]) -> DictConfig:
    """A copy of a composed config in which keys that it has hold other values."""
    varied = copy.deepcopy(config)
    try:
        for key, value in values.items():
            OmegaConf.update(varied, key, value, merge=False)
    except OmegaConfBaseException as error:
        raise ConfigError(explain(error)) from error
    return varied


def value_at(config: DictConfig, key: str) -> Any:
    """What a composed config holds under a dotted key: a plain value, a list or a mapping."""
    try:
        value = OmegaConf.select(config, key, throw_on_missing=True)
        if value is None:
            vary(config, {key: None})  # raises, in words, where there is no such key
    except OmegaConfBaseException as error:
        raise ConfigError(explain(error)) from error
    return OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value


def build(config: DictConfig, overrides: Sequence[str] = ()) -> RunSpec:
    """Check a composed config and turn it into a RunSpec. `overrides` are those the user typed, for the run's name."""
    tasks, gate = build_tasks(config), instantiate(config, "gate")
    if wrong := gate.unknown(card for task in tasks for card in task.declares()):
        raise ConfigError(wrong)
    return RunSpec(
        preset=config.preset,
        overrides=tuple(overrides),
        seed=config.seed,
        note=config.note,
        force=config.force,
        sweep_id=config.sweep_id,
        tasks=tasks,
        gate=gate,
        tracking=instantiate(config, "tracking"),
        params=_flatten(OmegaConf.to_container(config, resolve=True)),
        config_yaml=OmegaConf.to_yaml(config, resolve=True),
    )


def build_tasks(config: DictConfig) -> tuple[Task, ...]:
    """What a composed config evaluates. What is off is not even imported; nothing at all is refused."""
    from harness.tasks import Off

    found: list[Task] = []
    for group in TASKS:
        task = instantiate(config, group)
        if isinstance(task, Off):
            continue
        found.append(_photos_task(config, task) if group == "references" else task)
    if not found:
        files = {group: sorted((conf_dir() / group).glob("*.yaml")) for group in TASKS}
        choices = [f"{group}={path.stem}" for group, paths in files.items() for path in paths if path.stem != "off"]
        raise ConfigError(f"nothing to evaluate: {', '.join(TASKS)} are all off; choose from {', '.join(choices)}")
    return tuple(found)


def _photos_task(config: DictConfig, references: Any) -> PhotosTask:
    from harness.tasks.photos.task import PhotosTask

    return PhotosTask(references, build_pipeline(config), instantiate(config, "scoring"), instantiate(config, "cache"))


def chosen_keys(spec: RunSpec) -> frozenset[str]:
    """The keys that somebody has set: on the command line, or in the preset's file."""
    typed = {item.lstrip("+").partition("=")[0] for item in spec.overrides}
    preset = conf_dir() / "preset" / f"{spec.preset}.yaml"
    listed = _flatten(OmegaConf.to_container(OmegaConf.load(preset))) if preset.is_file() else {}
    return frozenset(typed | listed.keys())


def build_pipeline(config: DictConfig) -> Pipeline:
    """The pipeline that a composed config describes."""
    from harness.pipeline import Pipeline

    return Pipeline(*(instantiate(config, stage) for stage in ("bib", "face", "link")))


def instantiate(config: DictConfig, group: str) -> Any:
    """Make the object that a group describes, after checking every value against the fields of its class."""
    from hydra.utils import get_class

    values = OmegaConf.to_container(config[group], resolve=True)
    assert isinstance(values, dict)
    target = get_class(values.pop("_target_"))
    try:
        return _adapter(target).validate_python(values, extra="forbid")
    except ValidationError as error:
        raise ConfigError(first_error(error, group)) from error


@cache
def _adapter(target: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(target)


def explain(error: HydraException | OmegaConfBaseException) -> str:
    """A composition error in a sentence or two that list what exists."""
    if isinstance(error, MissingConfigException) and error.missing_cfg_file and error.options:
        group, _, choice = error.missing_cfg_file.rpartition("/")
        return f"{group}={choice}: no such choice; {group} is one of: {', '.join(sorted(error.options))}"
    if isinstance(error, OverrideParseException):
        return f"{error.override}: not a valid override: {error.message.splitlines()[0]}"
    cause = error.__cause__ if isinstance(error, ConfigCompositionException) else error
    if isinstance(cause, ConfigKeyError | ConfigAttributeError) and isinstance(cause.parent_node, DictConfig):
        keys = sorted(str(key) for key in cause.parent_node if key != "_target_")
        parent = str(cause.full_key).rpartition(".")[0]
        near = difflib.get_close_matches(str(cause.key), keys, n=1)
        hint = f" Did you mean {'.'.join(filter(None, (parent, near[0])))}?" if near else ""
        return f"{cause.full_key}: no such key; {parent or 'the config'} has: {', '.join(keys)}.{hint}"
    if isinstance(cause, OmegaConfBaseException):
        return f"{cause.full_key}: {str(cause.msg or cause).splitlines()[0]}"
    return str(error)


def _flatten(node: Any, prefix: str = "") -> dict[str, str]:
    """Nested keys as dotted ones; what says how a run is stored or judged, not what it computes, is left out."""
    if not isinstance(node, Mapping):
        return {prefix: str(node)}
    flat: dict[str, str] = {}
    for key, value in node.items():
        if prefix or key not in ("tracking", "cache", "gate", "sweep_id", "note", "force"):
            flat |= _flatten(value, f"{prefix}.{key}" if prefix else str(key))
    return flat

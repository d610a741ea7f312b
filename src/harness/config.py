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
from typing import TYPE_CHECKING, Any, Protocol

from hydra.core.config_store import ConfigStore
from hydra.errors import ConfigCompositionException, HydraException, MissingConfigException, OverrideParseException
from omegaconf import MISSING, DictConfig, OmegaConf
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException
from pydantic import TypeAdapter, ValidationError

from harness.base.checks import first_error
from harness.base.errors import ConfigError

if TYPE_CHECKING:
    from harness.pipeline import Pipeline
    from harness.pipeline.cache import CacheConfig
    from harness.references.sets import ReferenceSet
    from harness.results import ExtraSource, Thresholds
    from harness.runs.gate import Gate
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


#: The groups that name something else to evaluate beside the photos.
EXTRAS = ("confidence", "tables")

ConfigStore.instance().store(name="schema", node=HarnessConfig)


class ReferenceSource(Protocol):
    """Where a run's photos and labels come from."""

    def load(self) -> ReferenceSet:
        """Read, check and digest the set."""


@dataclass(frozen=True)
class RunSpec:
    """Everything that one run needs to know. A run of a search belongs to its `study` and, as a trial, to a `worker`; a
    `light` one leaves out the pictures, and says nothing while it runs."""

    preset: str
    overrides: tuple[str, ...]
    seed: int
    note: str
    force: bool
    sweep_id: str | None
    references: ReferenceSource
    pipeline: Pipeline
    thresholds: Thresholds
    cache: CacheConfig
    extras: tuple[ExtraSource, ...]
    gate: Gate
    tracking: Store
    params: Mapping[str, str]
    config_yaml: str
    study: str | None = None
    worker: str = ""
    light: bool = False


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
            return hydra_compose("config", overrides=list(overrides))
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(explain(error)) from error


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
    return RunSpec(
        preset=config.preset,
        overrides=tuple(overrides),
        seed=config.seed,
        note=config.note,
        force=config.force,
        sweep_id=config.sweep_id,
        references=instantiate(config, "references"),
        pipeline=build_pipeline(config),
        thresholds=instantiate(config, "scoring"),
        cache=instantiate(config, "cache"),
        extras=tuple(instantiate(config, group) for group in EXTRAS),
        gate=instantiate(config, "gate"),
        tracking=instantiate(config, "tracking"),
        params=_flatten(OmegaConf.to_container(config, resolve=True)),
        config_yaml=OmegaConf.to_yaml(config, resolve=True),
    )


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

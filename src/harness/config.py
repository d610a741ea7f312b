"""From Hydra's config to a typed, checked RunSpec; past this module and `building.py` nothing sees a DictConfig."""

from __future__ import annotations

import copy
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.core.config_store import ConfigStore
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import MISSING, DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from harness.base import conf
from harness.base.errors import ConfigError
from harness.base.hiding import MASK, hide, hide_override, hide_text
from harness.building import STAGES, build_tasks, instantiate
from harness.composition import Loader
from harness.explaining import FILLED_IN, explain

if TYPE_CHECKING:
    from harness.runs.plan import Drawing, Task, When
    from harness.spec import RunSpec
    from harness.tasks.photos.prediction_files import PredictionsFile


@dataclass
class HoldoutConfig:
    """What is shown of a run on a holdout: the verdict alone, or everything."""

    show: bool = False


@dataclass
class ReportConfig:
    """When the report of a run is made, how many photos of each kind it draws, and where `harness ui` is served."""

    make: str = "auto"
    pictures: int = 6
    explorer: str = ""


@dataclass
class HarnessConfig:
    """The root of the schema. The groups are checked against the class that each of them names."""

    preset: str = MISSING
    seed: int = 0
    note: str = ""
    force: bool = False
    sweep_id: str | None = None
    timing: str = "auto"
    report: ReportConfig = field(default_factory=ReportConfig)
    holdout: HoldoutConfig = field(default_factory=HoldoutConfig)
    references: Any = MISSING
    bib_format: Any = MISSING
    bib: Any = MISSING
    face: Any = MISSING
    link: Any = MISSING
    identity: Any = MISSING
    scoring: Any = MISSING
    cache: Any = MISSING
    executor: Any = MISSING
    confidence: Any = MISSING
    tables: Any = MISSING
    task: Any = MISSING
    gate: Any = MISSING
    tracking: Any = MISSING
    #: The backends that the preset is made for, by group; what it says about others is left out.
    tuned_for: Any = field(default_factory=dict)
    #: The files that replace others of the same name, each with a digest. Whoever composes fills it in.
    shadowed: list[str] = field(default_factory=list)
    #: The choice of each group, as `face: yunet`. Whoever composes fills it in.
    chosen: dict[str, str] = field(default_factory=dict)


#: What refers to another key.
_REFERENCE = re.compile(r"\$\{([^}]*)\}")
#: The keys that describe the pipeline, its cache and who runs it.
_PIPELINE = ("preset", "bib_format", *STAGES, "cache", "executor")

ConfigStore.instance().store(name="schema", node=HarnessConfig)


def compose(overrides: Sequence[str] = ()) -> DictConfig:
    """The config that the given overrides select, for commands that are not a run."""
    config = _load(overrides)
    with open_dict(config):
        del config["hydra"]
    return config


def chosen_files(overrides: Sequence[str] = ()) -> dict[str, str]:
    """The choice of each group that the given overrides select: `face` -> `yunet`."""
    return dict(_load(overrides).chosen)


def _load(overrides: Sequence[str]) -> DictConfig:
    """A config with Hydra's own part. It needs nothing that is set up before, inside a job of Hydra or out of it."""
    try:
        return Loader().load_configuration("config", open_overrides(overrides), RunMode.RUN, from_shell=False)
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(explain(error)) from error


def compose_choice(group: str, choice: str, overrides: Sequence[str] = (), folder: Path | None = None) -> DictConfig:
    """One choice of one group by itself: no preset sets anything in it, and no other group has to fit.

    It is looked for in `folder`, or in the user's conf folder, before our own.
    """
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir

    ours = f"hydra.searchpath=['file://{conf.conf_dir()}']"
    first = folder or conf.user_conf() or conf.conf_dir()
    try:
        with initialize_config_dir(str(first.absolute()), version_base="1.3"):
            beside = ["+bib_format=auto"] if group == "bib" else []  # which `bib.format` refers to
            return hydra_compose(None, overrides=[ours, f"+{group}={choice}", *beside, *overrides])
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


def part_for(config: DictConfig, group: str, others: Collection[str]) -> DictConfig | None:
    """The part of a composed config that one group is made of: itself, and what it refers to. None where it refers to
    one of the other groups, or to what is no key: then all of the config has a part in it."""
    named = _REFERENCE.findall(OmegaConf.to_yaml(config[group], resolve=False))
    roots = {name.split(".")[0] for name in named}
    if roots & set(others) or not all(root in config for root in roots):
        return None
    return OmegaConf.masked_copy(config, [group, *roots])


def value_at(config: DictConfig, key: str) -> Any:
    """What a composed config holds under a dotted key: a plain value, a list or a mapping."""
    try:
        value = OmegaConf.select(config, key, throw_on_missing=True)
        if value is None:
            vary(config, {key: None})  # raises, in words, where there is no such key
    except OmegaConfBaseException as error:
        raise ConfigError(explain(error)) from error
    return OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value


def written_at(config: DictConfig, key: str) -> Any:
    """What a composed config says under a dotted key, as it is written: `${bib_format}` stays `${bib_format}`, and
    nothing is looked up in the environment. None where there is no such key."""
    found: Any = OmegaConf.to_container(config, resolve=False)
    for part in key.split("."):
        if not isinstance(found, dict):
            return None
        found = found.get(part)
    return found


def build(config: DictConfig, overrides: Sequence[str] = (), file: PredictionsFile | None = None) -> RunSpec:
    """Check a composed config and turn it into a RunSpec. `overrides` are those the user typed, for the run's name.
    With a `file` of predictions no pipeline is run, and the run has no part of its config."""
    from harness.spec import RunSpec  # with all scorecards, which a command that only composes does not need

    tasks, gate = build_tasks(config, file), instantiate(config, "gate")
    if wrong := gate.unknown(card for task in tasks for card in task.declares()):
        raise ConfigError(wrong)
    values: Any = OmegaConf.to_container(config, resolve=True)
    del values["chosen"]  # for messages alone; the parts of the config say what they are
    if file is not None:
        searching = _searching(values, tasks)
        values = {key: value for key, value in values.items() if key not in _PIPELINE}
        values |= {"pipeline": "file", "predictions": file.params(), **searching}
    written = OmegaConf.to_container(config, resolve=False)
    computed = hide({key: value for key, value in values.items() if key not in _NOT_COMPUTED}, written)
    return RunSpec(
        preset="" if file else config.preset,
        title=file.path.stem if file else "",
        overrides=tuple(map(hide_override, overrides)),
        seed=config.seed,
        note=hide_text(config.note),
        force=config.force,
        sweep_id=config.sweep_id,
        tasks=tasks,
        gate=gate,
        tracking=instantiate(config, "tracking"),
        params=_flatten(computed.values),
        config_yaml=OmegaConf.to_yaml(OmegaConf.create(hide(values, written).values)),
        secrets=computed.digest,
        timing=_when("timing", config.timing),
        reports=_when("report.make", config.report.make),
        drawing=drawing_of(config),
        show_holdout=config.holdout.show,
        shadowed=tuple(config.shadowed),
    )


def stored_spec(config_yaml: str) -> RunSpec:
    """The run that is stored with this config, to be made again. Raises a ConfigError where it cannot be."""
    stored = OmegaConf.create(config_yaml)
    if MASK in config_yaml and (kept := [key for key, value in _flatten(stored).items() if MASK in value]):
        raise ConfigError(f"it was made with a secret that is not kept: {', '.join(kept)}; make the run again")
    if "predictions" in stored:
        raise ConfigError("it was scored from a file of predictions, which is not kept; score the file again")
    try:
        config = OmegaConf.merge(OmegaConf.structured(HarnessConfig), stored)
    except OmegaConfBaseException as error:
        raise ConfigError(f"its config is that of another version: {str(error).splitlines()[0]}") from error
    return build(DictConfig(config))


def drawing_of(config: DictConfig) -> Drawing:
    """How the report of a run is drawn. Raises where it cannot be drawn so."""
    from harness.runs.plan import MOST_PICTURES, Drawing

    pictures, explorer = config.report.pictures, config.report.explorer
    if not 0 <= pictures <= MOST_PICTURES:
        raise ConfigError(f"report.pictures={pictures}: expected a number from 0 to {MOST_PICTURES}")
    if explorer and not explorer.startswith(("http://", "https://")):
        raise ConfigError(f"report.explorer={explorer}: expected an address such as http://127.0.0.1:8484")
    if hide_text(explorer) != explorer:
        raise ConfigError("report.explorer: it has a password, which every report would show")
    return Drawing(pictures, explorer.rstrip("/"))


def _when(key: str, given: str) -> When:
    from harness.runs.plan import WHENS

    found = next((when for when in WHENS if when == given), None)
    if found is None:
        raise ConfigError(f"{key}={given}: expected one of {', '.join(WHENS)}")
    return found


def _searching(values: Mapping[str, Any], tasks: Sequence[Task]) -> dict[str, Any]:
    """How faces are searched and grouped by the embeddings of a file; nothing where it has none."""
    kept = ("gallery", "fpir", "clustering")
    compared = any(task.name == "identity" for task in tasks)
    return {"identity": {key: values["identity"][key] for key in kept}} if compared else {}


def chosen_keys(spec: RunSpec) -> frozenset[str]:
    """The keys that somebody has set: on the command line, or in the preset's file."""
    typed = {item.lstrip("+").partition("=")[0] for item in spec.overrides}
    return frozenset(typed | (_preset_keys(spec.preset) & spec.params.keys()))


def _preset_keys(preset: str) -> set[str]:
    file = conf.find_choice("preset", preset)
    return set(_flatten(OmegaConf.to_container(OmegaConf.load(file)))) if file else set()


def shadow_lines(config: DictConfig) -> list[str]:
    """What is to be told of the files that replace others in a composed config."""
    return [conf.shadow_words(shadow) for shadow in config.shadowed]


def gate_of(config_yaml: str) -> Any:
    """The gate of a run that is stored with its config."""
    return instantiate(DictConfig(OmegaConf.create(config_yaml)), "gate")


#: The keys of the config that do not say what a run computes: how it is stored or judged, and how it was composed.
_NOT_COMPUTED = ("tracking", "cache", "executor", "gate", "note", "force", "timing", "report", "holdout", *FILLED_IN)


def _flatten(node: Any, prefix: str = "") -> dict[str, str]:
    """Nested keys as dotted ones; what says how a run is stored or judged, not what it computes, is left out."""
    if not isinstance(node, Mapping):
        return {prefix: str(node)}
    flat: dict[str, str] = {}
    for key, value in node.items():
        if prefix or key not in _NOT_COMPUTED:
            flat |= _flatten(value, f"{prefix}.{key}" if prefix else str(key))
    return flat

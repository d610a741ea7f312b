"""From Hydra's config to a typed, checked RunSpec; nothing past this module sees a DictConfig.

Each config group names a class as `_target_`: a frozen dataclass whose annotated fields are the group's keys, types and
ranges. So the YAML is the registry, and a backend's own class says what can be set.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.core.config_store import ConfigStore
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import MISSING, DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException
from pydantic import ValidationError

from harness.base import conf
from harness.base.errors import ConfigError
from harness.base.objects import check_frozen, check_interface, make_object
from harness.composition import Loader
from harness.explaining import FILLED_IN, explain, misfit, place_of
from harness.types import Split

if TYPE_CHECKING:
    from harness.pipeline import Pipeline
    from harness.runs.plan import Drawing, Task, When
    from harness.spec import RunSpec
    from harness.tasks.identity.finder import Finder
    from harness.tasks.photos.from_file import FilePhotosTask
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


#: The groups that name what a run evaluates. `references` names photos, which the pipeline is run on; `task` is for
#: tasks from outside.
TASKS = ("references", "tables", "confidence", "task")
#: What the class behind a choice has to have, and what it is called then.
INTERFACES = {
    "references": ("reference set", ("load",)),
    "bib": ("bib reader", ("CHEAP", "models", "load", "read")),
    "face": ("face detector", ("CHEAP", "models", "load", "detect")),
    "link": ("linker", ("link",)),
    "identity": ("recogniser", ("CHEAP", "models", "load", "embed", "least_height", "gallery", "fpir", "clustering")),
    "executor": ("executor", ("predict",)),
    "task": ("task", ("name", "declares", "data", "inputs", "thresholds", "tags", "load", "evaluate")),
}
#: The stages of the pipeline.
STAGES = ("bib", "face", "link", "identity")
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
    return RunSpec(
        preset="" if file else config.preset,
        title=file.path.stem if file else "",
        overrides=tuple(overrides),
        seed=config.seed,
        note=config.note,
        force=config.force,
        sweep_id=config.sweep_id,
        tasks=tasks,
        gate=gate,
        tracking=instantiate(config, "tracking"),
        params=_flatten(values),
        config_yaml=OmegaConf.to_yaml(OmegaConf.create(values)),
        timing=_when("timing", config.timing),
        reports=_when("report.make", config.report.make),
        drawing=drawing_of(config),
        show_holdout=config.holdout.show,
        shadowed=tuple(config.shadowed),
    )


def stored_spec(config_yaml: str) -> RunSpec:
    """The run that is stored with this config, to be made again. Raises a ConfigError where it cannot be."""
    stored = OmegaConf.create(config_yaml)
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
    return Drawing(pictures, explorer.rstrip("/"))


def _when(key: str, given: str) -> When:
    from harness.runs.plan import WHENS

    found = next((when for when in WHENS if when == given), None)
    if found is None:
        raise ConfigError(f"{key}={given}: expected one of {', '.join(WHENS)}")
    return found


def build_tasks(config: DictConfig, file: PredictionsFile | None = None) -> tuple[Task, ...]:
    """What a composed config evaluates. What is off is not even imported; nothing at all is refused."""
    from harness.tasks import Off

    found: list[Task] = []
    for group in TASKS:
        task = instantiate(config, group)
        if isinstance(task, Off):
            if group == "references" and file is not None:
                raise ConfigError(
                    "references=off: predictions are for photos; choose references=sample, staging or frozen"
                )
            continue
        found += _photo_tasks(config, task, file) if group == "references" else (task,)
    if not found:
        choices = [f"{group}={choice}" for group in TASKS for choice in conf.choices(group) if choice != "off"]
        raise ConfigError(f"nothing to evaluate: {', '.join(TASKS)} are all off; choose from {', '.join(choices)}")
    names = [task.name for task in found]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ConfigError(f"task: two tasks of this run are called {twice[0]}")
    return tuple(found)


def _photo_tasks(config: DictConfig, references: Any, file: PredictionsFile | None) -> tuple[Task, ...]:
    """The task of photos and, where people are recognised, that of identity on the same photos."""
    from harness.tasks.photos.task import PhotosTask

    scoring = instantiate(config, "scoring")
    if file is not None:
        from harness.tasks.photos.from_file import FilePhotosTask

        return _file_tasks(config, FilePhotosTask(references, scoring, file))
    cache, executor = instantiate(config, "cache"), instantiate(config, "executor")
    photos = PhotosTask(references, scoring, build_pipeline(config), cache, executor)
    if photos.pipeline.identity is None:
        return (photos,)
    from harness.tasks.identity.task import IdentityTask

    return photos, IdentityTask(photos)


def _searching(values: Mapping[str, Any], tasks: Sequence[Task]) -> dict[str, Any]:
    """How faces are searched and grouped by the embeddings of a file; nothing where it has none."""
    kept = ("gallery", "fpir", "clustering")
    compared = any(task.name == "identity" for task in tasks)
    return {"identity": {key: values["identity"][key] for key in kept}} if compared else {}


def _file_tasks(config: DictConfig, photos: FilePhotosTask) -> tuple[Task, ...]:
    """The task of photos and, where a file of predictions has embeddings, that of identity by them."""
    from harness.tasks import Off
    from harness.tasks.identity.task import IdentityTask

    recogniser = instantiate(config, "identity") if photos.predictions.length else None
    if recogniser is None or isinstance(recogniser, Off):
        return (photos,)
    compared = replace(photos, recogniser=recogniser)
    return compared, IdentityTask(compared)


def build_finder(config: DictConfig, whole: bool = True) -> Finder:
    """What searches the photos of a composed config; `whole` searches all of a set, whatever split is chosen."""
    from harness.tasks import Off
    from harness.tasks.identity.finder import Finder
    from harness.tasks.photos.task import PhotosTask

    references = instantiate(config, "references")
    if isinstance(references, Off):
        raise ConfigError("references=off: there are no photos to search; choose references=staging, frozen or sample")
    if whole and hasattr(references, "split"):
        references = replace(references, split=Split.FULL)
    pipeline, scoring = build_pipeline(config), instantiate(config, "scoring")
    return Finder(PhotosTask(references, scoring, pipeline, instantiate(config, "cache")))


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


def build_pipeline(config: DictConfig) -> Pipeline:
    """The pipeline that a composed config describes."""
    from harness.pipeline import Pipeline
    from harness.tasks import Off

    instantiate(config, "bib_format")  # what is wrong with it is told under its own name, and not as a part of `bib`
    bib, face, link, identity = (instantiate(config, stage) for stage in STAGES)
    return Pipeline(bib, face, link, None if isinstance(identity, Off) else identity)


def instantiate(config: DictConfig, group: str) -> Any:
    """Make the object that a group describes, after checking every value against the fields of its class."""
    from harness.tasks import Off

    try:
        values = OmegaConf.to_container(config[group], resolve=True)
    except (OmegaConfBaseException, TypeError, ValueError) as error:
        told = explain(error) if isinstance(error, OmegaConfBaseException) else "it is not chosen"
        raise ConfigError(f"{group}: {told}") from error
    if not isinstance(values, dict):
        raise ConfigError(f"{group}: expected the keys of a choice, got {values!r}")
    named = {str(key): value for key, value in values.items()}
    if named.get("_target_") is None:
        place = place_of(config, group)
        raise ConfigError(f"{place}: {group} has no _target_; expected the dotted name of a class")
    try:
        made = make_object(named, group)
    except ValidationError as error:
        raise ConfigError(misfit(config, group, named, error)) from error
    if group in INTERFACES and not isinstance(made, Off):
        check_interface(made, group, *INTERFACES[group])
    if group in STAGES:
        check_frozen(made, group)
    return made


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

"""What a composed config describes, as objects: the choice of a group, the pipeline, the tasks of a run, a finder.

Each config group names a class as `_target_`: a frozen dataclass whose annotated fields are the group's keys, types and
ranges. So the YAML is the registry, and a backend's own class says what can be set.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import ValidationError

from harness.base import conf
from harness.base.errors import ConfigError
from harness.base.objects import check_frozen, check_interface, make_object
from harness.explaining import explain, misfit, place_of
from harness.types import Split

if TYPE_CHECKING:
    from harness.pipeline import Pipeline
    from harness.runs.plan import Task
    from harness.tasks.identity.finder import Finder
    from harness.tasks.photos.from_file import FilePhotosTask
    from harness.tasks.photos.prediction_files import PredictionsFile

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


def build_pipeline(config: DictConfig) -> Pipeline:
    """The pipeline that a composed config describes."""
    from harness.pipeline import Pipeline
    from harness.tasks import Off

    instantiate(config, "bib_format")  # what is wrong with it is told under its own name, and not as a part of `bib`
    bib, face, link, identity = (instantiate(config, stage) for stage in STAGES)
    return Pipeline(bib, face, link, None if isinstance(identity, Off) else identity)


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

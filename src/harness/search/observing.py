"""What replaying rests on: the stages of a point, made once each, and what they have found in photos before.

A stage depends on the choice of its group, on its own keys and on what these refer to. So the bib reader of two points
that differ in how bibs are linked is one object, and what it found in a photo is found once.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from omegaconf import DictConfig, OmegaConf

from harness.config import STAGES, instantiate, vary
from harness.pipeline import Pipeline
from harness.pipeline.cache.memory import MemoryCache
from harness.pipeline.looks import Look, PhotoSource, whole_identity
from harness.pipeline.weights import check_models
from harness.references.photos import KnownPhoto, open_photo
from harness.references.sets import ReferencePhoto
from harness.search.experiment import Experiment
from harness.search.searchable import GROUPS, composed, trial_config
from harness.search.space import Point, Value, overrides, point_key
from harness.tasks import Off
from harness.tasks.photos.predicting import EvaluatedPhoto
from harness.types import BibBox, DroppedText, FaceBox, PhotoPrediction

#: So many photos are held with what was found in them; those of the pipelines that were used least lately go first.
_MOST_FOUND = 50_000
#: So many stages are held that are made.
_MOST_STAGES = 4096
_REFERENCE = re.compile(r"\$\{([^}]*)\}")


@dataclass(frozen=True, slots=True)
class _Found:
    """What the reader of bibs and the detector of faces found in a photo; `asked` counts what they asked of it."""

    bibs: tuple[BibBox, ...]
    faces: tuple[FaceBox, ...]
    dropped: tuple[DroppedText, ...]
    size: tuple[int, int]
    asked: Mapping[str, int]
    steps: Mapping[str, int]
    digest: bytes


@dataclass
class Observed:
    """What was found in photos, by the stages that found it; one photo is looked at at a time, since models are not
    made for more."""

    cache: MemoryCache
    _found: OrderedDict[tuple[str, str], dict[str, _Found]] = field(default_factory=OrderedDict)
    _count: int = 0
    _checked: set[str] = field(default_factory=set)
    _tracing: set[type[Any]] = field(default_factory=set)
    _identities: dict[int, tuple[Any, str]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def look(self, pipeline: Pipeline, photo: ReferencePhoto, embed: bool) -> EvaluatedPhoto:
        """What a pipeline says about a photo, with the vectors of its faces where these are asked for. Raises what a
        stage raises."""
        with self._lock:
            known = self._held(pipeline)
            found = known.get(photo.sha256)
            again: Mapping[str, int] = found.asked if found else {}
            look = Look(self._source(photo), self.cache) if found is None or embed else None
            if found is None:
                assert look is not None
                found = self._keep(pipeline, photo, known, look)
            vectors = pipeline.embed(look, found.faces) if embed and look else None
        links = pipeline.linked(found.bibs, found.faces, found.size)
        return EvaluatedPhoto(
            photo,
            PhotoPrediction(found.bibs, found.faces, links, found.dropped),
            look.seconds if look else {},
            _sum(again, look.hits) if look else again,
            look.misses if look else {},
            found.steps,
            look.cpu_seconds if look else {},
            found.size,
            vectors,
            asked=found.digest,
        )

    def tells_dropped(self, pipeline: Pipeline) -> bool:
        """Whether the reader of a pipeline has ever told a text that it dropped: one that tells one tells them all."""
        return type(pipeline.bib) in self._tracing

    def _keep(self, pipeline: Pipeline, photo: ReferencePhoto, known: dict[str, _Found], look: Look) -> _Found:
        bibs, faces = pipeline.find(look)
        asked, steps = _sum(look.hits, look.misses), dict(look.steps)
        found = known[photo.sha256] = _Found(bibs, faces, tuple(look.dropped), look.size, asked, steps, look.asked)
        if look.dropped:
            self._tracing.add(type(pipeline.bib))
        self._count += 1
        while len(self._found) > 1 and self._count > _MOST_FOUND:
            self._count -= len(self._found.popitem(last=False)[1])
        return found

    def _held(self, pipeline: Pipeline) -> dict[str, _Found]:
        """What is held of the bibs and faces that this pipeline finds."""
        key = self._identity(pipeline.face), self._identity(pipeline.bib)
        held = self._found.setdefault(key, {})
        self._found.move_to_end(key)
        return held

    def _identity(self, stage: Any) -> str:
        known = self._identities.get(id(stage))
        if known is None:
            if len(self._identities) > _MOST_STAGES:
                self._identities.clear()
            known = self._identities[id(stage)] = stage, whole_identity(stage)
        return known[1]

    def _source(self, photo: ReferencePhoto) -> PhotoSource:
        """The photo. Its bytes are checked once: what was observed is known by the hash that they had then."""
        if photo.sha256 in self._checked:
            return KnownPhoto(photo.path, photo.sha256)
        opened = open_photo(photo.path, photo.sha256)
        self._checked.add(photo.sha256)
        return opened


def _sum(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    return {name: first.get(name, 0) + second.get(name, 0) for name in {**first, **second}}


@dataclass
class Stages:
    """The stages of an experiment's points: made from the config once for each way to set them, and checked."""

    experiment: Experiment
    observed: Observed
    _made: OrderedDict[tuple[str, str], Any] = field(default_factory=OrderedDict)
    _parts: dict[tuple[str, str], tuple[DictConfig, bool]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def pipeline(self, point: Point) -> Pipeline:
        """The pipeline of a point, whose models can be had. Raises ConfigError and WeightsError where it has none."""
        with self._lock:
            bib, face, link, identity = (self._stage(stage, point) for stage in STAGES)
        return Pipeline(bib, face, link, None if isinstance(identity, Off) else identity)

    def _stage(self, stage: str, point: Point) -> Any:
        chosen = {key: value for key, value in point.items() if "." not in key}
        part, alone = self._part(stage, chosen)
        own = {key: value for key, value in point.items() if "." in key and key.split(".")[0] == stage}
        key = stage, point_key({**chosen, **own} if alone else point)
        if key not in self._made:
            config = vary(part, own) if alone else trial_config(self.experiment, point)
            made = instantiate(config, stage)
            if hasattr(made, "load") and not isinstance(made, Off):
                check_models(made)
            self._made[key] = made
            if len(self._made) > _MOST_STAGES:
                self._made.popitem(last=False)
        return self._made[key]

    def _part(self, stage: str, chosen: Mapping[str, Value]) -> tuple[DictConfig, bool]:
        """The part of the config that a stage is made of, and whether no other key that may be searched is in it."""
        key = stage, point_key(chosen)
        if key not in self._parts:
            config = composed((*self.experiment.base, *overrides(chosen)))
            named = _REFERENCE.findall(OmegaConf.to_yaml(config[stage], resolve=False))
            roots = {name.split(".")[0] for name in named}
            alone = not roots & set(GROUPS) and all(root.isidentifier() and root in config for root in roots)
            self._parts[key] = (OmegaConf.masked_copy(config, [stage, *roots]) if alone else config), alone
        return self._parts[key]

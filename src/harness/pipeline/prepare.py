"""From a folder of photos to photos with suggestions: copy them in, then let the pipeline say what it would label.

Suggestions are written every few seconds, so that an interrupted call has kept what it did. A photo that has
suggestions of the same configuration is passed over unless they are to be renewed; the same call again goes on
where the last one stopped. Labels are never touched here.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from pathlib import Path
from typing import Any

import harness
from harness.base.code import code_of, modules_of
from harness.base.errors import ConfigError, ReferenceSetError
from harness.base.objects import dotted_name
from harness.base.progress import track
from harness.base.texts import counted, listing
from harness.pipeline import Pipeline
from harness.pipeline.looks import Look
from harness.pipeline.weights import Model, models_of
from harness.references.adding import AddedPhotos, add_photos
from harness.references.files import PhotoIndex
from harness.references.photo_files import FOLDER, find_photos, stored_photos, unsupported_photos
from harness.references.photos import open_photo
from harness.references.store import LabelStore
from harness.references.suggestions import (
    PhotoSuggestions,
    Provenance,
    StageProvenance,
    Suggestions,
    suggestions_from,
)

SECONDS_BETWEEN_WRITES = 5.0


@dataclass
class Suggested:
    """What the pipeline made of the photos: how many it looked at, what it found, and where it failed, and why."""

    photos: int = 0
    skipped: int = 0
    bibs: int = 0
    faces: int = 0
    links: int = 0
    failed: dict[str, str] = field(default_factory=dict)


def copy_in(store: LabelStore, source: Path) -> AddedPhotos:
    """Copy the photos of a folder, or one photo, into the set."""
    if not source.exists():
        raise ConfigError(f"{source}: no such file or folder")
    paths, unsupported = [source] if source.is_file() else list(find_photos(source)), unsupported_photos(source)
    if not paths:
        more = f", but {counted(len(unsupported), 'photo')} of kinds that are not supported" if unsupported else ""
        raise ReferenceSetError(f"{source}: no photos here{more}")
    added = add_photos(store, paths)
    if not added.new and not added.known:
        raise ReferenceSetError(f"{source}: no photo that can be read:\n{listing(added.unreadable.values())}")
    added.unreadable |= unsupported
    return added


def suggest(store: LabelStore, pipeline: Pipeline, *, refresh: bool = False) -> Suggested:
    """Have the pipeline label every photo that it has not labelled yet, or with `refresh` every photo."""
    provenance = provenance_of(pipeline)
    index, existing = store.contents().index.photos, store.suggestions().photos
    done = {s for s in index if s in existing and existing[s].provenance == provenance.key and not refresh}
    todo = [sha256 for sha256 in sorted(index, key=lambda s: index[s].names[0]) if sha256 not in done]
    result = Suggested(skipped=len(done))
    if todo:
        pipeline.load()
        _suggest(store, pipeline, provenance, index, todo, result)
    return result


def _suggest(
    store: LabelStore, pipeline: Pipeline, provenance: Provenance, index: Any, todo: Sequence[str], result: Suggested
) -> None:
    stored, waiting, written = stored_photos(store.root), dict[str, PhotoSuggestions](), time.monotonic()
    try:
        for sha256 in track(todo, "suggesting labels"):
            name = index[sha256].names[0]
            try:
                photo = open_photo(stored.get(sha256, store.root / FOLDER / sha256), sha256)
                prediction = pipeline.predict(Look(photo))
            except Exception as error:  # noqa: BLE001 - whatever a photo or a backend does fails this photo, and no other
                result.failed[name] = f"{type(error).__name__}: {error}"
                continue
            waiting[sha256] = suggestions_from(prediction, provenance.key)
            result.photos += 1
            result.bibs += len(prediction.bibs)
            result.faces += len(prediction.faces)
            result.links += len(prediction.links)
            if time.monotonic() - written > SECONDS_BETWEEN_WRITES:
                _write(store, provenance, waiting)
                written = time.monotonic()
    finally:
        _write(store, provenance, waiting)


def _write(store: LabelStore, provenance: Provenance, waiting: dict[str, PhotoSuggestions]) -> None:
    if not waiting:
        return
    with store.edit() as draft:
        draft.put_head(Suggestions, provenances=draft.head(Suggestions, "provenances") | {provenance.key: provenance})
        for sha256, suggestions in waiting.items():
            if draft.record(PhotoIndex, sha256) is not None:
                draft.put(Suggestions, sha256, suggestions)
    waiting.clear()


def provenance_of(pipeline: Pipeline) -> Provenance:
    """What makes a pipeline's suggestions: backends, version, models and settings."""
    bib, face = (_stage(stage, models_of(stage)) for stage in (pipeline.bib, pipeline.face))
    return Provenance(bib=bib, face=face, link=_stage(pipeline.link, ()))


def _stage(stage: Any, models: Sequence[Model]) -> StageProvenance:
    assert is_dataclass(stage)
    assert not isinstance(stage, type)
    weights = {name for name, value in vars(stage).items() if value in models}
    return StageProvenance(
        backend=dotted_name(type(stage)),
        version=f"harness {harness.__version__}",
        models={model.name: model.sha256 for model in models},
        config={name: value for name, value in asdict(stage).items() if name not in weights},
        code=code_of(*modules_of(stage)).digest,
    )

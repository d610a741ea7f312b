"""The photos of a folder, without labels, as a file of predictions."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from harness.base.disk import write_atomically
from harness.base.errors import ConfigError, PredictionsError
from harness.pipeline import Pipeline
from harness.pipeline.cache import StageCache
from harness.references.photo_files import find_photos, read_bytes
from harness.references.sets import ReferencePhoto
from harness.tasks.photos.predicting import predict
from harness.tasks.photos.prediction_lines import line_of


def predict_folder(pipeline: Pipeline, folder: Path, out: Path, cache: StageCache | None) -> tuple[int, list[str]]:
    """Write a line for each photo of a folder; returns how many there are, and what failed, in words. A file that is
    there twice is one photo."""
    if not folder.is_dir():
        raise ConfigError(f"{folder}: no such folder; expected one with photos")
    photos = {photo.sha256: photo for photo in map(_photo, find_photos(folder))}
    if not photos:
        raise ConfigError(f"{folder}: no photo in it")
    pipeline = replace(pipeline, identity=None)  # lines have no vectors: whose face it is makes no difference
    pipeline.load()
    evaluated, failed = predict(pipeline, list(photos.values()), cache)
    traced = any(photo.prediction.dropped for photo in evaluated)
    lines = [line_of(photo.sha256, photo.name, photo.prediction, traced=traced) for photo in evaluated]
    try:
        write_atomically(out, b"".join(lines))
    except OSError as error:
        raise PredictionsError(f"{out}: cannot be written: {error.strerror}") from error
    return len(evaluated), [f"{item.photo.path}: {item.reason}" for item in failed]


def _photo(path: Path) -> ReferencePhoto:
    """A photo of which nobody has said anything. One whose file is named by its hash has no other name."""
    sha256 = hashlib.sha256(read_bytes(path)).hexdigest()
    name = "" if path.stem == sha256 else path.name
    return ReferencePhoto(sha256, name, path, "", False, (), (), False, (), (), None)

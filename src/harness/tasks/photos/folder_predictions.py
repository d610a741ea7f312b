"""The photos of a folder, without labels, as a file of predictions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.errors import ConfigError, PhotoError
from harness.pipeline import Pipeline
from harness.pipeline.cache import StageCache
from harness.references.photo_files import find_photos, read_bytes
from harness.references.photos import open_photo
from harness.references.sets import ReferencePhoto
from harness.tasks.identity.selfies import selfie_face
from harness.tasks.photos.predicting import predict
from harness.tasks.photos.prediction_export import write_lines
from harness.tasks.photos.prediction_lines import line_of, selfie_line_of


@dataclass(frozen=True)
class Predicted:
    """How many photos and selfies have a line, how many faces have an embedding, and what failed, in words."""

    photos: int
    selfies: int
    embeddings: int
    failed: tuple[str, ...]


def predict_folder(
    pipeline: Pipeline,
    folder: Path,
    out: Path,
    cache: StageCache | None,
    *,
    embeddings: bool = False,
    selfies: Path | None = None,
) -> Predicted:
    """Write a line for each photo of a folder and, with `embeddings`, for each of the folder `selfies`. A file that is
    there twice is one photo."""
    photos, pictures = _photos(folder), _photos(selfies, or_none=True) if selfies else []
    if not embeddings:
        pipeline = replace(pipeline, identity=None)  # whose face it is makes no difference
    elif pipeline.identity is None:
        raise ConfigError("identity=off: nobody is recognised, so that there are no embeddings; choose identity=sface")
    pipeline.load()
    evaluated, failed = predict(pipeline, photos, cache)
    traced = any(photo.prediction.dropped for photo in evaluated)
    vectors = [photo.vectors.rows() if photo.vectors is not None else [] for photo in evaluated]
    lines = [
        line_of(photo.sha256, photo.name, photo.prediction, traced=traced, embeddings=own if embeddings else None)
        for photo, own in zip(evaluated, vectors, strict=True)
    ]
    of_selfies, unreadable = _selfie_lines(pipeline, pictures, cache)
    write_lines(out, [*lines, *of_selfies], personal=embeddings)
    return Predicted(
        photos=len(evaluated),
        selfies=len(of_selfies),
        embeddings=sum(vector is not None for own in vectors for vector in own),
        failed=(*(f"{item.photo.path}: {item.reason}" for item in failed), *unreadable),
    )


def _selfie_lines(
    pipeline: Pipeline, pictures: Iterable[ReferencePhoto], cache: StageCache | None
) -> tuple[list[bytes], list[str]]:
    """The lines of selfies, and those that cannot be read."""
    lines, failed = [], []
    for picture in pictures:
        try:
            seen = selfie_face(pipeline, open_photo(picture.path, picture.sha256), cache)
        except PhotoError as error:
            failed.append(f"{picture.path}: {error}")
        else:
            lines.append(selfie_line_of(picture.sha256, seen is not None, seen.vector if seen else None))
    return lines, failed


def _photos(folder: Path, or_none: bool = False) -> list[ReferencePhoto]:
    if not folder.is_dir():
        raise ConfigError(f"{folder}: no such folder; expected one with photos")
    photos = {photo.sha256: photo for photo in map(_photo, find_photos(folder))}
    if not photos and not or_none:
        raise ConfigError(f"{folder}: no photo in it")
    return list(photos.values())


def _photo(path: Path) -> ReferencePhoto:
    """A photo of which nobody has said anything. One whose file is named by its hash has no other name."""
    sha256 = hashlib.sha256(read_bytes(path)).hexdigest()
    name = "" if path.stem == sha256 else path.name
    return ReferencePhoto(sha256, name, path, "", False, (), (), False, (), (), None)

"""From photos to predictions: the pipeline on every photo of a set, each failing alone."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Protocol

from harness.base.errors import PhotoError, WeightsError
from harness.base.progress import track_stream
from harness.pipeline import Pipeline
from harness.pipeline.cache import StageCache
from harness.pipeline.identity.recognising import FaceVectors
from harness.pipeline.looks import Look
from harness.references.photos import OpenedPhoto, open_photo
from harness.references.sets import ReferencePhoto
from harness.types import PhotoLabels, PhotoPrediction


@dataclass(frozen=True, slots=True)
class EvaluatedPhoto:
    """A photo with what the pipeline said about it, the seconds of what was computed and how often the cache helped.
    `size` is its width and height in pixels. `vectors` are those of its faces, where people are recognised; they are
    kept nowhere but in the cache. `worker` is the process that looked at it, where that is not the run's own: its
    seconds were measured there, beside other work. `asked` is a digest of all that was computed, or would have been
    without the cache."""

    photo: ReferencePhoto
    prediction: PhotoPrediction
    seconds: Mapping[str, float]
    hits: Mapping[str, int]
    misses: Mapping[str, int]
    steps: Mapping[str, int]
    cpu_seconds: Mapping[str, float] = field(default_factory=dict)
    size: tuple[int, int] = (0, 0)
    vectors: FaceVectors | None = field(default=None, repr=False)
    worker: str = ""
    asked: bytes = b""

    @property
    def name(self) -> str:
        """What the photo is called."""
        return self.photo.name

    @property
    def sha256(self) -> str:
        """The photo's hash."""
        return self.photo.sha256

    @property
    def labels(self) -> PhotoLabels:
        """What people said about it."""
        return self.photo.labels


@dataclass(frozen=True)
class FailedPhoto:
    """A photo that could not be evaluated, and why; `details` has the traceback of an unexpected error."""

    photo: ReferencePhoto
    reason: str
    details: str = ""


@dataclass(frozen=True)
class Predictions:
    """The photos that were evaluated and those that failed, in the order of the set; how many damaged entries of the
    cache workers met; and who worked, in words, where it was not the run's own process."""

    photos: Sequence[EvaluatedPhoto]
    failed: tuple[FailedPhoto, ...]
    repaired: int = 0
    workers: str = ""


class Executor(Protocol):
    """The class behind a choice of `executor`: who runs the pipeline on the photos of a run. What is predicted does not
    depend on it, and so neither does the key of the run."""

    def predict(
        self, pipeline: Pipeline, photos: Sequence[ReferencePhoto], cache: StageCache | None, quiet: bool
    ) -> Predictions:
        """What the pipeline says about the photos, each failing alone."""


@dataclass(frozen=True)
class LocalExecutor:
    """This process, one photo after the other; the models use all cores by themselves."""

    def predict(
        self, pipeline: Pipeline, photos: Sequence[ReferencePhoto], cache: StageCache | None, quiet: bool
    ) -> Predictions:
        """What the pipeline says about the photos."""
        return Predictions(*predict(pipeline, photos, cache, quiet))


def predict(
    pipeline: Pipeline, photos: Sequence[ReferencePhoto], cache: StageCache | None, quiet: bool = False
) -> tuple[Sequence[EvaluatedPhoto], tuple[FailedPhoto, ...]]:
    """Run the pipeline on every photo. One that cannot be read, or on which a stage raises, fails alone and loudly."""
    failed: list[FailedPhoto] = []

    def evaluate() -> Iterator[EvaluatedPhoto]:
        opened_photos = opened_ahead(photos)
        for photo, opened in opened_photos if quiet else track_stream(opened_photos, "photos", len(photos)):
            result = attempt(photo, partial(_predict, pipeline, photo, opened, cache))
            if isinstance(result, FailedPhoto):
                failed.append(result)
            else:
                yield result

    evaluated = tuple(evaluate())
    if cache:
        cache.prune()
    return evaluated, tuple(failed)


def attempt(photo: ReferencePhoto, evaluate: Callable[[], EvaluatedPhoto]) -> EvaluatedPhoto | FailedPhoto:
    """A photo evaluated, or failed: whatever is raised fails this photo, loudly, and no other. A model that cannot be
    opened fails every photo, and is raised."""
    try:
        return evaluate()
    except WeightsError:
        raise
    except PhotoError as error:
        return FailedPhoto(photo, str(error))
    except Exception as error:  # noqa: BLE001 - a backend may be anybody's, and raise anything
        return FailedPhoto(photo, f"{type(error).__name__}: {error} ({_place(error)})", traceback.format_exc())


def _predict(
    pipeline: Pipeline, photo: ReferencePhoto, opened: Future[OpenedPhoto], cache: StageCache | None
) -> EvaluatedPhoto:
    look = Look(opened.result(), cache)
    prediction = pipeline.predict(look)
    vectors = pipeline.embed(look, prediction.faces)
    hits, misses, steps = (_alike(tuple(each.items())) for each in (look.hits, look.misses, look.steps))
    costs = (look.seconds, hits, misses, steps, look.cpu_seconds)
    return EvaluatedPhoto(photo, prediction, *costs, look.size, vectors, asked=look.asked)


@lru_cache(maxsize=1024)
def _alike(counts: tuple[tuple[str, int], ...]) -> Mapping[str, int]:
    """Counts that most photos have alike, which therefore share them."""
    return dict(counts)


def _place(error: Exception) -> str:
    """Where an error was raised, as in `my_faces.py, line 12`."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{Path(last.filename).name}, line {last.lineno}"


def opened_ahead(photos: Iterable[ReferencePhoto]) -> Iterator[tuple[ReferencePhoto, Future[OpenedPhoto]]]:
    """Read and check each photo while the pipeline is busy with the one before it; no more than one waits in memory."""
    with ThreadPoolExecutor(1) as pool:
        ahead: list[tuple[ReferencePhoto, Future[OpenedPhoto]]] = []
        for photo in photos:
            ahead.append((photo, pool.submit(open_photo, photo.path, photo.sha256)))
            if len(ahead) > 1:
                yield ahead.pop(0)
        yield from ahead

"""A pipeline that notes each photo that it computes, and can be told to die on one.

`MAIN` is a program that predicts the photos of a folder, so that it can be killed in the middle.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

from PIL import Image as Pictures

from harness.pipeline import Pipeline
from harness.pipeline.cache import StageCache
from harness.pipeline.looks import Image, Look
from harness.pipeline.weights import Weights
from harness.references.sets import ReferencePhoto
from harness.tasks.photos import executing
from harness.tasks.photos.executing import Job, ShardResult, look_at, predict_on
from harness.tasks.photos.on_processes import ProcessesExecutor
from harness.tasks.photos.on_ray import RayExecutor
from harness.tasks.photos.predicting import EvaluatedPhoto, Executor, Predictions
from harness.types import BibBox, BibFaceLink, FaceBox

PHOTOS, SHARD = 36, 4


@dataclass(frozen=True)
class NotingReader:
    """Reads the brightness of a photo as its number. Each photo that it computes is a line in `log`, with the process.
    On the numbers in `deadly` it kills its process, on those in `broken` it raises."""

    CHEAP: ClassVar[frozenset[str]] = frozenset({"log", "seconds", "models", "deadly", "broken"})
    log: str
    seconds: float = 0.0
    deadly: tuple[int, ...] = ()
    broken: tuple[int, ...] = ()
    models: tuple[Weights, ...] = ()

    def load(self) -> None:
        """It has no models."""

    def read(self, look: Look, faces: Sequence[FaceBox]) -> tuple[BibBox, ...]:
        """One bib."""
        number = look.see("text", self, None, self._see)
        return (BibBox(x=0.4, y=0.3, w=0.2, h=0.1, number=str(number), score=0.5),)

    def _see(self, image: Image) -> int:
        number = int(image[0, 0, 0])
        with Path(self.log).open("a") as log:
            log.write(f"{number} {os.getpid()}\n")
        time.sleep(self.seconds)
        if number in self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        if number in self.broken:
            raise ValueError(f"nobody can read {number}")
        return number


@dataclass(frozen=True)
class NoFaces:
    """Finds none."""

    CHEAP: ClassVar[frozenset[str]] = frozenset()
    models: tuple[Weights, ...] = ()

    def load(self) -> None:
        """It has no models."""

    def detect(self, look: Look) -> tuple[FaceBox, ...]:
        """None."""
        return ()


@dataclass(frozen=True)
class NoLinks:
    """Links nothing."""

    def link(self, bibs: Sequence[BibBox], faces: Sequence[FaceBox], aspect: float) -> tuple[BibFaceLink, ...]:
        """None."""
        return ()


def photos_in(folder: Path) -> list[ReferencePhoto]:
    """Small photos, one for each brightness, with a name that people gave to a face."""
    (folder / "photos").mkdir(exist_ok=True)
    found = []
    for number in range(PHOTOS):
        path = folder / "photos" / f"{number:02}.png"
        if not path.exists():
            Pictures.new("RGB", (8, 6), (number, number, number)).save(path)
        face = (FaceBox(x=0.1, y=0.1, w=0.1, h=0.1, identity="Zenobia"),)
        digest = sha256(path.read_bytes()).hexdigest()
        found.append(ReferencePhoto(digest, path.name, path, "iteration", True, (), (), True, face, (), None))
    return found


def predicted(executor: Executor, folder: Path, cached: bool = True, **reader: Any) -> Predictions:
    """What comes of the photos of a folder, with the cache that is in it."""
    pipeline = Pipeline(NotingReader(str(folder / "log"), **reader), NoFaces(), NoLinks())
    cache = StageCache(folder / "cache", 10**8) if cached else None
    return executor.predict(pipeline, photos_in(folder), cache, quiet=True)


def log_of(folder: Path) -> list[list[int]]:
    """Number and process of each photo that was computed."""
    path = folder / "log"
    return [[int(word) for word in line.split()] for line in path.read_text().splitlines()] if path.exists() else []


def numbers(photos: Sequence[EvaluatedPhoto]) -> list[tuple[str, str]]:
    """Name and number of each photo."""
    return [(photo.name, str(photo.prediction.bibs[0].number)) for photo in photos]


def executor_of(kind: str, address: str = "local", retries: int = 1) -> Executor:
    """One with two workers."""
    return RayExecutor(address, 2, SHARD, retries) if kind == "ray" else ProcessesExecutor(2, SHARD, retries)


@dataclass(frozen=True)
class InlinePool:
    """Workers that are this process; one "dies" where its shard has a photo in `deadly`."""

    size: int = 2
    deadly: frozenset[str] = frozenset()
    died: tuple[type[BaseException], ...] = (BrokenProcessPool,)

    def submit(self, job: Job, photos: Sequence[ReferencePhoto]) -> Future[ShardResult]:
        """Done at once."""
        future = Future[ShardResult]()
        if any(photo.name in self.deadly for photo in photos):
            future.set_exception(BrokenProcessPool("killed by a photo"))
        else:
            future.set_result(look_at(job, photos))
        return future


@dataclass(frozen=True)
class InlineExecutor:
    """Shards, in this process."""

    pool: InlinePool = field(default_factory=InlinePool)
    shard: int = SHARD
    retries: int = 1

    def predict(
        self, pipeline: Pipeline, photos: Sequence[ReferencePhoto], cache: StageCache | None, quiet: bool
    ) -> Predictions:
        """What the pipeline says about the photos."""
        try:
            return predict_on(self.pool, Job.of(pipeline, cache), photos, self.shard, self.retries, quiet)
        finally:
            executing._opened.cache_clear()


#: Its arguments are the kind of executor, the folder and the address of a cluster.
MAIN = """
import sys
from pathlib import Path
from tests.tasks.photos.workers import executor_of, predicted

kind, folder, *address = sys.argv[1:]
result = predicted(executor_of(kind, *address), Path(folder), seconds=0.05)
print(len(result.photos), len(result.failed))
"""

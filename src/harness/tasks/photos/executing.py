"""The photos of a run on other processes: in shards by content, each failing alone, whoever dies.

A worker is given the pipeline, opens its models once and keeps them. It keys each stage by itself: a worker whose code,
packages or models differ from the run's own is refused, since its answers would be those of another run. Photos go by
path and hash, labels stay where they are. What a worker has computed is in the cache at once, so that a run that is
killed and started again goes on from there.

A shard on which a worker dies goes to another one. Where that happens too often its photos are tried one by one, with
nothing beside them, so that the one that kills its worker is known, and fails alone.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import sys
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from harness.base.errors import HarnessError, StaleCodeError
from harness.base.progress import silent, track_stream, warn
from harness.pipeline import Pipeline
from harness.pipeline.cache import StageCache
from harness.references.photos import OpenedPhoto
from harness.references.sets import ReferencePhoto
from harness.scoring.speed import pipeline_seconds
from harness.tasks.photos.predicting import EvaluatedPhoto, FailedPhoto, Predictions, predict

#: Where the code is whose warnings are told: those of others are their own business.
_OWN = str(Path(__file__).parents[2])


@dataclass(frozen=True)
class Job:
    """What a worker needs: the pipeline and the cache, pickled, where their modules are, and the keys of the stages."""

    content: bytes
    path: tuple[str, ...]
    stages: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, pipeline: Pipeline, cache: StageCache | None) -> Job:
        """The pipeline without what it has opened, which stays in this process."""
        stages = (pipeline.bib, pipeline.face, pipeline.link, pipeline.identity)
        fresh = [stage if stage is None else replace(stage) for stage in stages]  # type: ignore[type-var]
        content = pickle.dumps((Pipeline(*fresh), cache))  # type: ignore[arg-type]
        return cls(
            content,
            tuple(str(Path(place).absolute()) for place in sys.path),
            tuple(pipeline.stage_keys(OpenedPhoto).items()),
        )


@dataclass(frozen=True)
class ShardResult:
    """What a worker made of a shard, and who it is; `refused` says why it did not even begin."""

    worker: str
    photos: tuple[EvaluatedPhoto, ...] = ()
    failed: tuple[FailedPhoto, ...] = ()
    repaired: int = 0
    warnings: tuple[str, ...] = ()
    refused: HarnessError | None = None


def look_at(job: Job, photos: Sequence[ReferencePhoto]) -> ShardResult:
    """A shard, in a worker."""
    worker = f"{platform.node()} {os.getpid()}"
    try:
        pipeline, cache = _opened(job)
    except HarnessError as error:
        return ShardResult(worker, refused=error)
    before = cache.repaired if cache else 0
    with silent(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        evaluated, failed = predict(pipeline, photos, cache, quiet=True)
    named = tuple(replace(item, worker=worker) for item in evaluated)
    told = tuple(str(item.message) for item in caught if item.category is UserWarning and _OWN in item.filename)
    return ShardResult(worker, named, failed, (cache.repaired if cache else 0) - before, told)


@lru_cache(maxsize=1)
def _opened(job: Job) -> Any:
    """The pipeline with its models, and the cache: opened once, for all shards. Raises StaleCodeError where the
    pipeline is not here what it is in the run."""
    sys.path += [place for place in job.path if place not in sys.path]
    pipeline, cache = pickle.loads(job.content)
    with _one_core():
        pipeline.open()
    own = pipeline.stage_keys(OpenedPhoto)
    if differing := [stage for stage, key in job.stages if own.get(stage) != key]:
        raise StaleCodeError(
            f"{platform.node()}: the code, the packages or the models of {', '.join(differing)} are not those of the "
            "run; install the same versions on all machines"
        )
    return pipeline, cache


@contextmanager
def _one_core() -> Iterator[None]:
    """Models that are opened inside use one thread: they count the cores that they may use. There is a worker for each
    core, and as many threads as cores in each would be in each other's way."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


class Pool(Protocol):
    """Workers that shards are given to."""

    @property
    def size(self) -> int:
        """How many there are."""

    @property
    def died(self) -> tuple[type[BaseException], ...]:
        """What a future raises whose worker has died."""

    def submit(self, job: Job, photos: Sequence[ReferencePhoto]) -> Future[ShardResult]:
        """Give a shard to a worker that has nothing to do; one that has died is replaced."""


@dataclass(frozen=True)
class _Attempt:
    photos: tuple[ReferencePhoto, ...]
    deaths: int = 0
    alone: bool = False


@dataclass
class _Progress:
    """What is still to be done and what has come back. `suspects` are photos that are tried alone."""

    waiting: deque[_Attempt]
    suspects: deque[_Attempt] = field(default_factory=deque)
    results: list[ShardResult] = field(default_factory=list)
    failed: list[FailedPhoto] = field(default_factory=list)

    def died(self, attempt: _Attempt, error: BaseException, retries: int) -> int:
        """Try again what a worker has died on; returns how many photos are given up."""
        again = replace(attempt, deaths=attempt.deaths + 1)
        if again.deaths <= retries:
            (self.suspects if again.alone else self.waiting).append(again)
        elif not again.alone:
            self.suspects += [_Attempt((photo,), alone=True) for photo in again.photos]
        else:
            times = f", {again.deaths} times" if again.deaths > 1 else ""
            reason = f"the process that looked at it died{times}: {str(error).strip().splitlines()[0]:.200}"
            self.failed.append(FailedPhoto(again.photos[0], reason))
            return 1
        return 0


def shards_of(photos: Sequence[ReferencePhoto], size: int) -> list[tuple[ReferencePhoto, ...]]:
    """The photos in shards that their hashes decide: whichever order they come in, the same photos make the same
    shards, and photos that were taken together, which cost alike, are spread."""
    ordered = sorted(photos, key=lambda photo: hashlib.sha256(photo.sha256.encode()).digest())
    return [tuple(ordered[start : start + size]) for start in range(0, len(ordered), size)]


def predict_on(
    pool: Pool, job: Job, photos: Sequence[ReferencePhoto], size: int, retries: int, quiet: bool
) -> Predictions:
    """What the workers of a pool say about the photos. Raises HarnessError where a worker cannot work at all."""
    shards = shards_of([_bare(photo) for photo in photos], size)
    progress = _Progress(deque(_Attempt(shard) for shard in shards))
    steps = _steps(pool, job, progress, retries)
    for _ in steps if quiet else track_stream(steps, "photos", len(photos)):
        pass
    for text in dict.fromkeys(text for result in progress.results for text in result.warnings):
        warn(text)  # once, whoever met it
    own = {photo.sha256: photo for photo in photos}
    evaluated = {item.sha256: item for result in progress.results for item in result.photos}
    failed = {item.photo.sha256: item for item in (*progress.failed, *(i for r in progress.results for i in r.failed))}
    return Predictions(
        tuple(replace(evaluated[sha256], photo=photo) for sha256, photo in own.items() if sha256 in evaluated),
        tuple(replace(failed[sha256], photo=photo) for sha256, photo in own.items() if sha256 in failed),
        sum(result.repaired for result in progress.results),
        _words(progress.results),
    )


def _steps(pool: Pool, job: Job, progress: _Progress, retries: int) -> Iterator[None]:
    """Give out shards and take in results, once for each photo that is done."""
    running: dict[Future[ShardResult], _Attempt] = {}
    while progress.waiting or progress.suspects or running:
        while progress.waiting and len(running) < pool.size:
            attempt = progress.waiting.popleft()
            running[pool.submit(job, attempt.photos)] = attempt
        if not running:
            attempt = progress.suspects.popleft()
            running[pool.submit(job, attempt.photos)] = attempt
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            attempt = running.pop(future)
            try:
                result = future.result()
            except pool.died as error:
                yield from [None] * progress.died(attempt, error, retries)
                continue
            if result.refused:
                raise result.refused
            progress.results.append(result)
            yield from [None] * len(attempt.photos)


def _bare(photo: ReferencePhoto) -> ReferencePhoto:
    """A photo without what people said about it, which no worker needs."""
    return ReferencePhoto(
        photo.sha256, photo.name, photo.path.absolute(), photo.split, False, (), (), False, (), (), None
    )


def _words(results: Sequence[ShardResult]) -> str:
    """Who worked, how many photos each did, and the seconds of the pipeline that it measured."""
    done: dict[str, list[EvaluatedPhoto]] = {}
    for result in results:
        done.setdefault(result.worker, []).extend(result.photos)
    return "; ".join(
        f"{worker}: {len(photos)} photos, {sum(pipeline_seconds(photo.seconds) for photo in photos):.1f} s"
        for worker, photos in sorted(done.items())
    )

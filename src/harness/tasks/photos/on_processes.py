"""`executor=processes`: the photos of a run on several processes of this machine, by joblib's process pool."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from harness.pipeline import Pipeline
from harness.pipeline.cache import StageCache
from harness.references.sets import ReferencePhoto
from harness.tasks.photos.executing import Job, ShardResult, look_at, predict_on
from harness.tasks.photos.predicting import Predictions

AtLeastOne = Annotated[int, Field(ge=1)]
#: A process that has had nothing to do for so long ends, and gives its memory back.
_IDLE_SECONDS = 10


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass
class _Processes:
    """A pool that is made anew where a process of it has died, which breaks all of it."""

    size: int
    died: tuple[type[BaseException], ...] = (BrokenProcessPool,)
    _pool: list[Any] = field(default_factory=list)

    def submit(self, job: Job, photos: Sequence[ReferencePhoto]) -> Future[ShardResult]:
        """Give a shard to a process."""
        from joblib.externals.loky import ProcessPoolExecutor

        try:
            future: Future[ShardResult] = self._pool[0].submit(look_at, job, photos)
        except (IndexError, BrokenProcessPool):
            self._pool[:] = [ProcessPoolExecutor(self.size, timeout=_IDLE_SECONDS)]
            future = self._pool[0].submit(look_at, job, photos)
        return future

    def end(self) -> None:
        """End the processes."""
        for pool in self._pool:
            pool.shutdown(wait=True, kill_workers=True)


@dataclass(frozen=True)
class ProcessesExecutor:
    """`workers` processes, each with its own models on one core."""

    workers: AtLeastOne | None
    shard: AtLeastOne
    retries: Annotated[int, Field(ge=0)]

    def predict(
        self, pipeline: Pipeline, photos: Sequence[ReferencePhoto], cache: StageCache | None, quiet: bool
    ) -> Predictions:
        """What the pipeline says about the photos."""
        shards = -(-len(photos) // self.shard)
        pool = _Processes(max(1, min(self.workers or cores(), shards)))
        try:
            return predict_on(pool, Job.of(pipeline, cache), photos, self.shard, self.retries, quiet)
        finally:
            pool.end()

"""`executor=ray`: the photos of a run on the actors of a Ray cluster, which keep their models.

Ray is started on loopback, without its dashboard, and reports nothing to anybody. A cluster that is there already was
started by somebody else, by their own rules.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from harness.base.errors import HarnessError
from harness.base.extras import need
from harness.base.loopback import keep_ray_here
from harness.pipeline import Pipeline
from harness.pipeline.cache import StageCache
from harness.references.sets import ReferencePhoto
from harness.tasks.photos.executing import Job, ShardResult, look_at, predict_on
from harness.tasks.photos.on_processes import AtLeastOne, cores
from harness.tasks.photos.predicting import Predictions

#: Results are small: without this, Ray takes a third of the memory for them.
_OBJECT_STORE_BYTES = 256_000_000


class _Actor:
    """A process of the cluster; the models stay open from one shard to the next."""

    def look_at(self, job: Job, photos: Sequence[ReferencePhoto]) -> ShardResult:
        """A shard."""
        return look_at(job, photos)


@dataclass
class _Actors:
    """Actors that Ray starts again where they die. A shard that was under way then is given out anew by the run, so
    that a photo that kills every actor is found."""

    size: int
    died: tuple[type[BaseException], ...]
    _idle: list[Any] = field(default_factory=list)
    _all: list[Any] = field(default_factory=list)
    _jobs: dict[Job, Any] = field(default_factory=dict)

    def start(self) -> None:
        """Ask for all of them; they begin to load while shards are made."""
        import ray

        kind = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=0)(_Actor)
        self._all = [kind.remote() for _ in range(self.size)]
        self._idle = list(self._all)

    def submit(self, job: Job, photos: Sequence[ReferencePhoto]) -> Future[ShardResult]:
        """Give a shard to an actor. The pipeline is put into the cluster once."""
        import ray

        if job not in self._jobs:
            self._jobs[job] = ray.put(job)
        actor, done = self._idle.pop(), Future[ShardResult]()
        reference = actor.look_at.remote(self._jobs[job], photos)
        threading.Thread(target=self._wait, args=(reference, actor, done), daemon=True).start()
        return done

    def _wait(self, reference: Any, actor: Any, done: Future[ShardResult]) -> None:
        import ray

        try:
            result, error = ray.get(reference), None
        except BaseException as raised:  # noqa: BLE001 - it is raised again by whoever asks the future
            result, error = None, raised
        self._idle.append(actor)  # before anybody is told, and asks for one
        if error is None:
            done.set_result(result)
        else:
            done.set_exception(error)

    def end(self) -> None:
        """End the actors; the cluster stays."""
        import ray

        for actor in self._all:
            ray.kill(actor)


@dataclass(frozen=True)
class RayExecutor:
    """`workers` actors, on this machine (`address` is local), on the cluster that it is part of (auto), or on that of a
    head (HOST:PORT)."""

    address: str
    workers: AtLeastOne | None
    shard: AtLeastOne
    retries: Annotated[int, Field(ge=0)]

    def predict(
        self, pipeline: Pipeline, photos: Sequence[ReferencePhoto], cache: StageCache | None, quiet: bool
    ) -> Predictions:
        """What the pipeline says about the photos."""
        need("executor=ray", "ray")
        connect(self.address, self.workers)
        import ray

        shards = -(-len(photos) // self.shard)
        there = int(ray.cluster_resources().get("CPU", 1))  # type: ignore[no-untyped-call]
        size = max(1, min(self.workers or there, there, shards))
        pool = _Actors(size, (ray.exceptions.RayActorError, ray.exceptions.WorkerCrashedError))
        pool.start()
        try:
            return predict_on(pool, Job.of(pipeline, cache), photos, self.shard, self.retries, quiet)
        finally:
            pool.end()


def connect(address: str, workers: int | None) -> None:
    """Join a cluster, or start one: once a process, for all runs of a sweep. Raises HarnessError where it cannot."""
    keep_ray_here(address == "local")
    import ray

    if ray.is_initialized():
        return
    own: dict[str, Any] = {
        "num_cpus": workers or cores(),
        "include_dashboard": False,
        "_node_ip_address": "127.0.0.1",
        "object_store_memory": _OBJECT_STORE_BYTES,
    }
    try:
        ray.init(
            address=address,
            log_to_driver=False,
            logging_level=logging.ERROR,
            namespace="harness",
            **(own if address == "local" else {}),
        )
    except (ConnectionError, ValueError, RuntimeError, OSError) as error:
        raise HarnessError(f"executor.address={address}: no Ray cluster can be reached: {error!s:.300}") from error
    if address == "local" and not str(ray.get_runtime_context().gcs_address).startswith("127.0.0.1:"):
        ray.shutdown()
        raise HarnessError("executor.address=local: Ray was imported before, and would not listen on loopback alone")

"""Beyond one process: workers beside ONNX Runtime's own threads, what they cost a photo, and the shared cache.

Seconds are wall time of one more photo: the difference between many photos and few, so that starting workers does not
count. What starting costs is printed. Each photo is new to the cache, which is off.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

from PIL import Image as Pictures

from bench.measure import row
from harness.config import build, compose
from harness.pipeline import Pipeline
from harness.pipeline.cache.shared import SharedCache
from harness.pipeline.cache.stores import FolderStore
from harness.pipeline.looks import Look
from harness.references.sets import ReferencePhoto
from harness.tasks.photos.on_processes import ProcessesExecutor
from harness.tasks.photos.on_ray import RayExecutor
from harness.tasks.photos.predicting import Executor, LocalExecutor, predict
from harness.types import BibBox, BibFaceLink, FaceBox

#: Real photos, few and many, and made-up ones, on which the stages do next to nothing.
REAL, MADE_UP = (4, 20), (200, 1200)
#: What a worker may add to a photo, in seconds.
LIMIT = 0.010


@dataclass(frozen=True)
class Brightness:
    """Reads the brightness of a photo as its number."""

    CHEAP: ClassVar[frozenset[str]] = frozenset()
    models: tuple[Any, ...] = ()

    def load(self) -> None:
        """It has no models."""

    def read(self, look: Look, faces: Sequence[FaceBox]) -> tuple[BibBox, ...]:  # noqa: ARG002 - the interface
        """One bib."""
        number = look.see("text", self, None, lambda image: int(image[0, 0].sum()))
        return (BibBox(x=0.4, y=0.3, w=0.2, h=0.1, number=str(number), score=0.5),)

    def detect(self, look: Look) -> tuple[FaceBox, ...]:  # noqa: ARG002 - the interface
        """No face."""
        return ()

    def link(self, bibs: Sequence[BibBox], faces: Sequence[FaceBox], aspect: float) -> tuple[BibFaceLink, ...]:  # noqa: ARG002
        """No link."""
        return ()


def measure() -> list[dict[str, Any]]:
    """One process for each core, what workers cost, and what a shared cache saves."""
    with tempfile.TemporaryDirectory() as name:
        made_up = _made_up(Path(name), MADE_UP[1])
        cheap = Pipeline(Brightness(), Brightness(), Brightness())
        spec = build(compose(["preset=balanced"]))
        real, photos = spec.photos.pipeline, spec.photos.references.photos
        real.load()
        threads = _one_more(LocalExecutor(), real, photos, REAL)
        workers = _one_more(ProcessesExecutor(None, 2, 0), real, photos, REAL)
        local = _one_more(LocalExecutor(), cheap, made_up, MADE_UP)
        beside: dict[str, Executor] = {"processes": ProcessesExecutor(2, 16, 0), "ray": RayExecutor("local", 2, 16, 0)}
        beside["ray"].predict(cheap, made_up[:2], None, True)  # starts it
        added = {kind: _one_more(executor, cheap, made_up, MADE_UP) - local for kind, executor in beside.items()}
        return [
            row("one more photo, a process for each core", workers, "ONNX Runtime's threads", threads, 0.7),
            *(
                row(f"executor={kind}, added to a photo", max(seconds, 1e-6), "10 ms", LIMIT, 1.0)
                for kind, seconds in added.items()
            ),
            _shared(real, photos[: REAL[0]]),
        ]


def _one_more(
    executor: Executor, pipeline: Pipeline, photos: Sequence[ReferencePhoto], sizes: tuple[int, int]
) -> float:
    """Seconds of one more photo."""
    few, many = (_seconds(partial(executor.predict, pipeline, photos[:size], None, True)) for size in sizes)
    print(f"  {executor}: {sizes[0]} photos {few:.2f} s, {sizes[1]} photos {many:.2f} s; {_memory()}", flush=True)
    return (many - few) / (sizes[1] - sizes[0])


def _shared(pipeline: Pipeline, photos: Sequence[ReferencePhoto]) -> dict[str, Any]:
    """A machine that has computed nothing, on a store that has everything, beside one that computes it."""
    with tempfile.TemporaryDirectory() as name:
        store = FolderStore(Path(name))
        caches = [
            SharedCache(Path(name) / machine, 10**9, uri=name, store=store, faces=True) for machine in ("one", "two")
        ]
        cold = _seconds(lambda: predict(pipeline, photos, caches[0], quiet=True))
        warm = _seconds(lambda: predict(pipeline, photos, caches[1], quiet=True))
        kept = [len(store.read(folder, key) or b"") for folder in store.folders() for key in store.names(folder)]
        entries, size = len(kept) / len(photos), sum(kept) / len(photos)
        print(f"  shared store: {entries:.0f} entries and {size:.0f} bytes a photo", flush=True)
        return row(f"{len(photos)} photos from a shared folder", warm, "computed", cold, 5.0)


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _memory() -> str:
    own, ended = (resource.getrusage(who).ru_maxrss // 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return f"at most {own} MB here, {ended} MB in a process that has ended"


def _made_up(folder: Path, count: int) -> list[ReferencePhoto]:
    found = []
    for number in range(count):
        path = folder / f"{number}.png"
        Pictures.new("RGB", (8, 6), (number % 256, number // 256, 0)).save(path)
        digest = sha256(path.read_bytes()).hexdigest()
        found.append(ReferencePhoto(digest, path.name, path, "iteration", True, (), (), True, (), (), None))
    return found

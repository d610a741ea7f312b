"""The pipeline beside a bare loop over its models, and a sweep on a warm cache beside the same sweep without one.

On the photos of the sample set, or of the reference set that HARNESS_BENCH_ROOT names. Wall time, best of several: both
sides use all cores.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from bench.measure import row
from harness.config import build, compose
from harness.evaluate import predict, score
from harness.pipeline import Pipeline
from harness.pipeline.bibs.rapidocr import RapidOcr, bounds
from harness.pipeline.cache import StageCache
from harness.pipeline.faces.seen import to_faces
from harness.pipeline.faces.yunet import YuNet
from harness.pipeline.links import GeometricLinker
from harness.references.photos import read_photo
from harness.references.sets import ReferencePhoto
from harness.types import Box

_WHOLE = Box(x=0.0, y=0.0, w=1.0, h=1.0)
#: The cold sweep is measured on so many photos, and so is the warm one.
SWEEP_PHOTOS = 6


def measure() -> list[dict[str, Any]]:
    """Overhead of the harness, and what the cache saves."""
    spec = build(compose([*_references(), "preset=fast"]))
    photos = spec.references.load().photos
    spec.pipeline.load()
    predict(spec.pipeline, photos[:2], None)
    ours = _best(lambda: predict(spec.pipeline, photos, None))
    bare = _best(lambda: _bare_loop(spec.pipeline, photos))
    return [
        row(f"preset fast, {len(photos)} photos", ours, "bare loop over the same models", bare, 0.9),
        _sweep(spec.pipeline, photos[:SWEEP_PHOTOS]),
    ]


def _references() -> tuple[str, ...]:
    root = os.environ.get("HARNESS_BENCH_ROOT")
    return ("references=staging", f"references.root={root}", "references.split=full") if root else ()


def _best(work: Callable[[], object], times: int = 3) -> float:
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def _bare_loop(pipeline: Pipeline, photos: Sequence[ReferencePhoto]) -> None:
    """What anybody would write: decode, find faces, find text, read what hangs below a face."""
    face, bib = pipeline.face, pipeline.bib
    assert isinstance(face, YuNet)
    assert isinstance(bib, RapidOcr)
    for photo in photos:
        image = read_photo(photo.path, photo.sha256)
        aspect = image.shape[1] / image.shape[0]
        faces = to_faces(face._see(image), face.threshold)
        for corners in bib._find(_WHOLE, bib.long_side, image):
            if bib.torso.wearer(faces, bounds(corners), aspect) is not None:
                bib._read(corners, image)


def _sweep(pipeline: Pipeline, photos: Sequence[ReferencePhoto]) -> dict[str, Any]:
    """30 settings of link geometry and thresholds: on a warm cache, and computed anew each time."""
    assert isinstance(pipeline.link, GeometricLinker)
    assert isinstance(pipeline.face, YuNet)
    settings = [
        replace(
            pipeline,
            link=replace(pipeline.link, half_width=width, max_drop=drop),
            face=replace(pipeline.face, threshold=threshold),
        )
        for width, drop, threshold in product((1.0, 1.5, 2.0), (4.0, 5.0), (0.6, 0.7, 0.75, 0.8, 0.85))
    ]
    thresholds = build(compose()).thresholds

    def cards(setting: Pipeline, cache: StageCache | None) -> object:
        return score(thresholds, predict(setting, photos, cache)[0]).cards

    with tempfile.TemporaryDirectory() as folder:
        cache = StageCache(Path(folder), 10**9)
        for setting in settings:
            predict(setting, photos, cache)
        start = time.perf_counter()
        warm = [cards(setting, cache) for setting in settings]
        ours = time.perf_counter() - start
    start = time.perf_counter()
    cold = [cards(setting, None) for setting in settings]
    peer = time.perf_counter() - start
    if warm != cold:
        raise AssertionError("a warm run's scorecards differ from the cold run's")
    return row(f"sweep of {len(settings)} settings, {len(photos)} photos", ours, "the same without a cache", peer, 50.0)

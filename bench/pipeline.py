"""The pipeline beside a bare loop over its models, `fast` beside `plain`, a sweep on a warm cache beside a cold one.

On the photos of the sample set, or of the reference set that HARNESS_BENCH_ROOT names. Wall time, since both sides use
all cores; both work on the same photo in turn, so that other work on the machine slows them alike.
"""

from __future__ import annotations

import math
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
from harness.pipeline import Pipeline
from harness.pipeline.bibs.rapidocr import RapidOcr
from harness.pipeline.bibs.texts import bounds
from harness.pipeline.cache import StageCache
from harness.pipeline.faces.seen import to_faces
from harness.pipeline.faces.yunet import YuNet
from harness.pipeline.links.geometric import GeometricLinker
from harness.references.photos import read_photo
from harness.references.sets import ReferencePhoto
from harness.tasks.photos.predicting import predict
from harness.tasks.photos.scores import score_cards

#: Presets are compared on so many photos from all over the set; the sweeps, warm and cold, are measured on fewer.
PHOTOS, SWEEP_PHOTOS = 24, 6


def measure() -> list[dict[str, Any]]:
    """Overhead of the harness, and what the cache saves."""
    spec = build(compose([*_references(), "preset=fast"]))
    photos = spec.photos.references.photos
    photos = photos[:: -(-len(photos) // PHOTOS)]
    fast, plain = spec.photos.pipeline, build(compose([*_references(), "preset=plain"])).photos.pipeline
    fast.load()
    plain.load()
    predict(fast, photos[:2], None, quiet=True)
    ours, bare, peer = _in_turn(
        photos,
        lambda photo: predict(fast, [photo], None, quiet=True),
        lambda photo: _bare_loop(fast, [photo]),
        lambda photo: predict(plain, [photo], None, quiet=True),
    )
    return [
        row(f"preset fast, {len(photos)} photos", ours, "bare loop over the same models", bare, 0.9),
        row(f"preset fast, {len(photos)} photos", ours, "preset plain", peer, 3.0),
        _sweep(fast, photos[:SWEEP_PHOTOS]),
    ]


def _references() -> tuple[str, ...]:
    root = os.environ.get("HARNESS_BENCH_ROOT")
    return ("references=staging", f"references.root={root}", "references.split=full") if root else ()


def _in_turn(photos: Sequence[ReferencePhoto], *ways: Callable[[ReferencePhoto], object]) -> list[float]:
    """Seconds of each way over all photos: each photo is done in every way before the next, the best of three goes."""
    seconds = [0.0] * len(ways)
    for photo in photos:
        best = [math.inf] * len(ways)
        for _ in range(3):
            for number, way in enumerate(ways):
                start = time.perf_counter()
                way(photo)
                best[number] = min(best[number], time.perf_counter() - start)
        seconds = [total + least for total, least in zip(seconds, best, strict=True)]
    return seconds


def _bare_loop(pipeline: Pipeline, photos: Sequence[ReferencePhoto]) -> None:
    """What anybody would write: decode, find faces, find text around them, read what hangs below one."""
    face, bib = pipeline.face, pipeline.bib
    assert isinstance(face, YuNet)
    assert isinstance(bib, RapidOcr)
    for photo in photos:
        image = read_photo(photo.path, photo.sha256)
        aspect = image.shape[1] / image.shape[0]
        faces = to_faces(face._see(image), face.threshold)
        for part, long_side in bib.scenes((image.shape[1], image.shape[0]), faces):
            for corners in bib._find(part, long_side, 0.0, image):
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
    thresholds = build(compose()).photos.scoring

    def cards(setting: Pipeline, cache: StageCache | None) -> object:
        cards = score_cards(predict(setting, photos, cache, quiet=True)[0], thresholds)
        return {name: card.total() for name, card in cards.items()}

    with tempfile.TemporaryDirectory() as folder:
        cache = StageCache(Path(folder), 10**9)
        for setting in settings:
            predict(setting, photos, cache, quiet=True)
        start = time.perf_counter()
        warm = [cards(setting, cache) for setting in settings]
        ours = time.perf_counter() - start
    start = time.perf_counter()
    cold = [cards(setting, None) for setting in settings]
    peer = time.perf_counter() - start
    if warm != cold:
        raise AssertionError("a warm run's scorecards differ from the cold run's")
    return row(f"sweep of {len(settings)} settings, {len(photos)} photos", ours, "the same without a cache", peer, 50.0)

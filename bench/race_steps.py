"""What a few pixels more or less of `bib.long_side` change, and what presets cost: parts of `scripts/bench races`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import cv2
import numpy as np

import harness
from harness.config import build, compose
from harness.pipeline import Pipeline
from harness.pipeline.bibs.rapidocr import RapidOcr
from harness.pipeline.looks import Image, Look
from harness.testing import Picture

STEPS = (0, -32, -16, 16, 32)
#: CPU seconds are those of every so many-th photo, the lesser of two times.
EVERY, TIMES = 5, 2


def steps(roots: Sequence[Path], presets: Sequence[str], overrides: Sequence[str]) -> int:
    """Print the mean F1 of the sets at each size, and the largest change from that of the preset."""
    for preset in presets:
        reader = build(compose([f"preset={preset}", *overrides, f"references.root={roots[0]}"])).photos.pipeline.bib
        assert isinstance(reader, RapidOcr)
        found = {}
        for step in STEPS:
            size = f"bib.long_side={reader.long_side + step}"
            runs = [harness.run(f"preset={preset}", *overrides, size, f"references.root={root}") for root in roots]
            found[step] = fmean(run.metrics["number/f1"] for run in runs)
            each = " ".join(f"{run.metrics['number/f1']:.3f}" for run in runs)
            print(f"{preset:<9} {step:+d} px  mean F1 {found[step]:.4f}  ({each})", flush=True)
        change = max(abs(value - found[0]) for value in found.values())
        print(f"{preset:<9} changes by at most {change:.4f}", flush=True)
    return 0


def seconds(photos: Sequence[Path], presets: Sequence[str], overrides: Sequence[str]) -> int:
    """Print the CPU seconds a photo of bibs, faces and links, computed anew, and their ratio to the first preset."""
    pipelines = [
        build(compose(["references=staging", f"preset={preset}", *overrides])).photos.pipeline for preset in presets
    ]
    for pipeline in pipelines:
        pipeline.load()
    taken: list[list[float]] = [[] for _ in pipelines]
    for path in photos[::EVERY]:
        image = _image(path)
        for pipeline, spent in zip(pipelines, taken, strict=True):
            spent.append(min(_cpu(pipeline, image) for _ in range(TIMES)))
    for preset, spent in zip(presets, taken, strict=True):
        ratio = fmean(taken[0]) / fmean(spent)
        print(f"{preset:<9} {fmean(spent):.3f} CPU s a photo, {ratio:.2f} times the photos of {presets[0]}")
    return 0


def _image(path: Path) -> Image:
    image = cv2.imread(str(path))
    assert image is not None
    return np.asarray(image, np.uint8)


def _cpu(pipeline: Pipeline, image: Image) -> float:
    start = time.process_time()
    pipeline.predict(Look(Picture(image)))
    return time.process_time() - start

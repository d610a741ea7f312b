"""The timing pass: how long the pipeline takes, measured on some photos, where the answers came from the cache.

The seconds in the cache belong to another hour and another load. So a few photos, always the same of a set, are
predicted cold several times; the median of each photo is what it costs, and their mean stands for the others.
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable, Sequence
from functools import cache
from heapq import nsmallest
from pathlib import Path
from statistics import fmean, median

from harness.pipeline import Pipeline
from harness.pipeline.cache import key_of
from harness.references.sets import ReferencePhoto
from harness.runs.plan import TimingPass
from harness.scoring.speed import CPU_SECONDS, PHOTOS_PER_SECOND, SECONDS, pipeline_seconds, stage_seconds
from harness.tasks.photos.predicting import EvaluatedPhoto, predict

MOST_PHOTOS = 8
ROUNDS = 3


def timing_pass(pipeline: Pipeline, photos: Sequence[EvaluatedPhoto]) -> TimingPass:
    """How to measure the pipeline on these photos. What is timed is what stages compute, and that is what they were
    asked: so the key is made of the questions, and a sweep over values that lead to the same ones (links, thresholds of
    readings, rules for numbers) measures once."""
    chosen = nsmallest(MOST_PHOTOS, photos, key=lambda item: _chance(item.photo))
    sample = [item.photo for item in chosen]
    return TimingPass(
        key=key_of([[item.sha256, item.asked.hex()] for item in chosen], len(photos), machine()),
        words=f"timing pass: {len(sample)} photo{'' if len(sample) == 1 else 's'}, {ROUNDS} times",
        measure=lambda: measure(pipeline, sample, len(photos)),
    )


def sampled(photos: Sequence[ReferencePhoto]) -> list[ReferencePhoto]:
    """The photos that are timed: by chance, which their hashes decide."""
    return nsmallest(MOST_PHOTOS, photos, key=_chance)


def _chance(photo: ReferencePhoto) -> bytes:
    return hashlib.sha256(photo.sha256.encode()).digest()


def measure(pipeline: Pipeline, sample: Sequence[ReferencePhoto], count: int) -> dict[str, float]:
    """The seconds of `count` photos, after those of a sample. None where no photo of it came through every time."""
    rounds = [{item.sha256: item for item in predict(pipeline, sample, None, quiet=True)[0]} for _ in range(ROUNDS)]
    through = [photo.sha256 for photo in sample if all(photo.sha256 in one for one in rounds)]
    if not through:
        return {}

    def total(cost: Callable[[EvaluatedPhoto], float]) -> float:
        return count * fmean(median(cost(one[sha256]) for one in rounds) for sha256 in through)

    def of_stage(stage: str) -> Callable[[EvaluatedPhoto], float]:
        return lambda item: item.seconds.get(stage, 0.0)

    stages = sorted({stage for one in rounds for item in one.values() for stage in item.seconds})
    seconds = total(lambda item: pipeline_seconds(item.seconds))
    found = {stage_seconds(stage): total(of_stage(stage)) for stage in stages}
    found |= {SECONDS: seconds, CPU_SECONDS: total(lambda item: pipeline_seconds(item.cpu_seconds))}
    return found | ({PHOTOS_PER_SECOND: count / seconds} if seconds else {})


@cache
def machine() -> tuple[str, int, str]:
    """What a time depends on beside the work: the processor, how many cores may be used, and the platform."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return _processor(), cores, f"{platform.system()} {platform.machine()}"


def _processor() -> str:
    """The model of the processor, which Python itself does not tell on Linux."""
    told = Path("/proc/cpuinfo")
    lines = told.read_text().splitlines() if told.is_file() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor())

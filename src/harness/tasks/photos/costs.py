"""What the photos of a run took: seconds and answers from the cache, summed over all of them in one pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.runs.plan import CACHED_PHOTOS
from harness.scoring.speed import PHOTOS_PER_SECOND, SECONDS, pipeline_seconds, stage_seconds
from harness.tasks.photos.predicting import EvaluatedPhoto


@dataclass
class Costs:
    """Sums over photos, each by stage or step but for the seconds of the whole pipeline. `cached` photos needed
    nothing to be computed; those that took the cache or a worker have seconds of another hour or another load."""

    photos: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    pipeline: float = 0.0
    hits: dict[str, float] = field(default_factory=dict)
    misses: dict[str, float] = field(default_factory=dict)
    steps: dict[str, float] = field(default_factory=dict)
    cached: int = 0
    elsewhere: bool = False

    def add(self, photos: Sequence[EvaluatedPhoto]) -> None:
        """Some more photos."""
        for photo in photos:
            self.photos += 1
            self.pipeline += pipeline_seconds(photo.seconds)
            self.cached += bool(photo.hits) and not photo.misses
            self.elsewhere = self.elsewhere or bool(photo.hits or photo.worker)
            for total, own in (
                *((self.seconds, photo.seconds), (self.hits, photo.hits)),
                *((self.misses, photo.misses), (self.steps, photo.steps)),
            ):
                _add(total, own)

    @property
    def timed(self) -> bool:
        """Whether there are seconds, and every answer was computed in this run and by its own process, so that they
        are those of this run, and of all cores of one machine. Those of workers are not: each has a core, beside
        others."""
        return bool(self.seconds) and not self.elsewhere

    @property
    def speed(self) -> dict[str, float]:
        """How long the pipeline took, and how many photos it does in a second; nothing where the cache has answered,
        or nobody took the time."""
        if not self.timed:
            return {}
        return {SECONDS: self.pipeline} | ({PHOTOS_PER_SECOND: self.photos / self.pipeline} if self.pipeline else {})

    @property
    def idle_steps(self) -> tuple[str, ...]:
        """The steps that changed nothing on any photo."""
        return tuple(step for step, n in self.steps.items() if not n)

    def metrics(self) -> dict[str, float]:
        """The seconds of each stage where all were computed in this run, and how often the cache helped."""
        costs = {stage_seconds(stage): total for stage, total in self.seconds.items()} if self.timed else {}
        costs |= {f"cache/{stage}_hits": total for stage, total in self.hits.items()}
        costs |= {f"cache/{stage}_misses": total for stage, total in self.misses.items()}
        return costs | ({CACHED_PHOTOS: self.cached} if self.cached else {})


def _add(total: dict[str, float], own: Mapping[str, float]) -> None:
    for name, value in own.items():
        total[name] = total.get(name, 0) + value

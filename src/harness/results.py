"""What an evaluation comes to, before it is written anywhere."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Protocol

from pydantic import Field

from harness.scoring import (
    Behaviour,
    BibErrorScorecard,
    BibScorecard,
    FaceErrorScorecard,
    FaceScorecard,
    Interval,
    LinkScorecard,
    NumberScorecard,
    Slice,
    Tally,
)
from harness.types import PhotoLabels, PhotoPrediction

#: The kinds of mistakes that are shown one by one, by the names that MLflow's image grid has them under.
MISTAKES = ("missed_bibs", "false_bibs", "misread_bibs", "missed_faces", "false_faces")

Overlap = Annotated[float, Field(gt=0, le=1)]


@dataclass(frozen=True)
class Thresholds:
    """The least overlap at which a prediction matches a label; runs with different ones are not comparable."""

    bib_iou: Overlap
    face_iou: Overlap


@dataclass(frozen=True)
class PhotoItem:
    """One photo of the reference set that was evaluated."""

    name: str
    sha256: str
    path: Path
    labels: PhotoLabels


@dataclass(frozen=True)
class EvaluatedPhoto(PhotoItem):
    """A photo with what the pipeline said about it, the seconds that each stage took and how often the cache helped."""

    prediction: PhotoPrediction
    seconds: Mapping[str, float]
    hits: Mapping[str, int]
    misses: Mapping[str, int]
    steps: Mapping[str, int]


@dataclass(frozen=True)
class FailedPhoto(PhotoItem):
    """A photo that could not be evaluated, and why; `details` has the traceback of an unexpected error."""

    reason: str
    details: str = ""


@dataclass(frozen=True)
class Scores:
    """The scorecards of a run, photo by photo, and recall by tag."""

    bib: Tally[BibScorecard]
    number: Tally[NumberScorecard]
    face: Tally[FaceScorecard]
    link: Tally[LinkScorecard]
    bib_errors: Tally[BibErrorScorecard]
    face_errors: Tally[FaceErrorScorecard]
    slices: tuple[Slice, ...]

    @property
    def tallies(self) -> dict[str, Tally[Any]]:
        """The scorecards by name."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "slices"}

    @property
    def cards(self) -> dict[str, Any]:
        """Their totals by name, as `format_scorecard` takes them."""
        return {name: tally.scorecard() for name, tally in self.tallies.items()}


@dataclass(frozen=True)
class ItemRates:
    """Rates over items that are no photos (tables, samples), kept item by item so that two runs can be paired.

    Each metric has a numerator and a denominator for every item; its rate is the sum of the one over the sum of the
    other.
    """

    items: tuple[str, ...]
    rates: Mapping[str, tuple[tuple[float, ...], tuple[float, ...]]]


@dataclass(frozen=True)
class Extra:
    """What a run has beside its photos: numbers and tags for MLflow, a text for the terminal, the rates that a
    baseline's are paired with, a self-contained fragment for an HTML report, and what could not be evaluated.

    `data_digest` is over what it was judged on; runs in which it differs cannot be compared."""

    name: str
    metrics: Mapping[str, float]
    tags: Mapping[str, str]
    text: str
    paired: ItemRates | None = None
    data_digest: str = ""
    html: str = ""
    failures: tuple[str, ...] = ()


class ExtraSource(Protocol):
    """Something else that a run may evaluate: the class behind a choice such as `confidence=sample`."""

    def inputs(self) -> str:
        """A digest of the files that it reads: with the config, all that its result depends on."""

    def run(self, folder: Path, seed: int) -> Extra | None:
        """Do it, and leave the files to be kept with the run in `folder`."""


@dataclass(frozen=True)
class NoExtra:
    """The class behind `off`."""

    def inputs(self) -> str:
        """It reads nothing."""
        return ""

    def run(self, folder: Path, seed: int) -> None:
        """Nothing to do."""


@dataclass(frozen=True)
class Evaluation:
    """A reference set as one configuration sees it. The failed photos are in no scorecard."""

    data_digest: str
    thresholds: Thresholds
    evaluated: tuple[EvaluatedPhoto, ...]
    failed: tuple[FailedPhoto, ...]
    scores: Scores
    intervals: Mapping[str, Interval]
    behaviours: Mapping[str, Behaviour]
    extras: tuple[Extra, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every photo, and every item of the extras, was evaluated."""
        return not self.failed and not any(extra.failures for extra in self.extras)

    @property
    def photos(self) -> int:
        """How many photos the reference set has."""
        return len(self.evaluated) + len(self.failed)

    @property
    def idle_steps(self) -> tuple[str, ...]:
        """Steps that are switched on and made no difference on any photo."""
        return tuple(sorted(step for step, n in _sum(item.steps for item in self.evaluated).items() if not n))

    @property
    def predictions_digest(self) -> str:
        """A digest over all predictions and what extras measured; runs that share it differ in nothing scored."""
        total = hashlib.sha256()
        for item in self.evaluated:
            total.update(repr((item.sha256, item.prediction)).encode())
        for extra in self.extras:
            total.update(repr((extra.name, sorted(extra.metrics.items()))).encode())
        return total.hexdigest()

    def metrics(self) -> dict[str, float]:
        """All numbers by their MLflow names; what stands before the slash is a section of charts in its UI."""
        metrics: dict[str, float] = {}
        for card in self.scores.cards.values():
            metrics |= card.metrics()
        metrics |= {slice.metric: slice.recall for slice in self.scores.slices}
        for name, interval in self.intervals.items():
            key = f"interval/{name.replace('/', '_')}"
            metrics |= {f"{key}_low": interval.low, f"{key}_high": interval.high}
        for what, behaviour in self.behaviours.items():
            if behaviour.reliability.ece is not None:
                metrics[f"calibration/{what}_ece"] = behaviour.reliability.ece
        stages = _sum(item.seconds for item in self.evaluated)
        total = sum(stages.values())
        metrics |= {f"runtime/{stage}_seconds": seconds for stage, seconds in stages.items()}
        metrics |= {"runtime/pipeline_seconds": total}
        metrics |= {f"cache/{stage}_hits": hits for stage, hits in _sum(item.hits for item in self.evaluated).items()}
        metrics |= {f"cache/{stage}_misses": n for stage, n in _sum(item.misses for item in self.evaluated).items()}
        metrics |= {"count/evaluated": len(self.evaluated), "count/failed": len(self.failed)}
        if total:
            metrics["runtime/photos_per_second"] = len(self.evaluated) / total
        for extra in self.extras:
            metrics |= extra.metrics
        return metrics

    def curves(self) -> dict[str, dict[int, float]]:
        """The metrics that have a value at every threshold, by name and hundredths of the threshold."""
        curves = [behaviour.metrics(what) for what, behaviour in self.behaviours.items()]
        return {name: steps for part in curves for name, steps in part.items()}


def _sum(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The sum of each name over all parts."""
    total: dict[str, float] = {}
    for part in parts:
        for name, value in part.items():
            total[name] = total.get(name, 0) + value
    return total

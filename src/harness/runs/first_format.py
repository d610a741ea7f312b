"""Reading a `run.json` of the first format: photos and their scorecards at the top level, and extras beside them.

Photos become the task `photos`, each extra becomes a task of its name. The scorecards of photos get the declarations
that they have today. An extra kept its rates item by item without saying what was counted; each of its rates becomes
one that sums the same numerators over the same denominators.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from harness.runs.archive import PHOTOS, BenchmarkRun, RunMetadata, TaskData, TaskRun, combined_digest
from harness.runs.items import Counts, FailedItem, Item, PhotoDetail
from harness.scoring import (
    BibErrorScorecard,
    BibScorecard,
    Counted,
    Declaration,
    FaceErrorScorecard,
    FaceScorecard,
    Interval,
    LinkScorecard,
    NumberScorecard,
    Rate,
    Slice,
)
from harness.scoring.confidence_card import ConfidenceScorecard
from harness.scoring.speed import SPEED
from harness.types import PhotoPrediction

#: The scorecards that a run of the first format could have, in the order in which they are shown.
CARDS = (NumberScorecard, BibScorecard, FaceScorecard, LinkScorecard, BibErrorScorecard, FaceErrorScorecard)

#: What an item of an extra was, and which of their rates were gated.
_NOUNS = {"tables": "table", "confidence": "sample"}
_JUDGED = ("table/fuzzy_f1",)

Listed = tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(frozen=True)
class _Photo:
    name: str
    sha256: str
    status: str
    expected: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    seconds: float = 0.0
    prediction: PhotoPrediction = field(default_factory=PhotoPrediction)
    counts: Counts = field(default_factory=dict)

    def item(self) -> Item:
        detail = PhotoDetail(self.status, self.expected, self.read, self.seconds, self.prediction)
        return Item(self.sha256, self.name, self.counts, photo=detail)


@dataclass(frozen=True)
class _Failed:
    name: str
    sha256: str
    reason: str


@dataclass(frozen=True)
class _Rates:
    items: tuple[str, ...]
    rates: Mapping[str, Listed]


@dataclass(frozen=True)
class _Extra:
    name: str
    metrics: Mapping[str, float] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    paired: _Rates | None = None
    data_digest: str = ""
    failures: tuple[str, ...] = ()

    def task(self) -> TaskRun:
        """The extra as a task. What failed was kept as `name: reason`."""
        rates = self.paired or _Rates((), {})
        counts = _counts(rates)
        total = {name: sum(own[name] for own in counts) for name in (counts[0] if counts else ())}
        failed = [failure.partition(": ") for failure in self.failures]
        return TaskRun(
            data=TaskData(self.name, "", self.data_digest),
            noun=_NOUNS.get(self.name, "item"),
            items=tuple(Item(one, one, {self.name: own}) for one, own in zip(rates.items, counts, strict=True)),
            failed=tuple(FailedItem(name, name, reason) for name, _, reason in failed),
            cards={self.name: Counted(self._declared(rates), total, self._figures())},
            text=self.text,
        )

    def _declared(self, paired: _Rates) -> Declaration:
        rates = {
            metric: Rate.of(metric, f"{metric} above", f"{metric} below", gate="judged" if metric in _JUDGED else "no")
            for metric in paired.rates
        }
        return Declaration(self.name, rates, figures=ConfidenceScorecard.DECLARED.figures if self._figures() else ())

    def _figures(self) -> dict[str, float]:
        known = (figure.metric for figure in ConfidenceScorecard.DECLARED.figures)
        return {metric: self.metrics[metric] for metric in known if metric in self.metrics}


@dataclass(frozen=True)
class _FirstFormat:
    metadata: RunMetadata
    metrics: Mapping[str, float]
    photo_results: tuple[_Photo, ...]
    failed_photos: tuple[_Failed, ...] = ()
    bib_scorecard: Mapping[str, float] | None = None
    number_scorecard: Mapping[str, float] | None = None
    face_scorecard: Mapping[str, float] | None = None
    link_scorecard: Mapping[str, float] | None = None
    bib_errors_scorecard: Mapping[str, float] | None = None
    face_errors_scorecard: Mapping[str, float] | None = None
    slices: tuple[Slice, ...] = ()
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    extras: tuple[_Extra, ...] = ()
    idle_steps: tuple[str, ...] = ()


@cache
def _adapter() -> TypeAdapter[_FirstFormat]:
    return TypeAdapter(_FirstFormat)


def convert(data: Mapping[str, Any]) -> BenchmarkRun:
    """A run of the first format as one of tasks. Raises a ValueError that names the field."""
    old = _adapter().validate_python(data)
    meta = old.metadata
    cards = {}
    for kind in CARDS:
        kept = getattr(old, f"{kind.DECLARED.name}_scorecard")
        if kept is not None:
            counted = kind.from_dict({name: int(count) for name, count in kept.items()}).counted()
            new = tuple(name for name in counted.counts if name not in kept)  # what nobody counted then
            cards[kind.DECLARED.name] = replace(counted, unknown=new)
    speed = {figure.metric: old.metrics[figure.metric] for figure in SPEED.figures if figure.metric in old.metrics}
    cards[SPEED.name] = Counted(SPEED, {}, speed)
    tasks = {
        PHOTOS: TaskRun(
            data=TaskData(meta.data_name, meta.data_split, meta.data_digest),
            noun="photo",
            items=tuple(photo.item() for photo in old.photo_results),
            failed=tuple(FailedItem(photo.sha256, photo.name, photo.reason) for photo in old.failed_photos),
            cards=cards,
            intervals=old.intervals,
            slices=old.slices,
        )
    }
    tasks |= {extra.name: extra.task() for extra in old.extras}
    digest = combined_digest({name: task.data for name, task in tasks.items()})
    return BenchmarkRun(replace(meta, data_digest=digest), old.metrics, tasks, old.idle_steps)


def _counts(paired: _Rates) -> list[dict[str, float]]:
    """Both sides of every rate, item by item."""
    sides = {
        f"{metric} {side}": values
        for metric, both in paired.rates.items()
        for side, values in zip(("above", "below"), both, strict=True)
    }
    return [{name: values[row] for name, values in sides.items()} for row in range(len(paired.items))]

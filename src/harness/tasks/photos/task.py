"""The task of photos: the pipeline finds and reads bibs, finds faces and links them, and labels judge it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

from harness.pipeline import Pipeline
from harness.pipeline.cache import CacheConfig
from harness.references.photos import read_photo
from harness.references.sets import ReferenceSet
from harness.runs.archive import PHOTOS, FailedItem, Item, PhotoDetail, TaskData, TaskRun, item_rows
from harness.runs.plan import Show, Showing, Shown, TaskResult
from harness.runs.suspects import suspects_among, witnesses_of
from harness.scoring import Declaration, number_status
from harness.scoring.detection import Thresholds
from harness.scoring.numbers import expected_numbers, read_numbers
from harness.tasks.photos.predicting import EvaluatedPhoto, FailedPhoto, predict
from harness.tasks.photos.scores import Scores, declared, score
from harness.tasks.photos.section import photo_table, show_photos


class ReferenceSource(Protocol):
    """Where a run's photos and labels come from."""

    def load(self) -> ReferenceSet:
        """Read, check and digest the set."""


@dataclass(frozen=True)
class PhotosTask:
    """The pipeline on the photos of a reference set."""

    source: ReferenceSource
    pipeline: Pipeline
    scoring: Thresholds
    cache: CacheConfig

    name = PHOTOS

    @cached_property
    def references(self) -> ReferenceSet:
        """The photos and labels, read once: whoever labels meanwhile does not change a run that is under way."""
        return self.source.load()

    def declares(self) -> tuple[Declaration, ...]:
        """The scorecards of photos."""
        return declared()

    def data(self) -> TaskData:
        """The reference set."""
        return TaskData(self.references.name, self.references.split, self.references.digest)

    def inputs(self) -> list[str]:
        """The weights of the models."""
        return [model.sha256 for model in self.pipeline.models]

    def thresholds(self) -> Mapping[str, float]:
        """At which overlap boxes match."""
        return asdict(self.scoring)

    def tags(self) -> Mapping[str, str]:
        """The models with their licences."""
        models = {f"model.{model.name}": f"{model.licence}, sha256 {model.sha256}" for model in self.pipeline.models}
        return {"model.licences": ", ".join(sorted({model.licence for model in self.pipeline.models})), **models}

    def load(self) -> None:
        """Open the models."""
        self.pipeline.load()

    def evaluate(self, folder: Path, seed: int, quiet: bool) -> TaskResult:
        """Predict, score, and say how both are shown."""
        photos, failed = predict(self.pipeline, self.references.photos, self.cache.open(), quiet)
        scores = score(photos, self.scoring)
        if failed:
            reasons = "\n".join(f"{item.photo.name}: {item.reason}\n{item.details}" for item in failed)
            (folder / "failed_photos.txt").write_text(reasons)

        def show(showing: Showing) -> Shown:
            labels = {item.sha256: item.labels for item in photos}
            own = {item.sha256: item.prediction for item in photos}
            witnesses = witnesses_of([own, *(run.predictions() for run in showing.recent)])
            suspects = suspects_among(labels, witnesses, self.scoring)
            return show_photos(showing, photos, scores, self.scoring, suspects, read_photo)

        return photos_result(self.data(), photos, failed, scores, seed, show)


def photos_result(
    data: TaskData,
    photos: Sequence[EvaluatedPhoto],
    failed: Sequence[FailedPhoto],
    scores: Scores,
    seed: int,
    show: Show | None,
) -> TaskResult:
    """What the photos come to."""
    counts = item_rows({name: card.by_item() for name, card in scores.cards.items()}, len(photos))
    predictions = hashlib.sha256()
    for photo in photos:
        predictions.update(repr((photo.sha256, photo.prediction)).encode())
    return TaskResult(
        kept=TaskRun(
            data=data,
            noun="photo",
            items=tuple(
                Item(photo.sha256, photo.name, own, photo=_detail(photo))
                for photo, own in zip(photos, counts, strict=True)
            ),
            failed=tuple(FailedItem(item.photo.sha256, item.photo.name, item.reason) for item in failed),
            cards=scores.counted(),
            intervals=scores.intervals(seed),
            slices=scores.slices,
        ),
        predictions=predictions.hexdigest(),
        metrics=_costs(photos, failed) | _calibration(scores),
        curves={name: steps for what, item in scores.behaviours.items() for name, steps in item.metrics(what).items()},
        tables={"photos.json": photo_table(photos, failed, scores)},
        idle_steps=tuple(step for step, n in _sum(photo.steps for photo in photos).items() if not n),
        show=show,
    )


def _detail(photo: EvaluatedPhoto) -> PhotoDetail:
    return PhotoDetail(
        status=str(number_status(photo.labels, photo.prediction)),
        expected=tuple(sorted(expected_numbers(photo.labels))),
        read=tuple(sorted(read_numbers(photo.prediction))),
        seconds=sum(photo.seconds.values()),
        prediction=photo.prediction,
    )


def _costs(photos: Sequence[EvaluatedPhoto], failed: Sequence[FailedPhoto]) -> dict[str, float]:
    """The seconds of each stage, how often the cache helped, and how many photos were evaluated."""
    costs: dict[str, float] = {}
    costs |= {f"runtime/{stage}_seconds": total for stage, total in _sum(item.seconds for item in photos).items()}
    costs |= {f"cache/{stage}_hits": total for stage, total in _sum(item.hits for item in photos).items()}
    costs |= {f"cache/{stage}_misses": total for stage, total in _sum(item.misses for item in photos).items()}
    return costs | {"count/evaluated": len(photos), "count/failed": len(failed)}


def _calibration(scores: Scores) -> dict[str, float]:
    errors = {what: behaviour.reliability.ece for what, behaviour in scores.behaviours.items()}
    return {f"calibration/{what}_ece": error for what, error in errors.items() if error is not None}


def _sum(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The sum of each name over all parts."""
    total: dict[str, float] = {}
    for part in parts:
        for name, value in part.items():
            total[name] = total.get(name, 0) + value
    return total

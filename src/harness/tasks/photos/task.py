"""The task of photos: the pipeline finds and reads bibs, finds faces and links them, and labels judge it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Protocol

from harness.base.code import UNKEYED
from harness.pipeline import Pipeline
from harness.pipeline.cache import CacheConfig, StageCache
from harness.pipeline.identity.recognising import Recogniser
from harness.references.photos import OpenedPhoto, read_photo
from harness.references.sets import ReferenceSet
from harness.runs.archive import PHOTOS, TaskData, TaskRun
from harness.runs.items import FailedItem, Item, PhotoDetail, item_rows
from harness.runs.looks import Holdout
from harness.runs.plan import REPAIRED, WORKERS_TAG, Show, Showing, Shown, TaskResult
from harness.runs.suspects import predictions_of, suspects_among, witnesses_of
from harness.runs.tags import MEASURED_TAG
from harness.scoring import Declaration
from harness.scoring.numbers import expected_numbers, read_numbers
from harness.scoring.speed import pipeline_seconds
from harness.tasks.photos import evidence
from harness.tasks.photos.audit import audit
from harness.tasks.photos.predicting import EvaluatedPhoto, Executor, FailedPhoto, LocalExecutor, Predictions
from harness.tasks.photos.scores import PhotoScoring, Scores, card_keys, declared, score
from harness.tasks.photos.section import photo_table, show_photos
from harness.tasks.photos.timing import timing_pass
from harness.types import Split

#: The photos that were evaluated, and those that failed.
Predicted = tuple[Sequence[EvaluatedPhoto], Sequence[FailedPhoto]]


class ReferenceSource(Protocol):
    """Where a run's photos and labels come from."""

    def load(self) -> ReferenceSet:
        """Read, check and digest the set."""


@dataclass(frozen=True)
class ReferencePhotosTask:
    """Predictions for the photos of a reference set, judged by its labels; who predicts is up to the subclass."""

    source: ReferenceSource
    scoring: PhotoScoring

    name = PHOTOS

    @cached_property
    def references(self) -> ReferenceSet:
        """The photos and labels, read once: whoever labels meanwhile does not change a run that is under way."""
        return self.source.load()

    def declares(self) -> tuple[Declaration, ...]:
        """The scorecards of photos."""
        return declared(self.scoring)

    def data(self) -> TaskData:
        """The reference set."""
        return TaskData(self.references.name, self.references.split, self.references.digest)

    def holdout(self) -> Holdout | None:
        """The photos of the holdout among those that are evaluated. Whoever chooses all photos of a set asks to see
        their scores, also where all of them are of the holdout."""
        found = frozenset(photo.sha256 for photo in self.references.photos if photo.split == Split.HOLDOUT)
        alone = len(found) == len(self.references.photos) and self.references.split != Split.FULL
        return Holdout(self.references.root, found, alone) if found else None

    @property
    def made_by(self) -> evidence.MadeBy:
        """What makes the predictions, where that is known: labels that came from the same are told."""
        return {}

    @cached_property
    def accepted(self) -> Mapping[str, evidence.Accepted]:
        """How many of the labels the judged model has made itself."""
        return evidence.accepted(self.references.photos, self.made_by)

    @property
    def opened_cache(self) -> StageCache | None:
        """What was seen in photos, and drawn of them, where that is kept."""
        return None

    def stage_keys(self) -> Mapping[str, str]:
        """What faces, bibs and links come from, where these can be told apart."""
        return {}

    def inputs(self) -> list[str]:
        """Which photos belong together, and which labels the model has made itself."""
        return [evidence.evidence_key(self.references, self.accepted)]

    def thresholds(self) -> Mapping[str, float]:
        """At which overlap boxes match."""
        return self.scoring.thresholds()

    def scored(
        self,
        folder: Path,
        predicted: Predicted,
        absent: frozenset[str] = frozenset(),
        notes: Sequence[str] = (),
        traced: bool = False,
    ) -> TaskResult:
        """What predictions come to, and how that is shown. `absent` is what they do not speak about; `notes` are told
        in the terminal and in the report; `traced` says that they tell which texts were dropped."""
        photos, failed = predicted
        scores = score(photos, self.scoring, absent, traced)
        about = tuple(evidence.notes(self.references.groups, self.accepted))
        notes = [*notes, *about]
        if failed:
            reasons = "\n".join(f"{item.photo.name}: {item.reason}\n{item.details}" for item in failed)
            (folder / "failed_photos.txt").write_text(reasons)

        def show(showing: Showing) -> Shown:
            labels = {item.sha256: item.labels for item in photos}
            own = {item.sha256: item.prediction for item in photos}
            witnesses = witnesses_of([own, *predictions_of(showing.recent)])
            suspects = suspects_among(labels, witnesses, self.scoring)
            return show_photos(showing, photos, scores, self.scoring, suspects, read_photo, notes, self.opened_cache)

        result = photos_result(self.data(), photos, failed, scores, show, self.stage_keys())
        told = evidence.tags(self.references.groups, self.accepted)
        return replace(
            result, kept=replace(result.kept, text="\n".join(notes), notes=about), tags={**result.tags, **told}
        )


@dataclass(frozen=True)
class PhotosTask(ReferencePhotosTask):
    """The pipeline on the photos of a reference set."""

    pipeline: Pipeline
    cache: CacheConfig = field(metadata=UNKEYED)
    executor: Executor = field(default=LocalExecutor(), metadata=UNKEYED)

    @property
    def made_by(self) -> evidence.MadeBy:
        """The backends and models of the pipeline."""
        return evidence.made_by(self.pipeline)

    def stage_keys(self) -> Mapping[str, str]:
        """Those of the pipeline."""
        return self.pipeline.stage_keys(OpenedPhoto)

    def inputs(self) -> list[str]:
        """The weights of the models, and what the photos and labels are worth."""
        return [*super().inputs(), *(model.sha256 for model in self.pipeline.models)]

    def tags(self) -> Mapping[str, str]:
        """The models with their licences."""
        models = {f"model.{model.name}": f"{model.licence}, sha256 {model.sha256}" for model in self.pipeline.models}
        return {"model.licences": ", ".join(sorted({model.licence for model in self.pipeline.models})), **models}

    def load(self) -> None:
        """Check the models; each is opened when the first photo needs it."""
        self.pipeline.load()

    @property
    def recogniser(self) -> Recogniser | None:
        """What compares faces, where anything does."""
        return self.pipeline.identity

    def predicted(self, quiet: bool = True) -> Predicted:
        """What the pipeline says about the photos. It is run once, whoever asks: the task of identity does, too."""
        if not self._predicted:
            references, cache = self.references, self.opened_cache
            self._predicted.append(self.executor.predict(self.pipeline, references.photos, cache, quiet))
        return self._predicted[0].photos, self._predicted[0].failed

    @cached_property
    def _predicted(self) -> list[Predictions]:
        return []

    @cached_property
    def opened_cache(self) -> StageCache | None:
        """The stage cache, where there is one."""
        return self.cache.open()

    def evaluate(self, folder: Path, seed: int, quiet: bool) -> TaskResult:  # noqa: ARG002 - a task's interface
        """Predict, score, and say how both are shown."""
        photos, failed = self.predicted(quiet)
        traced = any(photo.prediction.dropped for photo in photos)  # a reader that tells one text tells them all
        result, cache = self.scored(folder, (photos, failed), traced=traced), self.opened_cache
        measured = MEASURED_TAG in result.tags
        (predictions,) = self._predicted
        if predictions.workers:
            result = replace(result, tags={**result.tags, WORKERS_TAG: predictions.workers})
        if repaired := predictions.repaired + (cache.repaired if cache else 0):
            result = replace(result, metrics={**result.metrics, REPAIRED: repaired})
        if measured:
            return replace(result, timing=timing_pass(self.pipeline, photos))
        if cache is None and not predictions.workers:
            return result
        cached = self.cache.audit and any(photo.hits for photo in photos)
        check = partial(audit, self.pipeline, photos, cache, self.cache.audit) if cache and cached else None
        return replace(result, timing=timing_pass(self.pipeline, photos), audit=check)


def photos_result(
    data: TaskData,
    photos: Sequence[EvaluatedPhoto],
    failed: Sequence[FailedPhoto],
    scores: Scores,
    show: Show | None,
    stages: Mapping[str, str] | None = None,
) -> TaskResult:
    """What the photos come to."""
    counts = item_rows({name: card.by_item() for name, card in scores.cards.items()}, len(photos))
    predictions, clock = hashlib.sha256(), scores.costs.timed

    def items() -> Iterator[Item]:
        for photo, own in zip(photos, counts, strict=True):  # how a reader came to what it says is no part of it
            predictions.update(repr((photo.sha256, replace(photo.prediction, dropped=()))).encode())
            yield Item(photo.sha256, photo.name, own, photo.photo.group, _detail(photo, scores, clock))

    kept = tuple(items())
    if scores.absent:
        predictions.update(repr(sorted(scores.absent)).encode())
    return TaskResult(
        kept=TaskRun(
            data=data,
            noun="photo",
            items=kept,
            failed=tuple(FailedItem(item.photo.sha256, item.photo.name, item.reason) for item in failed),
            cards=scores.counted(),
            intervals=scores.intervals(),
            slices=scores.slices,
            absent=tuple(sorted(scores.absent)),
            traced=scores.traced,
            left_out={metric: each.left_out for metric, each in scores.sureness.items() if each.left_out},
            stage_keys=card_keys(scores.cards, stages) if stages else {},
        ),
        predictions=predictions.hexdigest(),
        metrics=scores.costs.metrics()
        | {"count/evaluated": len(photos), "count/failed": len(failed)}
        | _calibration(scores),
        tags={MEASURED_TAG: "in this run"} if photos and clock else {},
        curves={name: steps for what, item in scores.behaviours.items() for name, steps in item.metrics(what).items()},
        tables={"photos.json": photo_table(photos, failed, scores)},
        idle_steps=scores.costs.idle_steps,
        show=show,
    )


def _detail(photo: EvaluatedPhoto, scores: Scores, clock: bool) -> PhotoDetail:
    return PhotoDetail(
        status=scores.status(photo),
        expected=tuple(sorted(expected_numbers(photo.labels))),
        read=tuple(sorted(read_numbers(photo.prediction))),
        seconds=pipeline_seconds(photo.seconds) if clock else None,
        prediction=photo.prediction,
        missed=scores.missed.get(photo.sha256, ()),
    )


def _calibration(scores: Scores) -> dict[str, float]:
    errors = {what: behaviour.reliability.ece for what, behaviour in scores.behaviours.items()}
    return {f"calibration/{what}_ece": error for what, error in errors.items() if error is not None}

"""The straight line of a run: references -> pipeline -> scoring -> tracking. Nothing flows back."""

from __future__ import annotations

import tempfile
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from harness.config import RunSpec
from harness.errors import PhotoError
from harness.pipeline import Pipeline
from harness.pipeline.cache import StageCache
from harness.pipeline.looks import Look
from harness.progress import track
from harness.references.photos import OpenedPhoto, open_photo, read_photo
from harness.references.sets import ReferencePhoto, ReferenceSet
from harness.report.artifacts import photo_table, write_artifacts
from harness.results import EvaluatedPhoto, Evaluation, FailedPhoto, Scores, Thresholds
from harness.scoring import (
    SCORER_VERSION,
    format_scorecard,
    intervals,
    markdown_scorecard,
    slice_bibs,
    slice_faces,
    tally_bib_errors,
    tally_bibs,
    tally_face_errors,
    tally_faces,
    tally_links,
    tally_numbers,
)
from harness.tracking.provenance import provenance
from harness.tracking.runs import RunRecord, tracked_run


@dataclass(frozen=True)
class RunResult:
    """A logged evaluation."""

    run_id: str
    references: ReferenceSet
    evaluation: Evaluation

    def text(self) -> str:
        """The scorecards for a terminal."""
        scores = self.evaluation.scores
        cards = format_scorecard(**scores.cards, slices=scores.slices, intervals=self.evaluation.intervals)
        return "\n\n".join([cards, *(extra.text for extra in self.evaluation.extras)])


def evaluate(spec: RunSpec) -> RunResult:
    """Run one configuration on one reference set and log it."""
    references = spec.references.load()
    spec.pipeline.load()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        extras = tuple(filter(None, (source.run(folder, spec.seed) for source in spec.extras)))
        store = spec.tracking.open()
        with tracked_run(store, store.runs_experiment, run_name(spec), run_tags(spec, references)) as run:
            evaluated, failed = predict(spec.pipeline, references.photos, spec.cache.open())
            scores = score(spec.thresholds, evaluated)
            spread = {k: v for tally in scores.tallies.values() for k, v in intervals(tally, seed=spec.seed).items()}
            evaluation = Evaluation(references.digest, spec.thresholds, evaluated, failed, scores, spread, extras)
            write_artifacts(folder, evaluation, spec.config_yaml, read_photo)
            run.log(
                RunRecord(
                    params=spec.params,
                    metrics=evaluation.metrics(),
                    tags=result_tags(evaluation),
                    description=describe(spec, references, evaluation),
                    files=folder,
                    tables={"photos.json": photo_table(evaluation)},
                    dataset=(f"{references.name} ({references.split})", references.digest),
                    failed=not evaluation.complete,
                )
            )
    return RunResult(run.run_id, references, evaluation)


def predict(
    pipeline: Pipeline, photos: Sequence[ReferencePhoto], cache: StageCache | None
) -> tuple[tuple[EvaluatedPhoto, ...], tuple[FailedPhoto, ...]]:
    """Run the pipeline on every photo. One that cannot be read, or on which a stage raises, fails alone and loudly."""
    evaluated, failed = [], []
    for photo, opened in zip(track(photos, "photos"), opened_ahead(photos), strict=True):
        item = (photo.name, photo.sha256, photo.path, photo.labels)
        try:
            look = Look(opened.result(), cache)
            prediction = pipeline.predict(look)
        except PhotoError as error:
            failed.append(FailedPhoto(*item, str(error)))
        except Exception as error:  # noqa: BLE001 - whatever a backend raises fails this photo, loudly, and no other
            failed.append(FailedPhoto(*item, f"{type(error).__name__}: {error}", traceback.format_exc()))
        else:
            evaluated.append(EvaluatedPhoto(*item, prediction, look.seconds, look.hits, look.misses, look.steps))
    if cache:
        cache.prune()
    return tuple(evaluated), tuple(failed)


def opened_ahead(photos: Sequence[ReferencePhoto]) -> Iterator[Future[OpenedPhoto]]:
    """Read and check each photo while the pipeline is busy with the one before it; no more than one waits in memory."""
    with ThreadPoolExecutor(1) as pool:
        ahead = [pool.submit(open_photo, photo.path, photo.sha256) for photo in photos[:1]]
        for photo in photos[1:]:
            current = ahead.pop()
            ahead.append(pool.submit(open_photo, photo.path, photo.sha256))
            yield current
        yield from ahead


def score(thresholds: Thresholds, evaluated: Sequence[EvaluatedPhoto]) -> Scores:
    """Every scorecard of a run."""
    labels = [photo.labels for photo in evaluated]
    predictions = [photo.prediction for photo in evaluated]
    return Scores(
        bib=tally_bibs(labels, predictions, thresholds.bib_iou),
        number=tally_numbers(labels, predictions),
        face=tally_faces(labels, predictions, thresholds.face_iou),
        link=tally_links(labels, predictions, thresholds.bib_iou, thresholds.face_iou),
        bib_errors=tally_bib_errors(labels, predictions, thresholds.bib_iou),
        face_errors=tally_face_errors(labels, predictions, thresholds.face_iou),
        slices=slice_bibs(labels, predictions, thresholds.bib_iou)
        + slice_faces(labels, predictions, thresholds.face_iou),
    )


def run_name(spec: RunSpec) -> str:
    """The preset, and what was overridden beyond it."""
    return " ".join([spec.preset, *(item for item in spec.overrides if not item.startswith("preset="))])


def run_tags(spec: RunSpec, references: ReferenceSet) -> dict[str, str]:
    """What a run is, known before it starts."""
    models = {f"model.{model.name}": f"{model.licence}, sha256 {model.sha256}" for model in spec.pipeline.models}
    tags = {
        "preset": spec.preset,
        "data.name": references.name,
        "data.split": references.split,
        "data.digest": references.digest,
        "scorer_version": str(SCORER_VERSION),
        "model.licences": ", ".join(sorted({model.licence for model in spec.pipeline.models})),
        **models,
        **provenance(),
    }
    optional = {"sweep_id": spec.sweep_id, "note": spec.note}
    return tags | {key: value for key, value in optional.items() if value}


def result_tags(evaluation: Evaluation) -> dict[str, str]:
    """What a run turned out to be."""
    tags = {
        "outcome": "COMPLETE" if evaluation.complete else "INCOMPLETE",
        "predictions.digest": evaluation.predictions_digest,
    }
    for extra in evaluation.extras:
        tags |= extra.tags
    return tags | ({"idle_steps": ", ".join(evaluation.idle_steps)} if evaluation.idle_steps else {})


def describe(spec: RunSpec, references: ReferenceSet, evaluation: Evaluation) -> str:
    """The run's description in MLflow, as Markdown."""
    lines = [f"**{run_name(spec)}** on `{references.name}` ({references.split}, {evaluation.photos} photos)."]
    if spec.note:
        lines.append(spec.note)
    if not evaluation.complete:
        lines.append(f"**INCOMPLETE**: {evaluation.shortfall}.")
        lines += [f"- {failure}" for failure in evaluation.failures]
    scores = evaluation.scores
    table = markdown_scorecard(**scores.cards, slices=scores.slices, intervals=evaluation.intervals)
    return "\n\n".join([*lines, table, *(f"```\n{extra.text}\n```" for extra in evaluation.extras)])

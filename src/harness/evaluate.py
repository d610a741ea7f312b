"""The straight line of a run: references -> pipeline -> scoring -> gate -> tracking. Nothing flows back."""

from __future__ import annotations

import tempfile
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import PhotoError
from harness.base.progress import track
from harness.config import RunSpec
from harness.pipeline import Pipeline
from harness.pipeline.cache import StageCache
from harness.pipeline.looks import Look
from harness.records import archive, describe, result_tags, run_key, run_name, run_tags
from harness.references.photos import OpenedPhoto, open_photo, read_photo
from harness.references.sets import ReferencePhoto
from harness.report.artifacts import photo_table, write_artifacts
from harness.report.content import RunReport
from harness.results import EvaluatedPhoto, Evaluation, FailedPhoto, Scores, Thresholds
from harness.runs.archive import BenchmarkRun, write_run
from harness.runs.comparison import compare
from harness.runs.gate import Judgement, judge
from harness.runs.suspects import find_suspects
from harness.scoring import (
    Behaviour,
    bib_behaviour,
    face_behaviour,
    intervals,
    slice_bibs,
    slice_faces,
    tally_bib_errors,
    tally_bibs,
    tally_face_errors,
    tally_faces,
    tally_links,
    tally_numbers,
)
from harness.tracking.catalog import Baseline, find_baseline, find_finished, join, load_run, recent_runs
from harness.tracking.runs import RunRecord, tracked_run
from harness.tracking.store import OpenStore


@dataclass(frozen=True)
class RunResult:
    """A run that is logged: made just now, or found again because nothing that it depends on has changed."""

    run_id: str
    run: BenchmarkRun
    judgement: Judgement
    reused: bool = False


def evaluate(spec: RunSpec) -> RunResult:
    """Run one configuration on one reference set, judge it against the baseline and log it."""
    references = spec.references.load()
    store = spec.tracking.open()
    baseline = find_baseline(store, references.digest, references.split)
    key = run_key(spec, references, baseline.run_id)
    if not spec.force and (found := find_finished(store, key)):
        return reuse(spec, store, found, baseline)
    spec.pipeline.load()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        extras = tuple(filter(None, (source.run(folder, spec.seed) for source in spec.extras)))
        tags = run_tags(spec, references, key)
        with tracked_run(store, store.runs_experiment, run_name(spec), tags) as tracked:
            evaluated, failed = predict(spec.pipeline, references.photos, spec.cache.open(), spec.light)
            scores = score(spec.thresholds, evaluated)
            spread = {k: v for tally in scores.tallies.values() for k, v in intervals(tally, seed=spec.seed).items()}
            curves = behaviours(spec.thresholds, evaluated)
            evaluation = Evaluation(
                references.digest, spec.thresholds, evaluated, failed, scores, spread, curves, extras
            )
            run = archive(spec, references, evaluation, key)
            comparison = compare(spec.gate, run, baseline.run, spec.seed) if baseline.run else None
            judgement = comparison.judgement if comparison else judge(spec.gate, run, None)
            witnesses = [] if spec.light else [run, *recent_runs(store, "data.digest", references.digest)]
            labels = {photo.sha256: photo.labels for photo in evaluated}
            suspects = find_suspects(labels, witnesses, spec.thresholds)
            write_run(folder, run)
            report = RunReport(
                run, judgement, evaluation, comparison, baseline.run_id, suspects, tags, spec.config_yaml
            )
            shown = write_artifacts(folder, report, None if spec.light else read_photo)
            tracked.log(
                RunRecord(
                    params=spec.params,
                    metrics={**run.metrics, **judgement.deltas()},
                    tags=result_tags(evaluation, judgement, baseline.run_id) | shown,
                    description=describe(run, judgement),
                    curves=evaluation.curves(),
                    files=folder,
                    tables={"photos.json": photo_table(evaluation)},
                    dataset=(f"{references.name} ({references.split})", references.digest),
                    failed=not evaluation.complete,
                )
            )
    return RunResult(tracked.run_id, run, judgement)


def reuse(spec: RunSpec, store: OpenStore, run_id: str, baseline: Baseline) -> RunResult:
    """A finished run with the same key, as if it had just been made."""
    for tag, name in (("sweep_id", spec.sweep_id), ("study", spec.study)):
        if name:
            join(store, run_id, tag, name)
    run = load_run(store, run_id)
    return RunResult(run_id, run, judge(spec.gate, run, baseline.run, spec.seed), reused=True)


def predict(
    pipeline: Pipeline, photos: Sequence[ReferencePhoto], cache: StageCache | None, quiet: bool = False
) -> tuple[tuple[EvaluatedPhoto, ...], tuple[FailedPhoto, ...]]:
    """Run the pipeline on every photo. One that cannot be read, or on which a stage raises, fails alone and loudly."""
    evaluated, failed = [], []
    for photo, opened in zip(photos if quiet else track(photos, "photos"), opened_ahead(photos), strict=True):
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


def behaviours(thresholds: Thresholds, evaluated: Sequence[EvaluatedPhoto]) -> dict[str, Behaviour]:
    """How bibs and faces depend on their scores."""
    labels = [photo.labels for photo in evaluated]
    predictions = [photo.prediction for photo in evaluated]
    return {
        "bib": bib_behaviour(labels, predictions, thresholds.bib_iou),
        "face": face_behaviour(labels, predictions, thresholds.face_iou),
    }

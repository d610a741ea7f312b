"""What a run is called, known by, tagged and archived as."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime

from harness.config import RunSpec
from harness.references.sets import ReferenceSet
from harness.report.verdicts import markdown_judgement
from harness.results import Evaluation
from harness.runs.archive import BenchmarkRun, FailedResult, PhotoResult, RunMetadata
from harness.runs.gate import Judgement
from harness.runs.provenance import code_digest, provenance, versions
from harness.scoring import SCORER_VERSION, number_status
from harness.scoring.numbers import expected_numbers, read_numbers
from harness.tracking.catalog import STUDY_TAG, WORKER_TAG


def run_name(spec: RunSpec) -> str:
    """The preset, and what was overridden beyond it."""
    return " ".join([spec.preset, *(item for item in spec.overrides if not item.startswith("preset="))])


def run_key(spec: RunSpec, references: ReferenceSet, baseline: str | None) -> str:
    """A digest of all that a run's results depend on, the run that it is judged against included."""
    parts = [
        {name: value for name, value in spec.params.items() if not name.startswith("references.")},
        spec.note,
        references.digest,
        [source.inputs() for source in spec.extras],
        [model.sha256 for model in spec.pipeline.models],
        SCORER_VERSION,
        code_digest(),
        versions(),
        {name: asdict(rule) for name, rule in spec.gate.rules.items()},
        baseline,
        *(["light"] if spec.light else []),
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def archive(spec: RunSpec, references: ReferenceSet, evaluation: Evaluation, key: str) -> BenchmarkRun:
    """The run as it is kept."""
    metrics, cards = evaluation.metrics(), evaluation.scores.cards
    return BenchmarkRun(
        metadata=RunMetadata(
            timestamp=datetime.now(UTC).isoformat(timespec="seconds"),
            git_commit=provenance()["git.commit"],
            config=spec.params,
            runtime={name: value for name, value in metrics.items() if name.startswith("runtime/")},
            note=spec.note,
            name=run_name(spec),
            data_name=references.name,
            data_split=references.split,
            data_digest=references.digest,
            scorer_version=SCORER_VERSION,
            thresholds=asdict(spec.thresholds),
            key=key,
        ),
        metrics=metrics,
        photo_results=tuple(_photo_results(evaluation)),
        failed_photos=tuple(FailedResult(item.name, item.sha256, item.reason) for item in evaluation.failed),
        slices=evaluation.scores.slices,
        intervals=evaluation.intervals,
        extras=tuple(replace(extra, html="") for extra in evaluation.extras),
        idle_steps=evaluation.idle_steps,
        **{f"{name}_scorecard": card for name, card in cards.items()},
    )


def _photo_results(evaluation: Evaluation) -> Iterator[PhotoResult]:
    tallies = {name: tally.photo_counts() for name, tally in evaluation.scores.tallies.items()}
    for row, photo in enumerate(evaluation.evaluated):
        yield PhotoResult(
            name=photo.name,
            sha256=photo.sha256,
            status=str(number_status(photo.labels, photo.prediction)),
            expected=tuple(sorted(expected_numbers(photo.labels))),
            read=tuple(sorted(read_numbers(photo.prediction))),
            seconds=sum(photo.seconds.values()),
            prediction=photo.prediction,
            counts={name: counts[row] for name, counts in tallies.items()},
        )


def run_tags(spec: RunSpec, references: ReferenceSet, key: str) -> dict[str, str]:
    """What a run is, known before it starts."""
    models = {f"model.{model.name}": f"{model.licence}, sha256 {model.sha256}" for model in spec.pipeline.models}
    tags = {
        "preset": spec.preset,
        "key": key,
        "data.name": references.name,
        "data.split": references.split,
        "data.digest": references.digest,
        "scorer_version": str(SCORER_VERSION),
        "model.licences": ", ".join(sorted({model.licence for model in spec.pipeline.models})),
        **models,
        **provenance(),
    }
    optional = {"sweep_id": spec.sweep_id, STUDY_TAG: spec.study, WORKER_TAG: spec.worker, "note": spec.note}
    return tags | {key: value for key, value in optional.items() if value}


def result_tags(evaluation: Evaluation, judgement: Judgement, baseline: str | None) -> dict[str, str]:
    """What a run turned out to be."""
    tags = {
        "outcome": "COMPLETE" if evaluation.complete else "INCOMPLETE",
        "predictions.digest": evaluation.predictions_digest,
        "verdict": str(judgement.verdict),
        "verdict.reasons": "; ".join(judgement.reasons),
        "verdict.baseline": baseline or "",
        "idle_steps": ", ".join(evaluation.idle_steps),
    }
    for item in judgement.metrics:
        tags[f"verdict.{item.metric}"] = str(item.verdict or "")
    for extra in evaluation.extras:
        tags |= extra.tags
    return {name: value for name, value in tags.items() if value}


def describe(run: BenchmarkRun, judgement: Judgement) -> str:
    """The run's description in MLflow, as Markdown."""
    data = run.metadata
    lines = [f"**{data.name}** on `{data.data_name}` ({data.data_split}, {run.photos} photos).", data.note]
    return "\n\n".join(filter(None, [*lines, markdown_judgement(judgement), run.markdown()]))

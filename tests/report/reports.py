"""A run of a few made-up photos, told in full, without a pipeline and without files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from harness.evaluate import behaviours, score
from harness.runs.records import archive
from harness.report.content import RunReport
from harness.results import EvaluatedPhoto, Evaluation, FailedPhoto, Thresholds
from harness.runs.archive import BenchmarkRun
from harness.runs.comparison import compare
from harness.runs.gate import judge
from harness.runs.suspects import find_suspects
from harness.scoring import intervals
from harness.types import BibBox, BibFaceLink, FaceBox, PhotoLabels, PhotoPrediction
from tests.benchmark_runs import gate

THRESHOLDS = Thresholds(0.5, 0.5)
BIB = BibBox(x=0.4, y=0.5, w=0.1, h=0.1, number="417", tags=("dark",))
FACE = FaceBox(x=0.4, y=0.2, w=0.1, h=0.15)
LABELS = PhotoLabels(bibs=(BIB,), faces=(FACE,), links=(BibFaceLink(0, 0),))
RIGHT = PhotoPrediction(
    bibs=(BibBox(x=0.4, y=0.5, w=0.1, h=0.1, number="417", score=0.97),),
    faces=(FaceBox(x=0.4, y=0.2, w=0.1, h=0.15, score=0.9),),
    links=(BibFaceLink(0, 0),),
)
NOTHING = PhotoPrediction()


def read_photo(path: Path, sha256: str) -> NDArray[np.uint8]:
    """A grey picture for any photo."""
    return np.full((300, 400, 3), 120, dtype=np.uint8)


def evaluation_of(
    predictions: Sequence[PhotoPrediction],
    labels: Sequence[PhotoLabels] | None = None,
    name: str = "photo",
    failed: Sequence[FailedPhoto] = (),
) -> Evaluation:
    """An evaluation in which photo `n` was predicted as given; every photo has the same labels if none are given."""
    known = labels or [LABELS] * len(predictions)
    photos = tuple(
        EvaluatedPhoto(f"{name}-{n}.jpg", f"{n:064x}", Path("x"), known[n], found, {"faces": 0.5}, {}, {}, {})
        for n, found in enumerate(predictions)
    )
    scores = score(THRESHOLDS, photos)
    spread = {k: v for tally in scores.tallies.values() for k, v in intervals(tally, resamples=20).items()}
    return Evaluation("d" * 64, THRESHOLDS, photos, tuple(failed), scores, spread, behaviours(THRESHOLDS, photos))


def run_of(evaluation: Evaluation, **config: str) -> BenchmarkRun:
    """The archive of an evaluation."""
    spec = SimpleNamespace(
        params=config, note=config.get("note", ""), preset="fast", overrides=(), thresholds=THRESHOLDS
    )
    references = SimpleNamespace(name=config.get("data", "races"), split="iteration", digest="d" * 64)
    return archive(cast(Any, spec), cast(Any, references), evaluation, "k" * 64)


def report_of(
    evaluation: Evaluation, base: Evaluation | None = None, witnesses: Sequence[BenchmarkRun] = (), **config: str
) -> RunReport:
    """What is told of a run, beside a baseline where there is one."""
    run, rules = run_of(evaluation, **config), gate()
    comparison = compare(rules, run, run_of(base)) if base else None
    labels = {photo.sha256: photo.labels for photo in evaluation.evaluated}
    return RunReport(
        run=run,
        judgement=comparison.judgement if comparison else judge(rules, run, None),
        evaluation=evaluation,
        comparison=comparison,
        baseline_id="b" * 32 if base else None,
        suspects=find_suspects(labels, [run, *witnesses], THRESHOLDS),
        tags={"git.commit": "c0ffee", "model.eyes.onnx": "MIT, sha256 ab", "version.numpy": "2.4"},
        config_yaml="preset: fast\n",
    )

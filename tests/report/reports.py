"""A run of a few made-up photos, told in full, without a pipeline and without files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from harness.references.sets import ReferencePhoto
from harness.report.page import RunReport, write_report
from harness.runs.archive import BenchmarkRun, TaskData
from harness.runs.comparison import compare
from harness.runs.judge import judge
from harness.runs.plan import Showing, Shown, TaskResult
from harness.runs.records import archive
from harness.runs.suspects import suspects_among, witnesses_of
from harness.scoring.detection import Thresholds
from harness.tasks.photos.predicting import EvaluatedPhoto, FailedPhoto
from harness.tasks.photos.scores import Scores, score
from harness.tasks.photos.section import show_photos
from harness.tasks.photos.task import photos_result
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


def photo_of(number: int, labels: PhotoLabels, name: str = "photo") -> ReferencePhoto:
    """A photo of a reference set with these labels."""
    return ReferencePhoto(
        sha256=f"{number:064x}",
        name=f"{name}-{number}.jpg",
        path=Path("x"),
        split="iteration",
        bib_labeled=labels.bibs is not None,
        bibs=labels.bibs or (),
        bib_tags=labels.bib_tags,
        face_labeled=labels.faces is not None,
        faces=labels.faces or (),
        face_tags=labels.face_tags,
        links=labels.links,
    )


@dataclass(frozen=True)
class Evaluated:
    """Photos as a pipeline saw them, and what they are scored."""

    photos: tuple[EvaluatedPhoto, ...]
    failed: tuple[FailedPhoto, ...]
    scores: Scores

    def result(self, witnesses: Sequence[BenchmarkRun] = (), data: str = "races") -> TaskResult:
        """What the photos come to; witnesses stand for the last runs on the same photos."""

        def show(showing: Showing) -> Shown:
            own = {photo.sha256: photo.prediction for photo in self.photos}
            seen = witnesses_of([own, *(run.predictions() for run in (*showing.recent, *witnesses))])
            suspects = suspects_among({photo.sha256: photo.labels for photo in self.photos}, seen, THRESHOLDS)
            return show_photos(showing, self.photos, self.scores, THRESHOLDS, suspects, read_photo)

        return photos_result(TaskData(data, "iteration", "d" * 64), self.photos, self.failed, self.scores, show)


def evaluation_of(
    predictions: Sequence[PhotoPrediction],
    labels: Sequence[PhotoLabels] | None = None,
    name: str = "photo",
    failed: Sequence[FailedPhoto] = (),
    traced: bool = False,
) -> Evaluated:
    """An evaluation in which photo `n` was predicted as given; every photo has the same labels if none are given."""
    known = labels or [LABELS] * len(predictions)
    photos = tuple(
        EvaluatedPhoto(photo_of(n, known[n], name), found, {"faces": 0.5}, {}, {}, {})
        for n, found in enumerate(predictions)
    )
    return Evaluated(photos, tuple(failed), score(photos, THRESHOLDS, traced=traced))


class _Data(NamedTuple):
    """A task that is only asked for its data."""

    name: str
    kept: TaskData

    def data(self) -> TaskData:
        return self.kept

    def thresholds(self) -> dict[str, float]:
        return asdict(THRESHOLDS)

    def inputs(self) -> tuple[str, ...]:
        return ()


def run_of(evaluation: Evaluated, extra: Mapping[str, TaskResult] | None = None, **config: str) -> BenchmarkRun:
    """The archive of an evaluation, and of what was evaluated beside the photos."""
    results = {"photos": evaluation.result(data=config.get("data", "races")), **(extra or {})}
    tasks = tuple(_Data(name, result.kept.data) for name, result in results.items())
    plan = SimpleNamespace(
        params=config, note=config.get("note", ""), preset="fast", title="", overrides=(), tasks=tasks, seed=0
    )
    key = " ".join(result.predictions for result in results.values())
    return archive(cast(Any, plan), results, {"key": key, "git.commit": "c0ffee"})


@dataclass(frozen=True)
class Told:
    """A report, and the results that it is made of."""

    report: RunReport
    results: Mapping[str, TaskResult]
    evaluation: Evaluated

    def page(self, folder: Path, recent: Sequence[BenchmarkRun] = ()) -> str:
        """The page as it is written; pictures go into the folder."""
        write_report(folder, self.report, self.results, recent)
        return (folder / "report.html").read_text()


def report_of(
    evaluation: Evaluated,
    base: Evaluated | None = None,
    witnesses: Sequence[BenchmarkRun] = (),
    extra: Mapping[str, TaskResult] | None = None,
    **config: str,
) -> Told:
    """What is told of a run, beside a baseline where there is one."""
    run, rules = run_of(evaluation, extra, **config), gate()
    comparison = compare(rules, run, run_of(base)) if base else None
    report = RunReport(
        run=run,
        judgement=comparison.judgement if comparison else judge(rules, run, None),
        comparison=comparison,
        baseline_id="b" * 32 if base else None,
        tags={"git.commit": "c0ffee", "model.eyes.onnx": "MIT, sha256 ab", "version.numpy": "2.4"},
        config_yaml="preset: fast\n",
    )
    return Told(report, {"photos": evaluation.result(witnesses), **(extra or {})}, evaluation)

"""What logging costs: beside the fastest way that MLflow offers, and beside the run that is logged.

First, 60 params, 120 metrics and 10 files to a local store, by the harness and by MLflow's bulk calls alone, in
turns; what the harness adds is a table of 150 rows and the dataset. Then everything of a `fast` run on 150 photos:
`run.json`, the table of photos and all values. The photos are those of the sample set over and over; they take 150
times the seconds that one of them takes without a cache. Last, what the run has to show: report, figures, pictures,
with the import of what draws them. Wall time, best of several; the report once.

    scripts/bench tracking
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from bench.measure import row
from harness.config import build, compose
from harness.references.photos import read_photo
from harness.report.page import RunReport, write_report
from harness.runs.archive import write_run
from harness.runs.comparison import Comparison
from harness.runs.judge import judge
from harness.runs.plan import Showing, Shown
from harness.runs.records import archive, describe, plan_code, result_tags, run_tags
from harness.tasks.photos.predicting import predict
from harness.tasks.photos.scores import score
from harness.tasks.photos.section import show_photos
from harness.tasks.photos.task import photos_result
from harness.tracking.runs import RunRecord, tracked_run
from harness.tracking.store import LocalStore, OpenStore

PARAMS = {f"group.key_{number}": f"value {number}" for number in range(60)}
METRICS = {f"section/metric_{number}": number / 7 for number in range(120)}
TABLE: dict[str, list[Any]] = {"photo": [f"{number}.jpg" for number in range(150)], "errors": list(range(150))}
PHOTOS = 150
#: Photos of the sample set that the pipeline is timed on.
TIMED = 6
ROUNDS = 9


def measure() -> list[dict[str, Any]]:
    """The price of a run's record."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = LocalStore(str(folder / "mlruns"), "harness").open()
        return [_beside_mlflow(store, folder / "files"), *_beside_the_run(store, folder / "run")]


def _beside_mlflow(store: OpenStore, files: Path) -> dict[str, Any]:
    files.mkdir()
    for number in range(10):
        (files / f"{number}.txt").write_text("x" * 20_000)
    tables, dataset = {"photos.json": TABLE}, ("sample", "d" * 64)
    record = RunRecord(PARAMS, METRICS, {}, "", files=files, tables=tables, dataset=dataset)

    def ours() -> None:
        with tracked_run(store, store.runs_experiment, "ours", {}) as run:
            run.log(record)

    def bulk_calls() -> None:
        from mlflow.entities import Metric, Param

        run_id = store.client.create_run(store.runs_experiment).info.run_id
        now = int(time.time() * 1000)
        metrics = [Metric(key, value, now, 0) for key, value in METRICS.items()]
        store.client.log_batch(run_id, metrics, [Param(key, value) for key, value in PARAMS.items()])
        store.client.log_artifacts(run_id, str(files))
        store.client.set_terminated(run_id)

    mine, theirs = _in_turns(ours, bulk_calls)
    return row("60 params, 120 metrics, 10 files", mine, "MLflow's four bulk calls", theirs, 0.5)


def _beside_the_run(store: OpenStore, folder: Path) -> list[dict[str, Any]]:
    folder.mkdir()
    spec = build(compose(["preset=fast"]))
    task = spec.photos
    references, thresholds = task.references, task.scoring
    task.load()
    predict(task.pipeline, references.photos[:1], None)
    started = time.perf_counter()
    seen, _ = predict(task.pipeline, references.photos[:TIMED], None)
    run_seconds = (time.perf_counter() - started) / TIMED * PHOTOS
    true = {item.photo.path: item.sha256 for item in seen}
    photos = tuple(
        replace(item, photo=replace(item.photo, sha256=f"{n:064x}"))
        for n, item in enumerate(islice(cycle(seen), PHOTOS))
    )
    scores = score(photos, thresholds)

    def show(showing: Showing) -> Shown:
        return show_photos(showing, photos, scores, thresholds, (), lambda path, _: read_photo(path, true[path]))

    results = {task.name: photos_result(task.data(), photos, (), scores, show)}
    code = plan_code(spec)
    tags = run_tags(spec, "", code)
    run = archive(spec, results, tags)
    judgement = judge(spec.gate, run, run)
    report = RunReport(run, judgement, Comparison(run, run, judgement, (), ()), "", {}, spec.config_yaml)
    report_seconds = _timed(lambda: write_report(folder, report, results, ()))

    def log() -> None:
        with tracked_run(store, store.runs_experiment, "fast", tags) as tracked:
            run = archive(spec, results, tags)
            judgement = judge(spec.gate, run, None)
            write_run(folder, run)
            tracked.log(
                RunRecord(
                    params=spec.params,
                    metrics=run.metrics,
                    tags=result_tags(run, results),
                    description=describe(run, judgement),
                    curves=results[task.name].curves,
                    files=folder,
                    tables=results[task.name].tables,
                    dataset=(references.name, references.digest),
                )
            )

    seconds = min(_timed(log) for _ in range(3))
    peer = "the run itself, preset fast"
    return [
        row(f"everything of a run on {PHOTOS} photos", seconds, peer, run_seconds, 20.0),
        row("report, figures and pictures of the same", report_seconds, peer, run_seconds, 10.0),
    ]


def _in_turns(*works: Callable[[], None]) -> list[float]:
    """The best time of each, measured in turns so that all meet the same machine."""
    for work in works:
        work()
    rounds = [[_timed(work) for work in works] for _ in range(ROUNDS)]
    return [min(times) for times in zip(*rounds, strict=True)]


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started

"""Runs in a store that saw one photo, as the labelling pages read them."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from harness.runs.archive import write_run
from harness.tracking.runs import RunRecord, tracked_run
from harness.tracking.store import OpenStore
from harness.types import BibBox, PhotoPrediction
from tests.report.reports import evaluation_of, run_of

#: Where nobody has labelled anything in the photos of these tests.
STRANGER = BibBox(x=0.7, y=0.2, w=0.1, h=0.1, number="88", score=0.9)


def seen(box: BibBox, score: float) -> PhotoPrediction:
    """What a run predicts that sees one bib."""
    return PhotoPrediction(bibs=(replace(box, score=score),))


def keep_run(
    store: OpenStore, photo: str, prediction: PhotoPrediction, report: str = "", name: str = "staging", **tags: str
) -> str:
    """Log a finished run that predicted this for a photo; returns its id."""
    run = run_of(evaluation_of([prediction]), data=name)
    task = run.tasks["photos"]
    run = replace(run, tasks={"photos": replace(task, items=(replace(task.items[0], id=photo),))})
    with tempfile.TemporaryDirectory() as folder:
        write_run(Path(folder), run)
        if report:
            (Path(folder) / "report.html").write_text(report)
        with tracked_run(store, store.runs_experiment, "some run", {"data.name": name, **tags}) as tracked:
            tracked.log(
                RunRecord(params={}, metrics={"number/f1": 0.5}, tags={}, description="", files=Path(folder), tables={})
            )
    return tracked.run_id

"""Runs in a store that looked for the photos of two runners, at one threshold or another."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from harness.runs.archive import IDENTITY, TaskData, TaskRun, write_run
from harness.runs.items import Item, item_rows
from harness.runs.plan import TaskResult
from harness.runs.returns import RETURNS_FILE, write_returns
from harness.scoring.finding import FindTally, headline, tally_finding
from harness.scoring.people import NOBODY, Evidence
from harness.scoring.searching import Operating, Search
from harness.tasks.identity.returned import returns_of
from harness.tracking.runs import RunRecord, tracked_run
from harness.tracking.store import OpenStore
from harness.types import BibBox, FaceBox, PhotoPrediction
from tests.report.reports import evaluation_of, run_of
from tests.scoring.worlds import World

#: A name that is an address, a tag and a question at once.
ODD = "Zoë/<b>Ann</b>?#1"
SEEN = PhotoPrediction(
    bibs=(BibBox(x=0.4, y=0.5, w=0.1, h=0.1, number="417", score=0.9),),
    faces=(FaceBox(x=0.42, y=0.2, w=0.06, h=0.1, score=0.8),),
)
#: Which photos Ada wants are the first two and the last; somebody else is in the third.
NEAR = 1


def world() -> World:
    """Ada wears 417 and has a selfie. She is clear in the first photo, less so in the second, and turns her back in
    the last, where her number was read; the third has her number on somebody else, and a face like hers."""
    made = World()
    ada, odd = made.person("Ada", numbers=("417",)), made.person(ODD)
    made.query(ada, (1, 0))
    made.query(odd, (0, 1))
    for vector, reads in (((1, 0.2), ["417"]), ((1, 0.9), [])):
        made.face(made.photo(bibs_said=True, read=reads), vector, ada)
    made.face(made.photo(said=True, bibs_said=True), (1, 0.1), NOBODY)
    back = made.photo(bibs_said=True, read=["417"])
    made.appears(ada, back, bib_labeled=True, bib_found=True, bib_read=True)
    made.appears(odd, back)
    return made


def found_at(threshold: float) -> tuple[Evidence, FindTally]:
    evidence = world().evidence()
    return evidence, tally_finding(Search(evidence), Operating.fixed(0.01, threshold, 1000, "a test"))


def identity_result(evidence: Evidence, tally: FindTally) -> TaskResult:
    """What the task of identity keeps of the find scorecard."""
    counts = item_rows({"find": tally.counts.by_item()}, len(evidence.people))
    items = [Item(person.name, person.name, own) for person, own in zip(evidence.people, counts, strict=True)]
    data = TaskData("staging", "iteration", "d" * 64)
    card = tally.counted()
    kept = TaskRun(data, "person", tuple(items), cards={"find": card}, headline=headline(card))
    return TaskResult(kept, f"{tally.thresholds[0]}")


def keep_people(
    store: OpenStore, root: Path, photos: Sequence[str], threshold: float, *, returned: bool = True, **tags: str
) -> str:
    """Log such a run on the photos of a staging set; returns its id. Without `returned` it is as an older harness left
    it."""
    evidence, tally = found_at(threshold)
    config = {"references._target_": "harness.references.sets.StagingSet", "references.root": str(root)}
    run = run_of(evaluation_of([SEEN] * len(photos)), {"identity": identity_result(evidence, tally)}, **config)
    task = run.tasks["photos"]
    items = tuple(replace(item, id=sha256) for item, sha256 in zip(task.items, photos, strict=True))
    run = replace(run, tasks={**run.tasks, "photos": replace(task, items=items)})
    assert IDENTITY in run.tasks
    seen: list[Any] = [SimpleNamespace(photo=SimpleNamespace(sha256=sha256)) for sha256 in photos]
    with tempfile.TemporaryDirectory() as folder:
        write_run(Path(folder), run)
        if returned:
            write_returns(Path(folder) / RETURNS_FILE, returns_of(evidence, seen, tally))
        with tracked_run(store, store.runs_experiment, f"at {threshold}", {"data.name": "staging", **tags}) as tracked:
            record = RunRecord(params={}, metrics={}, tags={}, description="", files=Path(folder), tables={})
            tracked.log(record)
    return tracked.run_id

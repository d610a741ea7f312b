"""The labelling pages on both kinds of store: the runs, their reports, and what they say about labels."""

from __future__ import annotations

from pathlib import Path

from harness.labeling.history import RunHistory
from harness.labeling.source import StagingSource
from harness.references.store import LabelStore
from harness.tracking.remote import ServerStore
from harness.tracking.store import LocalStore
from tests.labeling.runs import STRANGER, keep_run, seen
from tests.report.reports import THRESHOLDS


def test_runs_reports_and_suspects(store: LocalStore | ServerStore, tiny_set: Path) -> None:
    source = StagingSource(LabelStore(tiny_set))
    photo = next(iter(source.contents().index.photos))
    opened = store.open()
    plain = keep_run(opened, photo, seen(STRANGER, 0.9))
    reported = keep_run(opened, photo, seen(STRANGER, 0.8), "<h1>Report</h1>")
    history = RunHistory(store, source, THRESHOLDS)
    known = history.wait()
    assert ([run.run_id for run in known.runs], known.reports) == ([reported, plain], frozenset([reported]))
    assert known.experiment == opened.runs_experiment
    assert list(known.suspicions.among(source.contents())) == [photo]
    assert (history.report(reported), history.report(plain)) == (b"<h1>Report</h1>", None)

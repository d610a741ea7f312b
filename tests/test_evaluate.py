"""The line of a run: what is known at which of its steps."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness import evaluate as line
from harness.base.errors import HarnessError
from harness.config import build, compose
from harness.evaluate import evaluate
from harness.remaking import RunResult
from harness.report.html import REPORT_FILE
from harness.runs.archive import PHOTOS
from harness.runs.plan import CACHED_PHOTOS
from harness.spec import RunSpec
from harness.tracking.catalog import has_artifact


def spec_in(folder: Path, *overrides: str) -> RunSpec:
    return build(compose(["references=off", "confidence=sample", f"tracking.root={folder / 'mlruns'}", *overrides]))


def test_a_result_is_shown_before_its_report_is_made_and_logged(tmp_path: Path) -> None:
    spec = spec_in(tmp_path)
    store = spec.tracking.open()
    shown: list[tuple[RunResult, str, bool]] = []

    def show(result: RunResult) -> None:
        shown.append((result, store.reader.get(result.run_id).status, has_artifact(store, result.run_id, REPORT_FILE)))

    made = evaluate(spec, show=show)
    assert shown == [(made, "RUNNING", False)]
    assert store.reader.get(made.run_id).status == "FINISHED"
    assert has_artifact(store, made.run_id, REPORT_FILE)

    again = evaluate(spec_in(tmp_path), show=show)
    assert again.reused
    assert shown[1:] == [(again, "FINISHED", True)]


def test_a_store_that_is_away_when_a_result_is_shown_does_not_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def away(*_: Any) -> str | None:
        raise HarnessError("nobody answers")

    monkeypatch.setattr(line, "killed_before", away)
    photos = SimpleNamespace(counted=lambda: "3 photos")
    run: Any = SimpleNamespace(tasks={PHOTOS: photos}, metrics={CACHED_PHOTOS: 2}, metadata=SimpleNamespace(key="k"))
    assert line._resumed(spec_in(tmp_path).tracking.open(), "id", run) == ""
    assert "nobody answers" in capsys.readouterr().err

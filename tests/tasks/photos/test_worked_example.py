"""A new scorecard is one file (`mean_iou.py`) and one line: everything else follows from what it declares."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml

from harness.search.experiment import read_experiment
from harness.search.searchable import check_experiment, known_metrics, trial_spec
from harness.tasks.photos import scores
from harness.tracking.catalog import load_run, read_artifact
from harness.tracking.finding import list_runs
from harness.tracking.store import LocalStore
from tests.conftest import QUICK, Harness
from tests.tasks.photos.mean_iou import tally_overlap

METRIC = "overlap/face_iou"


@pytest.fixture
def one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one line: the scorecard stands in the task's list."""
    monkeypatch.setattr(
        scores,
        "SCORECARDS",
        (*scores.SCORECARDS, lambda labels, found, at: tally_overlap(labels, found, at.face_iou).items()),
    )


@pytest.mark.slow
@pytest.mark.usefixtures("one_line")
def test_a_scorecard_that_was_added_is_shown_kept_logged_compared_gated_and_searched_for(
    harness: Harness, tiny_set: Path, tmp_path: Path, empty_store: Path
) -> None:
    shutil.copytree(empty_store, tmp_path / "mlruns")
    given = ("references=staging", f"references.root={tiny_set}", "preset=fast", *QUICK)

    first = harness(*given)
    assert first.code == 0, first.err
    assert "Face overlap  (3 faces found, fewer than five groups: " in first.out
    assert "mean of 3" in first.out

    assert harness("baseline").code == 0
    second = harness(*given, "seed=1")
    verdict = next(line for line in second.out.splitlines() if line.startswith(METRIC))
    assert "NO WORSE" in verdict

    store = LocalStore(str(tmp_path / "mlruns"), "harness").open()
    newest, base = list_runs(store)
    run = load_run(store, newest.run_id)
    assert 0.5 < newest.metrics[METRIC] <= 1
    assert newest.metrics["count/overlap_faces"] == 3
    assert newest.metrics[f"interval/{METRIC.replace('/', '_')}_low"] <= newest.metrics[METRIC]
    assert newest.metrics[f"delta/{METRIC.replace('/', '_')}"] == 0
    counts = [item.counts["overlap"] for item in run.photos]
    assert sum(one["overlap"] for one in counts) / 3 == pytest.approx(newest.metrics[METRIC])
    assert all(isinstance(one["found"], int) for one in counts)

    report = read_artifact(store, newest.run_id, "report.html").decode()
    assert "Face overlap, mean IoU" in report
    assert METRIC in report

    compared = harness("compare", newest.run_id, base.run_id, "--json")
    assert METRIC in {metric["metric"] for metric in json.loads(compared.out)["metrics"]}
    assert "FACE FIT" in harness("list").out

    file = tmp_path / "fit.yaml"
    file.write_text(
        yaml.safe_dump(
            {
                "base": list(given),
                "space": {"face.threshold": [0.6, 0.7]},
                "objectives": {METRIC: "maximize"},
                "budget": {"trials": 2, "minutes": 1},
            }
        )
    )
    experiment = read_experiment(file)
    check_experiment(experiment)
    assert METRIC in known_metrics(trial_spec(experiment, {}))

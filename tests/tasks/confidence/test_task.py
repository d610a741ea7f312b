"""The post-operation as a command and as part of a run, and the sample that comes with it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from harness.cli.confidence import CONVERTERS, DROPS, REDUCERS, TRACE_FORMS
from harness.scoring.confidence import Failure, Reducer
from harness.scoring.coord_tokens import TraceForm
from harness.scoring.standardizer import Converter, Drops
from harness.tasks.confidence import make_sample
from harness.tasks.confidence.postop import run_postop
from harness.tasks.confidence.task import SAMPLE, ConfidenceSample
from tests.conftest import Harness, RunHarness
from tests.test_command_line import stored_runs

PAIR = str(SAMPLE / "gt_vs_pred.jsonl"), str(SAMPLE / "pred_token_trace.jsonl")
FILES = {"pred_confidence.jsonl", "gt_vs_pred_scored.jsonl", "confidence_postop_summary.json"}


def test_the_sample_is_what_its_script_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_sample, "FOLDER", tmp_path)
    make_sample.main()
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert made == {path.name: path.read_bytes() for path in SAMPLE.iterdir()}
    assert b"Made up" in made["README.md"]


def test_the_sample_shows_every_reason_that_files_can(tmp_path: Path) -> None:
    reasons = run_postop(Path(PAIR[0]), Path(PAIR[1]), tmp_path).card.dropped_by_reason
    assert set(reasons) == set(Failure) - {Failure.OBJECT_IDX_OOB}


def test_a_task_logs_rates_with_intervals_counts_and_what_ranking_gains(tmp_path: Path) -> None:
    task = ConfidenceSample(Reducer.MEAN_LOGPROB, Converter.AUTO, Drops.AUTO, TraceForm.COORD_TOKENS, False)
    result = task.evaluate(tmp_path, seed=0, quiet=True)
    assert set(FILES) | {"confidence_quality.json"} == {path.name for path in tmp_path.iterdir()}
    metrics = {**result.kept.metrics(), **result.metrics}
    assert metrics["confidence/kept_fraction"] == pytest.approx(58 / 77)
    assert (
        metrics["interval/confidence_kept_fraction_low"] < 58 / 77 < metrics["interval/confidence_kept_fraction_high"]
    )
    assert {f"confidence/dropped_{reason}" for reason in Failure} <= set(metrics)
    assert metrics["confidence/ap_gain"] > 0.05
    assert {f"confidence/{name}" for name in ("ap", "ap_50", "ap_75", "ap_50_constant", "ece")} <= set(metrics)
    assert "made-up sample" in result.kept.text
    assert len(task.tags()["confidence.trace.sha256"]) == 64


def test_samples_are_items_whose_counts_add_up_to_the_scorecard(tmp_path: Path) -> None:
    kept = (
        ConfidenceSample(Reducer.MEAN_LOGPROB, Converter.AUTO, Drops.AUTO, TraceForm.COORD_TOKENS, False)
        .evaluate(tmp_path, seed=0, quiet=True)
        .kept
    )
    assert (kept.counted(), len(kept.items)) == ("24 samples", 24)
    assert kept.tally("confidence").total().counts == kept.cards["confidence"].counts


def test_the_command_offers_every_choice() -> None:
    assert (tuple(Reducer), tuple(Converter), tuple(Drops)) == (REDUCERS, CONVERTERS, DROPS)
    assert tuple(TraceForm) == TRACE_FORMS


def test_the_command_shows_a_summary_and_writes_the_files(run_harness: RunHarness, work: Path) -> None:
    done = run_harness("confidence", *PAIR, "--out", "out", "--ap")
    assert done.returncode == 0, done.stderr
    assert "samples: 24 of 24" in done.stderr
    assert "boxes kept           75.3%                    58 of 77" in done.stdout
    assert "pred_alignment_mismatch" in done.stdout
    assert "reproduced           95.7%                    22 of 23 records by round_1000_edge" in done.stdout
    assert "by ranking" in done.stdout
    assert {path.name for path in (work / "out").iterdir()} == FILES


def test_the_command_prints_json(run_harness: RunHarness, work: Path) -> None:
    done = run_harness("confidence", *PAIR, "--out", "out", "--json", "--class-agnostic", "--reducer", "min_logprob")
    shown = json.loads(done.stdout)
    quality = shown.pop("quality")
    assert shown == json.loads((work / "out" / "confidence_postop_summary.json").read_text())
    assert shown["method"] == "exp_min_logprob"
    assert quality["ranked"]["ap"] > quality["constant"]["ap"]


def test_the_command_names_the_line_that_is_wrong(run_harness: RunHarness, work: Path) -> None:
    shutil.copy(PAIR[0], work / "artifact.jsonl")
    with (work / "artifact.jsonl").open("a") as file:
        file.write("\n")
    done = run_harness("confidence", "artifact.jsonl", PAIR[1], "--out", "out")
    assert done.returncode == 1
    assert "harness: artifact.jsonl, line 25: a blank line" in done.stderr
    assert "Traceback" not in done.stderr
    assert list((work / "out").iterdir()) == []


@pytest.mark.slow
def test_a_run_with_confidence_logs_it_and_keeps_the_files(harness: Harness, tmp_path: Path, stored: None) -> None:
    files = ("confidence=files", f"confidence.gt_vs_pred={PAIR[0]}", f"confidence.trace={PAIR[1]}")
    done = harness("references=off", *files, "confidence.reducer=sum_logprob")
    assert done.code == 0, done.err
    assert "Confidence  (24 samples)" in done.out
    assert "Scores  (exp_sum_logprob)" in done.out
    (run,) = stored_runs(tmp_path)
    assert run.data.metrics["confidence/kept"] == 58
    assert run.data.metrics["confidence/ap_50"] > run.data.metrics["confidence/ap_50_constant"]
    assert run.data.params["confidence.reducer"] == "sum_logprob"
    assert "boxes kept" in run.data.tags["mlflow.note.content"]
    kept = {path.name for path in (tmp_path / "mlruns").rglob("*.json*")}
    assert FILES | {"confidence_quality.json", "run.json"} <= kept


def test_a_file_or_line_that_is_wrong_stops_the_run_before_it_starts(
    harness: Harness, tmp_path: Path, stored: None
) -> None:
    done = harness("references=off", "confidence=files")
    assert done.code == 1
    assert "gt_vs_pred.jsonl: cannot be read: No such file or directory" in done.err
    shutil.copy(PAIR[1], tmp_path / "pred_token_trace.jsonl")
    (tmp_path / "gt_vs_pred.jsonl").write_text(Path(PAIR[0]).read_text() + "\n")
    done = harness("references=off", "confidence=files")
    assert done.code == 1
    assert "gt_vs_pred.jsonl, line 25: a blank line" in done.err
    assert stored_runs(tmp_path) == []


@pytest.mark.slow
def test_converters_are_swept(harness: Harness, tmp_path: Path, stored: None) -> None:
    files = ("references=off", "confidence=files", f"confidence.gt_vs_pred={PAIR[0]}", f"confidence.trace={PAIR[1]}")
    done = harness("-m", *files, "confidence.converter=auto,round_1000_edge,floor_999_last")
    assert done.code == 0, done.err
    kept = {
        run.data.params["confidence.converter"]: run.data.metrics["confidence/kept"]
        for run in stored_runs(tmp_path)
        if "confidence.converter" in run.data.params
    }
    assert kept["auto"] == kept["round_1000_edge"] == 58 > kept["floor_999_last"]

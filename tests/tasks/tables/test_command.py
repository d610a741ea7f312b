"""The command, runs and sweeps with tables, as their user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.tasks.tables.files import write_extractions, write_ground_truth
from tests.conftest import Harness, RunHarness
from tests.tasks.tables.builders import LOCK, extracted, pdf, ruled_table, table
from tests.test_command_line import stored_runs

LINES = [["name", "time"], ["Ada", "41:07"], ["Bo", "43:30"]]
RAGGED = [["name", "time"], ["Ada", "41:07", "x"], ["Bo"]]
OTHER = [["lap", "m"], ["7", "400"]]


@pytest.fixture
def pair(work: Path) -> tuple[str, str]:
    """Ground truth and extractions by two methods, in the folder that commands run in."""
    write_ground_truth(work / "gt.json", [table("one", LINES), table("two", OTHER)])
    items = [extracted("a", "one", LINES), extracted("b", "one", RAGGED), extracted("b", "two", OTHER)]
    write_extractions(work / "ext.jsonl", [*items, extracted("b", None, [["no", "table"]])])
    return "gt.json", "ext.jsonl"


def test_scores_wins_and_what_combining_gains(run_harness: RunHarness, pair: tuple[str, str], work: Path) -> None:
    done = run_harness("tables", *pair, "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "Tables  (2 tables, fewer than five groups: the intervals take each for one target)" in done.stdout
    assert "Methods  (2 tables, 2 methods: a, b)" in done.stdout
    assert "of these right" in done.stdout
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line.startswith("  ")}
    assert rows["two"] == ["none", "100.0%", "b"]
    assert "points over b alone" in done.stdout
    assert {path.name for path in (work / "out").iterdir()} == {"tables.html", "tables_debug.sqlite"}


def test_writing_again_replaces(run_harness: RunHarness, pair: tuple[str, str]) -> None:
    for _ in range(2):
        assert run_harness("tables", *pair, "--out", "out").returncode == 0


def test_json_is_all_there_is_on_standard_output(run_harness: RunHarness, pair: tuple[str, str]) -> None:
    shown = json.loads(run_harness("tables", *pair, "--json").stdout)
    assert shown["methods"] == ["a", "b"]
    assert shown["metrics"]["table/win_rate_a"] == shown["metrics"]["table/win_rate_b"] == 0.5
    assert shown["tables"][0]["methods"]["b"]["comparison"]["ext_ragged_rows"] == 2


def test_a_mistake_is_named(run_harness: RunHarness, pair: tuple[str, str], work: Path) -> None:
    (work / "ext.jsonl").write_text('{"table_id": "nine", "method": "a", "headers": [], "rows": []}\n')
    done = run_harness("tables", *pair)
    assert done.returncode == 1
    assert done.stderr == "harness: ext.jsonl, line 1: table_id 'nine' is not in the ground truth\n"


@pytest.mark.slow
def test_a_run_keeps_the_tables_it_can_and_names_the_others(harness: Harness, tmp_path: Path, stored: None) -> None:
    files = {
        "good": pdf(ruled_table(LINES)),
        "blank": pdf(b""),
        "broken": b"%PDF-1.4 cut",
        "locked": pdf(ruled_table(LINES), trailer=LOCK),
    }
    for name, content in files.items():
        (tmp_path / f"{name}.pdf").write_bytes(content)
    write_ground_truth(tmp_path / "gt.json", [table(name, LINES, pdf=f"{name}.pdf") for name in files])
    done = harness("references=off", "tables=files", "tables.gt=gt.json")
    assert done.code == 1
    assert "Traceback" not in done.err
    assert "INCOMPLETE: 2 of 4 tables could not be evaluated;" in done.err
    assert "table broken: broken.pdf: not a PDF that can be read" in done.out
    assert "table locked: locked.pdf: encrypted with a password; decrypt it first" in done.out
    (run,) = stored_runs(tmp_path)
    assert run.info.status == "FAILED"
    assert run.data.tags["outcome"] == "INCOMPLETE"
    assert run.data.metrics["table/fuzzy_f1"] == 0.5
    assert run.data.metrics["count/tables_failed"] == 2
    kept = {path.name for path in (tmp_path / "mlruns" / "artifacts").rglob("tables*")}
    assert kept == {"tables.html", "tables_debug.sqlite", "tables_extractions.jsonl"}


@pytest.mark.slow
def test_a_sweep_over_a_setting_of_a_method_differs_in_mlflow(harness: Harness, tmp_path: Path, stored: None) -> None:
    sweep = ("tables=sample", "tables.camelot.enabled=false", "tables.pdfplumber.snap_tolerance=1,3,6")
    done = harness("-m", "references=off", *sweep)
    assert done.code == 0, done.err
    assert "table/fuzzy_f1" in done.out
    assert "the same predictions" not in done.err
    found = {
        run.data.params["tables.pdfplumber.snap_tolerance"]: run.data.metrics["table/fuzzy_f1"]
        for run in stored_runs(tmp_path)
    }
    assert len(set(found.values())) == 3
    assert max(found, key=lambda snap: found[snap]) == "3"

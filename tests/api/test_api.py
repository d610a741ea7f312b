"""Runs, comparisons and reference sets from Python: quiet, repeatable, and without a trace in the process."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import threading
import warnings
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.api import _as_file
from harness.base.errors import ConfigError, IncompleteError
from harness.runs.archive import BenchmarkRun, write_run
from harness.tracking.finding import find_run
from harness.tracking.runs import RunRecord, tracked_run
from harness.tracking.store import LocalStore
from harness.tracking.upkeep import pin
from tests.benchmark_runs import benchmark_run
from tests.conftest import QUICK

#: A run that opens no model: boxes and token traces of the package's own sample.
TRACES = ("references=off", "confidence=sample")
GOOD = benchmark_run([(2, 0, 0)] * 12)
WORSE = benchmark_run(
    [(1, 0, 1)] * 12, name="fast face.threshold=0.9", config={"preset": "fast", "face.threshold": "0.9"}
)


def logged(desk: Path, run: BenchmarkRun, pinned: bool = False) -> str:
    """Put a run into the store of the folder; returns its id."""
    store = LocalStore(str(desk / "mlruns"), "harness").open()
    files = desk / "files"
    files.mkdir(exist_ok=True)
    write_run(files, run)
    meta = run.metadata
    tags = {"data.name": meta.data_name, "data.split": meta.data_split, "data.digest": meta.data_digest}
    with tracked_run(store, store.runs_experiment, meta.name, tags) as tracked:
        tracked.log(RunRecord({}, dict(run.metrics), {}, "", files=files, failed=not run.complete))
    if pinned:
        pin(store, find_run(store, tracked.run_id))
    return tracked.run_id


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, harness; harness.__all__; harness.__version__; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not loaded & {"mlflow", "hydra", "omegaconf", "numpy", "pandas", "pydantic", "matplotlib", "cv2"}
    assert [name for name in done.stdout.split() if name.startswith("harness.")] == []


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    assert not hasattr(harness, "evaluate_everything")
    assert set(harness.__all__) <= set(dir(harness))


def test_a_run_prints_nothing_and_a_second_one_finds_it(desk: Path, capfd: pytest.CaptureFixture[str]) -> None:
    first = harness.run(*TRACES)
    second = harness.run(*TRACES)
    assert capfd.readouterr() == ("", "")
    assert (first.reused, second.reused) == (False, True)
    assert first.id == second.id
    assert first.metrics == second.metrics
    assert harness.run(*TRACES, "force=true").id != first.id


def test_a_run_that_is_asked_to_shows_what_the_command_shows(desk: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run = harness.run(*TRACES, quiet=False)
    out, err = capfd.readouterr()
    assert "boxes kept" in out
    assert "Verdict: NO BASELINE" in out
    assert f"MLflow run {run.id}" in out
    assert "samples: " in err


def test_a_run_leaves_the_process_as_it_was(desk: Path) -> None:
    def state() -> tuple[object, ...]:
        import matplotlib as mpl

        root = logging.getLogger()
        return (
            Path.cwd(),
            list(sys.argv),
            root.level,
            list(root.handlers),
            list(warnings.filters),
            signal.getsignal(signal.SIGINT),
            signal.getsignal(signal.SIGTERM),
            dict(mpl.rcParams),
            sys.stdout,
            {name: value for name, value in os.environ.items() if not name.startswith("MLFLOW_")},
        )

    harness.run(*TRACES)  # whatever importing MLflow does is done
    before = state()
    harness.run(*TRACES, "force=true")
    assert state() == before


def test_runs_are_made_in_an_event_loop_and_in_threads_at_once(desk: Path) -> None:
    async def notebook() -> harness.Run:
        return harness.run(*TRACES)

    first = asyncio.run(notebook())
    found: list[harness.Run] = []
    threads = [threading.Thread(target=lambda: found.append(harness.run(*TRACES))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [run.id for run in found] == [first.id] * 4


def test_a_run_is_made_inside_somebody_elses_hydra_program(desk: Path) -> None:
    from hydra import compose, initialize_config_dir

    (desk / "theirs").mkdir()
    (desk / "theirs" / "config.yaml").write_text("a: 1")
    with initialize_config_dir(str(desk / "theirs"), version_base="1.3"):
        run = harness.run(*TRACES)
        assert compose("config").a == 1
    assert run.complete


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["preset=nope"], "preset=nope: no such choice; preset is one of: balanced, best, fast"),
        (["face.threshold=abc"], "face.threshold: must be a number"),
        (["preset=fast,best"], "preset"),
        (["-m"], "-m: expected a command, or an override such as preset=fast"),
        ([3], "3: expected an override as text, such as 'preset=fast'"),
        (["references=off"], "nothing to evaluate"),
    ],
)
def test_a_broken_config_raises_and_leaves_nothing_behind(
    desk: Path, overrides: list[str], message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(harness.HarnessError, match=re.escape(message)) as caught:
        harness.run(*overrides)
    assert isinstance(caught.value, ConfigError)
    assert capfd.readouterr() == ("", "")
    assert len(harness.list_runs()) == 0


def test_a_verdict_never_raises_and_passed_tells_it(desk: Path) -> None:
    run = harness.run(*TRACES, "gate=strict")
    assert (run.verdict, run.passed, run.baseline) == ("NO BASELINE", False, None)


def test_a_loaded_run_is_judged_against_the_baseline_of_today(desk: Path) -> None:
    made = logged(desk, WORSE)
    assert harness.load_run(made).verdict == "NO BASELINE"
    base = logged(desk, GOOD, pinned=True)
    run = harness.load_run(made[:8])
    assert (run.id, run.baseline, run.verdict, run.passed, run.reused) == (made, base, "REGRESSED", False, True)
    assert [(item.metric, item.verdict) for item in run.judged if item.verdict] == [("face/recall", "REGRESSED")]
    assert run.params["face.threshold"] == "0.9"
    assert run.metrics["face/recall"] == 0.5
    assert str(run.data) == "races (iteration)"
    assert harness.load_run("latest").id == base
    assert harness.load_run("fast").passed
    assert "REGRESSED" in repr(run)
    with pytest.raises(FrozenInstanceError):
        run.id = "other"  # type: ignore[misc]


def test_an_incomplete_run_is_returned_with_what_failed(desk: Path) -> None:
    made = logged(desk, benchmark_run([(2, 0, 0)] * 3, failed=["<torn>.jpg"]))
    run = harness.load_run(made)
    assert (run.complete, run.verdict, run.passed) == (False, "INCOMPLETE", False)
    assert run.failures == ("<torn>.jpg: not an image",)
    frame = run.to_pandas()
    assert list(frame["failed"]) == ["", "", "", "not an image"]
    assert frame["face.detection_tp"].isna().tolist() == [False, False, False, True]
    assert "&lt;torn&gt;.jpg: not an image" in run._repr_html_()


@pytest.mark.slow
def test_a_photo_that_cannot_be_read_makes_the_run_incomplete(desk: Path, tiny_set: Path) -> None:
    photo = next((tiny_set / "photos").iterdir())
    photo.write_bytes(b"torn")
    where = ("references=staging", f"references.root={tiny_set}", "preset=fast", "gate=strict", *QUICK)
    run = harness.run(*where)
    assert (run.complete, run.verdict) == (False, "INCOMPLETE")
    assert len([item for item in run.items if item.photo]) == 2
    assert len(run.failures) == 1
    assert run.report.startswith("<!doctype html>")
    references = harness.load_references(*where[:2])
    assert references.digest == run.data.digest
    frame = references.to_pandas()
    assert frame.groupby("kind").size().to_dict() == {"bib": 2, "face": 3, "link": 2}
    assert set(frame["number"].dropna()) == {"417", "2085"}


def test_two_runs_are_compared_by_object_id_name_or_baseline(desk: Path) -> None:
    base, made = logged(desk, GOOD, pinned=True), logged(desk, WORSE)
    run = harness.load_run(made)
    for comparison in (
        harness.compare(run, harness.load_run(base)),
        harness.compare(made[:6], "fast"),
        harness.compare("latest"),
        harness.compare(run, "tracking.root=mlruns"),
    ):
        assert (comparison.run_id, comparison.base_id) == (made, base)
        assert (comparison.verdict, comparison.passed) == ("REGRESSED", False)
        assert len(comparison.broken) == 12
        assert comparison.fixed == comparison.mixed == ()
    assert [(each.key, each.before, each.after) for each in comparison.config] == [("face.threshold", "0.7", "0.9")]
    assert comparison.to_pandas().loc["face/recall", "gain"] == -0.5
    items = comparison.to_pandas("items")
    assert items["words"].tolist() == ["1 face lost"] * 12
    assert harness.compare(harness.load_run(base), run).verdict == "IMPROVED"
    assert harness.compare(run, run).to_pandas("items").empty
    assert "Verdict: REGRESSED" in str(comparison)


def test_objects_are_compared_in_their_own_store(desk: Path) -> None:
    shutil.copytree(desk / "mlruns", desk / "elsewhere" / "mlruns")
    base = logged(desk / "elsewhere", GOOD, pinned=True)
    run = harness.load_run(logged(desk / "elsewhere", WORSE), "tracking.root=elsewhere/mlruns")
    assert harness.compare(run).base_id == base
    assert harness.compare(run, base[:8]).verdict == "REGRESSED"
    with pytest.raises(harness.HarnessError, match="the store has no runs yet"):
        harness.compare(run, base[:8], "tracking.root=mlruns")
    other = harness.load_run(logged(desk, GOOD))
    for pair in ((run, other), (other, run)):
        with pytest.raises(harness.HarnessError, match=f"{pair[1].id}: it is kept in another store than"):
            harness.compare(*pair)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: harness.load_run("nope"), "nope: no run has this id or name"),
        (lambda: harness.compare("latest"), "no run is pinned as the baseline yet"),
        (lambda: harness.load_run("latest", "tracking.root=none"), "no runs in .* yet"),
        (lambda: harness.load_run("latest", "gate.metrics.face.nope.absolute=1"), "the run has no such metric"),
        (lambda: harness.load_references("references=off"), "references=off: there are no photos"),
        (lambda: harness.load_references("references=staging", "references.root=none"), "none"),
    ],
)
def test_what_cannot_be_found_is_told(desk: Path, ask: object, message: str) -> None:
    logged(desk, GOOD)
    assert callable(ask)
    with pytest.raises(harness.HarnessError, match=message):
        ask()
    assert not (desk / "none").exists()


def test_stored_runs_are_listed_with_their_metrics(desk: Path) -> None:
    assert len(harness.list_runs("tracking.root=none")) == 0
    base, made = logged(desk, GOOD, pinned=True), logged(desk, WORSE)
    runs = harness.list_runs()
    assert [run.run_id for run in runs] == [made, base]
    assert runs[0].name == "fast face.threshold=0.9"
    frame = runs.to_pandas()
    assert frame["face/recall"].to_dict() == {made: 0.5, base: 1.0}
    assert frame["baseline"].to_dict() == {made: False, base: True}
    assert [run.run_id for run in harness.list_runs(limit=1)] == [made]
    assert "BASELINE" in runs._repr_html_()


def test_metrics_become_a_frame_with_interval_n_and_verdict(desk: Path) -> None:
    logged(desk, GOOD, pinned=True)
    frame = harness.load_run(logged(desk, WORSE)).to_pandas("metrics")
    assert frame.loc["face/recall", ["value", "n", "baseline", "gain", "verdict"]].tolist() == [
        0.5,
        24,
        1.0,
        -0.5,
        "REGRESSED",
    ]
    run = harness.run(*TRACES)
    frame = run.to_pandas("metrics")
    interval = run.intervals["confidence/kept_fraction"]
    assert frame.loc["confidence/kept_fraction", ["low", "high"]].tolist() == [interval.low, interval.high]
    assert not [name for name in frame.index if name.startswith("interval/")]
    with pytest.raises(ValueError, match="expected one of 'items', 'metrics'"):
        run.to_pandas("photos")  # type: ignore[arg-type]


def test_html_escapes_what_people_wrote_and_says_the_verdict(desk: Path) -> None:
    logged(desk, benchmark_run([(2, 0, 0)] * 12, name="<b>base</b>"), pinned=True)
    run = harness.load_run(logged(desk, benchmark_run([(1, 0, 1)] * 12, name="<script>x</script>", note="<i>")))
    comparison = harness.compare(run)
    for page in (run._repr_html_(), comparison._repr_html_(), harness.list_runs()._repr_html_()):
        assert "&lt;script&gt;x&lt;/script&gt;" in page
        assert "<script" not in page
        assert "http" not in page
    assert '<span class="badge bad">▼ REGRESSED</span>' in run._repr_html_()
    assert "&lt;i&gt;" in run._repr_html_()
    assert "Newly broken (12)" in comparison._repr_html_()


def test_html_has_the_scorecards_with_interval_and_n(desk: Path) -> None:
    page = harness.run(*TRACES)._repr_html_()
    row = re.search(r"<tr><th>[^<]*boxes kept</th>.*?</tr>", page, re.DOTALL)
    assert row
    assert re.search(r"\d+\.\d% *</td>.*\[\d+\.\d%, \d+\.\d%\].*\d+ of \d+", row[0], re.DOTALL)


def test_predictions_in_memory_are_scored_as_a_file_of_one_name() -> None:
    import numpy as np

    lines = ({"photo": name, "faces": [{"x": np.float32(0.5), "landmarks": np.zeros((5, 2))}]} for name in ("é", "b"))
    with _as_file(lines) as path:
        assert path.name == "predictions.jsonl"
        read = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert not path.exists()
    assert read[0] == {"photo": "é", "faces": [{"x": 0.5, "landmarks": [[0.0, 0.0]] * 5}]}
    assert len(read) == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [("a.jpg", "number 1 is str; expected a mapping"), ({"photo": {1}}, "set, which JSON does not have")],
)
def test_predictions_that_are_none_are_refused(line: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message), _as_file([line]):  # type: ignore[list-item]
        pass


def test_predictions_are_scored_without_a_pipeline(
    desk: Path, tiny_set: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    where = ("references=staging", f"references.root={tiny_set}")
    photos = harness.load_references(*where).photos
    lines: list[dict[str, Any]] = [
        {"photo": photo.name, "faces": [{"x": face.x, "y": face.y, "w": face.w, "h": face.h} for face in photo.faces]}
        for photo in photos
    ]
    run = harness.score(lines, *where)
    assert (run.complete, run.metrics["face/recall"], "bib/recall" in run.metrics) == (True, 1.0, False)
    assert harness.score(iter(lines), *where).id == run.id
    (desk / "mine.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert harness.score("mine.jsonl", *where).metrics["face/recall"] == 1.0
    missing = harness.score(lines[1:], *where)
    assert (missing.complete, len(missing.failures)) == (False, 1)
    assert harness.score(lines[1:], *where, missing_is_empty=True).metrics["face/recall"] == pytest.approx(2 / 3)
    assert capfd.readouterr() == ("", "")
    made = len(harness.list_runs())
    for wrong in ([{"photo": "nobody.jpg", "faces": []}], [], lines + lines[:1]):
        with pytest.raises(harness.HarnessError, match=r"^predictions"):
            harness.score(wrong, *where)
    with pytest.raises(harness.HarnessError, match="preset=fast"):
        harness.score(lines, *where, "preset=fast")
    assert len(harness.list_runs()) == made


def test_a_run_can_be_sent_to_another_process(desk: Path) -> None:
    run = harness.run(*TRACES)
    sent = pickle.loads(pickle.dumps(run))
    assert sent == run
    assert sent.report == run.report != ""


def test_errors_are_of_one_tree() -> None:
    assert issubclass(IncompleteError, harness.HarnessError)

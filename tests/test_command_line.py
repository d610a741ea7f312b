"""The command line as its user meets it: help, mistakes, a run, a sweep, an interruption."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from mlflow.entities import Run

from harness.base.errors import HarnessError
from harness.remaking import make_report
from harness.tracking.finding import list_runs
from harness.tracking.store import LocalStore
from tests.conftest import QUICK, Harness, RunHarness

HEAVY = {
    *("mlflow", "cv2", "onnxruntime", "optuna", "mcp", "hydra", "numpy", "pydantic"),
    *("pdfplumber", "camelot", "pypdfium2"),
}


def staging(root: Path) -> tuple[str, ...]:
    """A run on a folder. Its few photos stand for themselves, though they show the same three people."""
    return ("references=staging", f"references.root={root}", "references.groups=photo", "preset=fast", *QUICK)


def stored_runs(folder: Path, experiment: str = "runs") -> list[Run]:
    """All runs, or with `sweeps` the overviews, that a folder's store holds."""
    store = LocalStore(str(folder / "mlruns"), "harness")
    if not store.exists:
        return []
    opened = store.open()
    return list(opened.client.search_runs([getattr(opened, f"{experiment}_experiment")]))


def test_help_covers_both_halves_and_imports_nothing_heavy() -> None:
    code = "import sys\nfrom harness.__main__ import run\nrun(['--help'])\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "preset       balanced, best, fast" in done.stdout
    assert "mlflow       open MLflow's UI" in done.stdout
    assert not HEAVY & set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["preset=nope"], "preset=nope: no such choice; preset is one of: balanced, best, fast"),
        (["face.threshold=abc"], "face.threshold: must be a number"),
        (["references.root=/does/not/exist"], "references.root: no reference set at /does/not/exist"),
        (["-m", "preset=nope,fast"], "preset=nope: no such choice"),
        (["nonsense"], r"nonsense: no such command \(harness --help lists them all\)"),
        (["mlflow"], "no runs in .* yet"),
        (["mlflow", "tracking.rot=x"], "tracking.rot: no such key; tracking has: experiment, patience, root"),
    ],
)
def test_a_mistake_is_told_briefly_and_leaves_nothing_behind(
    harness_process: RunHarness, work: Path, arguments: list[str], message: str
) -> None:
    done = harness_process(*arguments)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert re.search(message, done.stderr)
    assert len(done.stderr.splitlines()) <= 3
    assert [path for path in work.rglob("*") if path.is_file()] == []


@pytest.mark.slow
def test_a_run_is_shown_and_logged(harness_process: RunHarness, work: Path, tiny_set: Path) -> None:
    done = harness_process(*staging(tiny_set), "note=first try")
    assert done.returncode == 0, done.stderr
    for title in ("Bib detection", "Bib reading (OCR)", "Numbers", "Face detection", "Bib-face links"):
        assert title in done.stdout
    (run,) = stored_runs(work)
    assert run.info.run_id in done.stdout
    assert run.info.status == "FINISHED"
    assert run.data.metrics["number/f1"] == 1.0
    assert run.data.metrics["count/face_photos"] == 3
    assert run.data.metrics["count/link_gt_links"] == 2
    assert run.data.params["bib.long_side"] == "640"
    tags = run.data.tags
    assert tags["note"] == "first try"
    assert tags["outcome"] == "COMPLETE"
    assert len(tags["data.digest"]) == 64
    assert tags["model.licences"] == "Apache-2.0, MIT"
    assert "face_detection_yunet" in " ".join(tags)
    assert "| Numbers | F1 | 100.0% |" in tags["mlflow.note.content"]
    assert "bib.torso.rival_share" in tags["idle_steps"]
    assert "without effect" not in done.stderr


@pytest.mark.slow
def test_a_step_that_somebody_asked_for_and_that_does_nothing_is_named(
    harness_process: RunHarness, tiny_set: Path
) -> None:
    done = harness_process(*staging(tiny_set), "bib.torso.rival_share=0.5")
    assert "harness: switched on, but without effect on any photo: bib.torso.rival_share\n" in done.stderr


@pytest.mark.slow
def test_a_corrupt_photo_makes_the_run_incomplete(harness_process: RunHarness, work: Path, tiny_set: Path) -> None:
    broken = sorted((tiny_set / "photos").iterdir())[0]
    broken.write_bytes(broken.read_bytes()[:3000])
    done = harness_process(*staging(tiny_set))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "INCOMPLETE: 1 of 3 photos could not be evaluated" in done.stderr
    assert broken.name in done.stdout
    (run,) = stored_runs(work)
    assert run.info.status == "FAILED"
    assert run.data.tags["outcome"] == "INCOMPLETE"
    assert run.data.metrics["count/failed"] == 1
    assert run.data.metrics["count/face_photos"] == 2


@pytest.mark.slow
def test_a_sweep_is_flat_runs_and_an_overview(harness_process: RunHarness, work: Path, tiny_set: Path) -> None:
    done = harness_process("-m", "references=staging", f"references.root={tiny_set}", "preset=fast,best", *QUICK)
    assert done.returncode == 0, done.stderr
    runs = stored_runs(work)
    assert {run.info.run_name.split()[0] for run in runs} == {"fast", "best"}
    (sweep_id,) = {run.data.tags["sweep_id"] for run in runs}
    (overview,) = stored_runs(work, "sweeps")
    assert overview.data.tags["sweep_id"] == sweep_id
    assert overview.data.metrics["jobs"] == 2
    swept = ["bib.last_torsos", "bib.margins", "bib.near_faces", "bib.torso_faces", "identity.mirrored", "preset"]
    assert overview.data.params["swept"].split(", ") == swept
    assert "mlflow.parentRunId" not in runs[0].data.tags


def test_of_a_sweep_the_best_and_the_worst_run_have_a_report_and_others_get_theirs_when_asked(
    harness: Harness, tmp_path: Path, empty_store: Path
) -> None:
    """The three runs are equally good, so that one is both the best and the worst."""
    shutil.copytree(empty_store, tmp_path / "mlruns")
    confidence = ("references=off", "confidence=sample")
    swept = harness("-m", *confidence, "seed=0,1,2")
    assert swept.code == 0, swept.err
    assert "Reports are made of the best run and of the worst" in swept.out
    told = re.findall(r"sweep: run (\d) of 3, (\d) done(, about [\d:]+ left)?$", swept.err, re.MULTILINE)
    assert [(run, done, bool(left)) for run, done, left in told] == [
        ("1", "0", False),
        ("2", "1", True),
        ("3", "2", True),
    ]
    first, second, third = sorted(stored_runs(tmp_path), key=lambda run: run.info.start_time)
    reports = {
        run.info.run_id: Path(unquote(urlsplit(run.info.artifact_uri).path)) / "report.html"
        for run in stored_runs(tmp_path)
    }
    assert [run_id for run_id, report in reports.items() if report.exists()] == [first.info.run_id]
    store = LocalStore("mlruns", "harness").open()
    make_report(store, second.info.run_id)
    assert "seed=1" in reports[second.info.run_id].read_text()
    reused = harness(*confidence, "seed=2")
    assert "Nothing has changed since this run was made" in reused.out
    assert reports[third.info.run_id].exists(), "a run by itself has a report, also where a sweep made it without"
    never = harness(*confidence, "seed=3", "report.make=off")
    assert never.code == 0
    assert sum(path.name == "report.html" for path in (tmp_path / "mlruns" / "artifacts" / "harness").rglob("*")) == 3


def test_a_report_is_not_made_of_a_run_that_would_be_another_by_now(
    harness: Harness, tmp_path: Path, empty_store: Path
) -> None:
    shutil.copytree(empty_store, tmp_path / "mlruns")
    assert harness("references=off", "confidence=sample", "report.make=off").code == 0
    (run,) = stored_runs(tmp_path)
    store = LocalStore("mlruns", "harness").open()
    config = Path(unquote(urlsplit(run.info.artifact_uri).path)) / "config.yaml"
    config.write_text(config.read_text().replace("seed: 0", "seed: 7"))
    with pytest.raises(HarnessError, match="its photos, labels, models or code have changed since"):
        make_report(store, run.info.run_id)


@pytest.mark.parametrize("wrong", ["timing=often", "report.make=often"])
def test_what_is_made_when_has_three_answers(harness: Harness, wrong: str) -> None:
    done = harness("references=off", "confidence=sample", wrong)
    assert done.code != 0
    assert f"{wrong}: expected one of auto, on, off" in done.err


@pytest.mark.slow
def test_a_failing_job_does_not_stop_the_sweep(harness_process: RunHarness, work: Path, tiny_set: Path) -> None:
    done = harness_process(
        "-m", *staging(tiny_set), "face.weights.file=missing.onnx,models/face_detection_yunet_2023mar_int8bq.onnx"
    )
    assert done.returncode == 1
    assert "missing.onnx: not found" in done.stderr
    assert done.stderr.count("missing.onnx: not found") == 1
    assert [run.info.status for run in stored_runs(work)] == ["FINISHED"]
    assert len(stored_runs(work, "sweeps")) == 1


def listen_to_ctrl_c() -> None:
    """Undo what a shell does to the jobs that it starts in the background, these tests perhaps among them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.slow
def test_ctrl_c_ends_the_run_as_killed(tmp_path: Path, tiny_set: Path) -> None:
    slow = ("bib.long_side=6000", "face.long_side=6000")
    command = [sys.executable, "-m", "harness", *staging(tiny_set), *slow]
    work = tmp_path / "killed"
    work.mkdir()
    process = subprocess.Popen(command, cwd=work, stderr=subprocess.PIPE, text=True, preexec_fn=listen_to_ctrl_c)
    deadline = time.monotonic() + 300
    store = LocalStore(str(work / "mlruns"), "harness")
    while not (store.exists and list_runs(store.open(), limit=1)):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in errors
    (run,) = stored_runs(work)
    assert run.info.status == "KILLED"
    left = {path.name for path in (work / "mlruns").rglob("*") if path.is_file()}
    assert left <= {"mlflow.db", "mlflow.db-wal", "mlflow.db-shm", ".lock"}


@pytest.mark.slow
def test_eight_first_runs_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "harness", "references=off", "confidence=sample"]
    processes = [
        subprocess.Popen(
            [*command, f"seed={seed}"], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        for seed in range(8)
    ]
    errors = [process.communicate(timeout=500)[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * 8, errors
    runs = stored_runs(tmp_path)
    assert [run.info.status for run in runs] == ["FINISHED"] * 8
    assert all(run.data.metrics["confidence/kept"] == 58 for run in runs)

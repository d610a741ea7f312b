"""The local store, and runs that end as they deserve. Many first runs at once: tests/test_command_line.py."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import HarnessError
from harness.tracking.runs import RunRecord, TrackedRun, tracked_run
from harness.tracking.store import LocalStore


def record(**changes: object) -> RunRecord:
    base = {"params": {}, "metrics": {}, "tags": {}, "description": "", **changes}
    return RunRecord(**base)  # type: ignore[arg-type]


def test_the_database_is_in_wal_mode_and_artifacts_lie_beside_it(tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path), "mine")
    opened = store.open()
    with sqlite3.connect(tmp_path / "mlflow.db") as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    experiment = opened.client.get_experiment(opened.runs_experiment)
    assert experiment.name == "mine"
    assert experiment.artifact_location == (tmp_path / "artifacts" / "mine").as_uri()
    assert store.open().runs_experiment == opened.runs_experiment


def test_a_store_that_cannot_be_opened_says_so(tmp_path: Path) -> None:
    (tmp_path / "mlflow.db").write_text("this is no database, it is a text that is long enough to be read as one")
    with pytest.raises(HarnessError, match=r"tracking.root: cannot open the MLflow store in"):
        LocalStore(str(tmp_path), "harness").open()


def interrupt(_: TrackedRun) -> None:
    raise KeyboardInterrupt


def fail(_: TrackedRun) -> None:
    raise RuntimeError("boom")


@pytest.mark.parametrize(
    ("work", "status"),
    [
        (interrupt, "KILLED"),
        (fail, "FAILED"),
        (lambda run: run.log(record(failed=True)), "FAILED"),
        (lambda run: run.log(record()), "FINISHED"),
    ],
)
def test_a_run_ends_as_it_deserves(tmp_path: Path, work: Callable[[TrackedRun], None], status: str) -> None:
    store = LocalStore(str(tmp_path), "harness").open()
    try:
        with tracked_run(store, store.runs_experiment, "run", {}) as run:
            work(run)
    except (KeyboardInterrupt, RuntimeError):
        assert status in ("KILLED", "FAILED")
    assert store.client.get_run(run.run_id).info.status == status


def test_everything_of_a_run_is_kept(tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path / "store"), "harness").open()
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.txt").write_text("hello")
    params = {f"p{number}": str(number) for number in range(250)}
    with tracked_run(store, store.runs_experiment, "run", {"early": "1"}) as run:
        run.log(
            record(
                params=params,
                metrics={"bib/f1": 0.5},
                tags={"late": "2"},
                description="**hi**",
                files=tmp_path / "files",
                tables={"photos.json": {"photo": ["a", "b"], "n": [1, None]}},
                dataset=("sample", "d" * 64),
            )
        )
    stored = store.client.get_run(run.run_id)
    assert stored.data.params == params
    assert stored.data.metrics == {"bib/f1": 0.5}
    assert {"early": "1", "late": "2", "mlflow.note.content": "**hi**"}.items() <= stored.data.tags.items()
    assert {file.path for file in store.client.list_artifacts(run.run_id)} == {"a.txt", "photos.json"}
    assert stored.inputs is not None
    assert stored.inputs.dataset_inputs[0].dataset.name == "sample"

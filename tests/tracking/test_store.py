"""The local store, the address of a server, and runs that end as they deserve.

Many first runs at once: tests/test_command_line.py. What holds for both stores: test_both_stores.py.
"""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.base.errors import ConfigError, HarnessError
from harness.config import compose, instantiate
from harness.tracking.remote import ServerStore
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


def test_a_process_that_is_killed_while_it_makes_the_store_ruins_nothing(tmp_path: Path) -> None:
    code = f"""
import os, signal, sqlalchemy
from harness.tracking.store import LocalStore
made = []
@sqlalchemy.event.listens_for(sqlalchemy.engine.Engine, "after_cursor_execute")
def kill(connection, cursor, statement, *_):
    made.append("CREATE TABLE" in statement)
    if sum(made) == 9:
        os.kill(os.getpid(), signal.SIGKILL)
LocalStore({str(tmp_path)!r}, "mine").open()
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    store = LocalStore(str(tmp_path), "mine")
    assert not store.exists
    assert (tmp_path / ".mlflow.db.new").exists()
    assert store.open().client.search_runs([store.open().runs_experiment]) == []
    assert not (tmp_path / ".mlflow.db.new").exists()


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
def test_a_run_ends_as_it_deserves(local_root: str, work: Callable[[TrackedRun], None], status: str) -> None:
    store = LocalStore(local_root, "harness").open()
    try:
        with tracked_run(store, store.runs_experiment, "run", {}) as run:
            work(run)
    except (KeyboardInterrupt, RuntimeError):
        assert status in ("KILLED", "FAILED")
    assert store.client.get_run(run.run_id).info.status == status


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("mlflow.example:5000", "tracking.uri: expected the address of an MLflow server"),
        ("sqlite:///mlflow.db", "tracking.uri: expected the address of an MLflow server"),
        ("http://me:secret@mlflow.example", "name and password go into MLFLOW_TRACKING_USERNAME"),
    ],
)
def test_an_address_that_cannot_be_one_is_refused(uri: str, message: str) -> None:
    config = compose(["tracking=server", f"tracking.uri='{uri}'"])
    with pytest.raises(ConfigError, match=message) as caught:
        instantiate(config, "tracking")
    assert "secret" not in str(caught.value)


def test_a_server_that_is_not_there_is_said_to_be_so_at_once() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        uri = f"http://127.0.0.1:{taken.getsockname()[1]}"
        started = time.monotonic()
        with pytest.raises(HarnessError, match=f"tracking.uri: no MLflow server answers at {uri}: .*refused"):
            ServerStore(uri, "harness").open()
    assert time.monotonic() - started < 60


def test_nobody_is_told_how_mlflow_is_used() -> None:
    code = (
        "from harness.tracking.quiet import quiet_mlflow; quiet_mlflow()\n"
        "from mlflow.environment_variables import MLFLOW_DISABLE_TELEMETRY as off; assert off.get()"
    )
    kept = {name: value for name, value in os.environ.items() if name != "MLFLOW_DISABLE_TELEMETRY"}
    subprocess.run([sys.executable, "-c", code], env=kept, check=True)

"""A store that goes away is waited for; what it does not take is kept on disk, and logged later: once, and whole."""

from __future__ import annotations

import errno
import itertools
import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import requests
from mlflow.exceptions import MlflowException

from harness.base.errors import HarnessError, PendingError
from harness.tracking import patience, pending
from harness.tracking.patience import Patience, impatient, may_pass, patient
from harness.tracking.pending import list_pending, log_pending, pending_root, read_pending
from harness.tracking.runs import RunRecord, TrackedRun, tracked_run
from harness.tracking.store import LocalStore, OpenStore
from tests.conftest import Harness

STEPS = ("log_batch", "log_artifacts", "log_inputs", "set_terminated")


class Killed(BaseException):
    """Stands for SIGKILL: nobody handles it."""


@pytest.fixture
def store(local_root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalStore:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return LocalStore(local_root, f"test-{tmp_path.name}", patience=0)


def whole(folder: Path) -> RunRecord:
    """A record with something of everything."""
    (folder / "files" / "deeper").mkdir(parents=True, exist_ok=True)
    (folder / "files" / "a.txt").write_text("hello")
    (folder / "files" / "deeper" / "b.bin").write_bytes(b"\0\1")
    return RunRecord(
        params={"p": "1", "long": "x" * 400},
        metrics={"m": 0.1 + 0.2, "nan": float("nan"), "inf": float("inf")},
        tags={"late": "2"},
        description="**hi** ä",
        curves={"curve/c": {0: 0.5, 10: 0.25, 20: 0.125}},
        files=folder / "files",
        tables={"photos.json": {"photo": ["a", "b"], "n": [1, None]}},
        dataset=("races", "d" * 64),
    )


def log(opened: OpenStore, folder: Path) -> str:
    with tracked_run(opened, opened.runs_experiment, "run", {"early": "1"}) as run:
        run.log(whole(folder))
    return run.run_id


def content(opened: OpenStore, run_id: str, folder: Path) -> dict[str, Any]:
    """All that MLflow has of a run, but for times and for whose process it was."""
    run = opened.client.get_run(run_id)
    tags = {name: value for name, value in run.data.tags.items() if not name.startswith(("process.", "run.token"))}
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    files = Path(opened.client.download_artifacts(run_id, "", str(folder)))
    history = opened.client.get_metric_history(run_id, "curve/c")
    assert run.inputs is not None
    return {
        "status": run.info.status,
        "params": run.data.params,
        "metrics": {name: repr(value) for name, value in run.data.metrics.items()},
        "curve": [(point.step, point.value) for point in history],
        "tags": tags,
        "data": [(item.dataset.name, item.dataset.digest) for item in run.inputs.dataset_inputs],
        "files": {str(path.relative_to(files)): path.read_bytes() for path in files.rglob("*") if path.is_file()},
    }


def fail_at(opened: OpenStore, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(impatient(opened.client), step, fail)


def no_room() -> OSError:
    return OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("step", STEPS)
def test_a_run_that_the_store_does_not_take_is_kept_and_logged_later_as_if_nothing_had_been(
    store: LocalStore, tmp_path: Path, step: str
) -> None:
    opened = store.open()
    expected = content(opened, log(opened, tmp_path), tmp_path / "down")
    with pytest.MonkeyPatch.context() as broken:
        fail_at(opened, broken, step, no_room())
        with pytest.raises(
            PendingError, match=r"No space left on device.*; all of it is kept in .*log it with: harness log"
        ) as caught:
            log(opened, tmp_path)
    assert caught.value.exit_code == 7
    shutil.rmtree(tmp_path / "files")  # which the run deletes when it ends
    (waiting,) = list_pending()
    assert str(waiting.folder) in str(caught.value)
    run_id = log_pending(waiting)
    assert run_id == waiting.sheet["run_id"]
    assert content(opened, run_id, tmp_path / "down") == expected
    assert [path.name for path in pending_root().glob("*")] == [".lock"]
    with pytest.raises(HarnessError, match="somebody else has logged it meanwhile"):
        log_pending(waiting)


@pytest.mark.parametrize("gone", [False, True], ids=["the run is there", "the store lost the run"])
def test_logging_that_is_killed_in_the_middle_and_called_again_makes_one_whole_run(
    store: LocalStore, tmp_path: Path, gone: bool
) -> None:
    opened = store.open()
    first = log(opened, tmp_path)
    expected = content(opened, first, tmp_path / "down")
    with pytest.MonkeyPatch.context() as broken:
        fail_at(opened, broken, "log_batch", no_room())
        with pytest.raises(PendingError):
            log(opened, tmp_path)
    (waiting,) = list_pending()
    if gone:
        opened.client.delete_run(waiting.sheet["run_id"])
    kept = shutil.copytree(waiting.folder, tmp_path / "kept")
    for step in (*STEPS, "remove"):
        with pytest.MonkeyPatch.context() as killing:
            if step == "remove":
                killing.setattr(shutil, "rmtree", kill)
            else:
                from mlflow import MlflowClient

                killing.setattr(MlflowClient, step, kill)
            with pytest.raises(Killed):
                log_pending(read_pending(waiting.folder))
    assert not waiting.folder.exists()
    runs = {run.info.run_id for run in opened.client.search_runs([opened.runs_experiment])}
    assert len(runs) == 2
    (run_id,) = runs - {first}
    assert (run_id == waiting.sheet["run_id"]) is not gone
    assert content(opened, run_id, tmp_path / "down") == expected
    # A copy of the folder that comes back, from a backup say, changes nothing; what the kill left is cleared away.
    assert log_pending(read_pending(Path(kept))) == run_id
    assert content(opened, run_id, tmp_path / "down") == expected


def kill(*_: object, **__: object) -> None:
    raise Killed


def test_where_the_cache_takes_nothing_either_the_temporary_folder_has_the_run(
    store: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = store.open()
    (tmp_path / "cache").write_text("no folder")
    fail_at(opened, monkeypatch, "log_artifacts", no_room())
    with pytest.raises(PendingError, match=r"all of it is kept in .*harness-pending"):
        log(opened, tmp_path)
    monkeypatch.setattr(pending, "_keep_in", lambda *_: (_ for _ in ()).throw(no_room()))
    with pytest.raises(HarnessError, match=r"nor be kept on disk.*what was predicted is in the stage cache") as caught:
        log(opened, tmp_path)
    assert not isinstance(caught.value, PendingError)


def test_the_command_lists_logs_and_says_what_is_wrong(
    harness: Harness, local_root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "No run is pending in" in harness("log").out
    opened = LocalStore(local_root, f"test-{tmp_path.name}", patience=0).open()
    with pytest.MonkeyPatch.context() as broken:
        fail_at(opened, broken, "log_batch", no_room())
        for _ in range(2):
            with pytest.raises(PendingError):
                log(opened, tmp_path)
            time.sleep(1.1)  # a second is in the name
    listed = harness("log").out.splitlines()
    assert len(listed) == 3
    assert "No space left on device" in listed[1]
    name = listed[1].split()[0]
    told = harness("log", name)
    assert (told.code, "logged to" in told.out) == (0, True), told.err
    assert len(harness("log").out.splitlines()) == 2
    moved = harness("log", "--all", f"tracking.root={local_root}", "tracking.experiment=elsewhere")
    assert moved.code == 0, moved.err
    runs = json.loads(harness("list", "--json", f"tracking.root={local_root}", "tracking.experiment=elsewhere").out)
    assert [run["status"] for run in runs] == ["FINISHED"]
    unknown = harness("log", name)
    assert (unknown.code, f"{name}: no pending run has this name" in unknown.err) == (2, True)
    nothing = harness("log", str(tmp_path))
    assert (nothing.code, "no run waits here to be logged" in nothing.err) == (1, True)
    (tmp_path / "pending.json").write_text('{"format": 9}')
    assert "expected a pending run of format 1" in harness("log", str(tmp_path)).err


def away() -> MlflowException:
    """What MLflow's client raises where a server is away."""
    try:
        try:
            raise requests.ConnectionError("refused")
        except requests.ConnectionError as error:
            raise MlflowException(f"API request failed with exception {error}") from None
    except MlflowException as error:
        return error


def refused(code: int) -> requests.HTTPError:
    response = requests.Response()
    response.status_code = code
    return requests.HTTPError(f"{code}", response=response)


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (away(), True),
        (requests.Timeout("read timed out"), True),
        (refused(503), True),
        (refused(404), False),
        (MlflowException("(sqlite3.OperationalError) database is locked"), True),
        (MlflowException("(sqlite3.OperationalError) database or disk is full"), False),
        (MlflowException("database disk image is malformed"), False),
        (MlflowException("Run 'x' not found"), False),
        (no_room(), False),
    ],
)
def test_only_what_may_pass_is_tried_again(error: Exception, passes: bool) -> None:
    assert may_pass(error) is passes


class Clock:
    """Time that passes only where somebody sleeps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.waits: list[float] = []
        monkeypatch.setattr(patience, "time", self)

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def failing(times: float) -> Callable[[], str]:
    count = itertools.count()

    def call() -> str:
        if next(count) < times:
            raise away()
        return "done"

    return call


def test_calls_are_repeated_with_growing_waits_for_the_time_that_was_stated(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock, waiting = Clock(monkeypatch), Patience("the server", 300)
    assert waiting.call(failing(6)) == "done"
    assert len(clock.waits) == 6
    assert clock.waits[-1] > clock.waits[0]
    assert max(clock.waits) <= 10
    assert capsys.readouterr().err == "harness: the server does not answer (refused); trying again for 300 seconds\n"
    start = clock.now
    with pytest.raises(MlflowException):
        waiting.call(failing(float("inf")))
    assert clock.now - start == pytest.approx(300)
    # Given up: what follows has one try each, until one succeeds.
    start = clock.now
    with pytest.raises(MlflowException):
        waiting.call(failing(float("inf")))
    assert clock.now == start
    assert waiting.call(failing(0)) == "done"
    assert waiting.call(failing(3)) == "done"


def test_a_run_whose_creation_was_not_acknowledged_is_found_and_not_made_twice(
    store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    Clock(monkeypatch)
    opened = store.open()
    client = impatient(opened.client)
    plain, answers = client.create_run, itertools.count()

    def lost(*arguments: Any, **named: Any) -> Any:
        made = plain(*arguments, **named)
        if next(answers) == 0:
            raise away()
        return made

    monkeypatch.setattr(client, "create_run", lost)
    patiently = patient(client, Patience("the server", 300))
    run = patiently.create_run(opened.runs_experiment, run_name="run", tags={patience.TOKEN_TAG: "abc"})
    (found,) = client.search_runs([opened.runs_experiment])
    assert found.info.run_id == run.info.run_id


def test_an_error_of_the_work_itself_is_no_pending_run(store: LocalStore) -> None:
    def work(run: TrackedRun) -> None:
        raise OSError("a photo cannot be read")

    opened = store.open()
    with (
        pytest.raises(OSError, match="a photo cannot be read"),
        tracked_run(opened, opened.runs_experiment, "r", {}) as run,
    ):
        work(run)
    assert list_pending() == []
    assert opened.client.get_run(run.run_id).info.status == "FAILED"

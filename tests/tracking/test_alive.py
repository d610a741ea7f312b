"""Runs that are under way say who makes them; one whose process is dead is ended, and one that is alive never is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from mlflow.exceptions import MlflowException

from harness.base.processes import this_process
from harness.base.signals import EndedError
from harness.tracking import alive
from harness.tracking.alive import DEAD, HOST_TAG, PID_TAG, STARTED_TAG, UNTIL_TAG, end_dead, is_dead, process_tags
from harness.tracking.catalog import killed_before
from harness.tracking.finding import list_runs, list_sweeps
from harness.tracking.patience import impatient
from harness.tracking.runs import tracked_run
from harness.tracking.store import OpenStore
from harness.tracking.sweeps import find_jobs
from tests.tracking.test_both_stores import AnyStore, record

PAST, FUTURE = (f"{datetime.now(UTC) + timedelta(hours=hours):%Y-%m-%dT%H:%M:%S+00:00}" for hours in (-1, 1))


@pytest.fixture
def opened(store: AnyStore) -> OpenStore:
    return store.open()


def gone() -> dict[str, str]:
    """What a run says whose process has ended: the number is free, or is that of somebody else by now."""
    place, _, start = this_process().started.rpartition("/")
    return {HOST_TAG: this_process().host, PID_TAG: str(os.getpid()), STARTED_TAG: f"{place}/{int(start) - 1}"}


def begin(store: OpenStore, tags: Mapping[str, str], experiment: str = "") -> str:
    run = store.client.create_run(experiment or store.runs_experiment, run_name="run", tags=dict(tags))
    return str(run.info.run_id)


def test_a_dead_run_is_ended_where_it_is_met_and_a_living_one_never_is(opened: OpenStore) -> None:
    dead = begin(opened, {**gone(), "sweep_id": "s1"})
    mine = begin(opened, process_tags(opened))
    elsewhere = begin(opened, {**process_tags(opened), HOST_TAG: "another"})
    silent = begin(opened, {HOST_TAG: "another", PID_TAG: "1", STARTED_TAG: "x/1", UNTIL_TAG: PAST})
    old = begin(opened, {})  # of a version that said nothing
    overview = begin(opened, gone(), opened.sweeps_experiment)
    expected = {dead: "KILLED", mine: "RUNNING", elsewhere: "RUNNING", silent: "KILLED", old: "RUNNING"}
    assert {run.run_id: run.status for run in list_runs(opened)} == expected
    assert {run_id: opened.client.get_run(run_id).info.status for run_id in expected} == expected
    assert [run.status for run in list_sweeps(opened)] == ["KILLED"]
    assert opened.client.get_run(overview).info.status == "KILLED"


def test_a_dead_job_is_ended_by_the_overview_of_its_sweep_and_dead_runs_by_the_next_run(opened: OpenStore) -> None:
    begin(opened, {**gone(), "sweep_id": "s1"})
    assert [job.status for job in find_jobs(opened, "s1")] == ["KILLED"]
    left, overview = begin(opened, gone()), begin(opened, gone(), opened.sweeps_experiment)
    with tracked_run(opened, opened.runs_experiment, "next", {}) as run:
        assert {opened.client.get_run(each).info.status for each in (left, overview)} == {"KILLED"}
        assert not is_dead(opened.client.get_run(run.run_id).data.tags)
        run.log(record())


def test_a_run_that_ends_while_it_is_looked_at_stays_as_it_ended(
    opened: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = begin(opened, gone())

    def ends_now(tags: Mapping[str, str]) -> bool:
        opened.client.set_terminated(run_id, "FINISHED")
        return True

    monkeypatch.setattr(alive, "is_dead", ends_now)
    assert end_dead(opened, [opened.reader.get(run_id)]) == {run_id: "FINISHED"}
    assert opened.client.get_run(run_id).info.status == "FINISHED"


def test_a_store_that_takes_no_changes_shows_the_run_as_dead(
    opened: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = begin(opened, gone())

    def refuse(*_: object) -> None:
        raise MlflowException("attempt to write a readonly database")

    monkeypatch.setattr(impatient(opened.client), "set_terminated", refuse)
    assert [run.status for run in list_runs(opened)] == [DEAD]
    assert opened.client.get_run(run_id).info.status == "RUNNING"


@pytest.mark.parametrize(
    ("until", "dead"),
    [(PAST, True), (FUTURE, False), ("", False), ("nonsense", False), ("2020-01-01", False)],
    ids=["past", "future", "empty", "nonsense", "no time zone"],
)
def test_on_another_machine_silence_decides(until: str, dead: bool) -> None:
    assert is_dead({HOST_TAG: "another", PID_TAG: "7", STARTED_TAG: "x/1", UNTIL_TAG: until}) is dead
    # The process is here, and alive: a clock that is wrong, or a machine that slept, does not matter.
    own = this_process()
    assert not is_dead({HOST_TAG: own.host, PID_TAG: str(own.pid), STARTED_TAG: own.started, UNTIL_TAG: until})


def test_a_run_under_way_renews_its_word_and_waits_longer_than_for_its_server(
    opened: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alive, "SECONDS_BETWEEN_BEATS", 0.02)
    beaten = threading.Event()
    client = impatient(opened.client)
    plain = client.set_tag

    def beat(run_id: str, key: str, value: str) -> None:
        if key == UNTIL_TAG:
            plain(run_id, key, value)
            beaten.set()
        raise MlflowException("a beat that fails is no matter")

    monkeypatch.setattr(client, "set_tag", beat)
    assert opened.origin is not None
    waiting = replace(opened, origin=replace(opened.origin, patience=7200.0))  # type: ignore[type-var]
    with tracked_run(waiting, opened.runs_experiment, "run", {}) as run:
        assert beaten.wait(60)
        until = datetime.fromisoformat(opened.client.get_run(run.run_id).data.tags[UNTIL_TAG])
        run.log(record())
    assert until > datetime.now(UTC) + timedelta(hours=3)
    assert not [thread for thread in threading.enumerate() if thread.name == "heartbeat"]


def test_a_run_goes_on_from_the_last_one_with_its_key_only_where_that_was_killed(opened: OpenStore) -> None:
    def made(key: str, status: str) -> str:
        run_id = begin(opened, {"key": key, **process_tags(opened)})
        opened.client.set_terminated(run_id, status)
        return run_id

    mine = begin(opened, {"key": "a", **process_tags(opened)})
    assert killed_before(opened, "a", mine) is None
    killed = made("a", "KILLED")
    made("b", "FINISHED")
    assert killed_before(opened, "a", mine) == killed
    made("a", "FINISHED")
    assert killed_before(opened, "a", mine) is None


def be_ended(store: OpenStore, number: signal.Signals) -> None:
    with tracked_run(store, store.runs_experiment, "run", {}):
        os.kill(os.getpid(), number)
        raise AssertionError("unreachable")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_run_as_killed(opened: OpenStore, number: signal.Signals) -> None:
    before = signal.signal(number, signal.SIG_DFL)
    try:
        with pytest.raises(EndedError):
            be_ended(opened, number)
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, before)
    assert [run.status for run in list_runs(opened)] == ["KILLED"]


def test_a_killed_process_leaves_a_run_that_the_next_command_ends(store: AnyStore) -> None:
    code = f"""
import os, signal
from harness.tracking.remote import ServerStore
from harness.tracking.runs import tracked_run
from harness.tracking.store import LocalStore
store = {store!r}.open()
with tracked_run(store, store.runs_experiment, "run", {{}}):
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    assert [run.status for run in list_runs(store.open())] == ["KILLED"]

"""A process is told from another one of the same number, and signals end work as Ctrl-C does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.processes import Process, this_process
from harness.base.scratch import scratch, scratch_prefix
from harness.base.signals import EndedError, ended_by_signals, interrupted_code


def is_dead(process: Process) -> bool | None:
    return process.dead


def test_a_process_is_dead_once_it_has_ended_also_before_its_parent_has_collected_it() -> None:
    own = this_process()
    assert own.started
    assert is_dead(own) is False
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    found = replace(own, pid=child.pid, started=own.started.rpartition("/")[0] + "/" + started(child.pid))
    assert is_dead(found) is False
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # ended, and not collected
    assert is_dead(found) is True
    child.wait()
    assert is_dead(found) is True


def started(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


def test_a_number_that_is_used_again_is_not_taken_for_the_process_that_had_it() -> None:
    own = this_process()
    place, _, start = own.started.rpartition("/")
    assert replace(own, started=f"{place}/{int(start) - 1}").dead is True


@pytest.mark.parametrize(
    ("host", "started"),
    [("elsewhere", None), (None, "another-boot/pid:[1]/5"), (None, ""), (None, "5")],
)
def test_of_a_process_on_another_machine_boot_or_container_nothing_is_known(
    host: str | None, started: str | None
) -> None:
    own = this_process()
    for pid in (own.pid, 999_999_999):
        assert Process(host or own.host, pid, own.started if started is None else started).dead is None


@pytest.fixture
def default_handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    for number in before:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def be_signalled(number: signal.Signals) -> None:
    try:
        os.kill(os.getpid(), number)
    finally:
        assert signal.getsignal(number) is signal.SIG_DFL


@pytest.mark.usefixtures("default_handlers")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_is_an_interruption_and_the_second_ends_at_once(number: signal.Signals) -> None:
    with pytest.raises(KeyboardInterrupt) as caught, ended_by_signals():
        be_signalled(number)
    assert isinstance(caught.value, EndedError)
    assert (str(caught.value), interrupted_code(caught.value)) == (f"ended by {number.name}", 128 + number)
    assert interrupted_code(KeyboardInterrupt()) == 130
    assert signal.getsignal(number) is signal.SIG_DFL


class Collected:
    """Is signalled while it is collected, where Python drops what is raised."""

    def __init__(self, number: signal.Signals) -> None:
        self.number = number

    def __del__(self) -> None:
        os.kill(os.getpid(), self.number)


@pytest.mark.usefixtures("default_handlers")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_whose_exception_python_drops_comes_once_more(number: signal.Signals) -> None:
    def work() -> None:
        with ended_by_signals():
            Collected(number)
            time.sleep(60)

    with pytest.raises(KeyboardInterrupt) as caught:
        work()
    assert interrupted_code(caught.value) == 128 + number
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.usefixtures("default_handlers")
def test_a_signal_whose_exception_python_drops_ends_a_block_that_ends_before_it_has_come_again() -> None:
    done = []

    def sweep() -> None:
        with ended_by_signals():
            for job in range(3):
                with ended_by_signals():
                    if job == 1:
                        Collected(signal.SIGTERM)
                    done.append(job)

    with pytest.raises(EndedError):
        sweep()
    assert done == [0, 1]
    time.sleep(0.2)  # it does not come twice
    with ended_by_signals():  # of which nothing is left
        done.append(2)


@pytest.mark.usefixtures("default_handlers")
def test_what_is_put_away_after_a_signal_comes_to_its_end() -> None:
    done = []

    def sweep() -> None:
        with ended_by_signals():
            try:
                with ended_by_signals():
                    be_signalled(signal.SIGTERM)
            finally:
                with ended_by_signals():
                    done.append("overview")
                done.append("told")

    with pytest.raises(EndedError):
        sweep()
    assert done == ["overview", "told"]


@pytest.mark.usefixtures("default_handlers")
def test_handlers_are_there_only_inside_and_never_in_place_of_somebody_elses() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    with ended_by_signals():
        ours = signal.getsignal(signal.SIGTERM)
        assert callable(ours)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        with ended_by_signals():
            assert signal.getsignal(signal.SIGTERM) is ours
        assert signal.getsignal(signal.SIGTERM) is ours
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    seen = []

    def elsewhere() -> None:
        with ended_by_signals():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen == [signal.SIG_DFL]


def test_temporary_folders_of_dead_processes_are_removed_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    imports = "from harness.base.scratch import scratch; import os, signal"
    code = f"{imports}\nwith scratch(): os.kill(os.getpid(), signal.SIGKILL)"
    killed = subprocess.run([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(tmp_path)}, check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    for name in ("harness-mine", "other", f"harness-{'0' * 8}-1-1-elsewhere"):
        (tmp_path / name).mkdir()
    with scratch() as own:
        with scratch() as second:
            assert own.is_dir()
            assert second.is_dir()
        assert not left.exists()
        assert own.name.startswith(scratch_prefix())
    assert {path.name for path in tmp_path.iterdir()} == {"harness-mine", "other", f"harness-{'0' * 8}-1-1-elsewhere"}

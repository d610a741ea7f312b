"""A lane: the process that works on the jobs of one kind of one study, one after the other.

It keeps what it has read in memory for the next job, and ends when it has had nothing to do for a while, or when code
was edited that it has loaded. Whoever waits for a job starts a lane where there is none. It is started as

    python -m harness.search.lane STUDY LANE
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import get_args

from harness.base.errors import HarnessError, StaleCodeError
from harness.base.locks import is_locked, try_lock
from harness.base.signals import EndedError, ended_by_signals
from harness.search.jobs import MOST_ATTEMPTS, Job, Jobs, Lane, State

#: A lane without work ends after so many seconds, unless the environment says otherwise.
IDLE_SECONDS, IDLE_VARIABLE = 300.0, "HARNESS_LANE_SECONDS"
_POLL_SECONDS = 0.03
#: And how often all jobs are gone through, whether or not there is a new one.
_LOOK_SECONDS = 2.0
#: How often progress is written at most.
_SECONDS_BETWEEN_STATES = 0.2
#: Whoever reads is to be answered while a lane computes.
_NICENESS = 10

#: The processes that this one has started, to be collected when they end.
_STARTED: list[subprocess.Popen[bytes]] = []


def ensure_lane(jobs: Jobs, study: str, lane: Lane) -> None:
    """Start the process of a lane, where none is at work. It has a session of its own, and outlives this process."""
    _STARTED[:] = [process for process in _STARTED if process.poll() is None]
    if is_locked(jobs.lane_lock(lane)):
        return
    if any(process.args == _command(study, lane) for process in _STARTED):
        return  # it is still importing
    with jobs.lane_log(lane).open("ab") as output:
        _STARTED.append(
            subprocess.Popen(
                _command(study, lane), stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            )
        )


def _command(study: str, lane: Lane) -> list[str]:
    return [sys.executable, "-m", "harness.search.lane", study, lane]


class Progress:
    """How far the job at work is, for whoever asks; and the thread that ends it when its caller wants that."""

    def __init__(self, job: Job, state: State) -> None:
        self._job, self._state, self._written = job, state, 0.0
        self._over = threading.Event()
        self._guard = threading.Lock()

    @property
    def state(self) -> State:
        """As it was told last."""
        return self._state

    def tell(self, done: int, total: int, unit: str = "photos") -> None:
        """So much is done."""
        began = self._state.began if unit == self._state.unit and done >= self._state.done else time.time()
        self._put(done=done, total=total, unit=unit, began=began, changed=time.time())

    def partial(self, **known: object) -> None:
        """This much is known already."""
        self._put(partial={**(self._state.partial or {}), **known})

    def _put(self, **changes: object) -> None:
        self._state = self._state.model_copy(update=changes)
        if time.monotonic() - self._written >= _SECONDS_BETWEEN_STATES:
            self._job.write(self._state)
            self._written = time.monotonic()

    @contextmanager
    def cancellable(self) -> Iterator[None]:
        """Raise EndedError in the block where the caller wants the job to end."""
        watcher = threading.Thread(target=self._watch, daemon=True)
        with ended_by_signals():
            watcher.start()
            try:
                yield
            finally:
                with self._guard:
                    self._over.set()

    def _watch(self) -> None:
        while not self._over.wait(4 * _POLL_SECONDS):
            with self._guard:
                if self._job.is_unwanted() and not self._over.is_set():
                    os.kill(os.getpid(), signal.SIGTERM)
                    return


def work_on(job: Job) -> bool:
    """Do a job whose lock this process holds; False where a process with newer code has to do it."""
    from harness.search.work import do

    before = job.state()
    state = before.model_copy(update={"status": "running", "attempts": before.attempts + 1, "began": time.time()})
    if job.is_unwanted():
        job.write(state.model_copy(update={"status": "cancelled"}))
        return True
    if before.attempts >= MOST_ATTEMPTS:
        told = f"{before.attempts} processes died over it"
        job.write(state.model_copy(update={"status": "failed", "error": told, "error_kind": "CrashError"}))
        return True
    job.write(state)
    progress = Progress(job, state)
    end: dict[str, object]
    try:
        with progress.cancellable():
            end = {"status": "done", "result": do(job, progress)}
    except StaleCodeError:
        job.write(state.model_copy(update={"status": "queued"}))
        return False
    except EndedError:
        if not job.is_unwanted():  # somebody has ended the process, not the job
            raise
        end = {"status": "cancelled"}
    except HarnessError as error:
        end = {"status": "failed", "error": str(error), "error_kind": type(error).__name__}
    except Exception as error:  # noqa: BLE001 - whatever a job raises fails this job, loudly, and no other
        traceback.print_exc(file=sys.stderr)
        end = {"status": "failed", "error": f"{type(error).__name__}: {error}", "error_kind": "CrashError"}
    if end["status"] == "failed" and job.is_unwanted():  # being ended in the middle of something can raise anything
        end["status"] = "cancelled"
    job.write(progress.state.model_copy(update={**end, "changed": time.time()}))
    return True


def run_lane(jobs: Jobs, lane: Lane, idle: float = IDLE_SECONDS) -> None:
    """Work on the jobs of a lane until there are none for a while. Only one process at a time does."""
    with try_lock(jobs.lane_lock(lane)) as ours:
        last = looked = time.monotonic()
        stamp = -1
        while ours and time.monotonic() - last < idle:
            # A new job changes its folder; one that was left by a dead process does not.
            if (now := jobs.stamp) == stamp and time.monotonic() - looked < _LOOK_SECONDS:
                time.sleep(_POLL_SECONDS)
                continue
            stamp, looked = now, time.monotonic()
            for job in jobs.waiting(lane):
                with job.held():
                    if not work_on(job):
                        return
                last, stamp = time.monotonic(), -1
                break


def main() -> None:
    """The process of a lane."""
    from harness.search.experiment import FOLDER

    study, lane = sys.argv[1:]
    (found,) = [each for each in get_args(Lane) if each == lane]
    os.nice(_NICENESS)
    run_lane(Jobs.of(FOLDER / study), found, float(os.environ.get(IDLE_VARIABLE, IDLE_SECONDS)))


if __name__ == "__main__":
    main()

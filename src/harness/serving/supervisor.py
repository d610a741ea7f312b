"""Starts the parts one after the other, watches them, starts one that has ended again, and ends them all.

A part that ends before it has ever answered is a mistake of the configuration, and ends everything. One that ends later
is started again after a pause, which doubles from one second to a minute, and begins anew once it has run for a minute.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from harness.base.errors import HarnessError
from harness.serving.parts import Part

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
_SECONDS_TO_START = 180.0
_SECONDS_TO_END = 10.0
_BETWEEN_LOOKS = 0.2


@dataclass(frozen=True)
class PartState:
    """How a part is: `waiting` to be started, `starting` or `ready`; since when, and how often it has ended."""

    part: Part
    state: str
    since: float
    restarts: int
    last_end: str


class Watched:
    """One part and its process. Only the thread of the supervisor changes it."""

    def __init__(self, part: Part, tell: Callable[[str], None]) -> None:
        self.part, self._tell = part, tell
        self._process: subprocess.Popen[bytes] | None = None
        self._state, self._since, self._begun = "waiting", time.time(), 0.0
        self._restarts, self._last_end = 0, ""
        self._pause, self._next = _FIRST_PAUSE, 0.0

    def now(self) -> PartState:
        """How it is."""
        return PartState(self.part, self._state, self._since, self._restarts, self._last_end)

    @property
    def pid(self) -> int | None:
        """The number of its process, while it has one."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start its process, in a group of its own, so that Ctrl-C at a terminal reaches the supervisor alone."""
        self._become("starting")
        self._begun = time.monotonic()
        # Where a kill -9 ends the supervisor, the system ends the part.
        guard = ["setpriv", "--pdeathsig", "TERM"] if shutil.which("setpriv") else []
        self._process = subprocess.Popen(
            [*guard, *self.part.command],
            env=dict(self.part.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )

    def wait(self) -> None:
        """Return once it answers for the first time. Raises where it ends instead, or does not answer in time."""
        deadline = time.monotonic() + _SECONDS_TO_START
        while not self.part.answers():
            if self._process is not None and (code := self._process.poll()) is not None:
                raise HarnessError(f"{self.part.name} {_ended(code)} before it answered; its output is above")
            if time.monotonic() > deadline:
                raise HarnessError(f"{self.part.name} did not answer within {_SECONDS_TO_START:.0f} seconds")
            time.sleep(_BETWEEN_LOOKS)
        self._become("ready")

    def look(self) -> None:
        """See whether it still runs, and do the next thing that is due."""
        now = time.monotonic()
        if self._process is None:
            if now >= self._next:
                self._tell(f"starting {self.part.name} again")
                self.start()
        elif (code := self._process.poll()) is not None:
            self._has_ended(code, now)
        elif self._state == "starting" and self.part.answers():
            self._become("ready")
            self._tell(f"{self.part.name} answers again")

    def _has_ended(self, code: int, now: float) -> None:
        _signal_group(self._process, signal.SIGKILL)  # a worker that it left would keep the port
        self._process = None
        if now - self._begun > _LONGEST_PAUSE:
            self._pause = _FIRST_PAUSE
        self._restarts, self._last_end = self._restarts + 1, _ended(code)
        self._tell(f"{self.part.name} {self._last_end}; it is started again in {self._pause:.0f} s")
        self._next, self._pause = now + self._pause, min(2 * self._pause, _LONGEST_PAUSE)
        self._become("waiting")

    def ask_to_end(self) -> None:
        """Ask its processes to end."""
        _signal_group(self._process, signal.SIGTERM)

    def end(self, deadline: float) -> None:
        """Wait until it has ended, and end it for good after the deadline; nothing that it started is left."""
        if self._process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0.0, deadline - time.monotonic()))
        _signal_group(self._process, signal.SIGKILL)
        self._process.wait()
        self._process = None

    def _become(self, state: str) -> None:
        self._state, self._since = state, time.time()


class Supervisor:
    """The parts of one machine, from the first start to the end of all."""

    def __init__(self, parts: Iterable[Part], tell: Callable[[str], None]) -> None:
        self.watched = tuple(Watched(part, tell) for part in parts)
        self._stopped = threading.Event()

    def states(self) -> list[PartState]:
        """How every part is."""
        return [each.now() for each in self.watched]

    def start(self) -> None:
        """Start the parts, each once the one before it answers."""
        for each in self.watched:
            each.start()
            each.wait()

    def watch(self) -> None:
        """Keep them going until somebody calls `stop`, or a signal ends it."""
        while not self._stopped.wait(_BETWEEN_LOOKS):
            for each in self.watched:
                each.look()

    def stop(self) -> None:
        """Have `watch` return."""
        self._stopped.set()

    def end(self) -> None:
        """End all parts, the last one first, and wait for them."""
        for each in reversed(self.watched):
            each.ask_to_end()
        deadline = time.monotonic() + _SECONDS_TO_END
        for each in reversed(self.watched):
            each.end(deadline)


def _ended(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    known = {number.value: number.name for number in signal.Signals}
    return f"was ended by {known.get(-code, f'signal {-code}')}"


def _signal_group(process: subprocess.Popen[bytes] | None, number: signal.Signals) -> None:
    """Send a signal to a process and whatever it has started. Its group outlives it, and so does the group's number."""
    if process is not None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)

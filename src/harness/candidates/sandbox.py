"""Running a candidate: in namespaces of its own, within limits, and ended as a whole when it reaches one.

`inside.py` is the first process in there. From here, outside, the candidate's processes are watched: time, memory of
all of them together, and how many there are. What they cost is what the kernel has counted, and never what they say.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base.errors import HarnessError
from harness.base.scratch import scratch
from harness.candidates import inside
from harness.candidates.watching import PATIENCE, Usage, end_descendants, family, usage
from harness.candidates.world import Candidate

#: How often the candidate's processes are looked at, in seconds.
_POLL = 0.05
#: So much of what a candidate prints is kept.
MOST_LOG = 256 * 1024
#: What the machine must have left: below it the candidate is ended, whoever took the memory, and nothing is judged. A
#: program can have memory that no process shows, such as shared memory that it has let go of.
_STARVED = 256 << 20
_NO_MEMORY = "the machine ran out of memory while it ran"


class NoSandboxError(HarnessError):
    """This system does not let a candidate be shut in."""


@dataclass(frozen=True)
class Ended:
    """How a run of a candidate ended. `limit` is the one that it reached, if any, in words; `wrong` is what else is
    wrong with it. Without either, `content` is what it predicted, still to be checked."""

    content: bytes
    log: bytes
    limit: str
    wrong: str
    seconds: float
    cpu_seconds: float
    peak_memory: int


def run_candidate(candidate: Candidate, protected: bool = True) -> Ended:
    """Run a candidate to its end, or to the first limit. Raises NoSandboxError where it cannot be shut in, and
    HarnessError where the machine has not got what it needs."""
    with scratch() as root:
        root.chmod(0o755)  # another user has to find what is below it
        run = _Run(candidate, protected)
        return run.to_the_end(candidate.plan(root, protected))


class _Run:
    """One run: pipes are read and processes are watched by turns."""

    def __init__(self, candidate: Candidate, protected: bool) -> None:
        self._rules, self._protected = candidate.rules, protected
        self._log, self._report = bytearray(), bytearray()
        self._limit, self._peak = "", 0

    def to_the_end(self, plan: dict[str, Any]) -> Ended:
        report, telling = os.pipe()
        log, logging = os.pipe()
        started = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(inside.__file__).absolute())],
            stdin=subprocess.PIPE,
            pass_fds=(telling, logging),
            env={},
            cwd="/",
            start_new_session=True,
        )
        os.close(telling)
        os.close(logging)
        try:
            assert process.stdin is not None
            with suppress(BrokenPipeError), process.stdin:
                process.stdin.write(json.dumps({**plan, "report": telling, "log": logging}).encode())
            self._read(process.pid, {report: self._keep_report, log: self._keep_log}, started)
        finally:
            self._end(process.pid)
            os.close(report)
            os.close(log)
            _, process.returncode, cost = os.wait4(process.pid, 0)
        return self._ended(time.monotonic() - started, cost.ru_utime + cost.ru_stime)

    def _read(self, root: int, pipes: dict[int, Callable[[bytes], None]], started: float) -> None:
        """Until both pipes are closed, which is when the last process has ended, or a limit is reached."""
        with selectors.DefaultSelector() as ready:
            for pipe, keep in pipes.items():
                ready.register(pipe, selectors.EVENT_READ, keep)
            looked = deadline = 0.0
            while ready.get_map():
                for key, _ in ready.select(_POLL):
                    content = os.read(key.fd, 1 << 16)
                    if content:
                        key.data(content)
                    else:
                        ready.unregister(key.fd)
                if time.monotonic() - looked < _POLL:
                    continue
                looked = time.monotonic()
                if not self._limit and (reached := self._reached(root, looked - started)):
                    self._limit, deadline = reached, looked + PATIENCE
                    end_descendants(root, self._first)  # the first one counts what they cost, and tells the rest
                elif self._limit and looked > deadline:
                    return

    def _keep_log(self, content: bytes) -> None:
        self._log += content[: max(MOST_LOG - len(self._log), 0)]

    def _keep_report(self, content: bytes) -> None:
        self._report += content
        if len(self._report) > self._rules.output + (1 << 16):
            raise HarnessError("the sandbox told more than it can have to tell")

    def _reached(self, root: int, seconds: float) -> str:
        """The limit that the candidate is over, if any."""
        rules, now = self._rules, self._usage(root)
        self._peak = max(self._peak, now.memory)
        if seconds > rules.seconds:
            return f"it took longer than {rules.seconds:g} seconds"
        if now.memory > rules.memory:
            return f"it took more than {rules.memory_gb:g} GB of memory"
        if now.processes >= rules.processes:
            return f"it had {rules.processes} processes or more"
        if _left() < _STARVED:
            return _NO_MEMORY
        return ""

    def _usage(self, root: int) -> Usage:
        own = (root, self._first)
        return usage([one for one in family(root) if one not in own], self._rules.memory)

    @property
    def _first(self) -> int:
        """The first process of the sandbox; 0 as long as it is not known."""
        lines = self._lines()
        return int(lines[0].get("init", 0)) if lines else 0

    def _end(self, root: int) -> None:
        """Nothing of the candidate lives on, and neither does what waits for it. When the first process of a sandbox
        ends, the kernel ends all others."""
        ended = end_descendants(root)
        os.kill(root, signal.SIGKILL)  # it may have ended, and is not collected yet
        if not ended:
            raise HarnessError(f"processes of the candidate live on after {PATIENCE:g} s; look for children of {root}")

    def _lines(self) -> list[dict[str, Any]]:
        """What the first process has told so far. What comes after the line that says how it ended is the output."""
        found: list[dict[str, Any]] = []
        for line in bytes(self._report[: 1 << 16]).split(b"\n")[:-1]:
            found.append(json.loads(line))
            if "ended" in found[-1] or "refused" in found[-1]:
                break
        return found

    def _ended(self, seconds: float, cpu_seconds: float) -> Ended:
        told = {key: value for line in self._lines() for key, value in line.items()}
        if "refused" in told:
            raise NoSandboxError(told["refused"])
        content, wrong, limit = b"", "", self._limit
        if limit == _NO_MEMORY or (not limit and "ended" not in told):
            why = limit or "the sandbox was ended from elsewhere, as the system does where it runs out of memory"
            raise HarnessError(f"{why}: nothing was judged; try again, or lower `memory_gb` of the section `judge`")
        if not limit and told.get("full"):
            limit = f"it wrote more than {self._rules.output_mb} MB of output"
        if not limit and told["ended"] != 0:
            wrong = f"it ended with {_exit_words(told['ended'])}"
        elif not limit and told["why"]:
            wrong = f"its file of predictions {told['why']}"
        elif not limit:
            content = bytes(self._report[len(self._report) - told["size"] :]) if told["size"] else b""
        return Ended(content, bytes(self._log), limit, wrong, seconds, cpu_seconds, self._peak)


def _exit_words(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _left() -> int:
    """Bytes of memory that the machine has left."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return _STARVED

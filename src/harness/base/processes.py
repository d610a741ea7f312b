"""Which process did something, told so that another one can see later whether it is still alive."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True)
class Process:
    """A process: the name of its host, its number there, and when it started.

    `started` also names the boot and the namespace in which the number counts, so that a number that is used again,
    after a restart or in another container, is never taken for it. It is empty on systems that do not tell.
    """

    host: str
    pid: int
    started: str

    @property
    def dead(self) -> bool | None:
        """Whether it has ended; None where this machine cannot know, because the process is not on it."""
        place, _, start = self.started.rpartition("/")
        if not start or (self.host, place) != (socket.gethostname(), _place()):
            return None
        if not _exists(self.pid):
            return True
        found = _start(self.pid)
        return found is not None and found != start


def this_process() -> Process:
    """The process that asks."""
    place, start = _place(), _start(os.getpid())
    return Process(socket.gethostname(), os.getpid(), f"{place}/{start}" if place and start else "")


@cache
def _place() -> str:
    """Where process numbers count: this boot of this machine and, in containers, the namespace. Empty where unknown."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{(_PROC / 'self/ns/pid').readlink()}"
    except OSError:
        return ""


def _exists(pid: int) -> bool:
    """Whether the number is in use, also by a process of somebody else that `/proc` may hide."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _start(pid: int) -> str | None:
    """When a process started, in ticks since the boot; None where that cannot be read, "ended" where only its number is
    left for its parent to collect."""
    try:
        # The name of the program comes second, in brackets, and may have spaces and brackets itself.
        fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return "ended" if fields[0] in "ZX" else fields[19]

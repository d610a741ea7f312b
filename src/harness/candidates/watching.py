"""What the processes of a candidate use, as seen from outside: how many there are, and how much memory they have."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_PAGE = os.sysconf("SC_PAGE_SIZE")
#: How long the kernel may take to end processes that were killed.
PATIENCE = 10.0


@dataclass(frozen=True)
class Usage:
    """Processes, and bytes of memory in all of them."""

    processes: int
    memory: int


def family(root: int) -> list[int]:
    """The processes that have come from one, itself included. Those whose parent has ended belong to process 1 of their
    sandbox, which is one of them."""
    if root <= 1:
        raise ValueError(f"process {root}: all processes of the machine come from it; expected one of ours")
    children: dict[int, list[int]] = {}
    for entry in _PROC.iterdir():
        if entry.name.isdigit() and (parent := _parent(int(entry.name))) is not None:
            children.setdefault(parent, []).append(int(entry.name))
    found, ahead = [], [root]
    while ahead:
        found.append(ahead.pop())
        ahead += children.get(found[-1], [])
    return found


def usage(processes: Iterable[int], most: int) -> Usage:
    """What processes use. Memory that several of them share is counted once, where it matters: close to `most`."""
    alive = list(processes)
    files = _unnamed_files(alive)
    memory = sum(_resident(process) for process in alive) + files
    if memory > most:
        memory = sum(_proportional(process) for process in alive) + files
    return Usage(len(alive), memory)


def end_descendants(root: int, spared: int = 0) -> bool:
    """Kill all that came from a process, but for one that is spared, until nothing of it is left; says whether that was
    so in the end. The root is a child of ours that nobody has collected, so that its number stands for no other."""
    end = time.monotonic() + PATIENCE
    while alive := [one for one in family(root)[1:] if one != spared and _lives(one)]:
        for process in alive:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def _parent(process: int) -> int | None:
    fields = _stat(process)
    return int(fields[1]) if fields else None


def _lives(process: int) -> bool:
    fields = _stat(process)
    return fields is not None and fields[0] not in "ZX"


def _stat(process: int) -> list[str] | None:
    try:  # the name of the program stands in brackets and may have anything in it
        return (_PROC / str(process) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None


def _resident(process: int) -> int:
    try:
        return int((_PROC / str(process) / "statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def _proportional(process: int) -> int:
    """Its share of what it has in memory; all of it where that cannot be told."""
    try:
        text = (_PROC / str(process) / "smaps_rollup").read_text()
        return next(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return _resident(process)


def _unnamed_files(processes: Iterable[int]) -> int:
    """Bytes of files that are in memory and have no name: no process needs to have them mapped, and no tmpfs has
    them."""
    sizes: dict[int, int] = {}
    for process in processes:
        folder = _PROC / str(process) / "fd"
        try:
            for file in folder.iterdir():
                if str(file.readlink()).startswith("/memfd:"):
                    about = file.stat()
                    sizes[about.st_ino] = about.st_blocks * 512
        except OSError:
            continue  # it has ended meanwhile, or has closed the file
    return sum(sizes.values())

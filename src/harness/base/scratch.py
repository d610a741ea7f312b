"""Temporary folders that do not pile up: those of processes that were killed are removed by the next that needs one."""

from __future__ import annotations

import errno
import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.processes import Process, this_process

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_NAME = re.compile(r"harness-([0-9a-f]{8})-(\d+)-(\d+)-.+")


@contextmanager
def scratch() -> Iterator[Path]:
    """An empty folder that is gone after the block."""
    with tempfile.TemporaryDirectory(prefix=scratch_prefix()) as name:
        yield Path(name)


def scratch_prefix() -> str:
    """How the name of a temporary folder begins that tells whose it is. Those of dead processes are removed."""
    own = this_process()
    place, _, start = own.started.rpartition("/")
    if not start:
        return "harness-"
    for path in Path(tempfile.gettempdir()).glob("harness-*"):
        named = _NAME.fullmatch(path.name)
        if named and named[1] == _mark(place) and Process(own.host, int(named[2]), f"{place}/{named[3]}").dead:
            shutil.rmtree(path, ignore_errors=True)
    return f"harness-{_mark(place)}-{own.pid}-{start}-"


def _mark(place: str) -> str:
    return hashlib.sha256(place.encode()).hexdigest()[:8]


@contextmanager
def temporary_room() -> Iterator[None]:
    """Say what to do where the disk of the temporary folder is full, which has the files of a run until it ends."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise HarnessError(
            f"no room for the files of the run: {error}; {tempfile.gettempdir()} has them until they are logged, and "
            "TMPDIR names another folder; what was predicted is in the stage cache"
        ) from error

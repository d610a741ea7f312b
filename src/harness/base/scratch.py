"""Temporary folders that do not pile up: those of processes that were killed are removed by the next that needs one."""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.base.processes import Process, this_process

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

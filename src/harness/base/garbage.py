"""Garbage collection, where it is in the way."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """No garbage collection: making many objects that all stay sets it off again and again, for nothing."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def importing() -> Iterator[None]:
    """No garbage collection while modules are imported. In a process of the command line what is there afterwards is
    never walked again, either: it stays to the end, and walking it takes a quarter of the time of importing MLflow.
    In anybody else's process that would keep garbage of theirs."""
    known = len(sys.modules)
    with no_collection():
        yield
        if _owned and len(sys.modules) > known:
            gc.freeze()


def own_process() -> None:
    """Say that this process is one of the command line. It looks for garbage less often: nearly all that is made before
    a command has said what it has to say stays."""
    global _owned
    _owned = True
    gc.set_threshold(_BETWEEN)


_owned = False
#: So many new objects are waited for. Python waits for 700, and looks 200 times while `harness compare` starts.
_BETWEEN = 10_000

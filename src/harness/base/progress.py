"""Progress of long work: a bar on a terminal, a plain line now and then elsewhere, nothing where it is silenced."""

from __future__ import annotations

import shutil
import sys
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from harness.base.waiting import Waiting, hidden

T = TypeVar("T")

SECONDS_BETWEEN_LINES = 10.0
#: Of this thread alone: another one may show its progress meanwhile.
_SILENT: ContextVar[bool] = ContextVar("silent", default=False)
_WATCHER: ContextVar[Callable[[int, int], None] | None] = ContextVar("watcher", default=None)


@contextmanager
def silent() -> Iterator[None]:
    """Show no progress of what is done inside."""
    token = _SILENT.set(True)
    try:
        yield
    finally:
        _SILENT.reset(token)


@contextmanager
def watched(tell: Callable[[int, int], None]) -> Iterator[None]:
    """Tell the progress of what is done inside to whoever shows it: how much is done, and of how much."""
    token = _WATCHER.set(tell)
    try:
        yield
    finally:
        _WATCHER.reset(token)


def warn(text: str) -> None:
    """Tell something that went wrong and stops nothing: on standard error or, where all is silent, as a warning."""
    if _SILENT.get():
        warnings.warn(text, stacklevel=2)
    else:
        print(f"harness: {text}", file=sys.stderr, flush=True)


@contextmanager
def busy(what: str, until_output: bool = False) -> Iterator[None]:
    """Show on a terminal what is being done, and for how long, while nothing can be counted. With `until_output` that
    ends with the first word that anybody prints. Elsewhere nothing is shown."""
    if _SILENT.get() or _WATCHER.get() or not sys.stderr.isatty():
        yield
        return
    with Waiting(what, until_output):
        yield


def track(items: Collection[T], what: str) -> Iterator[T]:
    """Yield the items, showing on standard error how far the work is."""
    return track_stream(items, what, len(items))


def track_stream(items: Iterable[T], what: str, total: int, lines: bool = True) -> Iterator[T]:
    """The same for items that come one by one, `total` of them; without `lines` on a terminal alone."""
    if _SILENT.get():
        return iter(items)
    if tell := _WATCHER.get():
        return _told(items, total, tell)
    if sys.stderr.isatty():
        return _bar(items, what, total)
    return _lines(items, what, total) if lines else iter(items)


def told_only(items: Collection[T]) -> Iterable[T]:
    """The items; how far the work is is told to a watcher, where there is one, and shown nowhere else."""
    tell = None if _SILENT.get() else _WATCHER.get()
    return _told(items, len(items), tell) if tell else items


def _told(items: Iterable[T], total: int, tell: Callable[[int, int], None]) -> Iterator[T]:
    for done, item in enumerate(items):
        tell(done, total)
        yield item
    tell(total, total)


def _bar(items: Iterable[T], what: str, total: int) -> Iterator[T]:
    from tqdm import tqdm

    # tqdm shows nothing at all on a terminal that does not tell its size.
    width, height = shutil.get_terminal_size()
    with hidden() as terminal:
        yield from tqdm(
            items,
            desc=what,
            total=total,
            unit="",
            file=terminal,
            leave=False,
            ncols=width - 1,
            nrows=height,
            miniters=1,
        )


def _lines(items: Iterable[T], what: str, total: int) -> Iterator[T]:
    last = time.monotonic()
    if not total:
        return
    for done, item in enumerate(items):
        if time.monotonic() - last >= SECONDS_BETWEEN_LINES:
            print(f"{what}: {done} of {total}", file=sys.stderr, flush=True)
            last = time.monotonic()
        yield item
    print(f"{what}: {total} of {total}", file=sys.stderr, flush=True)

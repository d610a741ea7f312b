"""Progress of long work: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

SECONDS_BETWEEN_LINES = 10.0


def track(items: Collection[T], what: str) -> Iterator[T]:
    """Yield the items, showing on standard error how far the work is."""
    return track_stream(items, what, len(items))


def track_stream(items: Iterable[T], what: str, total: int) -> Iterator[T]:
    """The same for items that come one by one, `total` of them."""
    return _bar(items, what, total) if sys.stderr.isatty() else _lines(items, what, total)


def _bar(items: Iterable[T], what: str, total: int) -> Iterator[T]:
    from tqdm import tqdm

    yield from tqdm(items, desc=what, total=total, unit="", file=sys.stderr, leave=False, dynamic_ncols=True)


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

"""Progress of long work: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

SECONDS_BETWEEN_LINES = 10.0


def track(items: Sequence[T], what: str) -> Iterator[T]:
    """Yield the items, showing on standard error how far the work is."""
    return _bar(items, what) if sys.stderr.isatty() else _lines(items, what)


def _bar(items: Sequence[T], what: str) -> Iterator[T]:
    from tqdm import tqdm

    yield from tqdm(items, desc=what, unit="", file=sys.stderr, leave=False, dynamic_ncols=True)


def _lines(items: Sequence[T], what: str) -> Iterator[T]:
    total, last = len(items), time.monotonic()
    if not total:
        return
    for done, item in enumerate(items):
        if time.monotonic() - last >= SECONDS_BETWEEN_LINES:
            print(f"{what}: {done} of {total}", file=sys.stderr, flush=True)
            last = time.monotonic()
        yield item
    print(f"{what}: {total} of {total}", file=sys.stderr, flush=True)

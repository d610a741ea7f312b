"""A line at the bottom of a terminal that says what is being done, and for how long, until there is something to show.

    reading photos and labels  4 s

Whatever else is printed meanwhile takes the line away first, and the line comes back below it. Only for terminals:
`base/progress.py` decides that.
"""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, TextIO, cast

#: How long nothing is shown of what may be over at once, and how often the line is written anew.
_SECONDS_BEFORE, _SECONDS_BETWEEN = 0.3, 0.5
_CLEAR = "\r\x1b[K"
#: Those that are under way, the innermost last; it alone is shown.
_UNDER_WAY: list[Waiting] = []
#: How many bars are shown, beside which there is no line.
_BARS = [0]
_LOCK = threading.RLock()


class Waiting:
    """One line. Where others begin inside of it, theirs is shown."""

    def __init__(self, what: str, until_output: bool = False) -> None:
        self._what, self.until_output = what, until_output
        self._begun, self._shown = time.monotonic(), False
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep_showing, daemon=True)
        self._terminal = _unwrapped(sys.stderr)
        #: Whether the cursor stands in a line that somebody else has begun, such as a question.
        self._begun_by_others = False
        self._before: tuple[TextIO, TextIO] | None = None

    def __enter__(self) -> None:
        with _LOCK:
            _clear_all()
            _UNDER_WAY.append(self)
            self._before = sys.stdout, sys.stderr
            sys.stdout, sys.stderr = (_watched(stream, self) for stream in self._before)
        self._thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        with _LOCK:
            self.clear()
            _UNDER_WAY.remove(self)
            if self._before:
                sys.stdout, sys.stderr = self._before

    def clear(self) -> None:
        """Take the line away."""
        with _LOCK:
            if self._shown:
                self._terminal.write(_CLEAR)
                self._terminal.flush()
                self._shown = False

    def others_print(self, text: str) -> None:
        """Make room for what somebody else is about to print."""
        self.clear()
        if self.until_output and text:
            self._over.set()
        self._begun_by_others = bool(text) and not text.endswith("\n")

    def _keep_showing(self) -> None:
        wait = _SECONDS_BEFORE
        while not self._over.wait(wait):
            wait = _SECONDS_BETWEEN
            with _LOCK:
                if self._may_show():
                    line = f"{self._what}  {time.monotonic() - self._begun:.0f} s"
                    self._terminal.write(_CLEAR + line[: shutil.get_terminal_size().columns - 1])
                    self._terminal.flush()
                    self._shown = True

    def _may_show(self) -> bool:
        innermost = _UNDER_WAY[-1:] == [self]
        return innermost and not _BARS[0] and not self._over.is_set() and not self._begun_by_others


@contextmanager
def hidden() -> Iterator[TextIO]:
    """No line inside, such as beside a bar; yields the terminal behind standard error."""
    with _LOCK:
        _clear_all()
        _BARS[0] += 1
    try:
        yield _unwrapped(sys.stderr)
    finally:
        with _LOCK:
            _BARS[0] -= 1


def _clear_all() -> None:
    for waiting in _UNDER_WAY:
        waiting.clear()


class _Watched:
    """A stream that tells before anything is written to it."""

    def __init__(self, stream: TextIO, waiting: Waiting) -> None:
        self.stream, self.waiting = stream, waiting

    def write(self, text: str) -> int:
        with _LOCK:
            self.waiting.others_print(text)
            return self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def _watched(stream: TextIO, waiting: Waiting) -> TextIO:
    """A stream that tells, where it is on the terminal, or where any output is what ends the line."""
    return cast(TextIO, _Watched(stream, waiting)) if stream.isatty() or waiting.until_output else stream


def _unwrapped(stream: TextIO) -> TextIO:
    while isinstance(stream, _Watched):
        stream = stream.stream
    return stream

"""Ending on purpose: SIGTERM and SIGHUP become an exception, as Ctrl-C is one, so that work under way is put away."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

#: What batch systems, containers and closed terminals send.
_ENDING = (signal.SIGTERM, signal.SIGHUP)
#: An interruption that Python has dropped, and what sends it once more after so many seconds.
_DROPPED: list[tuple[KeyboardInterrupt, threading.Timer]] = []
_MOMENT = 0.05


class EndedError(KeyboardInterrupt):
    """Somebody has ended this process with a signal. Whatever puts work away after Ctrl-C does so now."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    def __str__(self) -> str:
        return f"ended by {signal.Signals(self.number).name}"


def interrupted_code(error: KeyboardInterrupt) -> int:
    """The exit code of an interrupted process, as shells have it: 128 and the number of the signal."""
    return 128 + (error.number if isinstance(error, EndedError) else signal.SIGINT)


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Raise EndedError on the first SIGTERM or SIGHUP while the block runs; a second one ends the process at once.

    Only the main thread may set handlers. A signal that is ignored (as under `nohup`), or that the program around us
    handles, is left to it. Python drops an exception that is raised while an object is finalized, and only says so: an
    interruption that is dropped, Ctrl-C as well, comes once more a moment later, or at the end of the block.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = [number for number in _ENDING if signal.getsignal(number) is signal.SIG_DFL]
    hook = sys.unraisablehook

    def told(dropped: UnraisableHookArgs) -> None:
        if isinstance(dropped.exc_value, KeyboardInterrupt):
            _send_again(dropped.exc_value)
        else:
            hook(dropped)

    for number in ours:
        signal.signal(number, _end)
    sys.unraisablehook = told
    try:
        yield
        if _DROPPED:
            raise _DROPPED[0][0]
    finally:
        sys.unraisablehook = hook
        while _DROPPED:  # it is on its way; what is put away meanwhile is not ended by it again
            _DROPPED.pop()[1].cancel()
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, _: FrameType | None) -> None:
    for each in _ENDING:
        if signal.getsignal(each) is _end:
            signal.signal(each, signal.SIG_DFL)
    raise EndedError(number)


def _send_again(error: KeyboardInterrupt) -> None:
    """Interrupt the main thread once more, when it is out of the code whose exceptions are dropped."""
    number = error.number if isinstance(error, EndedError) else signal.SIGINT
    if isinstance(error, EndedError):
        signal.signal(number, _end)

    def send() -> None:
        _DROPPED.clear()
        signal.pthread_kill(threading.main_thread().ident or 0, number)

    timer = threading.Timer(_MOMENT, send)
    timer.daemon = True
    _DROPPED.append((error, timer))
    timer.start()

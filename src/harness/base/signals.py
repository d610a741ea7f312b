"""Ending on purpose: SIGTERM and SIGHUP become an exception, as Ctrl-C is one, so that work under way is put away."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

#: What batch systems, containers and closed terminals send.
_ENDING = (signal.SIGTERM, signal.SIGHUP)
#: The signal that has come since the outermost block began.
_RECEIVED: list[int] = []


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
    handles, is left to it. Python drops an exception that is raised while it collects garbage, and only says so; then
    the next block of this kind that ends, such as that of a job in a sweep, raises it once more.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = [number for number in _ENDING if signal.getsignal(number) is signal.SIG_DFL]

    def restore() -> None:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)

    def end(number: int, _: FrameType | None) -> None:
        restore()
        _RECEIVED.append(number)
        raise EndedError(number)

    for number in ours:
        signal.signal(number, end)
    try:
        yield
        if _RECEIVED:
            raise EndedError(_RECEIVED[0])
    except EndedError:
        _RECEIVED.clear()  # it is on its way; what is put away meanwhile is not ended by it again
        raise
    finally:
        restore()
        if ours:
            _RECEIVED.clear()

"""Commands in forks of a process that has imported everything: a run starts in no time, and can be killed at any
moment. The process that forks has no threads."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

_IMPORTED = (
    *("mlflow", "mlflow.store.tracking.sqlalchemy_store", "mlflow.store.tracking.rest_store", "harness.app"),
    *("harness.evaluate", "harness.showing", "harness.cli", "harness.tasks.photos.task", "harness.tracking.pending"),
    *("harness.pipeline.links.geometric", "harness.references.sets", "matplotlib.figure", "harness.tracking.remote"),
    *("harness.search.verbs", "matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg"),
)


@dataclass(frozen=True)
class Child:
    """A command under way; what it says goes to a file."""

    pid: int
    said: Path

    def send(self, number: signal.Signals) -> None:
        """Send a signal, if it is still there to get it."""
        os.kill(self.pid, number)  # a child that nobody has waited for keeps its number

    def wait(self) -> int:
        """Its exit code; negative where a signal has ended it."""
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def ended(self) -> bool:
        """Whether it has ended, without collecting it."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    @property
    def output(self) -> str:
        """What it has said so far."""
        return self.said.read_text(errors="replace")


def import_everything() -> None:
    """To be called once, before the first fork."""
    from harness.tracking.quiet import quiet_mlflow

    quiet_mlflow()
    for module in _IMPORTED:
        importlib.import_module(module)


def fork(folder: Path, said: Path, work: Callable[[], int], **environment: str) -> Child:
    """Do something in a process of its own, in a folder."""
    pid = os.fork()
    if pid:
        return Child(pid, said)
    code = 70
    try:
        os.setsid()
        log = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.chdir(folder)
        os.environ.update(environment)
        tempfile.tempdir = None
        code = work()
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:  # noqa: BLE001 - told, and the fork never returns into its parent's code
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def harness(folder: Path, said: Path, arguments: tuple[str, ...], variables: Mapping[str, str]) -> Child:
    """`harness ...` in a fork."""

    def work() -> int:
        from harness.__main__ import run

        sys.argv = ["harness"]
        return run(list(arguments))

    return fork(folder, said, work, **variables)


def wait_until(ready: Callable[[], bool], seconds: float = 120.0) -> None:
    """Wait for something to be so."""
    deadline = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not so within {seconds:g} seconds")
        time.sleep(0.01)

"""The runs in MLflow, read aside: a page shows what is known, and never waits for a database.

Whoever asks sets off a new reading where the store has changed since the last one. Opening MLflow takes seconds, so it
happens on a thread of its own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from harness.errors import HarnessError
from harness.labeling.suspects import LAST_RUNS, Suspicion, find_suspects
from harness.tracking.recent import RecentRun, false_positives, recent_runs
from harness.tracking.store import LocalStore

#: A change in the very moment of a reading goes unnoticed no longer than this.
_SECONDS_BETWEEN_LOOKS = 30.0


@dataclass(frozen=True)
class Known:
    """What is known of the runs. `read` is False until the first reading is done."""

    read: bool = False
    runs: Sequence[RecentRun] = ()
    suspects: Mapping[str, Suspicion] = field(default_factory=dict)
    error: str = ""


class RunHistory:
    """The runs of a store that evaluated a reference set."""

    def __init__(self, store: LocalStore, data_name: str) -> None:
        self._store, self._data_name = store, data_name
        self._lock = threading.Lock()
        self._known = Known(read=not store.exists)
        self._stamp, self._read_at = self._current_stamp() if self._known.read else None, time.monotonic()
        self._reading: threading.Thread | None = None

    def current(self) -> Known:
        """What is known now; a reading starts aside where there may be more to know."""
        with self._lock:
            if self._reading is None and self._outdated():
                self._reading = threading.Thread(target=self._read, name="runs", daemon=True)
                self._reading.start()
            return self._known

    def wait(self) -> Known:
        """What is known once a reading that is under way has ended."""
        self.current()
        if reading := self._reading:
            reading.join()
        return self._known

    def _outdated(self) -> bool:
        stamp = self._current_stamp()
        waited = time.monotonic() - self._read_at > _SECONDS_BETWEEN_LOOKS
        return stamp != self._stamp or (waited and bool(stamp))

    def _read(self) -> None:
        try:
            runs = recent_runs(self._store)
            about = (run for run in runs if run.finished and run.data_name == self._data_name)
            tables = [false_positives(run) for run in islice(about, LAST_RUNS)]
            known = Known(True, runs, find_suspects(tables))
        except HarnessError as error:
            known = Known(True, error=str(error))
        with self._lock:
            self._known, self._stamp, self._read_at = known, self._current_stamp(), time.monotonic()
            self._reading = None

    def _current_stamp(self) -> tuple[tuple[int, int], ...]:
        files = (self._store.folder / name for name in ("mlflow.db", "mlflow.db-wal"))
        return tuple(_stamp(path) for path in files if path.is_file())


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return (status.st_mtime_ns, status.st_size)

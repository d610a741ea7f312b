"""The runs in MLflow, read aside: a page shows what is known, and never waits for a database or a server.

Whoever asks sets off a new reading where the store has changed since the last one, or may have. Opening MLflow takes
seconds, so it happens on a thread of its own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from harness.base.errors import HarnessError
from harness.labeling.source import LabelSource
from harness.labeling.suspicions import Suspicions
from harness.report.html import REPORT_FILE
from harness.runs.suspects import witnesses_of
from harness.scoring.detection import Thresholds
from harness.tracking.catalog import RunEntry, baseline_ids, has_artifact, list_runs, read_artifact, recent_runs
from harness.tracking.store import OpenStore, Store

_RUNS_SHOWN = 50
#: A change that the store does not show goes unnoticed no longer than this.
_SECONDS_BETWEEN_LOOKS = 30.0
_NEVER = object()


@dataclass(frozen=True)
class Known:
    """What is known of the runs: the last ones, which of them have a report, and which labels they speak against; and
    which runs are baselines.

    `read` is False until the first reading is done.
    """

    suspicions: Suspicions
    read: bool = False
    experiment: str = ""
    runs: Sequence[RunEntry] = ()
    reports: frozenset[str] = frozenset()
    baselines: frozenset[str] = frozenset()
    error: str = ""


class RunHistory:
    """The runs of a store, and what those that evaluated a reference set say about its labels."""

    def __init__(self, store: Store, source: LabelSource, thresholds: Thresholds) -> None:
        self._store, self._source, self._thresholds = store, source, thresholds
        self._lock = threading.Lock()
        self._known = Known(Suspicions((), thresholds), read=not store.exists)
        self._stamp = store.stamp if self._known.read else _NEVER
        self._read_at = time.monotonic()
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

    def report(self, run_id: str) -> bytes | None:
        """A run's own page, where it is known to have one."""
        return read_artifact(self._store.open(), run_id, REPORT_FILE) if run_id in self.current().reports else None

    def _outdated(self) -> bool:
        waited = time.monotonic() - self._read_at > _SECONDS_BETWEEN_LOOKS
        return self._store.stamp != self._stamp or (waited and self._store.exists)

    def _read(self) -> None:
        known = self._known
        try:
            known = self._look(self._store.open())
        except HarnessError as error:
            known = Known(known.suspicions, read=True, error=str(error))
        finally:
            with self._lock:
                self._known, self._stamp, self._read_at = known, self._store.stamp, time.monotonic()
                self._reading = None

    def _look(self, opened: OpenStore) -> Known:
        runs = list_runs(opened, limit=_RUNS_SHOWN)
        # By name: the digest of a set that is being labelled changes with every label.
        witnesses = witnesses_of(run.predictions() for run in recent_runs(opened, "data.name", self._source.name))
        suspicions = Suspicions(witnesses, self._thresholds)
        suspicions.among(self._source.contents())
        reports, baselines = self._with_report(opened, runs), baseline_ids(opened)
        return Known(suspicions, True, opened.runs_experiment, runs, reports, baselines)

    def _with_report(self, opened: OpenStore, runs: Sequence[RunEntry]) -> frozenset[str]:
        """Those of the runs that have one. It is never taken away, so that a run that has one is asked once."""
        before = self._known.reports
        return frozenset(
            run.run_id for run in runs if run.run_id in before or has_artifact(opened, run.run_id, REPORT_FILE)
        )

"""The runs in MLflow, read aside: a page shows what is known, and never waits for a database or a server.

Whoever asks sets off a new reading where the store has changed since the last one, or may have. Opening MLflow takes
seconds, so it happens on a thread of its own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from harness.base.errors import HarnessError
from harness.exploring.run_list import Choices
from harness.labeling.source import LabelSource
from harness.labeling.suspicions import Suspicions
from harness.report.html import REPORT_FILE
from harness.runs.suspects import witnesses_of
from harness.scoring.detection import Thresholds
from harness.scoring.speed import SECONDS
from harness.tracking.catalog import has_artifact, read_artifact, recent_runs
from harness.tracking.database import local_path
from harness.tracking.entries import RunEntry
from harness.tracking.finding import has_run, list_baselines, list_runs
from harness.tracking.store import OpenStore, Store

#: So many runs are listed, the newest, and the baselines whenever they were made.
RUNS_LISTED = 2000
#: Files of runs that are elsewhere are asked for one by one: of the newest runs only.
_ASKED_ELSEWHERE = 50
#: A change that the store does not show goes unnoticed no longer than this.
_SECONDS_BETWEEN_LOOKS = 30.0
#: And looking takes no more than one second in so many.
_REST = 10
_NEVER = object()


@dataclass(frozen=True)
class Known:
    """What is known of the runs: the last ones with their headlines and gains, and the baselines; which of them have a
    report, and which labels they speak against. `more` says that there are older ones.

    `read` is False until the first reading is done.
    """

    suspicions: Suspicions
    read: bool = False
    experiment: str = ""
    runs: Sequence[RunEntry] = ()
    reports: frozenset[str] = frozenset()
    baselines: frozenset[str] = frozenset()
    error: str = ""
    more: bool = False
    choices: Choices = field(default_factory=lambda: Choices.of(()))


class RunHistory:
    """The runs of a store, and what those that evaluated a reference set say about its labels."""

    def __init__(self, store: Store, source: LabelSource, thresholds: Thresholds) -> None:
        self._store, self._source, self._thresholds = store, source, thresholds
        self._lock = threading.Lock()
        self._known = Known(Suspicions((), thresholds), read=not store.exists)
        self._stamp = store.stamp if self._known.read else _NEVER
        self._read_at, self._took = time.monotonic(), 0.0
        self._reading: threading.Thread | None = None

    @property
    def store(self) -> Store:
        """Where the runs are."""
        return self._store

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

    def renew(self) -> None:
        """Read now, whatever was known: something has just been changed."""
        self.wait()
        self._read()

    def report(self, run_id: str) -> bytes | None:
        """A run's own page; None where it has none, or there is no such run."""
        opened = self._store.open()
        if run_id not in self.current().reports and not (has_run(opened, run_id) and _reported(opened, run_id)):
            return None
        return read_artifact(opened, run_id, REPORT_FILE)

    def _outdated(self) -> bool:
        waited = time.monotonic() - self._read_at > max(_SECONDS_BETWEEN_LOOKS, _REST * self._took)
        return self._store.stamp != self._stamp or (waited and self._store.exists)

    def _read(self) -> None:
        known, started = self._known, time.monotonic()
        try:
            known = self._look(self._store.open())
        except HarnessError as error:
            known = Known(known.suspicions, read=True, error=str(error))
        finally:
            with self._lock:
                self._known, self._stamp, self._read_at = known, self._store.stamp, time.monotonic()
                self._took, self._reading = self._read_at - started, None

    def _look(self, opened: OpenStore) -> Known:
        newest = list_runs(opened, limit=RUNS_LISTED + 1)
        pinned = list_baselines(opened)
        listed = {run.run_id for run in newest[:RUNS_LISTED]}
        runs = [*newest[:RUNS_LISTED], *(run for run in pinned if run.run_id not in listed)]
        # By name: the digest of a set that is being labelled changes with every label.
        witnesses = witnesses_of(run.predictions() for run in recent_runs(opened, "data.name", self._source.name))
        suspicions = Suspicions(witnesses, self._thresholds)
        suspicions.among(self._source.contents())
        return Known(
            suspicions,
            True,
            opened.runs_experiment,
            [_in_short(run) for run in runs],
            self._with_report(opened, runs),
            frozenset(run.run_id for run in pinned),
            more=len(newest) > RUNS_LISTED,
            choices=Choices.of(runs),
        )

    def _with_report(self, opened: OpenStore, runs: Sequence[RunEntry]) -> frozenset[str]:
        """Those of the runs that have one. It is never taken away, so that a run that has one is asked once."""
        before, asked = self._known.reports, 0
        found = set()
        for run in runs:
            folder = local_path(run.artifacts)
            if folder is not None:
                there = (folder / REPORT_FILE).is_file()
            else:
                asked += 1
                there = run.run_id in before or (asked <= _ASKED_ELSEWHERE and _reported(opened, run.run_id))
            if there:
                found.add(run.run_id)
        return frozenset(found)


def _reported(opened: OpenStore, run_id: str) -> bool:
    return has_artifact(opened, run_id, REPORT_FILE)


def _in_short(run: RunEntry) -> RunEntry:
    """A run with the few metrics that a list shows: 2,000 runs have half a million."""
    shown = {
        name: value
        for name, value in run.metrics.items()
        if name in run.headlines or name.startswith("delta/") or name == SECONDS
    }
    return replace(run, metrics=shown)

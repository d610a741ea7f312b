"""Runs that nobody will end: their worker was killed while it evaluated a trial."""

from __future__ import annotations

from harness.search.ledger import Ledger
from harness.tracking.catalog import end_killed, list_running
from harness.tracking.store import OpenStore


def end_abandoned(ledger: Ledger, store: OpenStore) -> None:
    """End the runs of this ledger's dead workers as KILLED.

    A study of the same name may be on another ledger, with workers that this one cannot see: their runs are left alone.
    """
    for run in list_running(store, ledger.experiment.study):
        if run.worker and ledger.is_gone(run.worker):
            end_killed(store, run.run_id)

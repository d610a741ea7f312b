"""Studies in MLflow: the trials of a search as one table, on one run in the experiment of overviews.

A search has thousands of trials, and a run each would bury all others. The run of a study is written anew as the search
goes on; its best trials are runs of their own, beside it.
"""

from __future__ import annotations

import time

from harness.base.errors import HarnessError
from harness.runs.tags import STUDY_TABLE_TAG
from harness.tracking.patience import told
from harness.tracking.runs import RunRecord, tracked_run, write_record
from harness.tracking.store import OpenStore


def log_study(store: OpenStore, study: str, record: RunRecord, run_id: str = "") -> str:
    """Write the trials of a study to the run that has them, `run_id`, or to a new one; returns the id of the run."""
    if run_id and _exists(store, run_id):
        with told(f"run {run_id}: the trials of study {study} cannot be written"):
            write_record(store.client, run_id, record, "FINISHED", int(time.time() * 1000))
        return run_id
    with tracked_run(store, store.sweeps_experiment, f"study {study}", {STUDY_TABLE_TAG: study}) as run:
        run.log(record)
    return run.run_id


def _exists(store: OpenStore, run_id: str) -> bool:
    """Whether the store still has a run; one that was deleted is written anew."""
    try:
        store.reader.get(run_id)
    except HarnessError:
        return False
    return True

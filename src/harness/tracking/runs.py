"""One run in MLflow: opened when the work starts, filled in a few bulk calls, closed with the status it deserves."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.tracking.store import LocalStore, OpenStore

_PARAMS_PER_CALL = 100


@dataclass(frozen=True)
class RunRecord:
    """What a finished evaluation leaves in MLflow. `tables` are shown as such by its UI; `files` is a folder."""

    params: Mapping[str, str]
    metrics: Mapping[str, float]
    tags: Mapping[str, str]
    description: str
    files: Path | None = None
    tables: Mapping[str, Mapping[str, Sequence[Any]]] = field(default_factory=dict)
    failed: bool = False


@dataclass
class TrackedRun:
    """A run that is under way. `log` is called once, at its end."""

    store: OpenStore
    run_id: str
    failed: bool = False

    def log(self, record: RunRecord) -> None:
        """Write everything of the run."""
        from mlflow.entities import Metric, Param, RunTag

        client, now = self.store.client, int(time.time() * 1000)
        params = [Param(key, value) for key, value in record.params.items()]
        metrics = [Metric(key, value, now, 0) for key, value in record.metrics.items()]
        tags = {**record.tags, "mlflow.note.content": record.description}
        client.log_batch(
            self.run_id, metrics, params[:_PARAMS_PER_CALL], [RunTag(key, value) for key, value in tags.items()]
        )
        for start in range(_PARAMS_PER_CALL, len(params), _PARAMS_PER_CALL):
            client.log_batch(self.run_id, params=params[start : start + _PARAMS_PER_CALL])
        if record.files is not None:
            client.log_artifacts(self.run_id, str(record.files))
        for name, table in record.tables.items():
            client.log_table(self.run_id, {column: list(values) for column, values in table.items()}, name)
        self.failed = record.failed


@contextmanager
def tracked_run(store: LocalStore, name: str, tags: Mapping[str, str]) -> Iterator[TrackedRun]:
    """A new run in the store's experiment. Ctrl-C ends it as KILLED, an error or an incomplete record as FAILED."""
    opened = store.open()
    with _running(opened, opened.runs_experiment, name, tags) as run:
        yield run


@contextmanager
def _running(store: OpenStore, experiment: str, name: str, tags: Mapping[str, str]) -> Iterator[TrackedRun]:
    created = store.client.create_run(experiment, run_name=name, tags=dict(tags))
    run = TrackedRun(store, created.info.run_id)
    status = "FAILED"
    try:
        yield run
        status = "FAILED" if run.failed else "FINISHED"
    except KeyboardInterrupt:
        status = "KILLED"
        raise
    finally:
        store.client.set_terminated(run.run_id, status)

"""One run in MLflow: opened when the work starts, filled in a few bulk calls, closed with the status it deserves."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.tracking.store import OpenStore

#: MLflow's limits: so many parameters, and 1000 of everything, a call.
_PARAMS_PER_CALL = 100
_METRICS_PER_CALL = 800
#: MLflow's own limit for a dataset's digest; the tag `data.digest` has the whole of it.
_DIGEST_LENGTH = 36


@dataclass(frozen=True)
class RunRecord:
    """What a finished evaluation leaves in MLflow. `curves` are metrics with a value a step, `tables` are shown as such
    by its UI, `files` is a folder, `dataset` a name and a digest."""

    params: Mapping[str, str]
    metrics: Mapping[str, float]
    tags: Mapping[str, str]
    description: str
    curves: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    files: Path | None = None
    tables: Mapping[str, Mapping[str, Sequence[Any]]] = field(default_factory=dict)
    dataset: tuple[str, str] | None = None
    failed: bool = False


@dataclass
class TrackedRun:
    """A run that is under way. `log` is called once, at its end."""

    store: OpenStore
    run_id: str
    failed: bool = False

    def log(self, record: RunRecord) -> None:
        """Write everything of the run."""
        from mlflow.entities import Dataset, DatasetInput, Metric, Param, RunTag

        client, now = self.store.client, int(time.time() * 1000)
        params = [Param(key, value) for key, value in record.params.items()]
        metrics = [Metric(key, value, now, 0) for key, value in record.metrics.items()]
        for key, steps in record.curves.items():
            metrics += [Metric(key, value, now, step) for step, value in steps.items()]
        tags = {**record.tags, "mlflow.note.content": record.description}
        labels = [RunTag(key, value) for key, value in tags.items()]
        calls = max(1, -(-len(metrics) // _METRICS_PER_CALL), -(-len(params) // _PARAMS_PER_CALL))
        for call in range(calls):
            client.log_batch(
                self.run_id,
                metrics[call * _METRICS_PER_CALL : (call + 1) * _METRICS_PER_CALL],
                params[call * _PARAMS_PER_CALL : (call + 1) * _PARAMS_PER_CALL],
                () if call else labels,
            )
        if record.files is not None:
            client.log_artifacts(self.run_id, str(record.files))
        if record.dataset is not None:
            name, digest = record.dataset
            source = json.dumps({"digest": digest})
            dataset = Dataset(name, digest[:_DIGEST_LENGTH], source_type="reference set", source=source)
            client.log_inputs(self.run_id, [DatasetInput(dataset)])
        for name, table in record.tables.items():
            client.log_table(self.run_id, {column: list(values) for column, values in table.items()}, name)
        self.failed = record.failed


@contextmanager
def tracked_run(store: OpenStore, experiment: str, name: str, tags: Mapping[str, str]) -> Iterator[TrackedRun]:
    """A new run. Ctrl-C ends it as KILLED, an error or an incomplete record as FAILED."""
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

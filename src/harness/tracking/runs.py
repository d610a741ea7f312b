"""One run in MLflow: opened when the work starts, filled in a few bulk calls, closed with the status it deserves."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from harness.tracking.store import OpenStore

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
        """Write everything of the run, in one call for values, one for files and one for the dataset."""
        from mlflow.entities import Dataset, DatasetInput, Metric, Param, RunTag

        client, now = self.store.client, int(time.time() * 1000)
        tags = {**record.tags, "mlflow.note.content": record.description}
        if record.tables:
            tags["mlflow.loggedArtifacts"] = json.dumps([{"path": name, "type": "table"} for name in record.tables])
        metrics = [Metric(key, value, now, 0) for key, value in record.metrics.items()]
        for key, steps in record.curves.items():
            metrics += [Metric(key, value, now, step) for step, value in steps.items()]
        client.log_batch(
            self.run_id,
            metrics,
            [Param(key, value) for key, value in record.params.items()],
            [RunTag(key, value) for key, value in tags.items()],
        )
        with _folder(record.files) as folder:
            for name, table in record.tables.items():
                write_table(folder / name, table)
            client.log_artifacts(self.run_id, str(folder))
        if record.dataset is not None:
            name, digest = record.dataset
            source = json.dumps({"digest": digest})
            dataset = Dataset(name, digest[:_DIGEST_LENGTH], source_type="reference set", source=source)
            client.log_inputs(self.run_id, [DatasetInput(dataset)])
        self.failed = record.failed


def amend_run(
    store: OpenStore,
    run_id: str,
    deltas: Mapping[str, float],
    tags: Mapping[str, str],
    description: str,
    files: Path | None,
) -> None:
    """Give a run that has ended another judgement: of the earlier one no gain and no tag is left. MLflow cannot take a
    metric back; a gain that is no longer known becomes NaN."""
    from mlflow.entities import Metric, RunTag

    client, now = store.client, int(time.time() * 1000)
    before = client.get_run(run_id).data
    gone = {name: float("nan") for name in before.metrics if name.startswith("delta/") and name not in deltas}
    for name in before.tags:
        if name.startswith("verdict.") and name not in tags:
            client.delete_tag(run_id, name)
    client.log_batch(
        run_id,
        [Metric(key, value, now, 0) for key, value in {**deltas, **gone}.items()],
        tags=[RunTag(key, value) for key, value in {**tags, "mlflow.note.content": description}.items()],
    )
    if files is not None:
        client.log_artifacts(run_id, str(files))


def write_table(path: Path, table: Mapping[str, Sequence[Any]]) -> None:
    """A table as MLflow's own `log_table` writes it, without a detour through pandas and two more calls."""
    rows = [list(row) for row in zip(*table.values(), strict=True)]
    path.write_bytes(orjson.dumps({"columns": list(table), "data": rows}))


@contextmanager
def _folder(files: Path | None) -> Iterator[Path]:
    """The folder of the files to log, or an empty one."""
    if files is not None:
        yield files
        return
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


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

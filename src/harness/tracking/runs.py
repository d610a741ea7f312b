"""One run in MLflow: opened when the work starts, filled in a few bulk calls, closed with the status it deserves."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from harness.base.progress import warn
from harness.base.scratch import scratch
from harness.base.signals import ended_by_signals
from harness.tracking.alive import beating, end_dead, process_tags
from harness.tracking.patience import TOKEN_TAG, reason, told
from harness.tracking.reading import Query, StoredRun
from harness.tracking.store import OpenStore

if TYPE_CHECKING:
    from mlflow import MlflowClient

#: MLflow's own limit for a dataset's digest; the tag `data.digest` has the whole of it.
_DIGEST_LENGTH = 36
#: Of how many runs under way it is looked whether their process is alive, the newest first.
_MOST_RUNNING = 100


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
    experiment: str
    run_id: str
    name: str
    tags: Mapping[str, str]
    ended: bool = False
    #: Whether it came to its end, and waits on disk to be logged.
    kept: bool = False

    def log(self, record: RunRecord) -> None:
        """Write everything of the run, in one call for values, one for files and one for the dataset, and end it. Where
        the store does not take it, all of it is kept on disk. Raises PendingError then."""
        from mlflow.exceptions import MlflowException

        from harness.tracking.pending import keep

        status, now = "FAILED" if record.failed else "FINISHED", int(time.time() * 1000)
        try:
            write_record(self.store.client, self.run_id, record, status, now)
        except (MlflowException, OSError) as error:
            self.kept = True
            raise keep(self, record, status, now, error) from error
        self.ended = True


def write_record(client: MlflowClient, run_id: str, record: RunRecord, status: str, now: int) -> None:
    """Write a record to a run that exists, and end it; `now` is when it ended, in milliseconds. Doing it again, also
    after half of it, changes nothing."""
    from mlflow.entities import Dataset, DatasetInput, Metric, Param, RunTag

    tags = {**record.tags, "mlflow.note.content": record.description}
    if record.tables:
        tags["mlflow.loggedArtifacts"] = json.dumps([{"path": name, "type": "table"} for name in record.tables])
    metrics = [Metric(key, value, now, 0) for key, value in record.metrics.items()]
    for key, steps in record.curves.items():
        metrics += [Metric(key, value, now, step) for step, value in steps.items()]
    client.log_batch(
        run_id,
        metrics,
        [Param(key, value) for key, value in record.params.items()],
        [RunTag(key, value) for key, value in tags.items()],
    )
    with _folder(record.files) as folder:
        for name, table in record.tables.items():
            write_table(folder / name, table)
        client.log_artifacts(run_id, str(folder))
    if record.dataset is not None:
        name, digest = record.dataset
        source = json.dumps({"digest": digest})
        dataset = Dataset(name, digest[:_DIGEST_LENGTH], source_type="reference set", source=source)
        client.log_inputs(run_id, [DatasetInput(dataset)])
    client.set_terminated(run_id, status, now)


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
    with told(f"run {run_id}: its judgement cannot be written"):
        _amend(store.client, run_id, deltas, tags, description, files)


def _amend(
    client: MlflowClient,
    run_id: str,
    deltas: Mapping[str, float],
    tags: Mapping[str, str],
    description: str,
    files: Path | None,
) -> None:
    from mlflow.entities import Metric, RunTag

    now, before = int(time.time() * 1000), client.get_run(run_id).data
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
    with scratch() as folder:
        yield folder


@contextmanager
def tracked_run(store: OpenStore, experiment: str, name: str, tags: Mapping[str, str]) -> Iterator[TrackedRun]:
    """A new run. Ctrl-C, SIGTERM and SIGHUP end it as KILLED, an error or an incomplete record as FAILED. While it is
    under way it says that it is alive; runs whose process is dead by now are ended first."""
    with ended_by_signals():
        end_dead(store, _running(store, {experiment, store.runs_experiment, store.sweeps_experiment}))
        said = {**tags, **process_tags(store), TOKEN_TAG: secrets.token_hex(16)}
        with told("a run cannot be begun in the store"):
            created = store.client.create_run(experiment, run_name=name, tags=said)
        run = TrackedRun(store, experiment, created.info.run_id, name, said)
        try:
            with beating(store, run.run_id):
                yield run
        except KeyboardInterrupt:
            _end(run, "KILLED")
            raise
        except BaseException:
            _end(run, "FAILED")
            raise
        _end(run, "FAILED")  # which logged nothing; one that did has ended


def _running(store: OpenStore, experiments: Collection[str]) -> Iterator[StoredRun]:
    for experiment in experiments:
        yield from store.reader.search(Query(experiment, status="RUNNING", limit=_MOST_RUNNING, metrics=False))


def _end(run: TrackedRun, status: str) -> None:
    """End a run that did not come to its end. Where the store does not let it, the next command does: the error that
    is under way matters more."""
    from mlflow.exceptions import MlflowException

    if run.ended:
        return
    try:
        run.store.client.set_terminated(run.run_id, status)
    except (MlflowException, OSError) as error:
        if not run.kept:  # of which enough is told
            warn(
                f"run {run.run_id} is still RUNNING in {_place(run.store)} ({reason(error)}); the next command ends it"
            )


def _place(store: OpenStore) -> str:
    return store.origin.place if store.origin else "the store"

"""Finding runs in a store: by key, by baseline, by what a person types; and reading them back."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.archive import RUN_FILE, BenchmarkRun, read_run
from harness.tracking.store import OpenStore

if TYPE_CHECKING:
    from mlflow.entities import Run

#: Present on the runs that are baselines, with the time at which they were pinned.
BASELINE_TAG = "baseline"


@dataclass(frozen=True)
class Baseline:
    """The run that others are judged against; empty where none was ever pinned."""

    run_id: str | None = None
    run: BenchmarkRun | None = None


def find_finished(store: OpenStore, key: str) -> str | None:
    """The newest finished run with this key."""
    runs = _search(store, f"tags.key = '{key}' and attributes.status = 'FINISHED'", 1)
    return str(runs[0].info.run_id) if runs else None


def find_baseline(store: OpenStore, data_digest: str) -> Baseline:
    """The baseline of these data; where they have none, the one pinned last, so that the difference is told."""
    pinned = sorted(_search(store, f"tags.{BASELINE_TAG} LIKE '%'"), key=lambda run: run.data.tags[BASELINE_TAG])
    own = [run for run in pinned if run.data.tags.get("data.digest") == data_digest]
    if not pinned:
        return Baseline()
    run_id = str((own or pinned)[-1].info.run_id)
    return Baseline(run_id, load_run(store, run_id))


def load_run(store: OpenStore, run_id: str) -> BenchmarkRun:
    """A run from its archive."""
    with tempfile.TemporaryDirectory() as folder:
        return read_run(Path(store.client.download_artifacts(run_id, RUN_FILE, folder)))


def join(store: OpenStore, run_id: str, tag: str, name: str) -> None:
    """Make a run that exists one of a sweep's or a study's; it stays one of those that it belongs to."""
    before = store.client.get_run(run_id).data.tags.get(tag, "").split()
    if name not in before:
        store.client.set_tag(run_id, tag, " ".join([*before, name]))


def find_tagged(store: OpenStore, tag: str, others: Mapping[str, str]) -> dict[str, str]:
    """The runs that carry a tag, with its value; `others` are tags that they must have as well."""
    return {
        str(run.info.run_id): run.data.tags[tag]
        for run in _search(store, f"tags.{tag} LIKE '%'")
        if all(run.data.tags.get(name) == value for name, value in others.items())
    }


def _search(store: OpenStore, query: str, limit: int = 1000) -> Sequence[Run]:
    found: Sequence[Run] = store.client.search_runs([store.runs_experiment], query, max_results=limit)
    return found

"""The last runs of a store, as a page lists them, and what they say about single photos."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from harness.sweeps import HEADLINES
from harness.tracking.store import LocalStore

_PHOTO_TABLE, _REPORT = "photos.json", "report.html"


@dataclass(frozen=True)
class RecentRun:
    """One run: what it was, what came of it, and where its files are."""

    run_id: str
    experiment_id: str
    name: str
    status: str
    started_at: datetime
    data_name: str
    data_split: str
    verdict: str | None
    note: str
    metrics: Mapping[str, float]
    artifacts: Path | None

    @property
    def finished(self) -> bool:
        """Whether it evaluated every photo."""
        return self.status == "FINISHED"

    @property
    def report(self) -> Path | None:
        """The report as a file, where the run has one."""
        path = self.artifacts / _REPORT if self.artifacts else None
        return path if path and path.is_file() else None

    @property
    def page(self) -> str:
        """Its page in MLflow's UI, below the server's own address."""
        return f"#/experiments/{self.experiment_id}/runs/{self.run_id}"


def recent_runs(store: LocalStore, limit: int = 50) -> list[RecentRun]:
    """The last runs, newest first; none where nothing was ever stored."""
    if not store.exists:
        return []
    opened = store.open()
    found = opened.client.search_runs([opened.runs_experiment], max_results=limit, order_by=["start_time DESC"])
    return [_recent(run) for run in found]


def false_positives(run: RecentRun) -> dict[str, int]:
    """How many bibs and faces a run found that are not labelled, by the hash of the photo."""
    path = run.artifacts / _PHOTO_TABLE if run.artifacts else None
    if path is None or not path.is_file():
        return {}
    table = json.loads(path.read_text())
    rows: Sequence[Sequence[Any]] = table["data"]
    column = {name: position for position, name in enumerate(table["columns"])}
    if not {"sha256", "bib_fp", "face_fp"} <= column.keys():
        return {}
    return {
        row[column["sha256"]]: row[column["bib_fp"]] + row[column["face_fp"]]
        for row in rows
        if row[column["bib_fp"]] is not None and row[column["face_fp"]] is not None
    }


def _recent(run: Any) -> RecentRun:
    tags, where = run.data.tags, urlparse(run.info.artifact_uri)
    return RecentRun(
        run_id=run.info.run_id,
        experiment_id=run.info.experiment_id,
        name=run.info.run_name,
        status=run.info.status,
        started_at=datetime.fromtimestamp(run.info.start_time / 1000, UTC),
        data_name=tags.get("data.name", ""),
        data_split=tags.get("data.split", ""),
        verdict=tags.get("verdict"),
        note=tags.get("note", ""),
        metrics={name: run.data.metrics[name] for name in HEADLINES if name in run.data.metrics},
        artifacts=Path(unquote(where.path)) if where.scheme in ("", "file") else None,
    )

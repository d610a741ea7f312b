"""The SQLite file of a local store, read without MLflow: what MLflow's client would answer, in milliseconds.

The file is opened for reading alone, and only where it has the very schema that is known here. MLflow writes to it, and
says what its tables mean; a test holds every answer against MLflow's own. Each question is one transaction: it sees the
store as it was at one moment, whoever writes meanwhile.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from harness.base.errors import HarnessError
from harness.tracking.reading import ClientReader, Query, StoredRun

if TYPE_CHECKING:
    from mlflow import MlflowClient

#: The revision of MLflow's tables that is read here: that of the MLflow that requirements/ pins.
SCHEMA = "dc11669786a5"
#: How long a reader waits for somebody who changes the whole file, in seconds.
_PATIENCE = 30.0
_CHUNK = 500
#: Runs of MLflow before 1.30 have their name in a tag alone.
_NAME_TAG = "mlflow.runName"
_SHOWN_NAME = (
    f"coalesce(nullif(name, ''), (SELECT value FROM tags WHERE tags.run_uuid = runs.run_uuid AND key = '{_NAME_TAG}'))"
)


def find_experiments(path: Path, *names: str) -> dict[str, str] | None:
    """The ids of experiments by name. None where MLflow has to be asked: where the file is not there, is damaged or
    has another schema, or where one of the experiments is not there or is deleted."""
    # With workspaces, MLflow would look for experiments elsewhere.
    if os.environ.get("MLFLOW_ENABLE_WORKSPACES") or not path.is_file():
        return None
    try:
        with closing(_connect(path)) as database:
            if database.execute("SELECT version_num FROM alembic_version").fetchall() != [(SCHEMA,)]:
                return None
            found = dict(
                database.execute(
                    "SELECT name, experiment_id FROM experiments "
                    "WHERE lifecycle_stage = 'active' AND workspace = 'default'"
                )
            )
    except sqlite3.Error:
        return None
    return {name: str(found[name]) for name in names} if found.keys() >= set(names) else None


def local_path(uri: str) -> Path | None:
    """The folder that an artifact URI means on this machine; None where it is elsewhere."""
    parts = urlsplit(uri)
    if not parts.scheme:
        return Path(uri)
    return Path(unquote(parts.path)) if parts.scheme == "file" and parts.netloc in ("", "localhost") else None


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_PATIENCE, isolation_level=None)


@dataclass(frozen=True)
class Database:
    """Reads the store whose file is `path`. Files that are not on this machine are asked of MLflow."""

    path: Path
    connect: Callable[[], MlflowClient]

    def search(self, query: Query) -> Iterator[StoredRun]:
        """The runs that are meant."""
        where, values = _where(query)
        order = "start_time ASC, run_uuid" if query.oldest_first else "start_time DESC, run_uuid"
        limit = -1 if query.limit is None else query.limit
        with self._reading("the store cannot be searched") as database:
            runs = database.execute(
                f"SELECT {_COLUMNS} FROM runs WHERE {where} ORDER BY {order} LIMIT ?", [*values, limit]
            )
            while chunk := runs.fetchmany(_CHUNK):
                yield from _filled(database, chunk, query.metrics, query.params)

    def count(self, query: Query) -> int | None:
        """How many they are."""
        where, values = _where(query)
        with self._reading("the store cannot be searched") as database:
            return int(database.execute(f"SELECT count(*) FROM runs WHERE {where}", values).fetchone()[0])

    def get(self, run_id: str) -> StoredRun:
        """One run."""
        with self._reading(f"run {run_id} cannot be read") as database:
            found = database.execute(f"SELECT {_COLUMNS} FROM runs WHERE run_uuid = ?", [run_id]).fetchall()
            if not found:
                raise HarnessError(f"run {run_id} cannot be read: the store has no such run")
            return next(_filled(database, found, metrics=True, params=True))

    def folder(self, run_id: str) -> Path | None:
        """Where its files are."""
        return local_path(self.get(run_id).artifact_uri)

    def files(self, run_id: str) -> list[str]:
        """What it left; nothing at all where its folder was never made."""
        folder = self.folder(run_id)
        if folder is None:
            return ClientReader(self.connect).files(run_id)
        try:
            return sorted(item.name for item in folder.iterdir())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise HarnessError(f"run {run_id}: its files cannot be listed: {error}") from error

    def download(self, run_id: str, name: str, into: Path) -> Path:
        """A copy of a file that is elsewhere."""
        return ClientReader(self.connect).download(run_id, name, into)

    @contextmanager
    def _reading(self, what: str) -> Iterator[sqlite3.Connection]:
        """One transaction. Whatever is wrong with the file is told in a sentence that begins so."""
        try:
            with closing(_connect(self.path)) as database:
                database.execute("BEGIN")
                yield database
        except sqlite3.Error as error:
            raise HarnessError(f"{what}: {self.path}: {error}") from error


_COLUMNS = "run_uuid, name, status, start_time, artifact_uri"


def _where(query: Query) -> tuple[str, list[Any]]:
    """The condition that a query stands for, and its values."""
    tagged = "run_uuid {} (SELECT run_uuid FROM tags WHERE key = ?{})"
    parts: list[tuple[str, Sequence[Any]]] = [
        ("experiment_id = ? AND lifecycle_stage = 'active'", [int(query.experiment)]),
        *((tagged.format("IN", " AND value = ?"), [name, value]) for name, value in query.tags.items()),
        *(
            (tagged.format("IN", " AND instr(' ' || value || ' ', ' ' || ? || ' ')"), [name, word])
            for name, word in query.words.items()
        ),
        *((tagged.format("IN", ""), [name]) for name in query.having),
        *((tagged.format("NOT IN", ""), [name]) for name in query.lacking),
    ]
    if query.status:
        parts.append(("status = ?", [query.status]))
    if query.name:
        parts.append((f"{_SHOWN_NAME} = ?", [query.name]))
    if query.id_begins:
        parts.append(("substr(run_uuid, 1, ?) = ?", [len(query.id_begins), query.id_begins]))
    if query.measured:
        measured = "SELECT run_uuid FROM latest_metrics WHERE key = ? AND value >= 0 AND NOT is_nan"
        parts.append((f"run_uuid IN ({measured})", [query.measured]))
    return " AND ".join(text for text, _ in parts), [value for _, values in parts for value in values]


def _filled(
    database: sqlite3.Connection, rows: Sequence[tuple[Any, ...]], metrics: bool, params: bool
) -> Iterator[StoredRun]:
    """Runs with their values."""
    ids = [row[0] for row in rows]
    tags = _values(database, "key, value FROM tags", ids)
    measured = _values(
        database, "key, CASE WHEN is_nan THEN NULL ELSE value END FROM latest_metrics", ids if metrics else ()
    )
    chosen = _values(database, "key, value FROM params", ids if params else ())
    for run_id, name, status, started, uri in rows:
        own = tags.get(run_id, {})
        numbers = {key: float("nan") if value is None else value for key, value in measured.get(run_id, {}).items()}
        named = name or own.get(_NAME_TAG, "")
        yield StoredRun(run_id, named, status, started or 0, uri, own, numbers, chosen.get(run_id, {}))


def _values(database: sqlite3.Connection, what: str, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The values of runs in one of the tables that have one row for each run and key."""
    marks = ",".join("?" * len(ids))
    found: dict[str, dict[str, Any]] = {}
    for run_id, key, value in database.execute(f"SELECT run_uuid, {what} WHERE run_uuid IN ({marks})", ids):
        found.setdefault(run_id, {})[key] = value
    return found

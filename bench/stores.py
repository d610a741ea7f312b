"""Stores of many runs, made in seconds: copies of a run that is there, put into the file of a local store by SQL."""

from __future__ import annotations

import sqlite3
import uuid
from contextlib import closing
from pathlib import Path

#: The tables that have one row for each run and key, and their columns before the run's id.
_VALUES = {
    "tags": "key, value",
    "params": "key, value",
    "latest_metrics": "key, value, timestamp, step, is_nan",
    "metrics": "key, value, timestamp, step, is_nan",
}


def fabricate(database: Path, like: str, count: int) -> list[str]:
    """Put copies of a run into a store, each started a millisecond after the one before; returns their ids.

    They have the tags, params and metrics of the run, names with a number, and none of its files.
    """
    ids = [uuid.UUID(int=(number * 0x9E3779B97F4A7C15 << 64 | number) % 2**128).hex for number in range(1, count + 1)]
    with closing(sqlite3.connect(database)) as store, store:
        store.execute("CREATE TEMP TABLE copies (number INTEGER PRIMARY KEY, id TEXT)")
        store.executemany("INSERT INTO copies VALUES (?, ?)", enumerate(ids, start=1))
        own = [row[1] for row in store.execute("PRAGMA table_info(runs)")]
        changed = {
            "run_uuid": "copies.id",
            "name": "runs.name || ' ' || copies.number",
            "start_time": "runs.start_time + copies.number",
            "artifact_uri": "replace(runs.artifact_uri, runs.run_uuid, copies.id)",
        }
        chosen = ", ".join(changed.get(column, f"runs.{column}") for column in own)
        columns = ", ".join(own)
        store.execute(f"INSERT INTO runs ({columns}) SELECT {chosen} FROM runs, copies WHERE run_uuid = ?", [like])
        for table, columns in _VALUES.items():
            store.execute(
                f"INSERT INTO {table} ({columns}, run_uuid) SELECT {columns}, id FROM {table}, copies "
                "WHERE run_uuid = ? ORDER BY key, id",
                [like],
            )
        # MLflow finds runs by the name in this tag.
        store.execute(
            "UPDATE tags SET value = (SELECT name FROM runs WHERE runs.run_uuid = tags.run_uuid) "
            "WHERE key = 'mlflow.runName' AND run_uuid IN (SELECT id FROM copies)"
        )
        store.execute("DROP TABLE copies")
    return ids

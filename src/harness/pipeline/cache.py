"""What a stage saw in a photo, kept by content: a sweep pays only for what a parameter changes.

The key of an entry covers the photo's hash and everything that the stage's answer depends on: its configuration, the
digests of its models, its code and the versions of the packages it runs on. So an entry is never stale, and there is
nothing to invalidate. Each entry keeps the seconds that it took to compute, so that a run on a warm cache still tells
the true cost of its stages.

The store is one SQLite file: any number of processes may use it at once, and one that is killed leaves no half entry.
When it outgrows its limit, the entries that were used least lately go.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from harness.base.cache import cache_dir

_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
  key TEXT PRIMARY KEY, stage TEXT NOT NULL, value BLOB NOT NULL, seconds REAL NOT NULL, used REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS entries_used ON entries (used);
"""
_PATIENCE_SECONDS = 60
#: When the limit is passed, the cache is emptied down to this share of it, so that not every write has to prune.
_PRUNE_TO = 0.9


@dataclass(frozen=True)
class Entry:
    """A stage's answer and the seconds that it took."""

    value: Any
    seconds: float


@dataclass(frozen=True)
class StageUse:
    """How much of the cache one stage takes up."""

    entries: int
    bytes: int
    seconds: float


def key_of(*parts: object) -> str:
    """A digest over JSON-able parts."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class CacheConfig:
    """Whether stage outputs are kept, where (the cache folder if `folder` is not set) and up to how many megabytes."""

    enabled: bool
    folder: str | None
    limit_mb: Annotated[int, Field(ge=1)]

    def open(self) -> StageCache | None:
        """The cache, or None where it is switched off."""
        folder = Path(self.folder) if self.folder else cache_dir() / "stages"
        return StageCache(folder, self.limit_mb * 1_000_000) if self.enabled else None


@dataclass(frozen=True)
class StageCache:
    """Stage outputs under one folder, up to a limit in bytes."""

    folder: Path
    limit_bytes: int

    def get(self, key: str) -> Entry | None:
        """The entry of a key, or None where there is none."""
        row = self._database.execute("SELECT value, seconds, used FROM entries WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        value, seconds, used = row
        if time.time() - used > 60:  # good enough to tell old from new, without a write for every read
            self._database.execute("UPDATE entries SET used = ? WHERE key = ?", (time.time(), key))
        return Entry(json.loads(value), seconds)

    def put(self, key: str, stage: str, entry: Entry) -> None:
        """Keep an entry; a second one of the same key says the same."""
        value = json.dumps(entry.value, separators=(",", ":")).encode()
        self._database.execute(
            "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?)", (key, stage, value, entry.seconds, time.time())
        )

    def prune(self) -> int:
        """Drop what was used least lately until the limit holds; returns how many entries went."""
        total = self._bytes()
        if total <= self.limit_bytes:
            return 0
        excess, dropped = total - int(self.limit_bytes * _PRUNE_TO), []
        for key, size in self._database.execute("SELECT key, length(value) FROM entries ORDER BY used"):
            if excess <= 0:
                break
            excess -= size
            dropped.append((key,))
        self._database.executemany("DELETE FROM entries WHERE key = ?", dropped)
        # `execute` takes one step of a statement without columns, which would give back one page and keep the others.
        self._database.executescript("PRAGMA incremental_vacuum")
        return len(dropped)

    def clear(self) -> int:
        """Drop everything; returns how many entries went."""
        gone = self._database.execute("DELETE FROM entries").rowcount
        self._database.execute("VACUUM")
        return int(gone)

    def stats(self) -> dict[str, StageUse]:
        """What each stage takes up."""
        query = "SELECT stage, count(*), sum(length(value)), sum(seconds) FROM entries GROUP BY stage ORDER BY stage"
        return {stage: StageUse(n, size, seconds) for stage, n, size, seconds in self._database.execute(query)}

    def _bytes(self) -> int:
        return int(self._database.execute("SELECT coalesce(sum(length(value)), 0) FROM entries").fetchone()[0])

    @cached_property
    def _database(self) -> sqlite3.Connection:
        self.folder.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(
            self.folder / "stages.sqlite", timeout=_PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
        )
        database.execute("PRAGMA auto_vacuum=INCREMENTAL")
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=NORMAL")
        database.executescript(_SCHEMA)
        return database

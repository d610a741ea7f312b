"""The stage cache of this machine: one SQLite file.

Any number of processes may use it at once, and one that is killed leaves no half entry. When it outgrows its limit, the
entries that were used least lately go.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from harness.base.cache import cache_dir
from harness.base.checks import Share
from harness.base.errors import HarnessError
from harness.base.progress import warn
from harness.base.texts import COMMAND
from harness.pipeline.cache.values import Entry, checked, checksum, encoded

FILE = "answers.sqlite"
#: What SQLite keeps beside a database, and the database of versions that had no checksums, which nothing reads.
_BESIDE = ("-wal", "-shm")
_FORMER_FILE = "stages.sqlite"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
  key TEXT PRIMARY KEY, stage TEXT NOT NULL, value BLOB NOT NULL, seconds REAL NOT NULL, checksum BLOB NOT NULL,
  used REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS answers_used ON answers (used);
CREATE TABLE IF NOT EXISTS photos (key TEXT PRIMARY KEY, photo TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS photos_photo ON photos (photo);
CREATE TRIGGER IF NOT EXISTS photos_follow AFTER DELETE ON answers BEGIN DELETE FROM photos WHERE key = OLD.key; END;
"""
_PATIENCE_SECONDS = 60
#: When the limit is passed, the cache is emptied down to this share of it, so that not every write has to prune.
_PRUNE_TO = 0.9
#: SQLite's codes for a file that is damaged, and for one that somebody else is using.
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_IN_USE = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


@dataclass(frozen=True)
class StageUse:
    """How much of the cache one stage takes up."""

    entries: int
    bytes: int
    seconds: float


@dataclass
class _Health:
    """What can still be done with a cache, and how many of its entries were damaged."""

    readable: bool = True
    writable: bool = True
    warned: bool = False
    repaired: int = 0


@dataclass(frozen=True)
class StageCache:
    """Stage outputs under one folder, up to a limit in bytes.

    Nothing that is wrong with the file or its disk is raised by `get`, `put`, `drop` and `prune`: what cannot be read
    is not there, and what cannot be written is not kept. The first time it is told on standard error.
    """

    folder: Path
    limit_bytes: int
    _health: _Health = field(default_factory=_Health, compare=False, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """For another process: the same place, opened anew."""
        values = {item.name: getattr(self, item.name) for item in fields(self) if not item.name.startswith("_")}
        return _reopened, (type(self), {**values, "folder": self.folder.absolute()})

    @property
    def where(self) -> str:
        """Where it is, in words."""
        return str(self.folder)

    @property
    def repaired(self) -> int:
        """How many damaged entries were met, each of which has to be computed anew."""
        return self._health.repaired

    def get(self, key: str, stage: str = "", photo: str = "") -> Entry | None:  # noqa: ARG002 - `shared` asks for more
        """The entry of a key, or None where there is none, or none that is whole. `stage` and `photo` are those that it
        was put with."""
        row = None
        if self._health.readable:
            with self._bypassed(reading=True):
                # As bytes, because text that is damaged may be no text at all.
                query = "SELECT CAST(stage AS BLOB), value, seconds, checksum, used FROM answers WHERE key = ?"
                row = self._database.execute(query, (key,)).fetchone()
        if row is None:
            return None
        *content, used = row
        entry = checked(key, *content)
        if entry is None:
            self._health.repaired += 1
        # Good enough to tell old from new, without a write for every read. A damaged time is none.
        elif not isinstance(used, float) or time.time() - used > 60:
            self._write("UPDATE answers SET used = ? WHERE key = ?", (time.time(), key))
        return entry

    def put(self, key: str, stage: str, entry: Entry, photo: str = "") -> None:
        """Keep an entry; a second one of the same key says the same. `photo` is the hash of the photo that it is about,
        for `forget`."""
        value, seconds = encoded(entry.value), float(entry.seconds)
        proof = checksum(key, stage.encode(), value, seconds)
        row = (key, stage, value, seconds, proof, time.time())
        if photo:  # first, so that no entry is there that cannot be found again
            self._write("INSERT OR REPLACE INTO photos VALUES (?, ?)", (key, photo))
        self._write("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?)", row)

    def drop(self, key: str, photo: str = "") -> None:  # noqa: ARG002 - as in `get`
        """Forget an entry."""
        self._write("DELETE FROM answers WHERE key = ?", (key,))

    def prune(self) -> int:
        """Drop what was used least lately until the limit holds; returns how many entries went."""
        if self._health.writable:
            with self._bypassed(reading=False):
                return _prune(self._database, self.limit_bytes)
        return 0

    def clear(self) -> int:
        """Drop everything; returns how many entries went. A damaged file, whose entries nobody can count, is deleted.
        Raises HarnessError where it cannot be written."""
        try:
            with closing(self._open_to_write()) as database:
                gone = database.execute("DELETE FROM answers").rowcount
                database.execute("VACUUM")
                return int(gone)
        except (sqlite3.Error, OSError) as error:
            if _code(error) in _IN_USE:
                raise HarnessError(f"{self.folder / FILE}: cannot be cleared: {_reason(error)}") from error
        try:
            _delete(self.folder / FILE)
        except OSError as error:
            raise HarnessError(f"{self.folder / FILE}: cannot be cleared: {_reason(error)}") from error
        return 0

    def forget(self, photos: Iterable[str]) -> int:
        """Drop every entry about these photos, so that no trace of it is left in the file; returns how many went.
        Raises HarnessError where it cannot be written."""
        if not (self.folder / FILE).exists():
            return 0
        try:
            with closing(self._open_to_write()) as database:
                database.execute("PRAGMA secure_delete=ON")
                before = database.execute("SELECT count(*) FROM answers").fetchone()[0]
                query = "DELETE FROM answers WHERE key IN (SELECT key FROM photos WHERE photo = ?)"
                database.executemany(query, ((photo,) for photo in photos))
                gone = before - database.execute("SELECT count(*) FROM answers").fetchone()[0]
                database.execute("VACUUM")  # what was dropped or replaced at other times lies in free pages
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                return int(gone)
        except (sqlite3.Error, OSError) as error:
            what = f"{self.folder / FILE}: what it keeps of these photos cannot be wiped: {_reason(error)}"
            raise HarnessError(f"{what}; `{COMMAND} cache clear` deletes it") from error

    def stats(self) -> dict[str, StageUse]:
        """What each stage takes up. Raises HarnessError where it cannot be read."""
        query = "SELECT stage, count(*), sum(length(value)), sum(seconds) FROM answers GROUP BY stage ORDER BY stage"
        try:
            database, _ = self._open()
            with closing(database):
                return {stage: StageUse(n, size, seconds) for stage, n, size, seconds in database.execute(query)}
        except (sqlite3.Error, OSError) as error:
            what = f"{self.folder / FILE}: cannot be read: {_reason(error)}"
            raise HarnessError(f"{what}; `{COMMAND} cache clear` deletes it") from error

    def _write(self, statement: str, values: tuple[Any, ...]) -> None:
        if self._health.writable:
            with self._bypassed(reading=False):
                self._database.execute(statement, values)

    @contextmanager
    def _bypassed(self, *, reading: bool) -> Iterator[None]:
        """Leave the cache alone from now on where the disk or the file fails: altogether, or only for writing."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            damaged = _code(error) in _DAMAGED
            self._health.writable = False
            self._health.readable &= not reading and not damaged
            self._warn(error)

    def _warn(self, error: sqlite3.Error | OSError) -> None:
        """Tell it once; what comes after follows from it."""
        if self._health.warned:
            return
        self._health.warned = True
        able, consequence = (
            ("written", "this run does not keep what it computes")
            if self._health.readable
            else ("used", "this run computes everything anew")
        )
        mend = f"; `{COMMAND} cache clear` deletes it" if _code(error) in _DAMAGED else ""
        warn(f"the stage cache in {self.folder} cannot be {able} ({_reason(error)}); {consequence}{mend}")

    @cached_property
    def _database(self) -> sqlite3.Connection:
        database, problem = self._open()
        if problem is not None:
            self._health.writable = False
            self._warn(problem)
        return database

    def _open(self) -> tuple[sqlite3.Connection, sqlite3.Error | OSError | None]:
        """The database, and what is wrong where it can only be read. Raises where it cannot even be read."""
        try:
            return self._open_to_write(), None
        except (sqlite3.Error, OSError) as error:
            if _code(error) in _IN_USE or (database := self._open_to_read()) is None:
                raise
            return database, error

    def _open_to_write(self) -> sqlite3.Connection:
        self.folder.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(
            self.folder / FILE, timeout=_PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            database.execute("PRAGMA auto_vacuum=INCREMENTAL")
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("PRAGMA synchronous=NORMAL")
            database.executescript(_SCHEMA)
        except sqlite3.Error:
            database.close()
            raise
        with suppress(OSError):  # it only takes up room
            _delete(self.folder / _FORMER_FILE)
        return database

    def _open_to_read(self) -> sqlite3.Connection | None:
        """The database on a disk that takes nothing. Where not even a lock file can be had, as a file that nobody
        changes: what another process changes meanwhile is not seen, or fails its checksum."""
        for mode in ("mode=ro", "mode=ro&immutable=1"):
            address = f"{(self.folder / FILE).absolute().as_uri()}?{mode}"
            try:
                database = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
            except sqlite3.Error:
                continue
            try:
                database.execute("SELECT key FROM answers LIMIT 1").fetchone()
            except sqlite3.Error:
                database.close()
                continue
            return database
        return None


@dataclass(frozen=True)
class CacheConfig:
    """Whether stage outputs are kept, where (the cache folder if `folder` is not set) and up to how many megabytes;
    and which share of the photos whose answers came from there is computed anew after a run, as an audit."""

    enabled: bool
    folder: str | None
    limit_mb: Annotated[int, Field(ge=1)]
    audit: Share = 0.01

    def open(self) -> StageCache | None:
        """The cache, or None where it is switched off."""
        folder = Path(self.folder) if self.folder else cache_dir() / "stages"
        return StageCache(folder, self.limit_mb * 1_000_000) if self.enabled else None


def _reopened(kind: type[StageCache], values: dict[str, Any]) -> StageCache:
    return kind(**values)


def _prune(database: sqlite3.Connection, limit_bytes: int) -> int:
    total = int(database.execute("SELECT coalesce(sum(length(value)), 0) FROM answers").fetchone()[0])
    if total <= limit_bytes:
        return 0
    excess, dropped = total - int(limit_bytes * _PRUNE_TO), []
    for key, size in database.execute("SELECT key, length(value) FROM answers ORDER BY used"):
        if excess <= 0:
            break
        excess -= size
        dropped.append((key,))
    database.executemany("DELETE FROM answers WHERE key = ?", dropped)
    # `execute` takes one step of a statement without columns, which would give back one page and keep the others.
    database.executescript("PRAGMA incremental_vacuum")
    return len(dropped)


def _delete(database: Path) -> None:
    """Delete a database with what SQLite keeps beside it. Processes that have it open go on with what they have."""
    for path in (database, *(database.with_name(f"{database.name}{end}") for end in _BESIDE)):
        path.unlink(missing_ok=True)


def _code(error: Exception) -> int | None:
    """SQLite's primary code of an error."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _reason(error: sqlite3.Error | OSError) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)

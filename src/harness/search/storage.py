"""Where a ledger is kept, and the locks that its workers share: a journal file, or PostgreSQL beyond one machine.

A worker's lease is a lock that it holds for as long as it lives. Whatever ends the worker ends the lock, so that its
unfinished trial is known to be free without clocks, heartbeats or patience.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

from harness.base.errors import ConfigError, HarnessError
from harness.base.extras import need
from harness.base.locks import file_lock, is_locked

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

#: Names a PostgreSQL database that holds the ledgers instead of journal files.
VARIABLE = "HARNESS_LEDGER"
JOURNAL = "journal.log"


class Place(Protocol):
    """An opened storage with its locks."""

    @property
    def storage(self) -> BaseStorage:
        """Optuna's side of it."""

    def exclusive(self) -> AbstractContextManager[None]:
        """Held by one worker of the study at a time, while it claims or finishes a trial."""

    def lease(self, worker: str) -> AbstractContextManager[None]:
        """Held by a worker for as long as it lives."""

    def is_alive(self, worker: str) -> bool:
        """Whether a worker holds its lease."""


def open_place(folder: Path, study: str) -> Place:
    """The place that the environment names, else the journal in the study's folder."""
    url = os.environ.get(VARIABLE)
    return PostgresPlace(url, study) if url else JournalPlace(folder)


def place_exists(folder: Path) -> bool:
    """Whether a ledger may be there already, without making one."""
    return bool(os.environ.get(VARIABLE)) or (folder / JOURNAL).is_file()


def kept_definitions(folder: Path, but: str) -> Iterator[tuple[str, Any]]:
    """The studies whose ledgers are kept below a folder, or in the database, each with what it is defined by; `but` is
    left out."""
    url = os.environ.get(VARIABLE)
    places = [PostgresPlace(url, but)] if url else [JournalPlace(path.parent) for path in folder.glob(f"*/{JOURNAL}")]
    for place in places:
        for study in place.storage.get_all_studies():
            if study.study_name != but and "definition" in study.user_attrs:
                yield study.study_name, study.user_attrs["definition"]


class JournalPlace:
    """A journal file and lock files beside it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        lock = _JournalLock(folder / "locks" / "journal")
        if _is_torn(folder / JOURNAL):  # only then is there something to wait for the writers for
            with lock.held():
                _mend(folder / JOURNAL)
        self.storage: BaseStorage = JournalStorage(JournalFileBackend(str(folder / JOURNAL), lock_obj=lock))

    def exclusive(self) -> AbstractContextManager[None]:
        """The lock on the study."""
        return file_lock(self._folder / "locks" / "study")

    @contextmanager
    def lease(self, worker: str) -> Iterator[None]:
        """A lock file that is gone when the worker is."""
        path = self._folder / "locks" / worker
        with file_lock(path):
            yield
            path.unlink(missing_ok=True)

    def is_alive(self, worker: str) -> bool:
        """Whether the worker's lock file is locked."""
        return is_locked(self._folder / "locks" / worker)


class PostgresPlace:
    """A PostgreSQL database; the locks are its advisory locks, which end with the connection that holds them."""

    def __init__(self, url: str, study: str) -> None:
        need(VARIABLE, "psycopg2")
        from sqlalchemy import create_engine, make_url
        from sqlalchemy.exc import SQLAlchemyError
        from sqlalchemy.pool import NullPool

        try:
            address = make_url(url)
            if address.get_backend_name() != "postgresql":
                raise ConfigError(f"{VARIABLE}: expected postgresql://..., got {address.get_backend_name()}://...")
            address = address.set(drivername="postgresql+psycopg2")
            self._study = study
            self._engine: Engine = create_engine(address, poolclass=NullPool, isolation_level="AUTOCOMMIT")
            # Two processes that make the tables of a new database at once would ruin each other's work.
            with self._locked("making the tables"):
                self.storage: BaseStorage = RDBStorage(address.render_as_string(hide_password=False))
        except SQLAlchemyError as error:
            raise HarnessError(f"{VARIABLE}: cannot open the database: {str(error).splitlines()[0]}") from error

    def exclusive(self) -> AbstractContextManager[None]:
        """The lock on the study."""
        return self._locked(f"study {self._study}")

    def lease(self, worker: str) -> AbstractContextManager[None]:
        """A lock on the worker's name."""
        return self._locked(f"worker {worker}")

    def is_alive(self, worker: str) -> bool:
        """Whether the lock on the worker's name is taken."""
        with self._engine.connect() as connection:
            return not _ask(connection, "SELECT pg_try_advisory_lock(:key)", f"worker {worker}")

    @contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        with self._engine.connect() as connection:
            _ask(connection, "SELECT pg_advisory_lock(:key)", name)
            yield


def _ask(connection: Connection, query: str, name: str) -> object:
    from sqlalchemy import text

    key = int.from_bytes(hashlib.sha256(f"harness {name}".encode()).digest()[:8], signed=True)
    return connection.execute(text(query), {"key": key}).scalar()


class _JournalLock(JournalFileOpenLock):
    """The lock on the journal as one that dies with its process; Optuna's own would have to be waited out."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self._path = path
        self._stack = ExitStack()

    def acquire(self) -> bool:
        """Wait for the lock."""
        self._stack.enter_context(file_lock(self._path))
        return True

    def release(self) -> None:
        """Give it back."""
        self._stack.close()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold it for a block."""
        self.acquire()
        try:
            yield
        finally:
            self.release()


def _is_torn(path: Path) -> bool:
    """Whether a journal ends with half a line: that of a writer that was killed, or of one that is writing now."""
    try:
        with path.open("rb") as file:
            return bool(file.seek(0, os.SEEK_END)) and (file.seek(-1, os.SEEK_END), file.read(1))[1] != b"\n"
    except FileNotFoundError:
        return False


def _mend(path: Path) -> None:
    """Take off the half line that a writer left when it was killed: what it meant to say was never said."""
    if not path.is_file():
        return
    data = path.read_bytes()
    if data and not data.endswith(b"\n"):
        with path.open("r+b") as file:
            file.truncate(data.rfind(b"\n") + 1)

"""The MLflow store on this machine, opened so that any number of processes may start on an empty folder at once."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol

from pydantic import Field

from harness.base.errors import HarnessError
from harness.base.garbage import importing
from harness.base.locks import file_lock
from harness.tracking.database import Database, find_experiments, local_path
from harness.tracking.patience import PATIENCE, Patience, patient
from harness.tracking.quiet import quiet_mlflow
from harness.tracking.reading import ClientReader, Reader

if TYPE_CHECKING:
    from mlflow import MlflowClient


@dataclass(frozen=True)
class OpenStore:
    """A store that is ready: its tables exist, and so do the experiments of runs and of sweeps.

    Grades and looks at a holdout have experiments of their own, each made when it is first needed. Whoever only reads
    asks the `reader`: `client` imports MLflow when it is first used, which takes seconds, and waits for a store that is
    away. `origin` is what was opened, for whoever has to open it again.
    """

    connect: Callable[[], MlflowClient]
    reader: Reader
    runs_experiment: str
    sweeps_experiment: str
    name: str
    artifacts: Path | None = None
    origin: Store | None = None

    @property
    def patience(self) -> float:
        """For how many seconds calls are made again where the store does not answer."""
        return self.origin.patience if self.origin else PATIENCE

    @cached_property
    def client(self) -> MlflowClient:
        """MLflow's client of the store, for whoever writes."""
        return self.connect()

    def grades_experiment(self) -> str:
        """The experiment of grades: students and the overviews of cohorts."""
        return _experiment(self.client, f"{self.name}-grades", self.artifacts)

    def kind_of(self, experiment: str) -> str:
        """What an experiment of tracked runs is for: `runs`, `sweeps` or `grades`; its id is of this store alone."""
        return {self.runs_experiment: "runs", self.sweeps_experiment: "sweeps"}.get(experiment, "grades")

    def experiment_of(self, kind: str) -> str:
        """The experiment that is for this."""
        known = {"runs": self.runs_experiment, "sweeps": self.sweeps_experiment}
        return known[kind] if kind in known else self.grades_experiment()

    def looks_experiment(self) -> str:
        """The experiment of looks at a holdout."""
        return _experiment(self.client, f"{self.name}-looks", self.artifacts)


class Store(Protocol):
    """Where runs are kept: the class behind a choice such as `tracking=local`."""

    @property
    def experiment(self) -> str:
        """The name of the experiment of runs."""

    @property
    def patience(self) -> float:
        """For how many seconds a store that does not answer is waited for."""

    @property
    def place(self) -> str:
        """Where that is, in words for the user."""

    @property
    def exists(self) -> bool:
        """Whether there is anything to look at; False only where opening would make something new."""

    @property
    def stamp(self) -> object:
        """Differs once something new was stored; None where only opening would tell."""

    def open(self) -> OpenStore:
        """Make the store ready. Raises a HarnessError where that cannot be done."""

    def erase(self, opened: OpenStore, run_ids: Iterable[str]) -> str:
        """Delete runs with their artifacts, as far as the store allows; says how far that is."""


@dataclass(frozen=True)
class LocalStore:
    """SQLite and artifacts under `root`. Runs go to `experiment`, overviews of sweeps and grades to others."""

    root: str
    experiment: str
    patience: Annotated[float, Field(ge=0)] = PATIENCE

    @property
    def folder(self) -> Path:
        """The store's folder as an absolute path: MLflow keeps it in the database."""
        return Path(self.root).resolve()

    @property
    def place(self) -> str:
        """The folder."""
        return str(self.folder)

    @property
    def database(self) -> Path:
        """The file of all values."""
        return self.folder / "mlflow.db"

    @property
    def uri(self) -> str:
        """The tracking URI."""
        return f"sqlite:///{self.database}"

    @property
    def exists(self) -> bool:
        """Whether anything was ever stored here."""
        return self.database.is_file()

    @property
    def stamp(self) -> tuple[tuple[int, int], ...]:
        """Time and size of the files that every change touches."""
        files = (self.folder / name for name in ("mlflow.db", "mlflow.db-wal"))
        return tuple(_stamp(path) for path in files)

    def open(self) -> OpenStore:
        """Make the store ready. One that is so already is read without MLflow, and without waiting for anybody."""
        names, artifacts = _names(self.experiment), self.folder / "artifacts"
        if ids := find_experiments(self.database, *names):
            runs, sweeps = (ids[name] for name in names)
            reader = Database(self.database, self._connect)
            return OpenStore(self._connect, reader, runs, sweeps, self.experiment, artifacts, self)
        with self._alone():
            opened = open_experiments(self._client(), self, artifacts)
        known = find_experiments(self.database, *names) is not None
        return replace(opened, reader=Database(self.database, opened.connect)) if known else opened

    def _connect(self) -> MlflowClient:
        with importing(), self._alone():  # most of it are imports
            return self._client()

    def _client(self) -> MlflowClient:
        from mlflow import MlflowClient

        if not self.exists:
            self._make()
        client = MlflowClient(self.uri)
        client.search_experiments(max_results=1)
        with sqlite3.connect(self.database) as database:
            database.execute("PRAGMA journal_mode=WAL")
        database.close()
        return patient(client, Patience(f"the store in {self.folder}", self.patience))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Under a lock: two processes that migrate a new database at once would ruin it."""
        quiet_mlflow()
        from alembic.util import CommandError
        from mlflow.exceptions import MlflowException
        from sqlalchemy.exc import SQLAlchemyError

        try:
            with file_lock(self.folder / ".lock"):
                yield
        except (OSError, MlflowException, SQLAlchemyError, CommandError, sqlite3.Error) as error:
            newer = "a newer MLflow has written it; use that version here, or choose another tracking.root"
            reason = newer if _is_newer(self.database) else str(error).splitlines()[0]
            raise HarnessError(f"tracking.root: cannot open the MLflow store in {self.folder}: {reason}") from error

    def _make(self) -> None:
        """Make the database beside and rename it. MLflow makes its tables one by one, and a database with some of them,
        which a process leaves that is killed meanwhile, is never opened again."""
        from mlflow import MlflowClient

        beside = self.folder / ".mlflow.db.new"
        for name in (beside, Path(f"{beside}-journal")):
            name.unlink(missing_ok=True)
        client = MlflowClient(f"sqlite:///{beside}")
        client.search_experiments(max_results=1)
        client._tracking_client.store.engine.dispose()
        beside.rename(self.folder / "mlflow.db")

    def erase(self, opened: OpenStore, run_ids: Iterable[str]) -> str:
        """For good: MLflow's own delete would leave every file and row in place.

        Files go first, so that a run is listed until nothing of it is left.
        """
        for run_id in run_ids:
            artifacts = local_path(opened.client.get_run(run_id).info.artifact_uri)
            if artifacts is not None and artifacts.parent.name == run_id:
                shutil.rmtree(artifacts.parent, ignore_errors=not artifacts.parent.exists())
            # What `mlflow gc` does for one run; the command itself would also purge whatever else is in MLflow's bin.
            opened.client._tracking_client.store._hard_delete_run(run_id)
        return "deleted for good, artifacts included"


def _is_newer(database: Path) -> bool:
    """Whether the tables of a store are of a revision that the installed MLflow does not know. MLflow itself calls
    such a store out of date, and advises an upgrade that cannot work."""
    from alembic.script import ScriptDirectory
    from mlflow.store.db import utils

    try:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
            found = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    except sqlite3.Error:  # the file is damaged, which is another reason
        return False
    migrations = Path(utils.__file__).parents[1] / "db_migrations"
    known = {script.revision for script in ScriptDirectory(str(migrations)).walk_revisions()}
    return any(revision not in known for (revision,) in found)


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return (status.st_mtime_ns, status.st_size)


def _names(experiment: str) -> tuple[str, str]:
    """The experiment of runs and the one of the overviews of sweeps."""
    return experiment, f"{experiment}-sweeps"


def open_experiments(client: MlflowClient, store: Store, artifacts: Path | None = None) -> OpenStore:
    """The experiment of runs and the one of sweeps; `artifacts` is the folder for theirs, where the store has one."""
    runs, sweeps = (_experiment(client, each, artifacts) for each in _names(store.experiment))
    connect = partial(_connected, client)  # and no lambda: runs of the API are sent to other processes
    return OpenStore(connect, ClientReader(connect), runs, sweeps, store.experiment, artifacts, store)


def _connected(client: MlflowClient) -> MlflowClient:
    return client


def _experiment(client: MlflowClient, name: str, artifacts: Path | None) -> str:
    """Its id. Somebody else may create it in between: then theirs is taken."""
    from mlflow.exceptions import MlflowException

    found = client.get_experiment_by_name(name)
    if found is None:
        location = None if artifacts is None else (artifacts / name).as_uri()
        try:
            return str(client.create_experiment(name, artifact_location=location))
        except MlflowException as error:
            found = client.get_experiment_by_name(name) if error.error_code == "RESOURCE_ALREADY_EXISTS" else None
            if found is None:
                raise
    if found.lifecycle_stage != "active":
        raise HarnessError(f"tracking.experiment: {name} is deleted in MLflow; restore it there or choose another name")
    return str(found.experiment_id)

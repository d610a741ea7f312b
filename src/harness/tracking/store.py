"""The MLflow store on this machine, opened so that any number of processes may start on an empty folder at once."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urlsplit

from harness.base.errors import HarnessError
from harness.base.locks import file_lock

if TYPE_CHECKING:
    from mlflow import MlflowClient


@dataclass(frozen=True)
class OpenStore:
    """A client of a store that is ready: its tables exist, and so do the experiments of runs and of sweeps.

    Grades and looks at a holdout have experiments of their own, each made when it is first needed.
    """

    client: MlflowClient
    runs_experiment: str
    sweeps_experiment: str
    name: str
    artifacts: Path | None = None

    def grades_experiment(self) -> str:
        """The experiment of grades: students and the overviews of cohorts."""
        return _experiment(self.client, f"{self.name}-grades", self.artifacts)

    def looks_experiment(self) -> str:
        """The experiment of looks at a holdout."""
        return _experiment(self.client, f"{self.name}-looks", self.artifacts)


class Store(Protocol):
    """Where runs are kept: the class behind a choice such as `tracking=local`."""

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

    @property
    def folder(self) -> Path:
        """The store's folder as an absolute path: MLflow keeps it in the database."""
        return Path(self.root).resolve()

    @property
    def place(self) -> str:
        """The folder."""
        return str(self.folder)

    @property
    def uri(self) -> str:
        """The tracking URI."""
        return f"sqlite:///{self.folder / 'mlflow.db'}"

    @property
    def exists(self) -> bool:
        """Whether anything was ever stored here."""
        return (self.folder / "mlflow.db").is_file()

    @property
    def stamp(self) -> tuple[tuple[int, int], ...]:
        """Time and size of the files that every change touches."""
        files = (self.folder / name for name in ("mlflow.db", "mlflow.db-wal"))
        return tuple(_stamp(path) for path in files)

    def open(self) -> OpenStore:
        """Make the store ready under a lock: two processes that migrate a new database at once would ruin it."""
        quiet_mlflow()
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException
        from sqlalchemy.exc import SQLAlchemyError

        try:
            with file_lock(self.folder / ".lock"):
                client = MlflowClient(self.uri)
                client.search_experiments(max_results=1)
                with sqlite3.connect(self.folder / "mlflow.db") as database:
                    database.execute("PRAGMA journal_mode=WAL")
                database.close()
                return open_experiments(client, self.experiment, self.folder / "artifacts")
        except (OSError, MlflowException, SQLAlchemyError) as error:
            reason = str(error).splitlines()[0]
            raise HarnessError(f"tracking.root: cannot open the MLflow store in {self.folder}: {reason}") from error

    def erase(self, opened: OpenStore, run_ids: Iterable[str]) -> str:
        """For good: MLflow's own delete would leave every file and row in place.

        Files go first, so that a run is listed until nothing of it is left.
        """
        for run_id in run_ids:
            artifacts = Path(unquote(urlsplit(opened.client.get_run(run_id).info.artifact_uri).path))
            if artifacts.parent.name == run_id:
                shutil.rmtree(artifacts.parent, ignore_errors=not artifacts.parent.exists())
            # What `mlflow gc` does for one run; the command itself would also purge whatever else is in MLflow's bin.
            opened.client._tracking_client.store._hard_delete_run(run_id)
        return "deleted for good, artifacts included"


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return (status.st_mtime_ns, status.st_size)


def quiet_mlflow() -> None:
    """Keep MLflow from printing links, progress bars and warnings about them among what the harness prints.

    To be called before MLflow is imported: its import of tqdm warns in a notebook that has no widgets for bars.
    """
    os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    for chatty in ("alembic", "mlflow.store.db.utils"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    _import_bars()


def _import_bars() -> None:
    """Import the bars that MLflow uses, without their warning. No warning of anything else is kept back."""
    from tqdm import TqdmWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TqdmWarning)
        import tqdm.auto  # noqa: F401


def open_experiments(client: MlflowClient, name: str, artifacts: Path | None = None) -> OpenStore:
    """The experiment of runs and the one of sweeps; `artifacts` is the folder for theirs, where the store has one."""
    runs, sweeps = (_experiment(client, each, artifacts) for each in (name, f"{name}-sweeps"))
    return OpenStore(client, runs, sweeps, name, artifacts)


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

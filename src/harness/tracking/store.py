"""The MLflow store on this machine, opened so that any number of processes may start on an empty folder at once."""

from __future__ import annotations

import logging
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import HarnessError
from harness.locks import file_lock

if TYPE_CHECKING:
    from mlflow import MlflowClient


@dataclass(frozen=True)
class OpenStore:
    """A client of a store that is ready: its tables exist, and so do its two experiments."""

    client: MlflowClient
    runs_experiment: str
    sweeps_experiment: str


@dataclass(frozen=True)
class LocalStore:
    """SQLite and a folder of artifacts under `root`. Runs go to `experiment`, overviews of sweeps to a second one."""

    root: str
    experiment: str

    @property
    def folder(self) -> Path:
        """The store's folder as an absolute path: MLflow keeps it in the database."""
        return Path(self.root).resolve()

    @property
    def uri(self) -> str:
        """The tracking URI."""
        return f"sqlite:///{self.folder / 'mlflow.db'}"

    @property
    def exists(self) -> bool:
        """Whether anything was ever stored here."""
        return (self.folder / "mlflow.db").is_file()

    def open(self) -> OpenStore:
        """Make the store ready under a lock: two processes that migrate a new database at once would ruin it."""
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException
        from sqlalchemy.exc import SQLAlchemyError

        for chatty in ("alembic", "mlflow.store.db.utils"):
            logging.getLogger(chatty).setLevel(logging.WARNING)
        try:
            with file_lock(self.folder / ".lock"):
                client = MlflowClient(self.uri)
                client.search_experiments(max_results=1)
                with sqlite3.connect(self.folder / "mlflow.db") as database:
                    database.execute("PRAGMA journal_mode=WAL")
                database.close()
                return OpenStore(
                    client,
                    self._experiment(client, self.experiment),
                    self._experiment(client, f"{self.experiment}-sweeps"),
                )
        except (OSError, MlflowException, SQLAlchemyError) as error:
            reason = str(error).splitlines()[0]
            raise HarnessError(f"tracking.root: cannot open the MLflow store in {self.folder}: {reason}") from error

    def _experiment(self, client: MlflowClient, name: str) -> str:
        found = client.get_experiment_by_name(name)
        if found is not None:
            return str(found.experiment_id)
        artifacts = self.folder / "artifacts" / name
        return str(client.create_experiment(name, artifact_location=artifacts.as_uri()))

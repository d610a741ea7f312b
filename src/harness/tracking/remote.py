"""An MLflow server: runs and artifacts go to it over HTTP, and many machines may log to it at once."""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from harness.base.errors import HarnessError
from harness.base.hiding import hide_text
from harness.tracking.patience import PATIENCE, Patience, patient
from harness.tracking.quiet import quiet_mlflow
from harness.tracking.store import OpenStore, open_experiments

_SECONDS_TO_ANSWER = 10.0
#: The servers that have answered this process before. One that then goes away is waited for.
_ANSWERED: set[str] = set()


def _address(uri: str) -> str:
    parts = urlsplit(uri)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(
            f"expected the address of an MLflow server, such as http://mlflow.example:5000, got {hide_text(uri)!r}"
        )
    if parts.username or parts.password:
        raise ValueError(
            "the address is kept with each run; name and password go into MLFLOW_TRACKING_USERNAME and "
            "MLFLOW_TRACKING_PASSWORD"
        )
    return uri.rstrip("/")


@dataclass(frozen=True)
class ServerStore:
    """The MLflow server at `uri`. Runs go to `experiment`, overviews of sweeps and grades to others."""

    uri: Annotated[str, AfterValidator(_address)]
    experiment: str
    patience: Annotated[float, Field(ge=0)] = PATIENCE

    @property
    def place(self) -> str:
        """The address."""
        return self.uri

    @property
    def exists(self) -> bool:
        """A server is there, or opening it says that it is not."""
        return True

    @property
    def stamp(self) -> None:
        """A server says nothing unasked."""

    def open(self) -> OpenStore:
        """Connect, and make the experiments where they are not there yet."""
        quiet_mlflow()
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException

        # `Patience` does it instead, and says so; whoever has set a number of their own has both.
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
        if self.uri not in _ANSWERED:
            self._look()
            _ANSWERED.add(self.uri)
        try:
            waiting = patient(MlflowClient(self.uri), Patience(f"the MLflow server at {self.uri}", self.patience))
            return open_experiments(waiting, self)
        except MlflowException as error:
            reason = str(error).splitlines()[0]
            raise HarnessError(f"tracking.uri: the MLflow server at {self.uri} refuses: {reason}") from error

    def erase(self, opened: OpenStore, run_ids: Iterable[str]) -> str:
        """Put runs into the server's bin; a client can do no more."""
        for run_id in run_ids:
            opened.client.delete_run(run_id)
        return "in the server's bin now; `mlflow gc` on the server deletes them and their artifacts for good"

    def _look(self) -> None:
        """Whether anybody answers at all; MLflow's client itself would try for minutes before it says so."""
        try:
            with urllib.request.urlopen(f"{self.uri}/health", timeout=_SECONDS_TO_ANSWER):
                pass
        except urllib.error.HTTPError:
            pass  # it answers; whether it lets us in is for the client to find out
        except OSError as error:
            reason = getattr(error, "reason", error)
            raise HarnessError(f"tracking.uri: no MLflow server answers at {self.uri}: {reason}") from error

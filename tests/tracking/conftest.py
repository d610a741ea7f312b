"""Both kinds of store, so that one suite holds for both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.tracking.remote import ServerStore
from harness.tracking.store import LocalStore
from tests.servers import mlflow_server


@pytest.fixture(scope="session")
def server_uri(database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An MLflow server on PostgreSQL."""
    with mlflow_server(database, tmp_path_factory.mktemp("mlflow")) as uri:
        yield uri


@pytest.fixture(scope="session")
def local_root(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder for a local store; making its tables takes seconds, so that tests differ by experiment."""
    return str(tmp_path_factory.mktemp("local") / "mlruns")


@pytest.fixture(params=["local", pytest.param("server", marks=[pytest.mark.slow, pytest.mark.xdist_group("server")])])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> LocalStore | ServerStore:
    """A store without any runs."""
    experiment = f"test-{tmp_path.name}"
    if request.param == "local":
        return LocalStore(request.getfixturevalue("local_root"), experiment)
    return ServerStore(request.getfixturevalue("server_uri"), experiment)

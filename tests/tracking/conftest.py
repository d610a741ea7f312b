"""Both kinds of store, so that one suite holds for both."""

from __future__ import annotations

import shutil
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
def local_root(empty_store: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a local store that tests share: they differ by experiment."""
    return str(shutil.copytree(empty_store, tmp_path_factory.mktemp("local") / "mlruns"))


@pytest.fixture(params=["local", pytest.param("server", marks=[pytest.mark.slow, pytest.mark.xdist_group("server")])])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> LocalStore | ServerStore:
    """A store without any runs."""
    experiment = f"test-{tmp_path.name}"
    if request.param == "local":
        return LocalStore(request.getfixturevalue("local_root"), experiment)
    return ServerStore(request.getfixturevalue("server_uri"), experiment)

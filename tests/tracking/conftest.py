"""Both kinds of store, so that one suite holds for both."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.tracking.remote import ServerStore
from harness.tracking.store import LocalStore
from tests.tracking.servers import REQUIRED, mlflow_server, postgres, postgres_programs


@pytest.fixture(scope="session")
def server_uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An MLflow server on PostgreSQL."""
    programs = postgres_programs()
    if programs is None:
        assert not os.environ.get(REQUIRED), "no PostgreSQL; scripts/test installs it"
        pytest.skip("needs PostgreSQL; scripts/test installs it where it can")
    with postgres(programs) as database, mlflow_server(database, tmp_path_factory.mktemp("mlflow")) as uri:
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

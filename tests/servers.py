"""PostgreSQL and an MLflow server on it, for as long as the tests run: nothing of them listens beyond this machine."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_SECONDS_TO_START = 240.0


def postgres_programs() -> Path | None:
    """The folder of PostgreSQL's programs; Debian keeps them off the path."""
    on_path = shutil.which("initdb")
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    found = on_path or (installed[-1] if installed else None)
    return Path(found).resolve().parent if found else None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(
    command: list[str], stop: signal.Signals, log: Path, **environment: str
) -> Iterator[subprocess.Popen[bytes]]:
    """A server that ends with the block, or with this process however it ends."""
    guarded = ["setpriv", "--pdeathsig", stop.name.removeprefix("SIG"), *command]
    with log.open("wb") as output:
        server = subprocess.Popen(
            guarded, env={**os.environ, **environment}, stdout=output, stderr=output, start_new_session=True
        )
    try:
        yield server
    finally:
        os.killpg(server.pid, stop)
        server.wait(timeout=60)


def wait_for(ready: Callable[[], bool], server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _SECONDS_TO_START
    while not ready():
        assert server.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.1)


@contextmanager
def postgres(programs: Path) -> Iterator[str]:
    """A fresh cluster that is reached by a socket in its own folder; gives the address of a database on it."""
    root = os.geteuid() == 0
    # PostgreSQL refuses to be root. Its folder must be reachable for its user, which pytest's own are not.
    user = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"] if root else []
    folder = Path(tempfile.mkdtemp(prefix="harness-pg-"))
    data, log = folder / "data", Path(tempfile.mkstemp(prefix="harness-pg-", suffix=".log")[1])
    try:
        if root:
            os.chown(folder, pwd.getpwnam("postgres").pw_uid, pwd.getpwnam("postgres").pw_gid)
        initdb = [*user, str(programs / "initdb"), "-D", str(data), "-U", "harness", "-A", "trust", "-E", "UTF8", "-N"]
        subprocess.run(initdb, check=True, capture_output=True, cwd="/")
        command = [*user, str(programs / "postgres"), "-D", str(data), "-k", str(folder), "-c", "listen_addresses="]
        with running([*command, "-c", "fsync=off"], signal.SIGINT, log) as server:
            ready = [str(programs / "pg_isready"), "-q", "-h", str(folder)]
            wait_for(lambda: subprocess.run(ready).returncode == 0, server, log)
            yield f"postgresql+psycopg2://harness@/postgres?host={folder}"
    finally:
        shutil.rmtree(folder)
        log.unlink()


@contextmanager
def mlflow_server(database: str, folder: Path) -> Iterator[str]:
    """MLflow on a database, with its artifacts in a folder; gives its address."""
    port, log = free_port(), folder / "server.log"
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    command += ["--backend-store-uri", database, "--artifacts-destination", str(folder / "artifacts")]

    def ready() -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2):
                return True
        except OSError:
            return False

    with running(command, signal.SIGTERM, log, MLFLOW_SERVER_ENABLE_JOB_EXECUTION="false") as server:
        wait_for(ready, server, log)
        yield f"http://127.0.0.1:{port}"

"""PostgreSQL, an MLflow server on it and an S3 server, for as long as the tests run: loopback and sockets alone."""

from __future__ import annotations

import json
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
from contextlib import contextmanager, suppress
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
        with suppress(ProcessLookupError):  # it was killed, which some tests are about
            os.killpg(server.pid, stop)
        server.wait(timeout=60)


def wait_for(ready: Callable[[], bool], server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _SECONDS_TO_START
    while not ready():
        assert server.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.1)


@contextmanager
def postgres(programs: Path, port: int = 0) -> Iterator[str]:
    """A fresh cluster that is reached by a socket in its own folder and, where a port is given, on the loopback
    interface; gives the address of a database on it."""
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
        command = [*user, str(programs / "postgres"), "-D", str(data), "-k", str(folder)]
        command += ["-c", f"listen_addresses={'127.0.0.1' if port else ''}", "-p", str(port or 5432)]
        with running([*command, "-c", "fsync=off"], signal.SIGINT, log) as server:
            ready = [str(programs / "pg_isready"), "-q", "-h", str(folder), "-p", str(port or 5432)]
            wait_for(lambda: subprocess.run(ready).returncode == 0, server, log)
            yield f"postgresql+psycopg2://harness@/postgres?host={folder}" + (f"&port={port}" if port else "")
    finally:
        shutil.rmtree(folder)
        log.unlink()


@contextmanager
def mlflow_server(database: str, folder: Path) -> Iterator[str]:
    """MLflow on a database, with its artifacts in a folder; gives its address."""
    port = free_port()
    with mlflow_process(database, folder, port):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def mlflow_process(database: str, folder: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """The same on a port, as a process that may be killed."""
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    command += ["--backend-store-uri", database, "--artifacts-destination", str(folder / "artifacts")]
    log = folder / "server.log"
    with running(command, signal.SIGTERM, log, MLFLOW_SERVER_ENABLE_JOB_EXECUTION="false") as server:
        wait_for(lambda: answers(port), server, log)
        yield server


def answers(port: int) -> bool:
    """Whether an MLflow server is up."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2):
            return True
    except OSError:
        return False


#: Every port that SeaweedFS opens: those that it is not told are the same for all that run on a machine.
_WEED_PORTS = [f"{part}.port{kind}" for part in ("master", "volume", "filer", "s3") for kind in ("", ".grpc")]
_WEED_PORTS += ["s3.port.iceberg", "s3.port.lance"]


@contextmanager
def s3_server(folder: Path) -> Iterator[dict[str, str]]:
    """SeaweedFS as an S3 server with its files in a folder; gives the environment that clients need."""
    key, secret, log = "harness", "of-tests-alone", folder / "s3.log"
    allowed = {"credentials": [{"accessKey": key, "secretKey": secret}], "actions": ["Admin", "Read", "Write", "List"]}
    (folder / "s3.json").write_text(json.dumps({"identities": [{"name": "tests", **allowed}]}))
    (folder / "data").mkdir()
    ports = {name: free_port() for name in _WEED_PORTS}
    command = [str(Path(sys.executable).with_name("weed")), "server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"]
    command += [f"-dir={folder / 'data'}", "-filer", "-s3", f"-s3.config={folder / 's3.json'}", "-s3.iam=false"]
    command += ["-master.telemetry=false"]
    command += ["-volume.max=5", "-master.volumeSizeLimitMB=64", *(f"-{name}={port}" for name, port in ports.items())]

    def ready() -> bool:
        try:
            with socket.create_connection(("127.0.0.1", ports["s3.port"]), timeout=2):
                return True
        except OSError:
            return False

    with running(command, signal.SIGKILL, log) as server:  # it takes minutes to end by itself
        wait_for(ready, server, log)
        yield {
            "AWS_ACCESS_KEY_ID": key,
            "AWS_SECRET_ACCESS_KEY": secret,
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{ports['s3.port']}",
            "AWS_DEFAULT_REGION": "us-east-1",
        }

"""MLflow's own UI on a store, on the loopback interface, opened at the newest work."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import webbrowser
from importlib.metadata import entry_points
from typing import Any

from harness.base.errors import HarnessError
from harness.tracking.pages import OPENING, opening_page
from harness.tracking.remote import ServerStore
from harness.tracking.store import LocalStore
from harness.tracking.views import StartPages, start_pages

HOST = "127.0.0.1"
_SECONDS_TO_START = 120.0
#: The name under which MLflow finds `app` below, an entry point of the group `mlflow.app` in pyproject.toml.
_PLUGIN = "harness"


def serve(store: LocalStore | ServerStore, port: int, open_browser: bool) -> int:
    """Show the runs of a store. A server has its pages already; for a local store one runs until it ends or Ctrl-C."""
    if isinstance(store, ServerStore):
        pages = start_pages(store.open())
        print(_told(f"{store.uri}/", pages), flush=True)
        if open_browser:
            webbrowser.open(f"{store.uri}/{pages.table}")
        return 0
    if not store.exists:
        raise HarnessError(f"no runs in {store.folder} yet; make one with: harness preset=fast")
    if _in_use(port):
        raise HarnessError(f"port {port} is in use; choose another with --port")
    pages, address = start_pages(store.open()), f"http://{HOST}:{port}"
    # A checkout that was installed before there was an entry point starts MLflow by itself, with its assistant.
    plugin = ["--app-name", _PLUGIN] if entry_points(group="mlflow.app", name=_PLUGIN) else []
    opened = f"{address}/{OPENING if plugin else ''}"
    command = server_command(HOST, port, "--default-artifact-root", (store.folder / "artifacts").as_uri(), *plugin)
    environment = {**os.environ, **server_environment(store.uri)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, start_new_session=True) as server:
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            _wait(server, port)
            print(f"{_told(opened, pages)}\nStop it with Ctrl-C.", flush=True)
            if open_browser:
                webbrowser.open(f"{opened}{pages.table}")
            return server.wait()
        except KeyboardInterrupt:
            return 0
        finally:
            signal.signal(signal.SIGTERM, before)
            _stop(server)


def server_command(host: str, port: int, *more: str) -> list[str]:
    """How MLflow's server is started: one worker, which says nothing but warnings."""
    where = ["--host", host, "--port", str(port), "--workers", "1", "--uvicorn-opts", "--log-level=warning"]
    return [sys.executable, "-m", "mlflow", "server", *where, *more]


def server_environment(backend: str) -> dict[str, str]:
    """What stands in its environment: the address of its database, which other users of the machine would read in the
    list of processes, and that it reports its use to nobody."""
    return {
        "MLFLOW_BACKEND_STORE_URI": backend,
        "MLFLOW_DISABLE_TELEMETRY": os.environ.get("MLFLOW_DISABLE_TELEMETRY", "true"),
        # The job runner serves features of MLflow that the harness does not use, with eight processes and 0.7 GB.
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        "PYTHONWARNINGS": "ignore",
    }


def app() -> Any:
    """MLflow's own server, and a page on it that opens any other without MLflow's assistant.

    The page stands on this server because its browser keeps apart what each address and port has noted.
    """
    from mlflow.server import app as pages
    from mlflow.server.fastapi_app import app as server

    pages.add_url_rule(f"/{OPENING}", "opening", opening_page)
    return server


def _told(address: str, pages: StartPages) -> str:
    """Where to look, the page that is opened first."""
    lines = [f"MLflow is at {address}{pages.table}", f"  its charts: {address}{pages.charts}"]
    if pages.compare:
        lines.append(f"  the newest run beside its baseline: {address}{pages.compare}")
    return "\n".join(lines)


def _stop(server: subprocess.Popen[bytes]) -> None:
    """End the server and the workers that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGTERM)


def _in_use(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


def _wait(server: subprocess.Popen[bytes], port: int) -> None:
    """Return when the server answers; raise where it ended or did not answer in time."""
    deadline = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise HarnessError(f"MLflow's server ended with exit code {server.returncode}")
        try:
            with urllib.request.urlopen(f"http://{HOST}:{port}/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise HarnessError(f"MLflow's server did not answer within {_SECONDS_TO_START:.0f} seconds")

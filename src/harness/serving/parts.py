"""The programs that a team's machine runs: how each is started, where it answers, and whether its port is free."""

from __future__ import annotations

import os
import socket
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.base.errors import HarnessError
from harness.serving.team import LOOPBACK, Team
from harness.tracking.server import server_command, server_environment

_SECONDS_TO_ANSWER = 2.0
_ANY = {"0.0.0.0": LOOPBACK, "::": "::1", "": LOOPBACK}


@dataclass(frozen=True)
class Part:
    """One program. It is ready once `probe` is answered, whatever the answer says below 500. With a `token` it is asked
    as somebody who may ask: pages log each request that they refuse."""

    name: str
    host: str
    port: int
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)
    probe: str = "/"
    token: str = field(default="", repr=False)

    @property
    def address(self) -> str:
        """Where it is reached from this machine."""
        host = _ANY.get(self.host, self.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    def answers(self) -> bool:
        """Whether it answers now."""
        request = urllib.request.Request(f"{self.address}{self.probe}")
        if self.token:
            request.add_header("Authorization", f"Bearer {self.token}")
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS_TO_ANSWER):
                return True
        except urllib.error.HTTPError as error:
            return error.code < 500
        except (OSError, ValueError):
            return False


def parts_of(team: Team, variable: str, token: str) -> tuple[Part, ...]:
    """What is started, in this order: the pages read their runs from the server. They find their token, where they have
    one, in this `variable` of their environment: other users of the machine can read a command line."""
    mlflow, pages = team.mlflow, team.ui
    artifacts = ["--artifacts-destination", str(team.folder.absolute() / "artifacts")]
    allowed = ["--allowed-hosts", ",".join(_own_names(team))] if mlflow.allowed_hosts else []
    server = Part(
        "mlflow",
        mlflow.host,
        mlflow.port,
        tuple(server_command(mlflow.host, mlflow.port, *artifacts, *allowed)),
        {**os.environ, **server_environment(team.database)},
        "/health",
    )
    # What the file overrides comes last, and so has the last word.
    store = ["tracking=server", f"tracking.uri={server.address}"]
    command = [sys.executable, "-m", "harness", "ui", "--no-browser", "--host", pages.host, "--port", str(pages.port)]
    ui = Part(
        "ui",
        pages.host,
        pages.port,
        (*command, *store, *pages.overrides),
        {**os.environ, **({variable: token} if token else {})},
        "/api/alive",
        token,
    )
    return server, ui


def _own_names(team: Team) -> list[str]:
    """The names that the server answers to: those of the file, and its own on this machine, which the pages use."""
    return [*team.mlflow.allowed_hosts, f"localhost:{team.mlflow.port}", f"{LOOPBACK}:{team.mlflow.port}"]


def check_free(parts: tuple[Part, ...], health: tuple[str, int]) -> None:
    """Raise where a port is taken or an address is none of this machine's, before anything is started."""
    for name, host, port in [*((part.name, part.host, part.port) for part in parts), ("health", *health)]:
        try:
            family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
            socket.create_server((host, port), family=family).close()
        except socket.gaierror as error:
            raise HarnessError(f"{name}.host {host}: no such address") from error
        except OSError as error:
            reason = "is in use" if error.errno == 98 else f"cannot be listened on: {error.strerror}"
            raise HarnessError(f"{name}.port: port {port} of {host} {reason}; choose another in the file") from error

"""The labelling server: bound before anything else, so that a port in use is an error; stopped by Ctrl-C or SIGTERM."""

from __future__ import annotations

import gc
import logging
import secrets
import socket
import sys
import webbrowser
from dataclasses import dataclass

import uvicorn

from harness.base.errors import HarnessError
from harness.base.signals import EndedError, ended_by_signals
from harness.labeling.access import Access, is_any_address, is_loopback
from harness.labeling.app import make_app
from harness.labeling.context import Context
from harness.labeling.refusals import log

_SECONDS_TO_END = 5


@dataclass(frozen=True)
class ServerSettings:
    """Where to listen. On an address that others can reach a token is asked for, the given one or a new one."""

    host: str = "127.0.0.1"
    port: int = 8600
    token: str | None = None
    open_browser: bool = True
    #: The page that is opened, as a path without its first slash.
    page: str = ""

    def access(self) -> Access:
        """Who may ask."""
        token = self.token or (None if is_loopback(self.host) else secrets.token_urlsafe(24))
        return Access(self.host, token)


def serve(context: Context, settings: ServerSettings) -> int:
    """Serve until Ctrl-C; what was acknowledged is on disk by then. Returns the exit code. SIGTERM stops it, too, and
    raises EndedError, so that nothing goes on from there."""
    _log_to_stderr()
    access = settings.access()
    try:
        with ended_by_signals(), _bound(settings.host, settings.port) as listening:
            app = make_app(context, access)
            gc.collect()
            gc.freeze()  # the labels stay for as long as the server runs: no need to walk them again and again
            config = uvicorn.Config(
                app,
                log_level="warning",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                lifespan="off",
                ws="none",
                timeout_graceful_shutdown=_SECONDS_TO_END,
            )
            address = _address(settings, access)
            print(f"Labelling {context.source.name} ({context.source.root}) at {address}", flush=True)
            print("Stop it with Ctrl-C.", flush=True)
            if settings.open_browser and not webbrowser.open(address):
                print("No browser could be opened here: open this address in one.", flush=True)
            uvicorn.Server(config).run(sockets=[listening])
    except EndedError:
        raise
    except KeyboardInterrupt:
        return 0
    return 0


def _bound(host: str, port: int) -> socket.socket:
    """A socket that listens, or an error that says what is in the way."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        if isinstance(error, socket.gaierror):
            raise HarnessError(f"--host {host}: no such address") from error
        if error.errno == 98:  # in use
            raise HarnessError(f"port {port} is in use; choose another with --port") from error
        raise HarnessError(f"cannot listen on {host} port {port}: {error.strerror}") from error


def _address(settings: ServerSettings, access: Access) -> str:
    host = socket.gethostname() if is_any_address(settings.host) else settings.host
    name = f"[{host}]" if ":" in host else host
    page, sign, place = settings.page.lstrip("/").partition("#")
    token = f"?token={access.token}" if access.token else ""
    return f"http://{name}:{settings.port}/{page}{token}{sign}{place}"


def _log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("harness ui: %(asctime)s %(message)s", "%H:%M:%S"))
    log.addHandler(handler)
    log.propagate = False

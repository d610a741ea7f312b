"""Start what a team needs on one machine: an MLflow server and the labelling pages, watched by this command.

FILE is YAML with `folder`, `mlflow`, `ui` and `health`; without it everything has its default and listens on this
machine only. A server that ends is started again. Ctrl-C or SIGTERM ends everything.
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from harness.base.progress import busy
from harness.cli.ui import TOKEN_VARIABLE

if TYPE_CHECKING:
    from harness.serving.team import Team

NAME = "serve"
HELP = "start the MLflow server and the labelling pages of a team"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", nargs="?", type=Path, help="YAML that says what listens where")


def run(arguments: argparse.Namespace) -> int:
    """Serve until interrupted."""
    from harness.base.extras import need
    from harness.base.signals import ended_by_signals
    from harness.serving.health import serving_health
    from harness.serving.parts import check_free, parts_of
    from harness.serving.supervisor import Supervisor
    from harness.serving.team import read_team

    need("ui", "fastapi", "uvicorn")
    team = read_team(arguments.file)
    token = os.environ.get(TOKEN_VARIABLE) or (None if _is_local(team.ui.host) else secrets.token_urlsafe(24))
    parts = parts_of(team, TOKEN_VARIABLE, token or "")
    check_free(parts, (team.health.host, team.health.port))
    team.folder.mkdir(parents=True, exist_ok=True)
    supervisor = Supervisor(parts, _tell)
    try:
        with ended_by_signals(), serving_health(team.health.host, team.health.port, supervisor.states):
            print(f"Starting; http://{team.health.host}:{team.health.port}/ is the health page.", flush=True)
            with busy("starting the servers"):
                supervisor.start()
            print(_told(team, token, *(part.address for part in parts)), flush=True)
            supervisor.watch()
    except KeyboardInterrupt:
        _tell("ending all parts")
    finally:
        supervisor.end()
    return 0


def _is_local(host: str) -> bool:
    from harness.labeling.access import is_loopback

    return is_loopback(host)


def _tell(text: str) -> None:
    print(f"harness serve: {time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def _told(team: Team, token: str | None, mlflow: str, pages: str) -> str:
    lines = [f"Labelling pages: {pages}/{f'?token={token}' if token else ''}", f"MLflow: {mlflow}"]
    if not _is_local(team.mlflow.host):
        lines.append("MLflow asks nobody for a password: whoever reaches it can read and change every run.")
    lines += [f"Runs go there by: harness tracking=server tracking.uri={mlflow}", "Stop it with Ctrl-C."]
    return "\n".join(lines)

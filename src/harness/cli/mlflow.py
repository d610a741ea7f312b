"""Open MLflow's UI on the runs of this folder.

It listens on this machine only and stops with Ctrl-C. Overrides such as `tracking.root=elsewhere` point it at another
store.
"""

from __future__ import annotations

import argparse

NAME = "mlflow"
HELP = "open MLflow's UI on the stored runs"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--port", type=int, default=5000, help="port on the loopback interface (default: %(default)s)")
    parser.add_argument("--no-browser", action="store_true", help="print the address and open no browser")
    parser.add_argument("overrides", nargs="*", metavar="OVERRIDE", help="config overrides that select the store")


def run(arguments: argparse.Namespace) -> int:
    """Serve until interrupted."""
    from harness.building import instantiate
    from harness.config import compose
    from harness.tracking.server import serve

    store = instantiate(compose(arguments.overrides), "tracking")
    return serve(store, arguments.port, open_browser=not arguments.no_browser)

"""Serve searches to an agent over standard input and output, by the Model Context Protocol.

The server works on the experiments/ folder of the directory that it is started in. It reads and runs trials within the
budgets of the experiment files; it has no tool that deletes, freezes, labels, sets a baseline or opens the holdout.
"""

from __future__ import annotations

import argparse

from harness.base.extras import need

NAME = "mcp"
HELP = "serve searches to an agent (MCP over stdio)"


def configure(parser: argparse.ArgumentParser) -> None:
    """Nothing to declare: a server has no options, so that its limits cannot be turned off."""


def run(_arguments: argparse.Namespace) -> int:
    """Serve until standard input ends."""
    need(NAME, "mcp", "optuna")
    from harness.search.server import serve

    serve()
    return 0

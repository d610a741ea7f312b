"""Lifecycle commands. Each is one module with `NAME`, `HELP`, `configure(parser)` and `run(arguments) -> exit code`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from types import ModuleType

from harness.cli import cache, mlflow

COMMANDS: tuple[ModuleType, ...] = (cache, mlflow)


def run_command(arguments: Sequence[str]) -> int:
    """Parse and run one command."""
    parser = argparse.ArgumentParser(prog="harness", allow_abbrev=False)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        own = commands.add_parser(command.NAME, help=command.HELP, description=command.__doc__, allow_abbrev=False)
        command.configure(own)
        own.set_defaults(run=command.run)
    parsed = parser.parse_args(arguments)
    return int(parsed.run(parsed))

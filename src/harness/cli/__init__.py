"""Lifecycle commands. Each is one module with `NAME`, `HELP`, `configure(parser)` and `run(arguments) -> exit code`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from types import ModuleType

from harness.cli import cache, confidence, export, freeze, frozen_list, import_, mcp, mlflow, prepare, scan, search, stats

COMMANDS: tuple[ModuleType, ...] = (
    prepare,
    scan,
    stats,
    freeze,
    frozen_list,
    import_,
    export,
    confidence,
    search,
    mcp,
    cache,
    mlflow,
)


def run_command(arguments: Sequence[str]) -> int:
    """Parse and run one command."""
    parser = argparse.ArgumentParser(prog="harness", allow_abbrev=False)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        own = commands.add_parser(command.NAME, help=command.HELP, description=command.__doc__, allow_abbrev=False)
        command.configure(own)
        own.set_defaults(run=command.run)
    # argparse gives up on overrides that follow an option: it has filled them, with nothing, before the option.
    parsed, rest = parser.parse_known_args(arguments)
    if any(item.startswith("-") or "=" not in item for item in rest) or (rest and not hasattr(parsed, "overrides")):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        parsed.overrides += rest
    return int(parsed.run(parsed))

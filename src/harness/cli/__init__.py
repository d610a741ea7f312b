"""Lifecycle commands. Each is one module with `NAME`, `HELP`, `configure(parser)` and `run(arguments) -> exit code`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from types import ModuleType

from harness.cli import (
    baseline,
    cache,
    clean,
    compare,
    confidence,
    export,
    find,
    forget,
    freeze,
    frozen_list,
    grade,
    import_,
    list_,
    mcp,
    mlflow,
    new,
    prepare,
    scan,
    score,
    search,
    split,
    stats,
    tables,
    ui,
)

COMMANDS: tuple[ModuleType, ...] = (
    prepare,
    ui,
    scan,
    stats,
    split,
    freeze,
    frozen_list,
    import_,
    export,
    find,
    forget,
    score,
    confidence,
    tables,
    grade,
    baseline,
    list_,
    compare,
    clean,
    search,
    mcp,
    new,
    cache,
    mlflow,
)


def run_command(arguments: Sequence[str]) -> int:
    """Parse and run one command. Options may stand anywhere among the other arguments."""
    name, *rest = arguments
    names = {command.NAME: command for command in COMMANDS}
    if name not in names:
        listed = ", ".join(names)
        argparse.ArgumentParser(prog="harness").error(f"invalid choice: {name!r} (choose from {listed})")
    command = names[name]
    parser = argparse.ArgumentParser(prog=f"harness {name}", description=command.__doc__, allow_abbrev=False)
    command.configure(parser)
    return int(command.run(parser.parse_intermixed_args(rest)))

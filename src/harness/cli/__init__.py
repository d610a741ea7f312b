"""Lifecycle commands. Each is one module with `NAME`, `HELP`, `configure(parser)` and `run(arguments) -> exit code`."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

from harness.base.errors import ConfigError
from harness.cli import (
    audit,
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
    judge,
    list_,
    log,
    mcp,
    mlflow,
    new,
    predict,
    prepare,
    report,
    scan,
    score,
    search,
    serve,
    split,
    start,
    stats,
    tables,
    ui,
)
from harness.cli.parsing import CommandParser, no_such_command

COMMANDS: tuple[ModuleType, ...] = (
    start,
    prepare,
    ui,
    scan,
    stats,
    audit,
    split,
    freeze,
    frozen_list,
    import_,
    export,
    find,
    forget,
    score,
    predict,
    confidence,
    tables,
    grade,
    baseline,
    list_,
    compare,
    report,
    clean,
    log,
    search,
    judge,
    mcp,
    new,
    cache,
    mlflow,
    serve,
)


def run_command(arguments: Sequence[str]) -> int:
    """Parse and run one command. Options may stand anywhere among the other arguments."""
    name, *rest = arguments
    names = {command.NAME: command for command in COMMANDS}
    if name not in names:
        raise ConfigError(f"{no_such_command(name, names)} (harness --help lists them all)")
    command = names[name]
    parser = CommandParser(prog=f"harness {name}", description=command.__doc__, allow_abbrev=False)
    command.configure(parser)
    return int(command.run(parser.parse_command(rest)))

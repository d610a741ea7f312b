"""Log a run that could not be logged when it was made.

Such a run is kept in a folder on disk, with all its numbers and files. `harness log` lists these folders, `harness log
PENDING` logs one of them to the store that it was made for (or to another one, by overrides such as
tracking.root=FOLDER) and then removes the folder, and `harness log --all` logs every one. Interrupted and called again,
it goes on with the same run.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from harness.base.errors import ConfigError
from harness.base.texts import COMMAND, aligned
from harness.cli.terminal import add_overrides

if TYPE_CHECKING:
    from harness.tracking.pending import Pending
    from harness.tracking.store import Store

NAME = "log"
HELP = "log a run that could not be logged when it was made"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("pending", nargs="?", metavar="PENDING", help="the name of a pending run, or its folder")
    parser.add_argument("--all", action="store_true", help="log every pending run")
    add_overrides(parser, "tracking.root=FOLDER")


def run(arguments: argparse.Namespace) -> int:
    """List, or log."""
    from harness.building import instantiate
    from harness.cli.runs import compose_runs
    from harness.tracking.pending import list_pending, log_pending, pending_root

    config = compose_runs(arguments, "pending")
    store: Store | None = instantiate(config, "tracking") if arguments.overrides else None
    waiting = list_pending()
    if arguments.pending is None and not arguments.all:
        rows = [("PENDING", "ENDED (UTC)", "NAME", "STORE", "WHY"), *(item.line for item in waiting)]
        print("\n".join(aligned(rows)) if waiting else f"No run is pending in {pending_root()}.")
        return 0
    for item in waiting if arguments.all else [_find(waiting, arguments.pending)]:
        run_id = log_pending(item, store)
        place = (store or item.store).place
        print(f"MLflow run {run_id}   logged to {place} from {item.folder}, which is removed", flush=True)
    return 0


def _find(waiting: list[Pending], wanted: str) -> Pending:
    from harness.tracking.pending import read_pending

    for item in waiting:
        if item.name == wanted:
            return item
    folder = Path(wanted)
    if not folder.is_dir():
        raise ConfigError(
            f"{wanted}: no pending run has this name, and there is no such folder; `{COMMAND} log` lists them"
        )
    return read_pending(folder.absolute())

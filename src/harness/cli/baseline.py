"""Pin a finished run as the baseline of its data: runs on the same photos and labels are judged against it.

RUN is an id, the beginning of one, or a name; without it the newest finished run is pinned. If the data have a
baseline already, you are asked before it is replaced. With --list the present baselines are listed, and nothing is
pinned.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from harness.base.texts import aligned, counted
from harness.cli.runs import compose_runs, existing_store
from harness.cli.terminal import add_overrides, confirm

if TYPE_CHECKING:
    from harness.tracking.store import OpenStore

NAME = "baseline"
HELP = "pin a run as the one that others are judged against"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("run", nargs="?", metavar="RUN", help="id, beginning of an id, or name (default: the newest)")
    parser.add_argument("-l", "--list", action="store_true", help="list the baselines, and pin nothing")
    parser.add_argument("-f", "--force", action="store_true", help="do not ask before replacing a baseline")
    add_overrides(parser, "tracking.root=FOLDER")


def run(arguments: argparse.Namespace) -> int:
    """Pin, and say what was pinned and what it replaces."""
    from harness.tracking.finding import find_run, list_alike
    from harness.tracking.upkeep import baseline_of, choose_run, pin

    store = existing_store(compose_runs(arguments, "run")).open()
    if arguments.list:
        return _list(store)
    chosen = find_run(store, arguments.run) if arguments.run else choose_run(store)
    data = f"{chosen.data}, data {chosen.data_digest[:12]}"
    before = baseline_of(store, chosen)
    if before is not None and before.run_id == chosen.run_id:
        print(f"{chosen.short_id} ({chosen.name}) is the baseline of {data} already")
        return 0
    if before is not None and chosen.finished:
        replaced = f"{before.short_id} ({before.name}), the baseline of {data}"
        confirm(
            arguments.force,
            f"Replace {replaced}, by {chosen.short_id} ({chosen.name})?",
            f"this would replace {replaced}",
        )
    from harness.judging import judge_all

    alike = list_alike(store, chosen)
    pin(store, chosen)
    print(f"Baseline of {data}: {chosen.short_id} ({chosen.name})")
    if before is not None:
        print(f"  it replaces {before.short_id} ({before.name})")
    if judged := judge_all(store, alike, chosen):
        print(f"  {counted(judged, 'run')} on these data judged anew against it")
    return 0


def _list(store: OpenStore) -> int:
    """Print the baselines, the one that was pinned last first."""
    from harness.tracking.finding import list_baselines

    pinned = sorted(list_baselines(store), key=lambda item: item.pinned, reverse=True)
    rows = [(item.pinned[:16].replace("T", " "), item.short_id, item.name, item.data_column) for item in pinned]
    heads = ("PINNED (UTC)", "RUN", "NAME", "DATA")
    print("\n".join(aligned([heads, *rows])) if rows else "No run is pinned as a baseline yet.")
    return 0

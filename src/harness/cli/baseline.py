"""Pin a finished run as the baseline of its data: runs on the same photos and labels are judged against it.

RUN is an id, the beginning of one, or a name; without it the newest finished run is pinned. The baseline that the data
had before is replaced, after a question.
"""

from __future__ import annotations

import argparse

from harness.cli.runs import compose_runs, existing_store
from harness.cli.terminal import add_overrides, confirm

NAME = "baseline"
HELP = "pin a run as the one that others are judged against"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("run", nargs="?", metavar="RUN", help="id, beginning of an id, or name (default: the newest)")
    parser.add_argument("-f", "--force", action="store_true", help="do not ask before replacing a baseline")
    add_overrides(parser, "tracking.root=FOLDER")


def run(arguments: argparse.Namespace) -> int:
    """Pin, and say what was pinned and what it replaces."""
    from harness.base.texts import counted
    from harness.judging import judge_all
    from harness.tracking.catalog import find_run, list_runs
    from harness.tracking.upkeep import baseline_of, choose_run, pin

    store = existing_store(compose_runs(arguments, "run")).open()
    runs = list_runs(store)
    chosen = find_run(runs, arguments.run) if arguments.run else choose_run(runs)
    data = f"{chosen.data}, data {chosen.data_digest[:12]}"
    before = baseline_of(runs, chosen)
    if before == chosen:
        print(f"{chosen.short_id} ({chosen.name}) is the baseline of {data} already")
        return 0
    if before is not None and chosen.finished:
        replaced = f"{before.short_id} ({before.name}), the baseline of {data}"
        confirm(
            arguments.force,
            f"Replace {replaced}, by {chosen.short_id} ({chosen.name})?",
            f"this would replace {replaced}",
        )
    pin(store, runs, chosen)
    print(f"Baseline of {data}: {chosen.short_id} ({chosen.name})")
    if before is not None:
        print(f"  it replaces {before.short_id} ({before.name})")
    if judged := judge_all(store, runs, chosen):
        print(f"  {counted(judged, 'run')} on these data judged anew against it")
    return 0

"""Delete old runs with their artifacts.

Never deleted: the baselines, the runs that a study refers to, and runs that are under way. What goes and what stays is
listed first.
"""

from __future__ import annotations

import argparse

from harness.base.texts import aligned, counted
from harness.cli.runs import compose_runs, existing_store
from harness.cli.terminal import add_overrides, confirm

NAME = "clean"
HELP = "delete old runs with their artifacts"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--keep-latest", type=_count, default=0, metavar="N", help="keep the newest N runs, too")
    parser.add_argument("--keep-baseline", action="store_true", help="keep the baselines, which is the default")
    parser.add_argument("-f", "--force", action="store_true", help="do not ask")
    add_overrides(parser, "tracking.root=FOLDER")


def run(arguments: argparse.Namespace) -> int:
    """Show the plan, ask, and do it."""
    from harness.tracking.finding import list_runs, list_sweeps
    from harness.tracking.upkeep import plan_clean

    store = existing_store(compose_runs(arguments))
    opened = store.open()
    plan = plan_clean(list_runs(opened, metrics=False), list_sweeps(opened), arguments.keep_latest)
    rows = [(f"{item.started:%Y-%m-%d %H:%M}", item.short_id, item.name, f"stays: {why}") for item, why in plan.kept]
    rows += [(f"{item.started:%Y-%m-%d %H:%M}", item.short_id, item.name, "goes") for item in plan.runs]
    rows += [(f"{item.started:%Y-%m-%d %H:%M}", item.short_id, item.name, "goes: no run left") for item in plan.sweeps]
    print("\n".join(aligned([("TIME (UTC)", "RUN", "NAME", ""), *rows])), flush=True)
    if not plan.doomed:
        print("\nNothing to delete.")
        return 0
    what = counted(len(plan.runs), "run") + (
        f" and {counted(len(plan.sweeps), 'sweep overview')}" if plan.sweeps else ""
    )
    print(flush=True)
    confirm(arguments.force, f"Delete {what} in {store.place}?", f"this would delete {what} in {store.place}")
    done = store.erase(opened, [item.run_id for item in plan.doomed])
    print(f"{what}: {done}")
    return 0


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("expected 0 or more")
    return number

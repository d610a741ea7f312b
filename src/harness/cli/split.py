"""Bring photos that belong together into one split of the staging set.

Photos get their split before they are labelled, so that photos of one runner can be in both splits. Each such group
goes to the side where it has most photos, or else to iteration. Frozen sets never change.
"""

from __future__ import annotations

import argparse

from harness.base.texts import counted, listing
from harness.cli.sets import compose_staging, open_set
from harness.cli.terminal import add_json, add_overrides, confirm, show_json

NAME = "split"
HELP = "keep photos that belong together in one split"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--by-group", action="store_true", required=True, help="move the photos of groups that are in both splits"
    )
    parser.add_argument("--dry-run", action="store_true", help="show what would move, and move nothing")
    parser.add_argument("-f", "--force", action="store_true", help="do not ask")
    add_json(parser)
    add_overrides(parser, "references.root=FOLDER")


def run(arguments: argparse.Namespace) -> int:
    """Show the plan, ask, and do it."""
    from harness.references.groups import groups_of
    from harness.references.splitting import mend, mending

    store, references = open_set(compose_staging(arguments.overrides))
    contents = store.contents()
    groups = groups_of(contents, store.root, references.groups)
    plan = mending(contents, groups)
    index = contents.index.photos
    what = f"{counted(len(plan.moves), 'photo')} of {counted(plan.broken, 'group')}"
    moving = bool(plan.moves) and not arguments.dry_run
    if not arguments.json:
        moves = listing(f"{index[photo].names[0]}: {index[photo].split} -> {to}" for photo, to in plan.moves.items())
        told = (
            f"{what} in another split than most of the group:\n{moves}" if plan.moves else "the split breaks no group"
        )
        print(f"{store.root}: {told}", flush=True)
    if moving:
        confirm(arguments.force, f"Move {what}?", f"this would move {what}")
        mend(store, plan, groups)
    if arguments.json:
        show_json({"broken": plan.broken, "moves": plan.moves, "moved": moving})
    elif moving:
        print(f"Moved {what}.")
    return 0

"""List the frozen sets: photos, digest, date and description."""

from __future__ import annotations

import argparse

from harness.cli.staging import COMMAND, add_json, add_overrides, compose_staging, open_store, show_json

NAME = "frozen-list"
HELP = "list the frozen sets"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_json(parser)
    add_overrides(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the sets, oldest first."""
    from harness.references.frozen import frozen_sets

    store = open_store(compose_staging(arguments.overrides))
    sets = frozen_sets(store.root)
    if arguments.json:
        show_json([manifest.model_dump(mode="json") for manifest in sets])
        return 0
    if not sets:
        print(f"no frozen sets in {store.root} yet; make one with: {COMMAND} freeze --name NAME")
        return 0
    width = max(4, *(len(manifest.name) for manifest in sets))
    counts = "  ".join(("PHOTOS", "ITERATION", "HOLDOUT"))
    print(f"{'NAME':<{width}}  {counts}  {'DIGEST':<12}  {'CREATED':<16}  DESCRIPTION")
    for manifest in sets:
        splits = {str(split): summary.photos for split, summary in manifest.splits.items()}
        created = manifest.created_at[:16].replace("T", " ")
        print(
            f"{manifest.name:<{width}}  {manifest.photos:>6,}  {splits['iteration']:>9,}  {splits['holdout']:>7,}  "
            f"{manifest.digest[:12]}  {created}  {manifest.description}".rstrip()
        )
    return 0

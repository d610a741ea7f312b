"""List the frozen sets: photos, digest, date and description."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING

from harness.base.errors import ReferenceSetError
from harness.base.texts import COMMAND, aligned, counted
from harness.cli.sets import compose_staging, open_store
from harness.cli.terminal import add_json, add_overrides, show_json

if TYPE_CHECKING:
    from harness.references.frozen import Manifest

NAME = "frozen-list"
HELP = "list the frozen sets"

_HEADS = ("NAME", "PHOTOS", "ITERATION", "HOLDOUT", "DIGEST", "CREATED", "DESCRIPTION")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_json(parser)
    add_overrides(parser, "references.root=FOLDER")


def run(arguments: argparse.Namespace) -> int:
    """Print the sets, oldest first. Raises at the end where some were touched; the others are listed all the same."""
    from dataclasses import asdict

    from harness.references.frozen import frozen_sets

    store = open_store(compose_staging(arguments.overrides))
    found = frozen_sets(store.root)
    if arguments.json:
        shown = (manifest.model_dump(mode="json", exclude={"groups": {"members"}}) for manifest in found.sets)
        show_json([*shown, *map(asdict, found.damaged)])
    elif found.sets:
        print("\n".join(aligned([_HEADS, *_rows(found.sets)])), flush=True)
    elif not found.damaged:
        print(f"no frozen sets in {store.root} yet; make one with: {COMMAND} freeze --name NAME")
    if found.damaged:
        listed = "\n".join(f"  {each.problem}" for each in found.damaged)
        raise ReferenceSetError(f"{counted(len(found.damaged), 'frozen set')} cannot be used:\n{listed}")
    return 0


def _rows(sets: Iterable[Manifest]) -> Iterable[tuple[str, ...]]:
    for manifest in sets:
        splits = {str(split): summary.photos for split, summary in manifest.splits.items()}
        counts = (manifest.photos, splits["iteration"], splits["holdout"])
        created = manifest.created_at[:16].replace("T", " ")
        yield (
            manifest.name,
            *(f"{count:,}" for count in counts),
            manifest.digest[:12],
            created,
            " ".join(manifest.description.split()),
        )

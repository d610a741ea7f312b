"""Update the index of the staging set from its folder `photos/`.

Photos that were put there by hand enter the index under the SHA-256 of their bytes. Photos that are gone, or have
changed their size, are reported; their labels stay. Boxes that an older version wrote get the ids that constraints
between faces name them by.
"""

from __future__ import annotations

import argparse

from harness.base.texts import counted, listing
from harness.cli.sets import compose_staging, open_store
from harness.cli.terminal import add_json, add_overrides, show_json

NAME = "scan"
HELP = "update the index from the folder photos/"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_json(parser)
    add_overrides(parser, "references.root=FOLDER")


def run(arguments: argparse.Namespace) -> int:
    """Scan, then say what was found."""
    from harness.references.adding import scan

    store = open_store(compose_staging(arguments.overrides))
    result = scan(store)
    if arguments.json:
        added = {name: list(map(str, getattr(result.added, name))) for name in ("new", "unreadable", "damaged")}
        show_json(
            {
                "photos": result.photos,
                **added,
                "missing": result.missing,
                "changed": result.changed,
                "named": result.named,
            }
        )
        return 0
    print(f"{store.root}: {counted(result.photos, 'photo')}, {len(result.added.new):,} of them new")
    if result.named:
        print(f"{counted(result.named, 'box')} of an older version got an id")
    for title, lines in (
        ("not readable, skipped", result.added.unreadable.values()),
        ("damaged", result.added.damaged.values()),
        ("in the index, but not in photos/", result.missing),
        ("changed since they were added", result.changed),
    ):
        if lines:
            print(f"{counted(len(lines), 'photo')} {title}:\n{listing(lines)}")
    return 0

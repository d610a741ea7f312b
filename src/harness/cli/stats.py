"""Count what the staging set holds: labels, scopes, tags, splits, completeness, identities."""

from __future__ import annotations

import argparse

from harness.base.texts import count_table
from harness.cli.sets import compose_staging, open_store
from harness.cli.terminal import add_json, add_overrides, show_json

NAME = "stats"
HELP = "count the labels of the staging set"
_NAMES_SHOWN = 10


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_json(parser)
    add_overrides(parser, "references.root=FOLDER")


def run(arguments: argparse.Namespace) -> int:
    """Print the counts."""
    from dataclasses import asdict

    from harness.references.stats import count

    store = open_store(compose_staging(arguments.overrides))
    stats = count(store.contents())
    if arguments.json:
        show_json(asdict(stats))
        return 0
    splits = ", ".join(f"{count:,} {split}" for split, count in stats.splits.items())
    print(f"{store.root}: {stats.photos:,} photos ({splits})\n")
    print(count_table("Completeness (photos)", stats.states, stats.photos))
    done = {"bibs": stats.done["bibs"], "faces": stats.done["faces"], "links, or none": stats.done["links"]}
    print(count_table("\nDone (photos)", done, stats.photos))
    print(
        count_table(
            f"\nBibs: {stats.bib_boxes:,} boxes, {stats.bib_numbers:,} numbers", stats.bib_scopes, stats.bib_boxes
        )
    )
    if stats.bib_tags:
        print(count_table("  tags of photos", stats.bib_tags, stats.photos))
    print(count_table(f"\nFaces: {stats.face_boxes:,} boxes", stats.face_scopes, stats.face_boxes))
    if stats.face_box_tags:
        print(count_table("  tags of boxes", stats.face_box_tags, stats.face_boxes))
    if stats.face_tags:
        print(count_table("  tags of photos", stats.face_tags, stats.photos))
    print(f"\nLinks: {stats.links:,}")
    print(f"\nIdentities: {stats.known_names:,} known, {len(stats.identities):,} in use")
    most = dict(list(stats.identities.items())[:_NAMES_SHOWN])
    if most:
        print("\n".join(f"  {name:<18} {count:>8,}" for name, count in most.items()))
    if len(stats.identities) > _NAMES_SHOWN:
        print(f"  ... and {len(stats.identities) - _NAMES_SHOWN:,} more (--json has all)")
    return 0

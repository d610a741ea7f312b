"""Copy photos into the staging set and let the pipeline suggest labels for them.

PATH is a folder (walked to its bottom) or one photo. Each content is kept once, whatever its names; files that cannot
be read are reported and skipped. Suggestions never touch labels. Ctrl-C keeps what is done, and the same command
goes on.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from harness.base.texts import counted, listing
from harness.cli.sets import compose_staging, open_store
from harness.cli.terminal import add_overrides, confirm, name_shadows

NAME = "prepare"
HELP = "copy photos in and suggest labels for them"
#: The overrides that choose a backend, beside the preset.
_STAGES = ("bib=", "face=", "link=")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("path", metavar="PATH", help="a folder of photos, or one photo")
    parser.add_argument("--refresh", action="store_true", help="suggest anew for photos that have suggestions, too")
    parser.add_argument("--reset-labels", action="store_true", help="take all labels away, after a backup")
    parser.add_argument("-f", "--force", action="store_true", help="do not ask before --reset-labels")
    add_overrides(parser, "references.root=FOLDER")


def run(arguments: argparse.Namespace) -> int:
    """Copy, suggest, and say what came of it."""
    from pathlib import Path

    from harness.base.errors import IncompleteError
    from harness.building import build_pipeline
    from harness.pipeline.prepare import copy_in, suggest
    from harness.references.labels import reset_labels

    config = compose_staging(arguments.overrides)
    name_shadows(config)
    # Labels are suggested for boxes, numbers and links: nobody is recognised.
    store, pipeline = open_store(config), replace(build_pipeline(config), identity=None)
    pipeline.load()  # so that whatever is not installed is told before photos are copied
    added = copy_in(store, Path(arguments.path))
    counts = f"{len(added.new):,} new, {len(added.known):,} known, {len(added.unreadable):,} not readable"
    print(f"Photos: {counts}; {counted(len(store.contents().index.photos), 'photo')} in {store.root}", flush=True)
    if added.unreadable:
        print(listing(added.unreadable.values()), flush=True)
    if added.damaged:
        print(f"{counted(len(added.damaged), 'photo')} damaged:\n{listing(added.damaged.values())}", flush=True)
    if arguments.reset_labels:
        confirm(
            arguments.force,
            f"Take all labels and links of {store.root} away? A backup is kept.",
            "--reset-labels takes all labels away",
        )
        print(f"Labels taken away; backup in {reset_labels(store)}", flush=True)
    chosen = " ".join([f"preset {config.preset}", *(each for each in arguments.overrides if each.startswith(_STAGES))])
    result = suggest(store, pipeline, refresh=arguments.refresh)
    if not result.photos and not result.failed:
        print(f"Suggestions: every photo has those of {chosen}; --refresh makes them anew")
        return 0
    found = ", ".join(counted(getattr(result, f"{noun}s"), noun) for noun in ("bib", "face", "link"))
    skipped = f"; {counted(result.skipped, 'photo')} had theirs" if result.skipped else ""
    print(f"Suggestions by {chosen}: {counted(result.photos, 'photo')} ({found}){skipped}")
    if result.failed:
        reasons = listing(f"{name}: {reason}" for name, reason in result.failed.items())
        raise IncompleteError(f"no suggestions for {counted(len(result.failed), 'photo')}:\n{reasons}")
    return 0

"""Copy photos into the staging set and let the pipeline suggest labels for them.

PATH is a folder, with all folders below it, or one photo. Equal files are kept once, whatever their names; files that
cannot be read are reported and skipped. Suggestions never change labels. After Ctrl-C, what is done is kept, and the
same command continues.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from harness.base.progress import busy
from harness.base.texts import COMMAND, counted, listing
from harness.cli.sets import compose_staging, open_store
from harness.cli.terminal import add_overrides, confirm, name_shadows

NAME = "prepare"
HELP = "copy photos in and suggest labels for them"
#: The overrides that choose a backend, beside the preset.
_STAGES = ("bib=", "face=", "link=")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("path", metavar="PATH", help="a folder of photos, or one photo")
    parser.add_argument(
        "--refresh", action="store_true", help="replace the suggestions of photos that have some already"
    )
    parser.add_argument("--reset-labels", action="store_true", help="take all labels away, after a backup")
    parser.add_argument("-f", "--force", action="store_true", help="do not ask before --reset-labels")
    add_overrides(parser, "references.root=FOLDER")


def run(arguments: argparse.Namespace) -> int:
    """Copy and suggest, and name the next step."""
    from harness.showing import store_words

    copy_and_suggest(arguments)
    print(f"To confirm and correct them in the browser: {COMMAND} ui{store_words(arguments.overrides, 'references')}")
    return 0


def copy_and_suggest(arguments: argparse.Namespace) -> None:
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
    with busy("opening models"):
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
        return
    found = ", ".join(counted(getattr(result, f"{noun}s"), noun) for noun in ("bib", "face", "link"))
    skipped = f"; {counted(result.skipped, 'photo')} had theirs" if result.skipped else ""
    print(f"Suggestions by {chosen}: {counted(result.photos, 'photo')} ({found}){skipped}")
    if result.failed:
        reasons = listing(f"{name}: {reason}" for name, reason in result.failed.items())
        raise IncompleteError(f"no suggestions for {counted(len(result.failed), 'photo')}:\n{reasons}")

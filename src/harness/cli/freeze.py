"""Freeze the labels of the staging set under a name. A frozen set never changes.

Takes the photos that are labelled completely, known negatives included. With --for, only the named dimensions have to
be complete, and labels of others stay out. A run evaluates the result with `references=frozen references.name=NAME`.
"""

from __future__ import annotations

import argparse
import sys

from harness.base.texts import COMMAND, counted
from harness.cli.sets import compose_staging, open_store
from harness.cli.terminal import add_overrides

NAME = "freeze"
HELP = "freeze the labels under a name"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--name", required=True, help="letters, digits, - and _; a name that is taken is refused")
    parser.add_argument("--description", default="", help="a sentence that stays with the set")
    parser.add_argument("--include-incomplete", action="store_true", help="take partly labelled photos too")
    parser.add_argument(
        "--for",
        dest="dimensions",
        default="bibs,faces,links",
        metavar="DIMENSIONS",
        help="what the set is for: some of bibs, faces, links, identities, people, with commas (default: %(default)s)",
    )
    parser.add_argument("--all", action="store_true", help="take every photo of the index")
    add_overrides(parser, "references.root=FOLDER")


def run(arguments: argparse.Namespace) -> int:
    """Freeze, and say what the set holds."""
    from harness.references.completeness import DIMENSIONS, State
    from harness.references.freeze import freeze

    store = open_store(compose_staging(arguments.overrides))
    manifest = freeze(
        store,
        arguments.name,
        description=arguments.description,
        include_incomplete=arguments.include_incomplete,
        everything=arguments.all,
        dimensions=[name.strip() for name in arguments.dimensions.split(",") if name.strip()],
    )
    partial, untouched = (manifest.states.get(state, 0) for state in (State.PARTIAL, State.UNTOUCHED))
    if partial or untouched:
        counts = f"{partial:,} partly labelled and {untouched:,} unlabelled"
        print(f"harness: warning: {counts} of {counted(manifest.photos, 'photo')} are in the set", file=sys.stderr)
    negatives = manifest.states.get(State.KNOWN_NEGATIVE, 0)
    splits = ", ".join(f"{summary.photos:,} {split}" for split, summary in manifest.splits.items())
    known = f", {counted(negatives, 'known negative')}" if negatives else ""
    named = "" if manifest.dimensions == DIMENSIONS else f", for {', '.join(manifest.dimensions)} alone"
    print(f"Frozen {manifest.name}: {counted(manifest.photos, 'photo')} ({splits}){known}{named}")
    print(f"  digest  {manifest.digest}")
    root = "" if str(store.root) == "data/reference" else f" references.root={store.root}"
    print(f"  run on it with:  {COMMAND} references=frozen references.name={manifest.name}{root}")
    return 0

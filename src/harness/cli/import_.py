"""Import labelled photos that exist in another form into the staging set: all of it or, with an error, nothing.

Labels that are there already are never overwritten. Where a format has classes, they are bib and face; a box of any
other class is an error.
"""

from __future__ import annotations

import argparse

from harness.base.texts import counted, listing
from harness.cli.sets import compose_staging, open_store
from harness.cli.terminal import add_overrides

NAME = "import"
HELP = "import labelled photos, from COCO, YOLO and other formats"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from harness.formats import import_formats

    offered = import_formats()
    titles = ", ".join(f"{name} ({title})" for name, title in offered.items())
    parser.add_argument("--format", required=True, choices=tuple(offered), help=f"what PATH is: {titles}")
    parser.add_argument("--photos", metavar="DIR", help="where the photos are, if not where the format says")
    parser.add_argument("path", metavar="PATH", help="a folder, or a file of the format")
    add_overrides(parser, "references.root=FOLDER")


def run(arguments: argparse.Namespace) -> int:
    """Import, and say what came in."""
    from pathlib import Path

    from harness.formats import import_labels
    from harness.references.photo_files import unsupported_photos

    store = open_store(compose_staging(arguments.overrides))
    photos = Path(arguments.photos) if arguments.photos else None
    summary = import_labels(store, arguments.format, Path(arguments.path), photos)
    counts = [counted(getattr(summary, f"{noun}s"), noun) for noun in ("photo", "bib", "face", "link")]
    counts += [counted(summary.people, "person")] if summary.people else []
    counts += [counted(summary.selfies, "selfie")] if summary.selfies else []
    if summary.entrants:
        counts = [f"{counted(summary.entrants, 'name')} of a start list"]
    print(f"Imported {', '.join(counts)} into {store.root} ({counted(summary.new_photos, 'new photo')})")
    if unsupported := unsupported_photos(photos or Path(arguments.path)):
        print(f"{counted(len(unsupported), 'photo')} not imported:\n{listing(unsupported.values())}")
    return 0

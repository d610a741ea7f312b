"""Import labelled photos that exist in another form into the staging set: all of it or, with an error, nothing.

Formats: `coco`, `voc`, `yolo` with classes bib and face; `rbnr`, the racing bib set of 2012; `bnr`, our own files from
elsewhere. Labels that are there already are never overwritten.
"""

from __future__ import annotations

import argparse

from harness.cli.staging import add_overrides, compose_staging, counted, open_store

NAME = "import"
HELP = "import labelled photos: COCO, VOC, YOLO, RBNR or bnr"
FORMATS = ("bnr", "coco", "rbnr", "voc", "yolo")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--format", required=True, choices=FORMATS, help="what PATH is")
    parser.add_argument("--photos", metavar="DIR", help="where the photos are, if not where the format says")
    parser.add_argument("path", metavar="PATH", help="a folder, or with coco a file")
    add_overrides(parser)


def run(arguments: argparse.Namespace) -> int:
    """Import, and say what came in."""
    from pathlib import Path

    from harness.references.importing import import_labels

    store = open_store(compose_staging(arguments.overrides))
    photos = Path(arguments.photos) if arguments.photos else None
    summary = import_labels(store, arguments.format, Path(arguments.path), photos)
    counts = ", ".join(counted(getattr(summary, f"{noun}s"), noun) for noun in ("photo", "bib", "face", "link"))
    print(f"Imported {counts} into {store.root} ({counted(summary.new_photos, 'new photo')})")
    return 0

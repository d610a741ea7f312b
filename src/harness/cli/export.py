"""Write the staging set in a form that other tools read: COCO, as PATH/annotations.json and PATH/images/."""

from __future__ import annotations

import argparse

from harness.base.texts import counted
from harness.cli.sets import compose_staging, open_store
from harness.cli.terminal import add_overrides

NAME = "export"
HELP = "write the staging set as COCO"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--format", required=True, choices=("coco",), help="what to write")
    parser.add_argument("path", metavar="PATH", help="a folder that is new or empty")
    add_overrides(parser, "references.root=FOLDER")


def run(arguments: argparse.Namespace) -> int:
    """Export, and say what went out."""
    from pathlib import Path

    from harness.references.exporting import export_coco

    store = open_store(compose_staging(arguments.overrides))
    counts = export_coco(store.contents(), store.root, Path(arguments.path))
    shown = ", ".join(counted(count, noun.removesuffix("s")) for noun, count in counts.items())
    print(f"Exported {shown} to {Path(arguments.path) / 'annotations.json'}")
    return 0

"""Write what the pipeline finds in the photos of a folder, without labels: one line a photo, as docs/predictions.md has
it.

FOLDER is walked with all folders below it. OUT is a file of JSON Lines that `harness score` reads. A photo that fails
has no line and is named, and the exit code is 1.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.terminal import add_overrides, name_shadows

NAME = "predict"
HELP = "write what the pipeline finds in a folder of photos"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of the photos")
    parser.add_argument(
        "out", type=Path, metavar="OUT", help="the file that the lines go to; one that is there is replaced"
    )
    add_overrides(parser, "preset=fast")


def run(arguments: argparse.Namespace) -> int:
    """Predict and write."""
    from harness.base.errors import IncompleteError
    from harness.base.texts import counted, listing
    from harness.building import build_pipeline, instantiate
    from harness.cli.runs import compose_runs
    from harness.tasks.photos.folder_predictions import predict_folder

    config = compose_runs(arguments)
    name_shadows(config)
    cache = instantiate(config, "cache").open()
    done, failed = predict_folder(build_pipeline(config), arguments.folder, arguments.out, cache)
    print(f"{counted(done, 'photo')} predicted: {arguments.out}")
    if failed:
        has = "has" if len(failed) == 1 else "have"
        raise IncompleteError(f"{counted(len(failed), 'photo')} failed and {has} no line:\n{listing(failed)}")
    return 0

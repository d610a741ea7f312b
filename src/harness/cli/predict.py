"""Write what the pipeline finds in the photos of a folder, without labels: one line a photo, as docs/predictions.md has
it.

FOLDER is walked with all folders below it. OUT is a file of JSON Lines that `harness score` reads. A photo that fails
has no line and is named, and the exit code is 1. With --embeddings the lines have the embeddings of faces, so that
`harness score` tells who finds their photos; --selfies adds a line for each picture that somebody searches with.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.terminal import add_overrides, embeddings_words, name_shadows

NAME = "predict"
HELP = "write what the pipeline finds in a folder of photos"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of the photos")
    parser.add_argument(
        "out", type=Path, metavar="OUT", help="the file that the lines go to; one that is there is replaced"
    )
    parser.add_argument("--embeddings", action="store_true", help="write the embeddings of faces, too: personal data")
    parser.add_argument(
        "--selfies", type=Path, metavar="FOLDER", help="with --embeddings, a folder of selfies, each with a line"
    )
    add_overrides(parser, "preset=fast")


def run(arguments: argparse.Namespace) -> int:
    """Predict and write."""
    from harness.base.errors import ConfigError, IncompleteError
    from harness.base.texts import counted, listing
    from harness.building import build_pipeline, instantiate
    from harness.cli.runs import compose_runs
    from harness.tasks.photos.folder_predictions import predict_folder

    if arguments.selfies and not arguments.embeddings:
        raise ConfigError("--selfies: a selfie has nothing but its embedding; add --embeddings")
    config = compose_runs(arguments)
    name_shadows(config)
    cache = instantiate(config, "cache").open()
    done = predict_folder(
        build_pipeline(config),
        arguments.folder,
        arguments.out,
        cache,
        embeddings=arguments.embeddings,
        selfies=arguments.selfies,
    )
    print(f"{counted(done.photos, 'photo')} predicted: {arguments.out}")
    if arguments.embeddings:
        print(embeddings_words(done.embeddings, done.selfies))
    if done.failed:
        has = "has" if len(done.failed) == 1 else "have"
        raise IncompleteError(f"{counted(len(done.failed), 'photo')} failed and {has} no line:\n{listing(done.failed)}")
    return 0

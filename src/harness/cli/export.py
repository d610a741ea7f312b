"""Write the staging set, or what a run predicted, in a form that other tools read.

`--format coco PATH` writes the staging set as PATH/annotations.json and PATH/images/. `--format predictions RUN PATH`
writes what a stored run predicted as JSON Lines, which `harness score` reads; RUN is an id, the beginning of one, a
name, or `latest`.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from harness.base.errors import ConfigError
from harness.base.texts import counted
from harness.cli.parsing import is_override
from harness.cli.runs import compose_runs, existing_store
from harness.cli.sets import compose_staging, open_store
from harness.cli.terminal import embeddings_words

if TYPE_CHECKING:
    from harness.tasks.photos.prediction_export import Embeddings
    from harness.tracking.entries import RunEntry
    from harness.tracking.store import OpenStore

NAME = "export"
HELP = "write the staging set as COCO, or the predictions of a run"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.usage = (
        "harness export --format coco PATH [OVERRIDE ...]\n"
        "       harness export --format predictions RUN PATH [-f] [--embeddings] [OVERRIDE ...]"
    )
    parser.add_argument("--format", required=True, choices=("coco", "predictions"), help="what to write")
    parser.add_argument("-f", "--force", action="store_true", help="replace a file of predictions that is there")
    parser.add_argument(
        "--embeddings",
        action="store_true",
        help="write the embeddings of faces and selfies, too: personal data, made again from the photos of the run",
    )
    parser.add_argument(
        "words",
        nargs="+",
        metavar="[RUN] PATH [OVERRIDE ...]",
        help="a new folder for COCO, a file for predictions; overrides such as references.root=FOLDER",
    )


def run(arguments: argparse.Namespace) -> int:
    """Export, and say what went out."""
    arguments.overrides = [word for word in arguments.words if is_override(word)]
    named = [word for word in arguments.words if not is_override(word)]
    if arguments.format == "predictions":
        if len(named) != 2:
            raise ConfigError(f"--format predictions: expected RUN and PATH, got {' '.join(named) or 'neither'}")
        return _export_predictions(arguments, *named)
    if len(named) != 1:
        raise ConfigError(f"--format coco: expected PATH, got {' '.join(named) or 'none'}")
    if arguments.force or arguments.embeddings:
        raise ConfigError("-f and --embeddings are for --format predictions")
    return _export_coco(arguments, *named)


def _export_coco(arguments: argparse.Namespace, path: str) -> int:
    from pathlib import Path

    from harness.references.exporting import export_coco

    store = open_store(compose_staging(arguments.overrides))
    counts = export_coco(store.contents(), store.root, Path(path))
    shown = ", ".join(counted(count, noun.removesuffix("s")) for noun, count in counts.items())
    print(f"Exported {shown} to {Path(path) / 'annotations.json'}")
    return 0


def _export_predictions(arguments: argparse.Namespace, wanted: str, path: str) -> int:
    from pathlib import Path

    from harness.runs.archive import PHOTOS
    from harness.tasks.photos.prediction_export import export_predictions
    from harness.tracking.catalog import load_run
    from harness.tracking.finding import find_run

    target = Path(path)
    if target.exists() and not arguments.force:
        raise ConfigError(f"{target}: exists already; add -f to replace it")
    store = existing_store(compose_runs(arguments)).open()
    entry = find_run(store, wanted)
    stored = load_run(store, entry.run_id)
    if PHOTOS not in stored.tasks:
        raise ConfigError(f"run {entry.short_id} ({entry.name}) has no photos, and so no predictions")
    embeddings = _embeddings(store, entry) if arguments.embeddings else None
    export_predictions(stored, target, embeddings)
    print(f"Exported {counted(len(stored.photos), 'photo')} of run {entry.short_id} ({entry.name}) to {target}")
    if embeddings:
        faces = sum(vector is not None for own in embeddings.faces.values() for vector in own)
        selfies = sum(vector is not None for _, vector in embeddings.selfies.values())
        print(embeddings_words(faces, selfies))
    if failed := len(stored.tasks[PHOTOS].failed):
        has = "has" if failed == 1 else "have"
        print(f"{counted(failed, 'photo')} could not be evaluated in that run and {has} no line.")
    return 0


def _embeddings(store: OpenStore, entry: RunEntry) -> Embeddings:
    """Those of the faces that a run found and of the selfies of its set: made again, since a run keeps none."""
    from harness.remaking import remade
    from harness.tasks.identity.task import IdentityTask

    told = f"run {entry.short_id} ({entry.name})"
    try:
        spec = remade(store, entry.run_id, "embeddings")
    except ConfigError as error:
        raise ConfigError(f"{told} has no embeddings that could be made again: {error}") from error
    task = next((task for task in spec.tasks if isinstance(task, IdentityTask)), None)
    if task is None:
        raise ConfigError(f"{told} has no embeddings: it recognised nobody (identity=off)")
    task.photos.load()
    return task.embeddings()

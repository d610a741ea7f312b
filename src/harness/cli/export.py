"""Write the staging set, or what a run predicted, in a form that other tools read.

`--format coco PATH` writes the staging set as PATH/annotations.json and PATH/images/. `--format predictions RUN PATH`
writes what a stored run predicted as JSON Lines, which `harness score` reads; RUN is an id, the beginning of one, a
name, or `latest`.
"""

from __future__ import annotations

import argparse

from harness.base.errors import ConfigError
from harness.base.texts import counted
from harness.cli.parsing import is_override
from harness.cli.runs import compose_runs, existing_store
from harness.cli.sets import compose_staging, open_store

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
        "--embeddings", action="store_true", help="write the embeddings of faces, too; runs keep none so far"
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
        raise ConfigError(f"{target}: is there already; say -f to replace it")
    store = existing_store(compose_runs(arguments)).open()
    entry = find_run(store, wanted)
    stored = load_run(store, entry.run_id)
    if PHOTOS not in stored.tasks:
        raise ConfigError(f"run {entry.short_id} ({entry.name}) has no photos, and so no predictions")
    export_predictions(stored, target)
    print(f"Exported {counted(len(stored.photos), 'photo')} of run {entry.short_id} ({entry.name}) to {target}")
    if failed := len(stored.tasks[PHOTOS].failed):
        has = "has" if failed == 1 else "have"
        print(f"{counted(failed, 'photo')} could not be evaluated in that run and {has} no line.")
    if arguments.embeddings:
        print("The run has no embeddings: runs do not keep any yet.")
    return 0

"""Score what another program predicted, on a reference set, as a run like any other.

PREDICTIONS is a file of JSON Lines, one photo a line, or COCO results together with --images. A line is
{"photo": "a.jpg", "faces": [{"x": 0.4, "y": 0.1, "w": 0.1, "h": 0.15, "score": 0.9}]}, with bibs and links where there
are any; boxes are shares of the photo, or its pixels on a line with "unit": "px". docs/predictions.md has the whole
format. The scorecards, the verdict, the report and the MLflow run are those of any run. The predictions are for the
photos of `references`, which is the built-in sample set unless an override says otherwise.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from harness.cli.terminal import add_overrides

NAME = "score"
HELP = "score what another program predicted"

#: Overrides of what is not run here.
_PIPELINE = ("preset", "bib", "face", "link")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("predictions", type=Path, metavar="PREDICTIONS", help="JSON Lines, or COCO results")
    parser.add_argument("--images", type=Path, metavar="COCO", help="the COCO file that COCO results refer to")
    parser.add_argument(
        "--category",
        action="append",
        default=[],
        metavar="NAME=KIND",
        help="what a category of the COCO file is: bib, face or none; may be said several times",
    )
    parser.add_argument(
        "--missing-is-empty",
        action="store_true",
        help="a photo without a line counts as one on which nothing was found",
    )
    add_overrides(parser, "references=staging")


def run(arguments: argparse.Namespace) -> int:
    """Score and show."""
    from harness.cli.runs import compose_runs
    from harness.config import build
    from harness.showing import in_name, run_and_show
    from harness.tasks.photos.prediction_files import PredictionsFile

    categories = dict(_category(text) for text in arguments.category)
    config = compose_runs(arguments)
    refuse_pipeline(arguments.overrides)
    file = PredictionsFile.of(
        arguments.predictions,
        missing_is_empty=arguments.missing_is_empty,
        images=arguments.images,
        categories=categories,
    )
    run_and_show(build(config, in_name(arguments.overrides), file), arguments.overrides)
    return 0


def _category(text: str) -> tuple[str, str]:
    from harness.base.errors import ConfigError
    from harness.tasks.photos.coco_results import KINDS

    name, _, kind = text.rpartition("=")
    if not name or kind not in KINDS:
        raise ConfigError(f"--category {text}: expected NAME=bib, NAME=face or NAME=none")
    return name, kind


def refuse_pipeline(overrides: Iterable[str]) -> None:
    """An override of the pipeline would have no effect, and would look as if it had one."""
    from harness.base.errors import ConfigError

    for word in overrides:
        if word.lstrip("+~").partition("=")[0].split(".")[0] in _PIPELINE:
            raise ConfigError(f"{word}: the predictions come from a file, and no pipeline is run; leave it out")

"""How commands talk to whoever called them: the arguments that they share, a question, and JSON for programs."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from harness.base.errors import ConfigError
from harness.base.texts import counted


def add_overrides(parser: argparse.ArgumentParser, example: str) -> None:
    """The config overrides, last on the command line; `example` is one that the command is likely to need."""
    # Without a default, argparse calls them required.
    parser.add_argument(
        "overrides", nargs="*", default=[], metavar="OVERRIDE", help=f"config overrides, such as {example}"
    )


def name_shadows(config: Any) -> None:
    """Say on standard error which config files replace others of the same name."""
    from harness.config import shadow_lines

    for line in shadow_lines(config):
        print(f"harness: {line}", file=sys.stderr, flush=True)


def add_json(parser: argparse._ActionsContainer) -> None:
    """The switch for programs that read the output."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def show_json(value: Any) -> None:
    """Print a value for programs."""
    print(json.dumps(value, indent=1, ensure_ascii=False, default=str))


def embeddings_words(faces: int, selfies: int) -> str:
    """What whoever asked for embeddings has to know of the file."""
    return (
        f"It has the embeddings of {counted(faces, 'face')} and {counted(selfies, 'selfie')}: whoever has the file "
        "can search for these people. Delete it when it is no longer needed."
    )


def confirm(force: bool, question: str, refusal: str, switch: str = "-f") -> None:
    """Go on only after a yes, or with -f; without a terminal, refuse with what would happen."""
    if force:
        return
    if not sys.stdin.isatty():
        raise ConfigError(f"{refusal}; without a terminal, add {switch}")
    print(f"{question} [y/N] ", end="", flush=True)
    if input().strip().lower() not in ("y", "yes"):
        raise ConfigError("nothing was changed")

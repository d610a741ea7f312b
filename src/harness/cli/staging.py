"""What the commands on a reference set share: which set they work on, and how they show counts."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.base.errors import ConfigError

if TYPE_CHECKING:
    from harness.references.store import LabelStore


#: How the user calls the harness, for the commands that it suggests.
COMMAND = os.environ.get("HARNESS_COMMAND", "harness")


def add_overrides(parser: argparse.ArgumentParser) -> None:
    """The overrides that select the set, last on the command line."""
    parser.add_argument(
        "overrides", nargs="*", metavar="OVERRIDE", help="config overrides, such as references.root=FOLDER"
    )


def add_json(parser: argparse._ActionsContainer) -> None:
    """The switch for programs that read the output."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def compose_staging(overrides: Sequence[str]) -> Any:
    """The config that the overrides select, on the staging set unless they say otherwise."""
    from harness.config import compose

    chosen = any(item.startswith("references=") for item in overrides)
    return compose(overrides if chosen else ["references=staging", *overrides])


def open_store(config: Any) -> LabelStore:
    """The label store of a composed config."""
    from pathlib import Path

    from harness.config import instantiate
    from harness.references.sets import StagingSet
    from harness.references.store import LabelStore

    references = instantiate(config, "references")
    if not isinstance(references, StagingSet):
        raise ConfigError("references: this command works on references=staging alone; other sets never change")
    return LabelStore(Path(references.root))


def show_json(value: Any) -> None:
    """Print a value for programs."""
    print(json.dumps(value, indent=1, ensure_ascii=False, default=str))


def counted(count: int, noun: str) -> str:
    """`1 photo`, `2 photos`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def listing(lines: Iterable[str], limit: int = 20) -> str:
    """Indented lines, and how many more there are."""
    lines = list(lines)
    more = [f"... and {len(lines) - limit:,} more"] if len(lines) > limit else []
    return "\n".join(f"  {line}" for line in [*lines[:limit], *more])


def table(title: str, counts: Mapping[str, int], total: int = 0) -> str:
    """Names and counts in columns under a title, with shares of a total where one is given."""
    lines = [title]
    for name, count in counts.items():
        share = f"{count / total:>8.1%}" if total and count else ""
        lines.append(f"  {name.replace('_', ' '):<18} {count:>8,}{share}".rstrip())
    return "\n".join(lines)

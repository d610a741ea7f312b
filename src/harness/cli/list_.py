"""List the stored runs, newest first: what they ran on, how they did, and their verdict beside the baseline."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING

from harness.base.texts import aligned
from harness.cli.runs import compose_runs, existing_store
from harness.cli.terminal import add_json, add_overrides, show_json

if TYPE_CHECKING:
    from harness.tracking.catalog import RunEntry

NAME = "list"
HELP = "list the stored runs with metrics and verdicts"
_SHOWN = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "-n",
        "--limit",
        type=int,
        default=_SHOWN,
        metavar="N",
        help="show the newest N, 0 for all (default: %(default)s)",
    )
    add_json(parser)
    add_overrides(parser, "tracking.root=FOLDER")


def run(arguments: argparse.Namespace) -> int:
    """Print the runs."""
    from dataclasses import asdict

    from harness.tracking.catalog import headlines_of, list_runs

    runs = list_runs(existing_store(compose_runs(arguments)).open())
    shown = runs[: arguments.limit] if arguments.limit > 0 else runs
    if arguments.json:
        show_json([asdict(item) for item in shown])
        return 0
    baselines = {item.run_id for item in runs if item.pinned}
    columns = headlines_of(shown)
    heads = ("TIME (UTC)", "RUN", "NAME", "DATA", *(title.upper() for title in columns.values()), "VERDICT")
    print("\n".join(aligned([heads, *(_line(item, columns, baselines) for item in shown)])))
    if len(shown) < len(runs):
        print(f"... and {len(runs) - len(shown)} older; -n 0 lists all")
    return 0


def _line(run: RunEntry, columns: Iterable[str], baselines: set[str]) -> tuple[str, ...]:
    values = (run.metrics.get(name) for name in columns)
    return (
        f"{run.started:%Y-%m-%d %H:%M}",
        run.short_id,
        run.name if len(run.name) <= 44 else f"{run.name[:41]}...",
        " ".join(filter(None, (run.data_name, run.data_split, run.data_digest[:8]))),
        *("" if value is None else f"{value:.1%}" for value in values),
        _verdict(run, baselines),
    )


def _verdict(run: RunEntry, baselines: set[str]) -> str:
    """The verdict, or how the run ended where it has none; whether it was judged by a baseline of old."""
    if not run.verdict:
        return run.status.lower()
    return f"{run.verdict} (earlier baseline)" if run.judged_by_another(baselines) else run.verdict

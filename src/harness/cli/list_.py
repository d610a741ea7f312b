"""List the stored runs, newest first: what they ran on, how they did, and their verdict beside the baseline."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from harness.base.screen import fitted, screen
from harness.cli.runs import compose_runs, existing_store
from harness.cli.terminal import add_json, add_overrides, show_json

if TYPE_CHECKING:
    from harness.tracking.entries import RunEntry

NAME = "list"
HELP = "list the stored runs with metrics and verdicts"
_SHOWN = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "-n",
        "--limit",
        type=_limit,
        default=_SHOWN,
        metavar="N",
        help="show the newest N, 0 for all (default: %(default)s)",
    )
    add_json(parser)
    add_overrides(parser, "tracking.root=FOLDER")


def _limit(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text}: expected a whole number, 0 for all")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Print the runs."""
    from dataclasses import asdict

    from harness.tracking.entries import headlines_of
    from harness.tracking.finding import baseline_ids, count_runs, list_runs

    store = existing_store(compose_runs(arguments)).open()
    limit = arguments.limit if arguments.limit > 0 else None
    found = list_runs(store, limit + 1 if limit else None)
    shown = found[:limit]
    if arguments.json:
        show_json([asdict(item) for item in shown])
        return 0
    baselines = baseline_ids(store)
    columns = headlines_of(shown)
    heads = ("TIME (UTC)", "RUN", "NAME", "DATA", *(title.upper() for title in columns.values()), "VERDICT")
    print(_table([heads, *(_line(item, columns, baselines) for item in shown)], len(columns)))
    if len(shown) < len(found):
        all_of_them = count_runs(store)
        older = "older ones" if all_of_them is None else f"{all_of_them - len(shown):,} older"
        print(f"... and {older}; -n 0 lists all")
    return 0


def _table(rows: Sequence[Sequence[str]], headlines: int) -> str:
    """The list as wide as the terminal. What tells runs apart stays longest: the id, the name, the first headline and
    the verdict; the data go first where they are the same in all."""
    data, first = rows[0].index("DATA"), rows[0].index("DATA") + 1
    later = [*reversed(range(first + 1, first + headlines))]
    same = len({row[data] for row in rows[1:]}) < 2
    drop = [data, *later] if same else [*later, data]
    shown = screen()
    return fitted(rows, shown, {data: 12, 2: 20}, [*drop, 0, *range(first, first + min(headlines, 1))]).text(shown)


def _line(run: RunEntry, columns: Iterable[str], baselines: frozenset[str]) -> tuple[str, ...]:
    values = (run.metrics.get(name) for name in columns)
    return (
        f"{run.started:%Y-%m-%d %H:%M}",
        run.short_id,
        run.name if len(run.name) <= 44 else f"{run.name[:41]}...",
        run.data_column,
        *("" if value is None else f"{value:.1%}" for value in values),
        _verdict(run, baselines),
    )


def _verdict(run: RunEntry, baselines: frozenset[str]) -> str:
    """The verdict, or how the run ended where it has none; whether it was judged by a baseline of old."""
    if not run.verdict:
        return run.status.lower()
    return f"{run.verdict} (earlier baseline)" if run.judged_by_another(baselines) else run.verdict

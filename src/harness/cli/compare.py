"""Compare a run with another one, or with the baseline of its data.

Shows each metric's difference with its interval, the photos with different results, and what differs in the configs
and in the code: modules and installed packages.
RUN and BASE are ids, beginnings of ids, names, or `latest`. With `gate=strict` the exit code is 1 unless the run is
IMPROVED, NO WORSE or, with a warning, CANNOT TELL; with `gate=proof` unless every gated metric is IMPROVED or NO WORSE.
"""

from __future__ import annotations

import argparse

from harness.cli.runs import compose_runs, existing_store
from harness.cli.terminal import add_json, add_overrides, show_json

NAME = "compare"
HELP = "compare a run with the baseline or with another run"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "run",
        metavar="RUN",
        help="the run to judge: id, beginning of an id, name, or latest, as in harness compare latest",
    )
    parser.add_argument("base", nargs="?", metavar="BASE", help="what to judge it against (default: the baseline)")
    form = parser.add_mutually_exclusive_group()
    add_json(form)
    form.add_argument("--markdown", action="store_true", help="print Markdown, fit for a comment on a pull request")
    add_overrides(parser, "tracking.root=FOLDER")


def run(arguments: argparse.Namespace) -> int:
    """Print the comparison."""
    from harness.building import instantiate
    from harness.judging import compare_stored
    from harness.report.comparisons import comparison_dict, markdown_comparison, text_comparison
    from harness.showing import enforce
    from harness.tracking.finding import find_base, find_run

    config = compose_runs(arguments, "base")
    store, gate = existing_store(config).open(), instantiate(config, "gate")
    chosen = find_run(store, arguments.run)
    base = find_run(store, arguments.base) if arguments.base else find_base(store, chosen)
    comparison = compare_stored(store, gate, chosen, base, config.seed)
    ids = chosen.run_id, base.run_id
    if arguments.json:
        show_json(comparison_dict(comparison, *ids))
    else:
        from harness.base.screen import screen

        told = (
            markdown_comparison(comparison, *ids)
            if arguments.markdown
            else text_comparison(comparison, *ids, screen=screen())
        )
        print(told, flush=True)
    enforce(gate, comparison.judgement)
    return 0

"""Compare a run with another one, or with the baseline of its data.

Shows each metric's difference with its interval, the photos that came out otherwise, and what differs in the configs.
RUN and BASE are ids, beginnings of ids, names, or `latest`. With `gate=strict` the exit code is 1 unless the run is
IMPROVED or WITHIN NOISE.
"""

from __future__ import annotations

import argparse

from harness.cli.runs import compose_runs, existing_store
from harness.cli.terminal import add_json, add_overrides, show_json

NAME = "compare"
HELP = "compare a run with the baseline or with another run"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("run", metavar="RUN", help="the run to judge: id, beginning of an id, name, or latest")
    parser.add_argument("base", nargs="?", metavar="BASE", help="what to judge it against (default: the baseline)")
    form = parser.add_mutually_exclusive_group()
    add_json(form)
    form.add_argument("--markdown", action="store_true", help="print Markdown, fit for a comment on a pull request")
    add_overrides(parser, "tracking.root=FOLDER")


def run(arguments: argparse.Namespace) -> int:
    """Print the comparison."""
    from harness.base.errors import ConfigError, GateError
    from harness.config import instantiate
    from harness.report.comparisons import comparison_dict, markdown_comparison, text_comparison
    from harness.runs.comparison import compare
    from harness.tracking.catalog import find_base, find_run, list_runs, load_run

    config = compose_runs(arguments, "base")
    store, gate = existing_store(config).open(), instantiate(config, "gate")
    runs = list_runs(store)
    chosen = find_run(runs, arguments.run)
    base = find_run(runs, arguments.base) if arguments.base else find_base(runs, chosen)
    run, against = load_run(store, chosen.run_id), load_run(store, base.run_id)
    if wrong := gate.unknown(card.declared for card in run.cards.values()):
        raise ConfigError(wrong)
    comparison = compare(gate, run, against, config.seed)
    ids = chosen.run_id, base.run_id
    if arguments.json:
        show_json(comparison_dict(comparison, *ids))
    else:
        form = markdown_comparison if arguments.markdown else text_comparison
        print(form(comparison, *ids), flush=True)
    if gate.fails(comparison.judgement.verdict):
        raise GateError(f"gate=strict: {comparison.judgement.verdict}")
    return 0

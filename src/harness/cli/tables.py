"""Score extracted tables against ground truth: each table by each method, the best method, and the gain by combining.

GT is a file or a folder of them, in JSON, CSV, HTML, PubTabNet's or ICDAR 2013's format; EXTRACTIONS is a JSON
Lines file with one extracted table a line.
"""

from __future__ import annotations

import argparse
from pathlib import Path

NAME = "tables"
HELP = "score extracted tables against ground truth"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("gt", type=Path, metavar="GT", help="the tables as they should be: a file, or a folder")
    parser.add_argument("extractions", type=Path, metavar="EXTRACTIONS", help="what methods made of them, JSON Lines")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument("--out", type=Path, metavar="DIR", help="also write tables.html and tables_debug.sqlite here")


def run(arguments: argparse.Namespace) -> int:
    """Score and show."""
    import json

    from harness.tasks.tables.evaluation import evaluate_tables
    from harness.tasks.tables.files import read_extractions, read_ground_truth
    from harness.tasks.tables.html import write_outputs
    from harness.tasks.tables.rates import mean_rates, score_cards, table_groups, table_intervals
    from harness.tasks.tables.summary import format_tables, to_dict

    tables = read_ground_truth(arguments.gt)
    extractions = read_extractions(arguments.extractions, [table.id for table in tables])
    methods = list(dict.fromkeys(item.method for item in extractions))
    evaluation = evaluate_tables(tables, extractions, methods)
    cards = score_cards(evaluation)
    if arguments.out:
        write_outputs(arguments.out, evaluation, extractions, mean_rates(cards))
    if arguments.json:
        print(json.dumps(to_dict(evaluation, cards), indent=1))
    else:
        print(format_tables(evaluation, cards, table_intervals(cards, table_groups(evaluation))))
        if arguments.out:
            print(f"\nwritten to {arguments.out}")
    return 0

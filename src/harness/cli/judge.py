"""Judge a candidate that changes code: KEEP, DISCARD or CANNOT TELL.

CANDIDATE is a commit of the repository of this folder, or the folder of a worktree as it is on the disk. It is run in a
sandbox that sees the photos of the iteration split and nothing else of yours: no labels, no store, no network. Another
process, with none of its code, scores what it predicted and compares it with the base, which is run in the same way.
The answer goes into judged.jsonl of the study, and tries.html shows all of them.
"""

from __future__ import annotations

import argparse

from harness.cli.terminal import add_json, show_json

NAME = "judge"
HELP = "judge a commit or a worktree that changes code"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("candidate", metavar="CANDIDATE", help="a commit, or the folder of a worktree")
    parser.add_argument(
        "--base", metavar="REV", help="the commit to compare it with (default: that of the experiment, else HEAD)"
    )
    parser.add_argument(
        "--experiment", required=True, metavar="FILE", help="the experiment file, with a section `judge`, or its name"
    )
    parser.add_argument("--hypothesis", default="", metavar="TEXT", help="what the change is expected to do, and why")
    parser.add_argument(
        "--holdout",
        action="store_true",
        help="judge it on the holdout, which uses up one look and shows only the verdict",
    )
    parser.add_argument(
        "--unprotected",
        action="store_true",
        help="run the candidate without a sandbox, with your rights, where the system offers none",
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Judge and show; the exit code is that of the answer."""
    from pathlib import Path

    from harness.base.errors import UndecidedError
    from harness.candidates.judge import Entry, told
    from harness.candidates.page import PAGE
    from harness.candidates.tries import Answer
    from harness.search.contest import contest_of, judge_try
    from harness.search.experiment import experiment_path

    path = experiment_path(arguments.experiment)
    entry = Entry(
        arguments.candidate,
        arguments.base,
        arguments.hypothesis,
        protected=not arguments.unprotected,
        holdout=arguments.holdout,
    )
    found, repeated = judge_try(path, entry, Path.cwd())
    if arguments.json:
        show_json({**found.shown(), "repeated": repeated})
    else:
        print(told(found, repeated))
        print(f"  all tries: {contest_of(path).folder / PAGE}")
    codes = {Answer.KEEP: 0, Answer.DISCARD: 1, Answer.CANNOT_TELL: UndecidedError.exit_code}
    return codes[found.answer]

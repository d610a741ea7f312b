"""Give each predicted box a score from the token trace of the model that drew it.

Reads a gt_vs_pred.jsonl and its pred_token_trace.jsonl, and writes pred_confidence.jsonl, gt_vs_pred_scored.jsonl and
confidence_postop_summary.json into the output folder: all of them, or none. The inputs stay as they are.
"""

from __future__ import annotations

import argparse
from pathlib import Path

NAME = "confidence"
HELP = "score predicted boxes by their token trace"

#: As the enums of `harness.scoring` have them; repeated here so that `--help` imports nothing heavy.
REDUCERS = ("mean_logprob", "min_logprob", "sum_logprob", "product", "mean_prob")
_SCALES = tuple(
    f"{cut}_{scale}_{end}" for cut in ("round", "floor") for scale in (999, 1000) for end in ("last", "edge")
)
CONVERTERS = ("auto", *_SCALES, "pixels", "tolerance")
DROPS = ("auto", "degenerate", "nothing")
TRACE_FORMS = ("coord_tokens", "digits")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("gt_vs_pred", type=Path, metavar="GT_VS_PRED", help="the predictions, one JSON object a line")
    parser.add_argument("trace", type=Path, metavar="TRACE", help="the token traces, one JSON object a line")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the three outputs")
    for name, choices, meaning in (
        ("--reducer", REDUCERS, "how four log-probabilities become a score"),
        ("--converter", CONVERTERS, "how bins became pixels"),
        ("--drops", DROPS, "what was left out of the predictions"),
        ("--trace-form", TRACE_FORMS, "how the model writes a coordinate"),
    ):
        parser.add_argument(name, choices=choices, default=choices[0], help=f"{meaning} (%(default)s)")
    parser.add_argument("--ap", action="store_true", help="also average precision and calibration of the scored boxes")
    parser.add_argument("--class-agnostic", action="store_true", help="--ap with all boxes of one class")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Score and show."""
    import json

    from harness.scoring.confidence import Reducer
    from harness.scoring.coord_tokens import TraceForm
    from harness.scoring.standardizer import Converter, Drops, Standardizer
    from harness.tasks.confidence.postop import SCORED_FILE, Options, run_postop
    from harness.tasks.confidence.quality import judge
    from harness.tasks.confidence.task import format_confidence

    out: Path = arguments.out
    standardizer = Standardizer(Converter(arguments.converter), Drops(arguments.drops))
    options = Options(Reducer(arguments.reducer), standardizer, TraceForm(arguments.trace_form))
    summary = run_postop(arguments.gt_vs_pred, arguments.trace, out, options)
    wanted = arguments.ap or arguments.class_agnostic
    quality = judge(out / SCORED_FILE, class_agnostic=arguments.class_agnostic) if wanted else None
    if arguments.json:
        extra = {"quality": quality.to_dict()} if quality else {}
        print(json.dumps(summary.to_dict() | extra, indent=1))
    else:
        print(format_confidence(summary, quality))
        print(f"\nwritten to {out}")
    return 0

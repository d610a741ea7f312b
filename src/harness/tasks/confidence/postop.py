"""Score the predictions of an artifact and write the scored copies: all of them, or none.

Reads `gt_vs_pred.jsonl` and its `pred_token_trace.jsonl`, which stay as they are; writes `pred_confidence.jsonl` (what
became of each object), `gt_vs_pred_scored.jsonl` (the records with the kept predictions) and
`confidence_postop_summary.json`. `docs/confidence.md` has the formats.

Everything is written into a hidden folder beside the final names and moved when it is complete. The old summary goes
first and the new one comes last: where a summary stands, the three files belong together. The same inputs give the same
bytes.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from harness.base.errors import ConfidenceError
from harness.scoring.confidence import (
    SCORE_SOURCE,
    SCORE_VERSION,
    Reducer,
    Trace,
    failures,
    merge_scores,
    score_objects,
)
from harness.scoring.confidence_card import ConfidenceScorecard
from harness.scoring.coord_tokens import TraceForm
from harness.scoring.standardizer import AUTO, InDoubtError, Standardizer, Standardizing
from harness.tasks.confidence.lines import BUFFER, Record, count_lines, dump
from harness.tasks.confidence.records import choose_standardizer, read_records, size_of
from harness.tasks.confidence.traces import OutOfOrderError, traces_by_index, traces_in_step

CONFIDENCE_FILE = "pred_confidence.jsonl"
SCORED_FILE = "gt_vs_pred_scored.jsonl"
SUMMARY_FILE = "confidence_postop_summary.json"
_OUTPUTS = (CONFIDENCE_FILE, SCORED_FILE, SUMMARY_FILE)

_PROVENANCE = {"pred_score_source": SCORE_SOURCE, "pred_score_version": SCORE_VERSION}


@dataclass(frozen=True)
class Options:
    """How log-probabilities become a score, how predictions were made of raw objects, and how the model writes."""

    reducer: Reducer = Reducer.MEAN_LOGPROB
    standardizer: Standardizer = AUTO
    trace_form: TraceForm = TraceForm.COORD_TOKENS


DEFAULTS = Options()


@dataclass(frozen=True)
class Summary:
    """What was kept and what was dropped, and why; the standardizer, and how many of the records it reproduces."""

    options: Options
    card: ConfidenceScorecard
    objects: int
    standardizer: Standardizer
    records: int
    reproduced: int

    @property
    def kept_fraction(self) -> float:
        """1.0 where there was nothing to keep: the file's rule. What is shown says n/a."""
        return self.card.kept / self.objects if self.objects else 1.0

    def to_dict(self) -> dict[str, Any]:
        """As the summary file has it; `dropped_by_reason` names the reasons that occurred."""
        return {
            "total_samples": self.card.samples,
            "total_pred_objects": self.objects,
            "kept_pred_objects": self.card.kept,
            "dropped_pred_objects": self.objects - self.card.kept,
            "kept_fraction": self.kept_fraction,
            "dropped_by_reason": self.card.dropped_by_reason,
            "method": self.options.reducer.method,
            "converter": self.standardizer.converter,
            "drops": self.standardizer.drops,
            "trace_form": self.options.trace_form,
            "records_compared": self.records,
            "records_reproduced": self.reproduced,
            **_PROVENANCE,
        }


def run_postop(gt_vs_pred: Path, trace: Path, out: Path, options: Options = DEFAULTS) -> Summary:
    """Score every sample of `gt_vs_pred` by its trace and put the three outputs into the folder `out`."""
    samples = count_lines(gt_vs_pred)
    _check_outputs(out, (gt_vs_pred, trace))
    with tempfile.TemporaryDirectory(dir=out, prefix=".confidence-") as folder:
        partial = Path(folder)
        summary = _write_until_settled(partial, gt_vs_pred, trace, samples, options)
        (partial / SUMMARY_FILE).write_text(json.dumps(summary.to_dict(), indent=1) + "\n")
        _publish(partial, out)
    return summary


def _write_until_settled(folder: Path, gt_vs_pred: Path, trace: Path, samples: int, options: Options) -> Summary:
    """Write in one pass where the traces come in order and the records agree on a converter; start over otherwise."""
    read_traces, standardizer = traces_in_step, options.standardizer
    while True:
        traces = read_traces(trace, samples, options.trace_form)
        standardizing = Standardizing(standardizer, options.standardizer.drops)
        try:
            return _write(folder, read_records(gt_vs_pred, samples), traces, samples, options, standardizing)
        except OutOfOrderError:
            read_traces = traces_by_index
        except InDoubtError:
            standardizer = choose_standardizer(gt_vs_pred, samples, options.standardizer)


def _check_outputs(out: Path, inputs: Iterable[Path]) -> None:
    for path in inputs:
        if path.name in _OUTPUTS and path.resolve().parent == out.resolve():
            raise ConfidenceError(f"{path}: would be overwritten by the output of that name; write elsewhere")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfidenceError(f"{out}: cannot be made a folder for the outputs: {error.strerror}") from error


def _publish(partial: Path, out: Path) -> None:
    (out / SUMMARY_FILE).unlink(missing_ok=True)
    for name in _OUTPUTS:
        (partial / name).replace(out / name)


def _write(
    folder: Path,
    records: Iterator[Record],
    traces: Iterator[Trace | None],
    samples: int,
    options: Options,
    standardizing: Standardizing,
) -> Summary:
    objects, counts, reducer = 0, Counter[str](), options.reducer
    with (
        (folder / CONFIDENCE_FILE).open("wb", buffering=BUFFER) as confidence,
        (folder / SCORED_FILE).open("wb", buffering=BUFFER) as scored,
    ):
        for line_idx in range(samples):
            # No name is given to a sample here, so that it is gone before the next one is read.
            pred, kept, reasons = _score_sample(
                line_idx, *next(records), next(traces), reducer, standardizing, confidence, scored
            )
            objects += pred
            counts["kept"] += kept
            if reasons:
                counts.update(reasons)
        next(records, None)  # closes the progress bar
        next(traces, None)  # finds a trace past the last sample
    standardizing.finish()
    card = ConfidenceScorecard(**counts, samples=samples)
    return Summary(options, card, objects, standardizing.used, standardizing.records, standardizing.reproduced)


def _score_sample(
    line_idx: int,
    fields: dict[str, Any],
    plain: bool,
    trace: Trace | None,
    reducer: Reducer,
    standardizing: Standardizing,
    confidence: BinaryIO,
    scored: BinaryIO,
) -> tuple[int, int, Sequence[str]]:
    """Score one sample and write its two lines; how many objects it has, how many are kept, why others are not."""
    pred = fields["pred"]
    entries = score_objects(pred, fields.get("raw_output_json"), trace, size_of(fields), reducer, standardizing)
    kept, entries = merge_scores(pred, entries)
    confidence.write(dump({"line_idx": line_idx, "image": fields["image"], "objects": entries}, plain=plain))
    scored.write(dump({**fields, "pred": kept, **_PROVENANCE}, plain=plain))
    return len(pred), len(kept), failures(entries) if len(kept) != len(entries) else ()

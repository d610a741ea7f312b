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
from harness.base.progress import track_stream
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
from harness.scoring.coord_tokens import Size
from harness.tasks.confidence.lines import BUFFER, Record, count_lines, dump, parse_exactly, read_lines, wrong
from harness.tasks.confidence.traces import OutOfOrderError, traces_by_index, traces_in_step

CONFIDENCE_FILE = "pred_confidence.jsonl"
SCORED_FILE = "gt_vs_pred_scored.jsonl"
SUMMARY_FILE = "confidence_postop_summary.json"
_OUTPUTS = (CONFIDENCE_FILE, SCORED_FILE, SUMMARY_FILE)

_NUMBER = {int, float}
_PROVENANCE = {"pred_score_source": SCORE_SOURCE, "pred_score_version": SCORE_VERSION}


@dataclass(frozen=True)
class Summary:
    """What was kept and what was dropped, and why."""

    reducer: Reducer
    card: ConfidenceScorecard
    objects: int

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
            "method": self.reducer.method,
            **_PROVENANCE,
        }


def run_postop(gt_vs_pred: Path, trace: Path, out: Path, reducer: Reducer = Reducer.MEAN_LOGPROB) -> Summary:
    """Score every sample of `gt_vs_pred` by its trace and put the three outputs into the folder `out`."""
    samples = count_lines(gt_vs_pred)
    _check_outputs(out, (gt_vs_pred, trace))
    with tempfile.TemporaryDirectory(dir=out, prefix=".confidence-") as folder:
        partial = Path(folder)
        try:
            traces = traces_in_step(trace, samples)
            summary = _write(partial, _records(gt_vs_pred, samples), traces, samples, reducer)
        except OutOfOrderError:
            traces = traces_by_index(trace, samples)
            summary = _write(partial, _records(gt_vs_pred, samples), traces, samples, reducer)
        (partial / SUMMARY_FILE).write_text(json.dumps(summary.to_dict(), indent=1) + "\n")
        _publish(partial, out)
    return summary


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


def _records(path: Path, samples: int) -> Iterator[Record]:
    return (_record(path, number, line) for number, line in track_stream(read_lines(path), "samples", samples))


def _record(path: Path, number: int, line: bytes) -> Record:
    record = parse_exactly(path, number, line)
    _check(path, number, record.fields)
    return record


def _check(path: Path, number: int, fields: dict[str, Any]) -> None:
    """Refuse a record without the fields that are copied into the outputs."""
    if not isinstance(fields.get("image"), str):
        raise wrong(path, number, "image: expected a string")
    pred = fields.get("pred")
    if not isinstance(pred, list):
        raise wrong(path, number, "pred: expected a list of objects")
    for index, item in enumerate(pred):
        try:
            kind, desc, points = item["type"], item["desc"], item["points"]
        except (KeyError, TypeError) as error:
            raise wrong(path, number, f"pred.{index}: expected an object with type, desc and points") from error
        if type(kind) is not str or type(desc) is not str:
            raise wrong(path, number, f"pred.{index}: expected strings as type and desc")
        if type(points) is not list or not _NUMBER.issuperset(map(type, points)):
            raise wrong(path, number, f"pred.{index}.points: expected a list of numbers")


def _write(
    folder: Path, records: Iterator[Record], traces: Iterator[Trace | None], samples: int, reducer: Reducer
) -> Summary:
    objects, counts = 0, Counter[str]()
    with (
        (folder / CONFIDENCE_FILE).open("wb", buffering=BUFFER) as confidence,
        (folder / SCORED_FILE).open("wb", buffering=BUFFER) as scored,
    ):
        for line_idx in range(samples):
            # No name is given to a sample here, so that it is gone before the next one is read.
            pred, kept, reasons = _score_sample(line_idx, *next(records), next(traces), reducer, confidence, scored)
            objects += pred
            counts["kept"] += kept
            if reasons:
                counts.update(reasons)
        next(records, None)  # closes the progress bar
        next(traces, None)  # finds a trace past the last sample
    return Summary(reducer, ConfidenceScorecard(**counts, samples=samples), objects)


def _score_sample(
    line_idx: int,
    fields: dict[str, Any],
    plain: bool,
    trace: Trace | None,
    reducer: Reducer,
    confidence: BinaryIO,
    scored: BinaryIO,
) -> tuple[int, int, Sequence[str]]:
    """Score one sample and write its two lines; how many objects it has, how many are kept, why others are not."""
    pred = fields["pred"]
    entries = score_objects(pred, fields.get("raw_output_json"), trace, _size(fields), reducer)
    kept, entries = merge_scores(pred, entries)
    confidence.write(dump({"line_idx": line_idx, "image": fields["image"], "objects": entries}, plain=plain))
    scored.write(dump({**fields, "pred": kept, **_PROVENANCE}, plain=plain))
    return len(pred), len(kept), failures(entries) if len(kept) != len(entries) else ()


def _size(fields: dict[str, Any]) -> Size:
    return _side(fields.get("width")), _side(fields.get("height"))


def _side(value: Any) -> float | None:
    return value if type(value) in _NUMBER and value > 0 else None

"""One sortable score per predicted box, from the log-probabilities of its four coordinate tokens.

Rules, in the order in which they are applied; the first that fails names the reason:

1. The sample has a trace (`missing_trace`) with as many log-probabilities as tokens (`trace_len_mismatch`).
2. The predictions are reproduced from the raw objects (`pred_alignment_mismatch`, for every object of the sample). See
   `standardizer`. Without any raw objects there is nothing to reproduce and no bins either (see 4).
3. The object is a `bbox_2d` (`unsupported_geometry_type`).
4. Its raw object has four bins (`missing_coord_bins`); they stand in the trace (`missing_span`). All raw objects are
   placed, in their order, also those of which no prediction was made. See `coord_tokens`.
5. The four log-probabilities are finite numbers and reduce to a score in (0, 1] (`nonfinite_logprob`). A null, which is
   what strict JSON writers make of a NaN, is no number, and neither is a text. In a trace of digits, that of a
   coordinate is the sum of those of its tokens: the probability of the whole number.

The default score is exp of the mean. Nothing is ever guessed: an object has four aligned tokens, or no score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from math import exp, isfinite
from typing import Any

from harness.scoring.coord_tokens import BOX, Coordinates, TraceForm, numbers_in, read_objects
from harness.scoring.standardizer import Converter, Drops, Prediction, Size, Standardizer, Standardizing

SCORE_SOURCE = "confidence_postop"
SCORE_VERSION = 1

#: The standardizer of the model that this was made for.
USUAL = Standardizer(Converter.ROUND_999_LAST, Drops.DEGENERATE)
#: What became of one object, as the file has it. (Made once and in its final form, since there are very many of them.)
Entry = dict[str, Any]


class Failure(StrEnum):
    """Why an object has no score. The names are part of the file format."""

    MISSING_TRACE = "missing_trace"
    TRACE_LEN_MISMATCH = "trace_len_mismatch"
    UNSUPPORTED_GEOMETRY_TYPE = "unsupported_geometry_type"
    MISSING_COORD_BINS = "missing_coord_bins"
    MISSING_SPAN = "missing_span"
    NONFINITE_LOGPROB = "nonfinite_logprob"
    PRED_ALIGNMENT_MISMATCH = "pred_alignment_mismatch"
    OBJECT_IDX_OOB = "object_idx_oob"


class Reducer(StrEnum):
    """How four log-probabilities become one score."""

    MEAN_LOGPROB = "mean_logprob"
    MIN_LOGPROB = "min_logprob"
    SUM_LOGPROB = "sum_logprob"
    PRODUCT = "product"
    MEAN_PROB = "mean_prob"

    @property
    def method(self) -> str:
        """The name under which the outputs say how a score was made."""
        return f"exp_{self}" if self.endswith("logprob") else str(self)


Reduction = Callable[[float, float, float, float], float]

_REDUCE: Mapping[Reducer, Reduction] = {
    Reducer.MEAN_LOGPROB: lambda a, b, c, d: exp((a + b + c + d) / 4),
    Reducer.MIN_LOGPROB: lambda a, b, c, d: exp(min(a, b, c, d)),
    Reducer.SUM_LOGPROB: lambda a, b, c, d: exp(a + b + c + d),
    Reducer.PRODUCT: lambda a, b, c, d: exp(a) * exp(b) * exp(c) * exp(d),
    Reducer.MEAN_PROB: lambda a, b, c, d: (exp(a) + exp(b) + exp(c) + exp(d)) / 4,
}


class Trace:
    """The tokens that the model generated for one sample, and the natural logarithm of each one's probability.

    Raises TypeError where a token is no string.
    """

    __slots__ = ("_tokens", "coordinates", "logprobs", "same_length")

    def __init__(
        self, tokens: list[str], logprobs: Sequence[float | None], form: TraceForm = TraceForm.COORD_TOKENS
    ) -> None:
        self.same_length = len(tokens) == len(logprobs)
        self.logprobs = logprobs
        self._tokens: list[list[int]] | None = None
        if form is TraceForm.COORD_TOKENS:
            self.coordinates = Coordinates(tokens)
        else:
            numbers, self._tokens = numbers_in(tokens)
            self.coordinates = Coordinates.of_numbers(numbers)
            if self.same_length:
                self.logprobs = [_summed([logprobs[token] for token in own]) for own in self._tokens]

    def tokens_of(self, positions: list[int]) -> list[int]:
        """The tokens of coordinates that are given by their positions in the log-probabilities."""
        return positions if self._tokens is None else [token for at in positions for token in self._tokens[at]]


def score_objects(
    pred: Sequence[Prediction],
    raw_output: Any,
    trace: Trace | None,
    size: Size = (None, None),
    reducer: Reducer = Reducer.MEAN_LOGPROB,
    standardizing: Standardizing | None = None,
) -> list[Entry]:
    """What becomes of each object of one sample, in their order: an entry of `pred_confidence.jsonl`.

    `pred` are the emitted predictions (`type`, `points` in pixels, `desc`), `raw_output` is the model's own output with
    its bins, `size` the width and height of the image where they are known, `standardizing` what made the former of the
    latter (by default `USUAL`).
    """
    method, raws = reducer.method, read_objects(raw_output)
    own = None if raws is None else (standardizing or Standardizing(USUAL)).own_objects(pred, raws, size)
    if trace is None:
        return _all_fail(pred, method, Failure.MISSING_TRACE)
    if not trace.same_length:
        return _all_fail(pred, method, Failure.TRACE_LEN_MISMATCH)
    if raws is None:
        return [_entry(index, item, method, failure=_without_bins(item)) for index, item in enumerate(pred)]
    if own is None:
        return _all_fail(pred, method, Failure.PRED_ALIGNMENT_MISMATCH)
    spans, logprobs, reduce = trace.coordinates.place_all(raws), trace.logprobs, _REDUCE[reducer]
    entries = []
    for index, (item, at) in enumerate(zip(pred, own, strict=True)):
        bins = raws[at][2]
        if item["type"] != BOX or bins is None or len(bins) != 4:
            entries.append(_entry(index, item, method, failure=_without_bins(item)))
        elif (span := spans[at]) is None:
            entries.append(_entry(index, item, method, failure=Failure.MISSING_SPAN))
        else:
            matched, ambiguous = span
            x1, y1, x2, y2 = matched
            score = _reduced(reduce, logprobs[x1], logprobs[y1], logprobs[x2], logprobs[y2])
            failure = Failure.NONFINITE_LOGPROB if score is None else None
            entries.append(_entry(index, item, method, score, trace.tokens_of(matched), ambiguous, failure))
    return entries


def merge_scores(pred: Sequence[Prediction], entries: Sequence[Entry]) -> tuple[list[dict[str, Any]], list[Entry]]:
    """The predictions that are kept, each with its score, and the entries as they then stand.

    A score for an object that does not exist can only come from a bug. It is turned into the failure `object_idx_oob`,
    so that it shows in every output, and is given to no prediction.
    """
    kept, checked, count = [], [], len(pred)
    for entry in entries:
        index, score = entry["object_idx"], entry["score"]
        if not 0 <= index < count:
            entry = _entry(index, entry, entry["confidence_details"]["method"], failure=Failure.OBJECT_IDX_OOB)
        elif score is not None:
            kept.append({**pred[index], "score": score})
        checked.append(entry)
    return kept, checked


def failures(entries: Sequence[Entry]) -> list[str]:
    """The reasons of the objects that have no score."""
    return [entry["confidence_details"]["failure_reason"] for entry in entries if entry["score"] is None]


def _entry(
    index: int,
    item: Prediction,
    method: str,
    score: float | None = None,
    matched: Sequence[int] = (),
    ambiguous: int = 0,
    failure: Failure | None = None,
) -> Entry:
    return {
        "object_idx": index,
        "type": item["type"],
        "desc": item["desc"],
        "points": item["points"],
        "confidence": score,
        "score": score,
        "kept": score is not None,
        "confidence_details": {
            "method": method,
            "coord_token_count": len(matched),
            "matched_token_indices": matched,
            "ambiguous_matches": ambiguous,
            "failure_reason": failure,
        },
    }


def _all_fail(pred: Sequence[Prediction], method: str, failure: Failure) -> list[Entry]:
    return [_entry(index, item, method, failure=failure) for index, item in enumerate(pred)]


def _without_bins(item: Prediction) -> Failure:
    return Failure.MISSING_COORD_BINS if item["type"] == BOX else Failure.UNSUPPORTED_GEOMETRY_TYPE


def _reduced(reduce: Reduction, a: float | None, b: float | None, c: float | None, d: float | None) -> float | None:
    """The score of four log-probabilities; None where they make none."""
    try:
        score = reduce(a, b, c, d)  # type: ignore[arg-type]
        # A NaN fails the comparison; a single infinity may hide in a mean, a minimum or a sum of probabilities.
        return score if 0.0 < score <= 1.0 and isfinite(a + b + c + d) else None  # type: ignore[operator]
    except (OverflowError, TypeError):  # far above 0, or no number
        return None


def _summed(logprobs: Sequence[float | None]) -> float | None:
    """The log-probability of several tokens in a row; None where one of them has none."""
    try:
        return sum(logprobs)  # type: ignore[arg-type]
    except (OverflowError, TypeError):  # beyond any number, or none
        return None

"""The post-operation on files: what it writes, what it refuses, and that it writes all or nothing."""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import ConfidenceError
from harness.scoring.confidence import Reducer, score_objects
from harness.tasks.confidence import postop
from harness.tasks.confidence.postop import CONFIDENCE_FILE, SCORED_FILE, SUMMARY_FILE, Options, run_postop

OUTPUTS = {CONFIDENCE_FILE, SCORED_FILE, SUMMARY_FILE}
LOGPROBS = [-0.1, -0.2, -0.3, -0.4]


def token(k: int) -> str:
    return f"<|coord_{k}|>"


def sample(*boxes: tuple[int, int, int, int], **fields: Any) -> dict[str, Any]:
    """A record of an image of 1000 x 1000, where pixels and bins are the same numbers."""
    pred = [{"type": "bbox_2d", "points": list(bins), "desc": "cat"} for bins in boxes]
    raw = [{"desc": "cat", "bbox_2d": list(map(token, bins))} for bins in boxes]
    record = {"image": "a.jpg", "width": 1000, "height": 1000, "gt": pred, "pred": pred}
    return record | {"raw_output_json": {"objects": raw}} | fields


def trace(line_idx: int, *boxes: tuple[int, int, int, int], **fields: Any) -> dict[str, Any]:
    tokens = [token(k) for bins in boxes for k in bins]
    record = {"line_idx": line_idx, "generated_token_text": tokens, "token_logprobs": LOGPROBS * len(boxes)}
    return record | fields


class Files:
    """Two input files in a folder, and the outputs beside them."""

    def __init__(self, folder: Path) -> None:
        self.artifact, self.trace, self.out = folder / "gt_vs_pred.jsonl", folder / "trace.jsonl", folder / "out"

    def write(self, records: list[dict[str, Any]], traces: list[dict[str, Any]]) -> Files:
        self.artifact.write_text("".join(json.dumps(record) + "\n" for record in records))
        self.trace.write_text("".join(json.dumps(record) + "\n" for record in traces))
        return self

    def run(self, **options: Any) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
        run_postop(self.artifact, self.trace, self.out, **options)
        confidence, scored = (
            [json.loads(line) for line in (self.out / name).read_text().splitlines()]
            for name in (CONFIDENCE_FILE, SCORED_FILE)
        )
        return json.loads((self.out / SUMMARY_FILE).read_text()), confidence, scored


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


BOX, OTHER = (100, 200, 300, 400), (10, 20, 30, 40)
SCORE = math.exp((-0.1 - 0.2 - 0.3 - 0.4) / 4)


def test_outputs_have_the_documented_shape(files: Files) -> None:
    files.write([sample(BOX)], [trace(0, BOX)])
    summary, confidence, scored = files.run()
    details = {
        "method": "exp_mean_logprob",
        "coord_token_count": 4,
        "matched_token_indices": [0, 1, 2, 3],
        "ambiguous_matches": 0,
        "failure_reason": None,
    }
    entry = {"object_idx": 0, "type": "bbox_2d", "desc": "cat", "points": list(BOX), "confidence": SCORE}
    entry |= {"score": SCORE, "kept": True, "confidence_details": details}
    assert confidence == [{"line_idx": 0, "image": "a.jpg", "objects": [entry]}]
    record = sample(BOX)
    record["pred"][0] = {**record["pred"][0], "score": SCORE}
    record["gt"] = sample(BOX)["gt"]
    assert scored == [record | {"pred_score_source": "confidence_postop", "pred_score_version": 1}]
    assert summary == {
        "total_samples": 1,
        "total_pred_objects": 1,
        "kept_pred_objects": 1,
        "dropped_pred_objects": 0,
        "kept_fraction": 1.0,
        "dropped_by_reason": {},
        "method": "exp_mean_logprob",
        "converter": "round_999_last",
        "drops": "degenerate",
        "trace_form": "coord_tokens",
        "records_compared": 1,
        "records_reproduced": 1,
        "pred_score_source": "confidence_postop",
        "pred_score_version": 1,
    }


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_scenario_trace_joins_by_line_idx(files: Files, order: tuple[int, ...]) -> None:
    boxes = [(i + 1, i + 2, i + 3, i + 4) for i in range(3)]
    traces = [trace(i, boxes[i], token_logprobs=[-0.1 * (i + 1)] * 4) for i in range(3)]
    files.write([sample(bins) for bins in boxes], [traces[i] for i in order])
    _, confidence, _ = files.run()
    scores = [entry["objects"][0]["score"] for entry in confidence]
    assert scores == pytest.approx([math.exp(-0.1), math.exp(-0.2), math.exp(-0.3)])


@pytest.mark.parametrize("order", ["in step", "by index"])
def test_scenario_missing_trace_is_observable_in_the_summary(files: Files, order: str) -> None:
    traces = [trace(1, BOX), trace(3, BOX)]
    files.write([sample(BOX)] * 5, traces if order == "in step" else traces[::-1])
    summary, confidence, scored = files.run()
    assert summary["dropped_by_reason"] == {"missing_trace": 3}
    assert summary["kept_fraction"] == 2 / 5
    assert [len(record["pred"]) for record in scored] == [0, 1, 0, 1, 0]
    dropped = confidence[0]["objects"][0]
    assert (dropped["confidence"], dropped["score"], dropped["kept"]) == (None, None, False)
    assert dropped["confidence_details"]["failure_reason"] == "missing_trace"


def test_scenario_scored_jsonl_merges_confidence_into_pred_score(files: Files) -> None:
    record = sample(BOX)
    record["pred"][0] |= {"extra": {"a": [1, 2.5]}, "score": 1.0}
    files.write([record], [trace(0, BOX, token_logprobs=[math.log(0.8)] * 4)])
    _, _, scored = files.run()
    assert scored[0]["pred"] == [{**record["pred"][0], "score": pytest.approx(0.8)}]


def test_scenario_objects_with_missing_confidence_are_dropped_from_scored_predictions(files: Files) -> None:
    boxes = [(1, 2, 3, 4), (5, 6, 7, 8), (9, 10, 11, 12)]
    files.write([sample(*boxes)], [trace(0, boxes[2], boxes[0])])
    summary, confidence, scored = files.run()
    assert [item["points"] for item in scored[0]["pred"]] == [[1, 2, 3, 4], [9, 10, 11, 12]]
    assert [item["object_idx"] for item in confidence[0]["objects"]] == [0, 1, 2]
    assert [item["kept"] for item in confidence[0]["objects"]] == [True, False, True]
    assert summary["dropped_by_reason"] == {"missing_span": 1}


def test_other_fields_are_copied_with_every_value(files: Files) -> None:
    odd = {
        "huge": 2**70,
        "tiny": 5e-324,
        "nan": math.nan,
        "inf": -math.inf,
        "lone": "\ud800",
        "nested": {"a": [None, True]},
    }
    plain = {"unicode": "é \U0001f3c3", "float": 0.1, "whole": 1.0, "edge": 2**64 - 1, "negative": -(2**63)}
    records = [sample(BOX, **odd), sample(BOX, **plain), sample(BOX, huge=2**64)]
    files.write(records, [trace(i, BOX) for i in range(3)])
    _, _, scored = files.run()
    for before, after in zip(records, scored, strict=True):
        changed = {"pred", "pred_score_source", "pred_score_version"}
        assert repr({k: v for k, v in after.items() if k not in changed}) == repr(
            {k: v for k, v in before.items() if k not in changed}
        )


def test_nan_and_infinities_in_logprobs_are_read_and_reported_as_nonfinite_logprob(files: Files) -> None:
    values = (math.nan, math.inf, -math.inf, None, "-0.1")
    traces = [trace(i, BOX, token_logprobs=[-0.1, value, -0.1, -0.1]) for i, value in enumerate(values)]
    summary, _, _ = files.write([sample(BOX)] * 5, traces).run()
    assert summary["dropped_by_reason"] == {"nonfinite_logprob": 5}


def test_a_lone_surrogate_in_a_token_does_not_stop_the_run(files: Files) -> None:
    tokens = ["\ud83d", *map(token, BOX)]
    traces = [trace(0, generated_token_text=tokens, token_logprobs=[-0.1] * 5)]
    summary, _, _ = files.write([sample(BOX)], traces).run()
    assert summary["kept_pred_objects"] == 1


def test_no_samples_and_no_objects(files: Files) -> None:
    assert files.write([], []).run()[0]["kept_fraction"] == 1.0
    assert files.write([sample()], [trace(0)]).run()[0]["total_pred_objects"] == 0


def test_object_idx_oob_reaches_every_output(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug in the bookkeeping, put in on purpose."""
    monkeypatch.setattr(postop, "score_objects", lambda *given: [{**score_objects(*given)[0], "object_idx": 7}])
    summary, confidence, scored = files.write([sample(BOX)], [trace(0, BOX)]).run()
    assert summary["dropped_by_reason"] == {"object_idx_oob": 1}
    assert confidence[0]["objects"][0]["confidence_details"]["failure_reason"] == "object_idx_oob"
    assert confidence[0]["objects"][0]["kept"] is False
    assert scored[0]["pred"] == []


def test_a_reducer_is_named_and_keeps_the_version(files: Files) -> None:
    files.write([sample(BOX)], [trace(0, BOX)])
    summary, confidence, scored = files.run(options=Options(Reducer.MIN_LOGPROB))
    assert summary["method"] == confidence[0]["objects"][0]["confidence_details"]["method"] == "exp_min_logprob"
    assert scored[0]["pred"][0]["score"] == math.exp(-0.4)
    assert summary["pred_score_version"] == scored[0]["pred_score_version"] == 1


GOOD, GOOD_TRACE = json.dumps(sample(BOX)), json.dumps(trace(0, BOX))


@pytest.mark.parametrize(
    ("artifact", "traces", "message"),
    [
        ([GOOD, "", GOOD], [GOOD_TRACE], "gt_vs_pred.jsonl, line 2: a blank line"),
        ([GOOD, "{"], [GOOD_TRACE], "gt_vs_pred.jsonl, line 2: not JSON"),
        ([GOOD, "[1]"], [GOOD_TRACE], r"gt_vs_pred.jsonl, line 2: expected a JSON object, got \[1\]"),
        ([GOOD, "[" * 100_000], [GOOD_TRACE], "gt_vs_pred.jsonl, line 2: not JSON"),
        (["\ufeff" + GOOD], [GOOD_TRACE], "gt_vs_pred.jsonl, line 1: not JSON"),
        ([json.dumps(sample(BOX, image=None))], [GOOD_TRACE], "line 1: image: expected a string"),
        (
            [json.dumps(sample(BOX, width="640"))],
            [GOOD_TRACE],
            "line 1: width: expected a number of pixels or null, got",
        ),
        (
            [json.dumps(sample(BOX, height=-1))],
            [GOOD_TRACE],
            "line 1: height: expected a number of pixels or null, got",
        ),
        ([json.dumps(sample(BOX, width=math.inf))], [GOOD_TRACE], "line 1: width: expected a number of pixels or null"),
        ([json.dumps(sample(BOX, height=True))], [GOOD_TRACE], "line 1: height: expected a number of pixels or null"),
        ([json.dumps(sample(BOX, pred=None))], [GOOD_TRACE], "line 1: pred: expected a list"),
        ([json.dumps(sample(BOX, pred=[1]))], [GOOD_TRACE], "line 1: pred.0: expected an object"),
        (
            [json.dumps(sample(BOX, pred=[{"type": "bbox_2d"}]))],
            [GOOD_TRACE],
            "line 1: pred.0: expected an object with type, desc",
        ),
        (
            [json.dumps(sample(BOX, pred=[{"type": "bbox_2d", "desc": "", "points": ["1"]}]))],
            [GOOD_TRACE],
            "line 1: pred.0.points: expected a list of numbers",
        ),
        ([GOOD], ["", GOOD_TRACE], "trace.jsonl, line 1: a blank line"),
        ([GOOD], [GOOD_TRACE, "nonsense"], "trace.jsonl, line 2: not JSON"),
        ([GOOD], [GOOD_TRACE, GOOD_TRACE], "trace.jsonl, line 2: line_idx: 0 has a trace already"),
        ([GOOD], [json.dumps(trace(-1, BOX))], "trace.jsonl, line 1: line_idx: expected a whole number from 0, got -1"),
        ([GOOD], [json.dumps(trace(0) | {"line_idx": True})], "line 1: line_idx: expected a whole number"),
        ([GOOD], [json.dumps(trace(0) | {"line_idx": 0.0})], "line 1: line_idx: expected a whole number"),
        (
            [GOOD],
            [GOOD_TRACE, json.dumps(trace(1, BOX))],
            "trace.jsonl, line 2: line_idx: 1 is past the last of 1 samples",
        ),
        ([GOOD], [json.dumps(trace(10**15, BOX))], "trace.jsonl, line 1: line_idx: 1000000000000000 is past the last"),
        ([GOOD], [json.dumps(trace(0, generated_token_text=None))], "generated_token_text: expected a list of strings"),
        ([GOOD], [json.dumps(trace(0, generated_token_text=["a", 1]))], "generated_token_text: expected a list of"),
        ([GOOD], [json.dumps(trace(0, token_logprobs="a"))], "token_logprobs: expected a list of numbers"),
        ([GOOD], ['{"line_idx": 0}'], "generated_token_text: expected a list of strings"),
    ],
)
def test_a_malformed_line_is_named_and_nothing_is_written(
    files: Files, artifact: list[str], traces: list[str], message: str
) -> None:
    files.artifact.write_text("".join(line + "\n" for line in artifact))
    files.trace.write_text("".join(line + "\n" for line in traces))
    with pytest.raises(ConfidenceError, match=message):
        run_postop(files.artifact, files.trace, files.out)
    assert list(files.out.iterdir()) == []


def test_a_missing_file_and_an_output_that_would_replace_an_input_are_refused(files: Files, tmp_path: Path) -> None:
    with pytest.raises(ConfidenceError, match=r"gt_vs_pred\.jsonl: cannot be read: No such file"):
        run_postop(files.artifact, files.trace, files.out)
    assert not files.out.exists()
    files.write([sample(BOX)], [trace(0, BOX)])
    renamed = files.artifact.rename(tmp_path / SCORED_FILE)
    with pytest.raises(ConfidenceError, match="would be overwritten"):
        run_postop(renamed, files.trace, tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(ConfidenceError, match="cannot be made a folder"):
        run_postop(renamed, files.trace, tmp_path / "file")


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir() if path.is_file()}


def many(rng: random.Random, count: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    boxes = [[tuple(rng.sample(range(1000), 4)) for _ in range(3)] for _ in range(count)]
    traces = [trace(i, *group) for i, group in enumerate(boxes) if i % 7]  # type: ignore[arg-type]
    return [sample(*group) for group in boxes], traces  # type: ignore[arg-type]


def test_the_same_input_twice_gives_identical_bytes_and_leaves_the_inputs_alone(files: Files, tmp_path: Path) -> None:
    records, traces = many(random.Random(1), 200)
    files.write(records, traces)
    before = digests(tmp_path)
    files.run()
    first = digests(files.out)
    files.run()
    assert digests(files.out) == first
    assert set(first) == OUTPUTS
    assert digests(tmp_path) == before
    files.write(records, random.Random(2).sample(traces, len(traces))).run()
    assert digests(files.out) == first


@pytest.mark.parametrize("size", [{}, {"width": None}, {"width": 0, "height": 480.5}, {"width": 10**9, "height": 1}])
def test_a_size_may_be_unknown_or_odd(files: Files, size: dict[str, Any]) -> None:
    huge = {"type": "bbox_2d", "points": [10**400, 1, 2, 3], "desc": "cat"}
    files.write([sample(BOX, **{"width": None, "height": None} | size, pred=[huge])], [trace(0, BOX)])
    assert files.run()[0]["dropped_by_reason"] == {"pred_alignment_mismatch": 1}


@pytest.mark.parametrize("earlier", [False, True], ids=["first run", "over an earlier one"])
def test_killed_half_way_there_is_no_partial_output_under_the_final_names(files: Files, earlier: bool) -> None:
    if earlier:
        files.write([sample(BOX)], [trace(0, BOX)]).run()
    before = digests(files.out) if earlier else {}
    files.write(*many(random.Random(3), 5000))
    command = [sys.executable, "-m", "harness", "confidence", str(files.artifact), str(files.trace)]
    process = subprocess.Popen([*command, "--out", str(files.out)], stderr=subprocess.DEVNULL)
    written = _wait_for(
        lambda: [path for path in files.out.glob(f".confidence-*/{SCORED_FILE}") if path.stat().st_size]
    )
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait(timeout=60) == -signal.SIGKILL
    assert written
    assert digests(files.out) == before
    files.run()
    assert set(digests(files.out)) == OUTPUTS


def _wait_for(condition: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 60
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.001)
    return found

"""Writes the sample pair of files, the same bytes every time: `python -m harness.tasks.confidence.make_sample`.

All of it is made up: no model was run and there are no images. Boxes that overlap a target were given higher
probabilities than the others, with much scatter, as an honest model would have. The first samples show one reason each
for which a box is dropped; only `object_idx_oob`, which is a bug in the bookkeeping, cannot be made with files.
"""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "sample"
SEED = 7
SAMPLES = 24
WIDTH, HEIGHT = 640, 480
CLASSES = ("runner", "race bib", "bicycle")

Bins = list[int]
Sample = tuple[dict[str, Any], dict[str, Any] | None]


def main() -> None:
    """Write both files and the note that goes with them."""
    rng = random.Random(SEED)
    samples = [spoil(line_idx, *make(rng, line_idx)) for line_idx in range(SAMPLES)]
    FOLDER.mkdir(exist_ok=True)
    _write("gt_vs_pred.jsonl", [record for record, _ in samples])
    _write("pred_token_trace.jsonl", [trace for _, trace in samples if trace])
    note = f"Made up by `python -m {__spec__.name}` (seed {SEED}): no model was run, no image exists.\n"
    (FOLDER / "README.md").write_text(note)


def make(rng: random.Random, line_idx: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A sample in which nothing is wrong: a few targets, most of them found, and some boxes that are not there."""
    targets = [(rng.choice(CLASSES), _box(rng)) for _ in range(rng.randint(2, 4))]
    found = [(desc, _near(rng, bins), True) for desc, bins in targets if rng.random() < 0.85]
    extra = [(rng.choice(CLASSES), _box(rng), False) for _ in range(rng.randint(0, 2))]
    boxes = found + extra
    rng.shuffle(boxes)
    tokens, logprobs = ['{"', "objects", '":', " ["], [-0.01] * 4
    for desc, bins, right in boxes:
        tokens += ['{"', "desc", '":', f' "{desc}"', ', "', "bbox", "_2d", '":', " ["]
        logprobs += [-0.02] * 9
        doubt = rng.uniform(0.05, 0.5) if right else rng.uniform(0.2, 1.6)
        for k in bins:
            tokens += [f"<|coord_{k}|>", ", "]
            logprobs += [-round(doubt * rng.uniform(0.5, 1.5), 4), -0.01]
        tokens, logprobs = [*tokens, "]", "}, "], [*logprobs, -0.01, -0.01]
    record = {
        "image": f"made-up/{line_idx:02}.jpg",
        "note": "made up: no model was run, no image exists",
        "width": WIDTH,
        "height": HEIGHT,
        "gt": [{"type": "bbox_2d", "points": _pixels(bins), "desc": desc} for desc, bins in targets],
        "pred": [{"type": "bbox_2d", "points": _pixels(bins), "desc": desc} for desc, bins, _ in boxes],
        "raw_output_json": {
            "objects": [{"desc": desc, "bbox_2d": [f"<|coord_{k}|>" for k in bins]} for desc, bins, _ in boxes]
        },
    }
    return record, {"line_idx": line_idx, "generated_token_text": tokens, "token_logprobs": logprobs}


def spoil(line_idx: int, record: dict[str, Any], trace: dict[str, Any]) -> Sample:
    """Let the first samples show one reason each."""
    pred, raw, tokens = record["pred"], record["raw_output_json"]["objects"], trace["generated_token_text"]
    first = next(i for i, token in enumerate(tokens) if token.startswith("<|coord_"))
    if line_idx == 0:  # missing_trace
        return record, None
    if line_idx == 1:  # trace_len_mismatch
        trace["token_logprobs"].pop()
    if line_idx == 2:  # unsupported_geometry_type
        x1, y1, x2, y2 = pred[0]["points"]
        pred[0] |= {"type": "poly", "points": [x1, y1, x2, y1, x2, y2, x1, y2]}
        a, b, c, d = raw[0].pop("bbox_2d")
        raw[0]["poly"] = [a, b, c, b, c, d, a, d]
    if line_idx == 3:  # missing_coord_bins
        record["raw_output_json"] = None
    if line_idx == 4:  # missing_span
        tokens[first] = "<|coord_999|>"
    if line_idx == 5:  # nonfinite_logprob
        trace["token_logprobs"][first] = math.nan
    if line_idx == 6:  # pred_alignment_mismatch
        raw[0]["desc"] = "something else"
    if line_idx == 7:  # a token that is half of a character: no failure
        tokens[0] = "\ud83c"
    return record, trace


def _box(rng: random.Random) -> Bins:
    x1, y1 = rng.randrange(0, 700), rng.randrange(0, 700)
    return [x1, y1, x1 + rng.randrange(80, 290), y1 + rng.randrange(80, 290)]


def _near(rng: random.Random, bins: Bins) -> Bins:
    return [min(999, max(0, k + rng.randint(-18, 18))) for k in bins]


def _pixels(bins: Bins) -> list[int]:
    return [round(k / 1000 * side) for k, side in zip(bins, (WIDTH, HEIGHT, WIDTH, HEIGHT), strict=True)]


def _write(name: str, records: list[dict[str, Any]]) -> None:
    (FOLDER / name).write_text("".join(json.dumps(record) + "\n" for record in records))


if __name__ == "__main__":
    main()

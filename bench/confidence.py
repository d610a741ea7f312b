"""What does the confidence post-operation cost beyond reading and writing its files?

Process CPU time, best of several, on 10,000 samples of about 600 tokens and ten boxes each. The peer does nothing but
parse the same two input files with orjson and write the same two output files with it, from records that it does not
have to make: a floor. Ours, which also checks every line, aligns, matches and reduces, may take 1.8 times as long.

Memory: the peak resident size of a process that works on 20,000 samples, beside one that works on 10,000. The ratio is
the smaller over the larger file's peak and may fall to 0.95: flat, but for noise.

    python -m bench confidence
"""

from __future__ import annotations

import math
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from harness.confidence.postop import CONFIDENCE_FILE, SCORED_FILE, run_postop

SAMPLES = 10_000
TOKENS = 600
BOXES = 10
REPEATS = 3
ALLOWED = 1.8
FLAT = 0.95

WORDS = ("person", "bicycle", "traffic light", "dog", "running shoe", "race bib", "banner", "street sign")
FILLER = ("\n", " ", '",', " and", " the", " of", "},", '{"', "desc", '":', ' "', "a", "b", " left", " right", "ing")

_CHILD = """
import resource, sys
from pathlib import Path
from harness.confidence.postop import run_postop
run_postop(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def write_inputs(folder: Path, samples: int, seed: int = 0) -> tuple[Path, Path]:
    """An artifact and its trace, line by line."""
    rng = random.Random(seed)
    artifact, trace = folder / "gt_vs_pred.jsonl", folder / "pred_token_trace.jsonl"
    with artifact.open("wb") as records, trace.open("wb") as traces:
        for line_idx in range(samples):
            record, tokens = _sample(rng, line_idx)
            logprobs = [-rng.expovariate(4.0) for _ in tokens]
            records.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
            row = {"line_idx": line_idx, "generated_token_text": tokens, "token_logprobs": logprobs}
            traces.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
    return artifact, trace


def _sample(rng: random.Random, line_idx: int) -> tuple[dict[str, Any], list[str]]:
    width, height = 1280, 960
    pred, raw, tokens = [], [], ['{"', "objects", '":', " ["]
    for _ in range(BOXES):
        x1, y1 = rng.randrange(900), rng.randrange(900)
        bins = [x1, y1, rng.randrange(x1 + 1, 1000), rng.randrange(y1 + 1, 1000)]
        desc, coords = rng.choice(WORDS), [f"<|coord_{k}|>" for k in bins]
        points = [round(k / 999 * (side - 1)) for k, side in zip(bins, (width, height) * 2, strict=True)]
        pred.append({"type": "bbox_2d", "points": points, "desc": desc})
        raw.append({"desc": desc, "bbox_2d": coords})
        tokens += [desc, '",', ' "', "bbox", "_", "2", "d", '":', " ["]
        for coord in coords:
            tokens += [coord, ", "]
    tokens += rng.choices(FILLER, k=max(0, TOKENS - len(tokens)))
    record = {
        "image": f"images/{line_idx:06}.jpg",
        "width": width,
        "height": height,
        "gt": pred[: BOXES // 2],
        "pred": pred,
        "raw_output_json": {"objects": raw},
        "errors": [],
    }
    return record, tokens


def copy_with_orjson(inputs: tuple[Path, ...], outputs: dict[Path, list[Any]], folder: Path) -> None:
    """Parse every line of the inputs; write the records of the outputs."""
    for path in inputs:
        with path.open("rb", buffering=1 << 20) as file:
            for line in file:
                orjson.loads(line)
    for path, records in outputs.items():
        with (folder / path.name).open("wb") as file:
            for record in records:
                file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))


def measure() -> list[dict[str, Any]]:
    """One entry for time and one for memory."""
    with tempfile.TemporaryDirectory() as name:
        return [_time(Path(name) / "time"), _memory(Path(name) / "memory")]


def _time(folder: Path) -> dict[str, Any]:
    out, copies = folder / "out", folder / "copies"
    copies.mkdir(parents=True)
    inputs = write_inputs(folder, SAMPLES)
    ours, summary = _cpu_seconds(lambda: run_postop(*inputs, out))
    if summary.objects != SAMPLES * BOXES or summary.kept != summary.objects:
        raise AssertionError(f"expected every box to be kept: {summary}")
    outputs = {
        out / file: [orjson.loads(line) for line in (out / file).open("rb")] for file in (CONFIDENCE_FILE, SCORED_FILE)
    }
    peer, _ = _cpu_seconds(lambda: copy_with_orjson(inputs, outputs, copies))
    return {
        "name": f"confidence, {SAMPLES:,} samples of about {TOKENS} tokens",
        "ours_seconds": ours,
        "peer_name": "orjson, parsing and writing the same files",
        "peer_seconds": peer,
        "ratio": peer / ours,
        "required_ratio": 1 / ALLOWED,
    }


def _memory(folder: Path) -> dict[str, Any]:
    peaks, seconds = [], []
    for samples in (SAMPLES, 2 * SAMPLES):
        work = folder / str(samples)
        work.mkdir(parents=True)
        inputs = [*map(str, write_inputs(work, samples)), str(work / "out")]
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", _CHILD, *inputs], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        seconds.append(time.perf_counter() - start)
        peaks.append(int(done.stdout))
    return {
        "name": f"confidence, peak memory {peaks[0] / 1024:.1f} MiB at {SAMPLES:,} samples, "
        f"{peaks[1] / 1024:.1f} MiB at {2 * SAMPLES:,}",
        "ours_seconds": seconds[1],
        "peer_name": "itself, at half the samples",
        "peer_seconds": seconds[0],
        "ratio": peaks[0] / peaks[1],
        "required_ratio": FLAT,
    }


def _cpu_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    best, result = math.inf, None
    for _ in range(REPEATS):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return best, result


def main() -> None:
    """Print the measurements."""
    for row in measure():
        print(
            f"{row['name']}: {row['ours_seconds']:.2f} s, {row['peer_name']}: {row['peer_seconds']:.2f} s, "
            f"ratio {row['ratio']:.2f} (asked: {row['required_ratio']:.2f})"
        )


if __name__ == "__main__":
    main()

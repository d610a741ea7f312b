"""What does the confidence post-operation cost beyond reading and writing its files?

Process CPU time, the best of several turns that ours and the peer take one after the other, on 10,000 samples of about
600 tokens and ten boxes each. The peer only parses and writes the same two files with orjson, line by line and with the
same buffers. Ours checks every line, aligns, matches, reduces and writes its outputs, in at most 1.8 times that.

Memory: the peak resident size of a process that works on 20,000 samples, beside one that works on 10,000. Here the
ratio is that of the peaks, and may fall to 0.95: flat, but for noise.

    scripts/bench confidence
"""

from __future__ import annotations

import math
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson

from harness.tasks.confidence.lines import BUFFER
from harness.tasks.confidence.postop import run_postop

SAMPLES = 10_000
TOKENS = 600
BOXES = 10
TURNS = 9
ALLOWED = 1.8
FLAT = 0.95

WORDS = ("person", "bicycle", "traffic light", "dog", "running shoe", "race bib", "banner", "street sign")
FILLER = ("\n", " ", '",', " and", " the", " of", "},", '{"', "desc", '":', ' "', "a", "b", " left", " right", "ing")

#: Not ru_maxrss: a child takes over the peak of the process that started it.
_CHILD = """
import sys
from pathlib import Path
from harness.tasks.confidence.postop import run_postop
run_postop(*map(Path, sys.argv[1:]))
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
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
        if points[0] != points[2] and points[1] != points[3]:  # a box of no area is not emitted
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


def copy_with_orjson(inputs: Sequence[Path], folder: Path) -> None:
    """Parse and write every line."""
    for path in inputs:
        with path.open("rb", buffering=BUFFER) as source, (folder / path.name).open("wb", buffering=BUFFER) as copy:
            for line in source:
                copy.write(orjson.dumps(orjson.loads(line), option=orjson.OPT_APPEND_NEWLINE))


def measure() -> list[dict[str, Any]]:
    """One entry for time and one for memory."""
    with tempfile.TemporaryDirectory() as name:
        return [_time(Path(name) / "time"), _memory(Path(name) / "memory")]


def _time(folder: Path) -> dict[str, Any]:
    copies = folder / "copies"
    copies.mkdir(parents=True)
    inputs = write_inputs(folder, SAMPLES)
    ours = peer = math.inf
    for _ in range(TURNS):
        seconds, summary = _cpu_seconds(lambda: run_postop(*inputs, folder / "out"))
        ours = min(ours, seconds)
        peer = min(peer, _cpu_seconds(lambda: copy_with_orjson(inputs, copies))[0])
        if not 0.999 * SAMPLES * BOXES < summary.objects == summary.card.kept:
            raise AssertionError(f"expected every box to be kept: {summary}")
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
    start = time.process_time()
    result = work()
    return time.process_time() - start, result

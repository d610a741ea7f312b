"""How fast is fuzzy table accuracy, against the rules written out with the textbook dynamic programme?

Process CPU time. Ours is the best of several runs. The peer is run in full on the same cells, at 100 x 100 the best of
several, at 1,000 x 1,000 (a million pairs) once; nothing is scaled. It normalises each cell and looks for numbers once,
not once a pair. At 5,000 x 5,000 it would take minutes, so that case is held against a fixed limit instead. Both must
return the same totals, or the measurement fails.

*mixed* is like a table of a paper: numbers, repeated words, and texts of which the extraction garbles a part.
*distinct* is the hard case: unrelated texts made of the same few words, none twice in a table. Cells have 3 to 25
characters where nothing else is said.

    python bench/fuzzy_tables.py
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from math import fsum
from typing import Any

from harness.scoring.cells import is_numeric_cell, normalize_cell
from harness.scoring.fuzzy_tables import compute_fuzzy_accuracy

COLUMNS = 5
LIMIT_SECONDS = 2.0
# fmt: off
WORDS = [
    "mean", "median", "total", "control", "treatment", "baseline", "group", "effect", "sample", "model", "error",
    "standard", "deviation", "weight", "height", "rate", "number", "of", "patients", "at", "day", "with", "and",
    "without", "placebo", "dose", "mg", "per", "week",
]
# fmt: on

Rows = list[list[str]]


def naive_fuzzy_accuracy(gt_rows: Rows, ext_rows: Rows) -> tuple[float, float]:
    """Precision and recall: score every pair with the dynamic programme, sort, take what is free."""
    gt = [(text, is_numeric_cell(text)) for row in gt_rows for text in map(normalize_cell, row) if text]
    ext = [(text, is_numeric_cell(text)) for row in ext_rows for text in map(normalize_cell, row) if text]
    scored = []
    for e, (a, a_numeric) in enumerate(ext):
        for g, (b, b_numeric) in enumerate(gt):
            if a == b:
                scored.append((-1.0, e, g))
            elif not a_numeric and not b_numeric and (length := naive_substring_length(a, b)):
                scored.append((-length / max(len(a), len(b)), e, g))
    taken_ext, taken_gt, scores = set(), set(), []
    for minus_score, e, g in sorted(scored):
        if e not in taken_ext and g not in taken_gt:
            taken_ext.add(e)
            taken_gt.add(g)
            scores.append(-minus_score)
    return fsum(scores) / len(ext), fsum(scores) / len(gt)


def naive_substring_length(a: str, b: str) -> int:
    """Length of the longest common substring, by the table of common suffixes."""
    best, above = 0, [0] * (len(b) + 1)
    for x in a:
        row = [0]
        for j, y in enumerate(b):
            length = above[j] + 1 if x == y else 0
            row.append(length)
            if length > best:
                best = length
        above = row
    return best


def mixed(cells: int, seed: int) -> tuple[Rows, Rows]:
    """A table of labels, repeated words, numbers and texts, and an extraction that garbles one cell in five."""
    rng = random.Random(seed)
    make: list[Callable[[], str]] = [
        lambda: _phrase(rng, 3, 25),
        lambda: rng.choice(WORDS),
        lambda: f"{rng.uniform(0, 100):.1f}",
        lambda: f"{rng.uniform(0, 1):.3f}",
        lambda: _phrase(rng, 3, 25),
    ]
    gt = [[make[column]() for column in range(COLUMNS)] for _ in range(cells // COLUMNS)]
    ext = [[_garble(rng, cell) if rng.random() < 0.2 else cell for cell in row] for row in gt]
    return gt, rng.sample(ext, len(ext))


def distinct(cells: int, seed: int, shortest: int = 3, longest: int = 25) -> tuple[Rows, Rows]:
    """Two tables of unrelated texts, no text twice in a table."""
    rng = random.Random(seed)
    tables = []
    for _ in range(2):
        texts: dict[str, None] = {}
        while len(texts) < cells:
            texts[_phrase(rng, shortest, longest)] = None
        flat = list(texts)
        tables.append([flat[i : i + COLUMNS] for i in range(0, cells, COLUMNS)])
    return tables[0], tables[1]


def _phrase(rng: random.Random, shortest: int, longest: int) -> str:
    length, text = rng.randint(shortest, longest), ""
    while len(text) < length:
        text += rng.choice(WORDS) + (f"{rng.randint(0, 99)} " if rng.random() < 0.3 else " ")
    return text[:length].strip().ljust(shortest, "x")


def _garble(rng: random.Random, text: str) -> str:
    place = rng.randrange(len(text))
    return text[:place] + rng.choice("abcdefghijklm") + text[place + 1 :]


def _cpu_seconds(call: Callable[[], Any], times: int) -> tuple[float, Any]:
    """The least CPU time of several calls, and what the last one returned."""
    best, result = float("inf"), None
    for _ in range(times):
        start = time.process_time()
        result = call()
        best = min(best, time.process_time() - start)
    return best, result


def measure() -> list[dict[str, Any]]:
    """One entry a case: our seconds, the peer's, their ratio and the ratio that is asked for."""
    return [
        _measured("mixed", *mixed(100, seed=0), 25.0),
        _measured("distinct", *distinct(100, seed=0), 25.0),
        _measured("mixed", *mixed(1000, seed=0), 100.0),
        _measured("distinct", *distinct(1000, seed=0), 100.0),
        _measured("mixed", *mixed(5000, seed=0), None),
        _measured("distinct", *distinct(5000, seed=0), None),
        _measured("distinct, 5 to 40 long", *distinct(5000, seed=0, shortest=5, longest=40), None),
    ]


def _measured(name: str, gt: Rows, ext: Rows, required: float | None) -> dict[str, Any]:
    cells = sum(map(len, gt))
    small = cells <= 100
    ours, result = _cpu_seconds(lambda: compute_fuzzy_accuracy([], gt, [], ext), 100 if small else 3)
    if required is None:
        peer_name, peer, required = f"limit of {LIMIT_SECONDS:g} s", LIMIT_SECONDS, 1.0
    else:
        peer_name = "naive dynamic programme"
        peer, expected = _cpu_seconds(lambda: naive_fuzzy_accuracy(gt, ext), 5 if small else 1)
        if result[:2] != expected:
            raise AssertionError(f"{name}, {cells} cells: {result[:2]} differs from the peer's {expected}")
    return {
        "name": f"fuzzy tables, {name}, {cells:,} x {cells:,} cells",
        "ours_seconds": ours,
        "peer_name": peer_name,
        "peer_seconds": peer,
        "ratio": peer / ours,
        "required_ratio": required,
    }


def main() -> None:
    """Print the measurements as a table."""
    print(f"{'case':56} {'ours':>9} {'peer':>9} {'ratio':>7} {'asked':>6}  peer")
    for row in measure():
        print(
            f"{row['name']:56} {row['ours_seconds']:8.4f}s {row['peer_seconds']:8.3f}s {row['ratio']:6.1f}x "
            f"{row['required_ratio']:5.0f}x  {row['peer_name']}"
        )


if __name__ == "__main__":
    main()

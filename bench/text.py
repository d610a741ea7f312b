"""The batch similarity beside raw rapidfuzz calls: 200,000 pairs of labels of 3 to 12 letters."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cpdist

from bench.measure import best_of, row, show
from harness.scoring.text import similarities

PAIRS = 200_000
#: At most 1.5 times the time of the raw calls.
REQUIRED = 1 / 1.5


def make_words(seed: int) -> list[str]:
    """Random words."""
    rng = random.Random(seed)
    return ["".join(rng.choices("abcdefghijklmnoprstuwxyz", k=rng.randint(3, 12))) for _ in range(PAIRS)]


def measure() -> list[dict[str, Any]]:
    """Time the batch form beside a loop of single calls and beside rapidfuzz's own batch call."""
    a, b = make_words(0), make_words(1)
    score = Levenshtein.normalized_similarity
    ours = best_of(lambda: similarities(a, b))
    loop = best_of(lambda: [score(x, y) for x, y in zip(a, b, strict=True)])
    batch = best_of(lambda: cpdist(a, b, scorer=score, dtype=np.float64))
    return [
        row("label similarity", ours, "rapidfuzz, call by call", loop, REQUIRED),
        row("label similarity", ours, "rapidfuzz, one batch call", batch, REQUIRED),
    ]


if __name__ == "__main__":
    show(measure())

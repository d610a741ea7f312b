"""How alike two strings are: 1 - Levenshtein distance / length of the longer one.

Equal strings score 1, two empty ones too; an empty string beside any other scores 0. Case counts unless it is ignored,
in which case both sides are case-folded first (so `Straße` equals `STRASSE`). Nothing else is normalised.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cpdist

from harness.scoring.boxes import Floats


def similarity(a: str, b: str, ignore_case: bool = False) -> float:
    """How alike two strings are, from 0 to 1."""
    return float(similarities([a], [b], ignore_case)[0])


def similarities(a: Sequence[str], b: Sequence[str], ignore_case: bool = False) -> Floats:
    """How alike the strings of each pair `a[i]`, `b[i]` are."""
    if len(a) != len(b):
        raise ValueError(f"{len(a)} strings beside {len(b)}; expected pairs")
    if {*map(type, a), *map(type, b)} - {str}:
        _refuse(a, b)
    if ignore_case:
        a, b = [text.casefold() for text in a], [text.casefold() for text in b]
    result: Floats = cpdist(a, b, scorer=Levenshtein.normalized_similarity, dtype=np.float64)
    return result


def _refuse(a: Sequence[object], b: Sequence[object]) -> None:
    """Say which pair is not made of strings: rapidfuzz would score a missing one as a plain 0."""
    for i, pair in enumerate(zip(a, b, strict=True)):
        if not all(isinstance(text, str) for text in pair):
            raise ValueError(f"pair {i}: expected two strings, got {pair[0]!r} and {pair[1]!r}")

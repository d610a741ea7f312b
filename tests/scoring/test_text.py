"""Similarity of strings, against a plain Levenshtein distance."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scoring.text import similarities, similarity

words = st.text(alphabet="abAB ß", max_size=8)


def plain_distance(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("car", "car", 1.0),
        ("", "", 1.0),
        ("", "car", 0.0),
        ("car", "Car", 2 / 3),
        ("kitten", "sitting", 1 - 3 / 7),
        ("truck", "trcuk", 1 - 2 / 5),
    ],
)
def test_one_minus_distance_over_the_longer_length(a: str, b: str, expected: float) -> None:
    assert similarity(a, b) == pytest.approx(expected, abs=1e-12)


def test_case_counts_unless_it_is_ignored() -> None:
    assert similarity("Car", "cAR", ignore_case=True) == 1.0
    assert similarity("Straße", "STRASSE", ignore_case=True) == 1.0
    assert similarity("Car", "cAR") == 0.0


@given(st.lists(st.tuples(words, words)), st.booleans())
def test_a_batch_equals_the_plain_definition(pairs: list[tuple[str, str]], ignore_case: bool) -> None:
    expected = []
    for a, b in pairs:
        x, y = (a.casefold(), b.casefold()) if ignore_case else (a, b)
        expected.append(1 - plain_distance(x, y) / max(len(x), len(y)) if x or y else 1.0)
    found = similarities([a for a, _ in pairs], [b for _, b in pairs], ignore_case)
    assert found.tolist() == pytest.approx(expected, abs=1e-12)
    assert found.dtype == float


@given(words, words)
def test_symmetric_and_within_bounds(a: str, b: str) -> None:
    assert similarity(a, b) == similarity(b, a)
    assert 0 <= similarity(a, b) <= 1
    assert (similarity(a, b) == 1) == (a == b)


@pytest.mark.parametrize("wrong", [None, 3, float("nan")])
def test_what_is_no_string_is_refused_by_place(wrong: Any) -> None:
    with pytest.raises(ValueError, match="pair 1: expected two strings"):
        similarities(["a", "b"], ["a", wrong])
    with pytest.raises(ValueError, match="pair 1: expected two strings"):
        similarities(["a", wrong], ["a", "b"])


def test_lists_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="2 strings beside 1"):
        similarities(["a", "b"], ["a"])

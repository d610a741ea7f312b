"""Exact search: against plain loops in float64, with ties, thresholds and rows that cannot be compared."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.pipeline.identity import searching
from harness.pipeline.identity.searching import Gallery, neighbours
from harness.scoring.people import Vectors


def unit(rows: object) -> Vectors:
    vectors = np.asarray(rows, dtype=np.float64)
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(length == 0, 1, length), dtype=np.float32)


def some(seed: int, rows: int, dimensions: int = 6) -> Vectors:
    return unit(np.random.default_rng(seed).normal(size=(rows, dimensions)))


def similarity(a: Vectors, b: Vectors) -> float:
    return float(np.dot(a.astype(np.float64), b.astype(np.float64)))


def plain_search(vectors: Vectors, query: Vectors, least: float, most: int | None) -> list[int]:
    """Row by row; equal to nine digits is equal, and then the lower row is first."""
    scores = {row: similarity(vector, query) for row, vector in enumerate(vectors) if vector.any()}
    found = sorted((row for row in scores if scores[row] >= least), key=lambda row: (-round(scores[row], 9), row))
    return found[:most]


@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(1, 40),
    least=st.floats(-1, 1),
    most=st.none() | st.integers(1, 50),
    copies=st.integers(0, 3),
)
def test_search_finds_what_a_plain_loop_finds(
    seed: int, rows: int, least: float, most: int | None, copies: int
) -> None:
    vectors = some(seed, rows)
    vectors = np.concatenate([vectors, *[vectors] * copies])
    vectors[seed % len(vectors)] = 0
    query = some(seed + 1, 1)[0]
    hits = Gallery.of(vectors).search(query, least, most)
    assert hits.rows.tolist() == plain_search(vectors, query, least, most)
    assert hits.scores.tolist() == pytest.approx([similarity(vectors[row], query) for row in hits.rows])


def test_equal_faces_come_in_their_order_and_the_query_first() -> None:
    vectors = unit([[0, 1], [1, 0], [0, 1], [1, 1]])
    hits = Gallery.of(vectors).search(vectors[0], most=3)
    assert hits.rows.tolist() == [0, 2, 3]
    assert hits.scores.tolist() == pytest.approx([1, 1, 0.5**0.5])


def test_similarities_that_agree_to_nine_digits_are_equal() -> None:
    """Row 1 is more similar than row 0, by less than 1e-9."""
    vectors = unit([[0.6, -0.8], [0.6, 0.8]])
    assert Gallery.of(vectors).search(unit([[1, 1e-10]])[0], most=1).rows.tolist() == [0]


def test_a_threshold_is_met_by_what_equals_it_and_not_by_the_next_below() -> None:
    vectors = some(3, 20)
    scores = sorted(similarity(vector, vectors[0]) for vector in vectors[1:])
    gallery = Gallery.of(vectors[1:])
    assert len(gallery.search(vectors[0], least=scores[-3]).rows) == 3
    assert len(gallery.search(vectors[0], least=float(np.nextafter(scores[-3], 1))).rows) == 2


def test_a_face_that_is_not_enrolled_never_comes_back() -> None:
    vectors = unit([[0, 0], [1, 0], [0, 0], [-1, 0]])
    assert Gallery.of(vectors).search(vectors[1], least=-1).rows.tolist() == [1, 3]
    assert Gallery.of(vectors[[0]]).search(vectors[1], least=-1).rows.tolist() == []


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([[1, 0], [2, 0]], "face 1: its vector has length 2"),
        ([[float("nan"), 0]], "face 0: its vector has length nan"),
        ([1, 0], "one row a face"),
    ],
)
def test_vectors_that_are_not_unit_vectors_are_refused(rows: list[list[float]], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Gallery.of(np.array(rows, dtype=np.float32))


@pytest.mark.parametrize(
    ("query", "told"),
    [([1.0], r"shape \(1,\); expected \(2,\)"), ([float("nan"), 1.0], "length nan"), ([0.0, 0.0], "length 0")],
)
def test_a_query_that_does_not_fit_is_refused(query: list[float], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Gallery.of(unit([[1, 0], [0, 1]])).search(np.array(query, dtype=np.float32))


@given(seed=st.integers(0, 10**6), rows=st.integers(0, 30), least=st.floats(-1, 1), most=st.integers(1, 31))
def test_neighbours_are_those_of_a_plain_loop_however_small_the_blocks(
    seed: int, rows: int, least: float, most: int
) -> None:
    vectors = some(seed, rows)
    vectors[1:2] = 0
    expected = {
        (min(row, other), max(row, other))
        for row in range(rows)
        for other in plain_search(vectors, vectors[row], least, None if row == 1 else most + 1)
        if row != other and row != 1
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "BLOCK", 1 + seed % 97)
        patch.setattr(searching, "PENDING", seed % 23)
        found = neighbours(vectors, least, most)
    assert sorted(map(tuple, found.tolist())) == sorted(expected)

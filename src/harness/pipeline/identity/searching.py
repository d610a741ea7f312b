"""Exact search among face vectors: cosine similarity, every vector looked at, nothing approximated.

numpy does it without a library for search: docs/decisions/0012 has the figures. A float32 product finds the candidates;
the similarity of each is then computed in float64, so that it does not depend on which rows were multiplied together.
Similarities that agree to nine digits are ties, and go to the lower row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.scoring.boxes import Floats, Ints
from harness.scoring.people import Vectors
from harness.scoring.searching import DIGITS

#: Similarities that are computed together; bounds the memory.
BLOCK = 1 << 23
#: Candidates for neighbours that are kept before those of each row are chosen from them.
PENDING = 1 << 22
#: How far the length of a vector may be from 1: what float32 leaves of it, and some more.
UNIT = 1e-3


@dataclass(frozen=True, slots=True)
class Hits:
    """What a search found, best first: rows of the gallery, and how similar each is."""

    rows: Ints
    scores: Floats


@dataclass(frozen=True, slots=True)
class Gallery:
    """Vectors to search among, checked once. `rows` are those that can be found: a row of zeros cannot be compared."""

    vectors: Vectors
    rows: Ints

    @classmethod
    def of(cls, vectors: Vectors) -> Gallery:
        """A gallery of unit vectors. Raises ValueError for one that is neither of length 1 nor all zeros."""
        rows = comparable(vectors)
        whole = vectors if len(rows) == len(vectors) else vectors[rows]
        return cls(np.ascontiguousarray(whole, dtype=np.float32), rows)

    def search(self, query: NDArray[np.float32], least: float = -1.0, most: int | None = None) -> Hits:
        """The rows that are at least as similar to a unit vector as `least`, and of these the `most` most similar."""
        query = np.asarray(query, dtype=np.float32)
        if query.shape != self.vectors.shape[1:]:
            raise ValueError(f"a query of shape {query.shape}; expected {self.vectors.shape[1:]} as in the gallery")
        if not abs((length := float(np.linalg.norm(query))) - 1) <= UNIT:
            raise ValueError(f"a query of length {length:g}; expected 1")
        similar = self.vectors @ query
        found = np.flatnonzero(similar >= self._floor(similar, least, most))
        exact = self.vectors[found].astype(np.float64) @ query.astype(np.float64)
        order = np.argsort(-np.rint(exact * DIGITS), kind="stable")[:most]
        order = order[exact[order] >= least]
        return Hits(self.rows[found[order]], exact[order])

    def _floor(self, similar: Vectors, least: float, most: int | None) -> float:
        """A float32 similarity that every wanted row reaches, however it was rounded."""
        if most is not None and 0 < most < len(similar):
            least = max(least, float(np.partition(similar, len(similar) - most)[len(similar) - most]))
        return least - rounding(self.vectors)


def neighbours(vectors: Vectors, least: float, most: int) -> Ints:
    """Pairs of rows, the lower one first, for the graph that faces are clustered on.

    There is a pair for each row and each of its `most` most similar others, of those at least as similar as `least`;
    similarities that only just fall short of it because of float32 are in, too. Rows of zeros have no pairs.
    """
    rows = comparable(vectors)
    unit = np.ascontiguousarray(vectors[rows], dtype=np.float32)
    bars = np.full(len(unit), least - rounding(unit), dtype=np.float32)
    pairs, similar = np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.float32)
    for found, values in _candidates(unit, bars):
        pairs, similar = np.concatenate([pairs, found]), np.concatenate([similar, values])
        if len(pairs) > PENDING:
            kept = _nearest(pairs, similar, most, bars)
            pairs, similar = pairs[kept], similar[kept]
    return rows[pairs[_nearest(pairs, similar, most, bars)]]


def _candidates(unit: Vectors, bars: Vectors) -> Iterator[tuple[Ints, Vectors]]:
    """Pairs of rows, the lower one first, that reach the bar of one of the two; and how similar they are.

    Each pair is looked at once: a block of rows is compared with itself and with all rows after it.
    """
    first = 0
    while first < len(unit):
        rest = len(unit) - first
        rows = slice(first, first + max(1, BLOCK // rest))
        similar = unit[rows] @ unit[first:].T
        reached = similar >= bars[rows, None]
        reached |= similar >= bars[first:]
        low, high = np.divmod(np.flatnonzero(reached), rest)
        low, high = low[low < high], high[low < high]
        yield np.stack([low, high], axis=1) + first, similar[low, high]
        first += len(similar)


def _nearest(pairs: Ints, similar: Vectors, most: int, bars: Vectors) -> Ints:
    """Which pairs are among the `most` most similar ones of one of their rows; ties go to the lower row. What falls
    short of those of a row is not needed any more: its bar is raised."""
    row, other = np.concatenate([pairs, pairs[:, ::-1]]).T
    order = np.lexsort((other, -np.tile(similar, 2), row))
    row = row[order]
    rank = np.arange(len(row)) - np.searchsorted(row, row)
    last = rank == most - 1
    bars[row[last]] = similar[order[last] % len(pairs)]
    return np.unique(order[rank < most] % max(1, len(pairs)))


def comparable(vectors: Vectors) -> Ints:
    """The rows of length 1. Raises ValueError for one that has another length and is not all zeros."""
    if vectors.ndim != 2:
        raise ValueError(f"vectors of shape {vectors.shape}; expected one row a face")
    length = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    wrong = ~(np.abs(length - 1) <= UNIT) & (length != 0)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"face {row}: its vector has length {length[row]:g}; expected 1, or 0 for none")
    return np.flatnonzero(length)


def rounding(vectors: Vectors) -> float:
    """How far a float32 product of two unit vectors can be from the exact one."""
    return float(vectors.shape[1] * np.finfo(np.float32).eps)

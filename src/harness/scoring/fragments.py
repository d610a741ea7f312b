"""Finds the runs of characters that two lists of texts have in common.

A *fragment* is a run of characters that occurs in a text of each list and cannot be made longer, forwards or backwards,
without losing one of its places. The longest common substring of a pair is always a fragment, or it could grow inside
the pair; so the fragments tell all about common substrings, and there are no more of them than characters. A suffix
array finds them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from harness.scoring.boxes import Floats, Ints

#: Stands in for the length of a text that is not in the list asked about.
NONE = np.iinfo(np.int64).max
#: A pair of numbers below this fits into one 64-bit integer.
MAX_RANKS = 2**31


@dataclass(frozen=True, slots=True)
class Fragments:
    """The fragments of two lists; fragment `i` occurs in the texts `text[start[i]:stop[i]]`, some of them repeated.

    Texts are numbered through both lists. `promise` is the best that a pair can score by the fragment, its length over
    the least length that admits a text of each list; the fragments come in falling order of it.
    """

    text: Ints
    promise: Floats
    length: Ints
    start: Ints
    stop: Ints

    def __iter__(self) -> Iterator[tuple[float, int, int, int]]:
        columns = (self.promise, self.length, self.start, self.stop)
        return zip(*(column.tolist() for column in columns), strict=True)


def common_fragments(left: Sequence[str], right: Sequence[str]) -> Fragments:
    """All fragments of the two lists."""
    suffixes = _Suffixes.of([*left, *right], len(left))
    length, start, stop = _groups(suffixes)
    needed = np.maximum(_least(suffixes.left_length, start, stop), _least(suffixes.right_length, start, stop))
    promise = length / needed
    order = np.argsort(-promise, kind="stable")
    return Fragments(suffixes.text, promise[order], length[order], start[order], stop[order])


@dataclass(frozen=True, slots=True)
class _Suffixes:
    """Every suffix of every text in alphabetical order, and how much each shares with the one before it."""

    text: Ints
    shared: Ints
    #: The character before the suffix, 0 where the suffix is the whole text.
    before: Ints
    #: Length of the suffix's text if that is in the first list (the second list), else NONE.
    left_length: Ints
    right_length: Ints

    @classmethod
    def of(cls, texts: Sequence[str], n_left: int) -> _Suffixes:
        lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        text = np.repeat(np.arange(len(texts)), lengths + 1)  # each text is followed by one end mark
        ends = np.cumsum(lengths + 1) - 1
        raw = np.frombuffer("\0".join([*texts, ""]).encode("utf-32-le", "surrogatepass"), dtype="<u4")
        codes = np.cumsum(np.bincount(raw) > 0, dtype=np.int64)[raw]
        codes[ends] = 0
        ranks = _ranks(codes, ends[text], int(lengths.max()))
        order = np.argsort(ranks[-1], kind="stable")[len(texts) :]  # the end marks come first
        shared = _shared_prefix(ranks, order, ends[text])
        text, before = text[order], codes[order - 1]  # the very first character wraps around to an end mark
        on_left, length = text < n_left, lengths[text]
        return cls(text, shared, before, np.where(on_left, length, NONE), np.where(on_left, NONE, length))


def _ranks(codes: Ints, end: Ints, longest: int) -> list[Ints]:
    """Rank every position by its next 1, 2, 4, ... characters, until whole suffixes are ranked."""
    ranks, place, width = [codes], np.arange(len(codes)), 1
    size = int(codes.max()) + 1
    while width < longest:
        rank = ranks[-1]
        if size > MAX_RANKS:
            rank = np.unique(rank, return_inverse=True)[1]
            size = len(codes)
        ranks.append(rank * size + rank[np.minimum(place + width, end)])
        size *= size
        width *= 2
    return ranks


def _shared_prefix(ranks: Sequence[Ints], order: Ints, end: Ints) -> Ints:
    """Length of the common prefix of each suffix with the one before it in `order`; 0 for the first."""
    a, b = order[:-1], order[1:]
    end_a, end_b = end[a], end[b]
    shared = np.zeros(len(b), dtype=np.int64)
    for power in reversed(range(len(ranks))):
        rank = ranks[power]
        same = rank[np.minimum(a + shared, end_a)] == rank[np.minimum(b + shared, end_b)]
        shared += same << power
    return np.concatenate(([0], np.minimum(shared, np.minimum(end_a - a, end_b - b))))


def _groups(suffixes: _Suffixes) -> tuple[Ints, Ints, Ints]:
    """Length, start and stop of every fragment.

    Suffixes that begin with the same characters stand together. Such a group reaches from any of its suffixes that
    share the fewest characters with the one before, to both sides, up to suffixes that share fewer.
    """
    shared = np.append(suffixes.shared, 0)
    start, stop = _nearest(shared, -1, np.greater), _nearest(shared, 1, np.greater_equal)
    first = np.flatnonzero(shared > shared[start])  # of several that share the fewest, one speaks for the group
    start, stop = start[first], stop[first]
    n_left = np.concatenate(([0], np.cumsum(suffixes.left_length < NONE)))
    n_left = n_left[stop] - n_left[start]
    changes = np.cumsum(np.diff(suffixes.before, prepend=0) != 0)
    grows_back = (suffixes.before[start] > 0) & (changes[start] == changes[stop - 1])
    keep = (n_left > 0) & (n_left < stop - start) & ~grows_back
    return shared[first][keep], start[keep], stop[keep]


def _nearest(shared: Ints, direction: int, passes: np.ufunc) -> Ints:
    """Where one stops, going from each place to where `passes(shared there, shared here)` holds no more."""
    at = np.arange(len(shared)) + direction
    moving = np.flatnonzero(shared)  # both ends share nothing, so nothing moves past them
    while len(moving):
        moving = moving[passes(shared[at[moving]], shared[moving])]
        at[moving] = at[at[moving]]
    return at


def _least(values: Ints, start: Ints, stop: Ints) -> Ints:
    """The least of `values[start:stop]`, for every start and stop."""
    if not len(start):
        return start
    bounds = np.stack((start, stop), axis=1).ravel()
    return np.minimum.reduceat(np.append(values, NONE), bounds)[::2]

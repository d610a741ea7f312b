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

from harness.scoring.boxes import Bools, Floats, Ints

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
    found = list(_by_length(suffixes))
    nothing = np.zeros(0, dtype=np.int64)
    columns = zip((np.zeros(0), nothing, nothing, nothing), *found, strict=True)
    promise, length, start, stop = (np.concatenate(column) for column in columns)
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


def _by_length(suffixes: _Suffixes) -> Iterator[tuple[Floats, Ints, Ints, Ints]]:
    """Promise, length, start and stop of the fragments, short ones first.

    Suffixes that share their first characters stand together. A group that lies in one list only is left behind, as
    all longer groups inside it do too.
    """
    alive, shared, length = np.arange(len(suffixes.text)), suffixes.shared, 0
    while (shared > length).any():
        length = int(shared[shared > length].min())
        first = np.flatnonzero(shared < length)
        size = np.diff(first, append=len(alive))
        least_left = np.minimum.reduceat(suffixes.left_length[alive], first)
        least_right = np.minimum.reduceat(suffixes.right_length[alive], first)
        needed = np.maximum(least_left, least_right)
        both = needed < NONE
        keep = both & _cannot_grow(shared, suffixes.before[alive], first, length)
        start = alive[first[keep]]
        yield length / needed[keep], np.full(len(start), length), start, start + size[keep]
        alive = alive[np.repeat(both, size)]
        shared = suffixes.shared[alive]


def _cannot_grow(shared: Ints, before: Ints, first: Ints, length: int) -> Bools:
    """Groups whose suffixes differ both in what follows the shared characters and in what stands before them."""
    inner = shared.copy()
    inner[first] = NONE
    branches: Bools = np.minimum.reduceat(inner, first) == length
    least = np.minimum.reduceat(before, first)
    grows_back: Bools = (least > 0) & (least == np.maximum.reduceat(before, first))
    return branches & ~grows_back

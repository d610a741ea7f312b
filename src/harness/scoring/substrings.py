"""Pairs the texts of two lists by their longest common substring, without comparing every pair.

The score of a pair is the length of the longest common substring over the length of the longer text. Pairs are taken
best score first; ties fall to the lower index of the first list, then of the second; one to one. A pair with nothing
in common is never taken.

How it stays fast and exact: the fragments that the two lists share are asked in falling order of what they promise,
each for the best pair of its free texts. The first to name a pair is the longest that the pair shares, so the pair is
taken with its true score, and no common substring is ever computed pair by pair.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush, heapreplace
from itertools import chain, islice
from typing import TypeAlias

from harness.scoring.fragments import Fragments, common_fragments

#: Promises nothing and occurs nowhere; comes last, so that everything before it gets settled.
END = (0.0, 0, 0, 0)


def match_by_substring(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[int, int, float]]:
    """Yield (index in `left`, index in `right`, score) in the order in which the pairs are taken."""
    if not any(left) or not any(right):
        return
    pairs = _take_best_first(common_fragments(left, right), [*map(len, left), *map(len, right)], len(left))
    for a, b, score in islice(pairs, min(len(left), len(right))):
        yield a, b - len(left), score


def _take_best_first(fragments: Fragments, lengths: list[int], n_left: int) -> Iterator[tuple[int, int, float]]:
    """Yield the best pair of free texts, again and again, until none shares anything.

    When a fragment's turn comes, its free texts are listed and it is queued with their best pair. Texts only ever get
    taken, so what is queued is never worse than what it turns out to be.
    """
    text_of, rank = fragments.text.tolist(), _rank_longest_first(lengths, n_left).__getitem__
    taken = bytearray(len(lengths))
    queue: list[_Entry] = []
    for number, (promise, length, start, stop) in enumerate(chain(fragments, [END])):
        while queue and -queue[0][0] > promise:
            minus_score, left, right, _, texts = queue[0]
            if not taken[left] and not taken[right]:
                taken[left] = taken[right] = 1
                yield left, right, -minus_score
            best = texts.best(taken)
            if best:
                heapreplace(queue, best)
            else:
                heappop(queue)
        free = sorted({text for text in text_of[start:stop] if not taken[text]}, key=rank)
        split = bisect_left(free, n_left, key=rank)
        if 0 < split < len(free):
            best = _Texts(number, length, lengths, free[:split], free[split:]).best(taken)
            if best:
                heappush(queue, best)


def _rank_longest_first(lengths: list[int], n_left: int) -> list[int]:
    """The rank of each text when the first list comes before the second, and long texts before short ones."""
    ranks = [0] * len(lengths)
    order = sorted(range(len(lengths)), key=lambda text: (text >= n_left, -lengths[text]))
    for rank, text in enumerate(order):
        ranks[text] = rank
    return ranks


class _Texts:
    """The free texts that contain one fragment, list by list."""

    __slots__ = ("fragment", "left", "longest", "number", "right")

    def __init__(self, number: int, fragment: int, lengths: list[int], left: list[int], right: list[int]) -> None:
        self.number = number
        self.fragment = fragment
        self.longest = 0
        self.left = _Side(lengths, left)
        self.right = _Side(lengths, right)

    def best(self, taken: bytearray) -> _Entry | None:
        """The best free pair: least length of the longer text, then lowest left, then lowest right."""
        left, right = self.left.least_length(taken), self.right.least_length(taken)
        if left is None or right is None:
            return None
        if left > self.longest or right > self.longest:
            self.longest = max(left, right)
            self.left.admit(self.longest, taken)
            self.right.admit(self.longest, taken)
        return -self.fragment / self.longest, self.left.ready[0], self.right.ready[0], self.number, self


class _Side:
    """The texts of one list: `ready` is a heap of those short enough by now, the others wait, shortest last."""

    __slots__ = ("lengths", "ready", "waiting")

    def __init__(self, lengths: list[int], waiting: list[int]) -> None:
        self.lengths = lengths
        self.ready: list[int] = []
        self.waiting = waiting

    def least_length(self, taken: bytearray) -> int | None:
        """How long a text has to be allowed to be for one to be ready: 0 if one is, None if all are taken."""
        while self.ready:
            if not taken[self.ready[0]]:
                return 0
            heappop(self.ready)
        while self.waiting:
            if not taken[self.waiting[-1]]:
                return self.lengths[self.waiting[-1]]
            self.waiting.pop()
        return None

    def admit(self, longest: int, taken: bytearray) -> None:
        """Make ready what is no longer than that."""
        waiting, lengths = self.waiting, self.lengths
        while waiting and lengths[waiting[-1]] <= longest:
            text = waiting.pop()
            if not taken[text]:
                heappush(self.ready, text)


#: Minus score, left, right; the fragment's number only breaks ties between entries of the same pair.
_Entry: TypeAlias = tuple[float, int, int, int, _Texts]

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
    """The free texts that contain one fragment, list by list.

    `ready` are heaps of those no longer than `longest`, the length that a pair needs by now; the others wait, shortest
    last.
    """

    __slots__ = ("fragment", "lengths", "longest", "number", "ready", "waiting")

    def __init__(self, number: int, fragment: int, lengths: list[int], left: list[int], right: list[int]) -> None:
        self.number = number
        self.fragment = fragment
        self.lengths = lengths
        self.longest = 0
        self.ready: tuple[list[int], list[int]] = ([], [])
        self.waiting = (left, right)

    def best(self, taken: bytearray) -> _Entry | None:
        """The best free pair: least length of the longer text, then lowest left, then lowest right."""
        left, right = self.ready
        while left and taken[left[0]]:
            heappop(left)
        while right and taken[right[0]]:
            heappop(right)
        if not (left and right) and not self._admit(taken):
            return None
        return -self.fragment / self.longest, left[0], right[0], self.number, self

    def _admit(self, taken: bytearray) -> bool:
        """Make longer texts ready, just enough for a pair; False if one list has none left."""
        lengths = self.lengths
        for ready, waiting in zip(self.ready, self.waiting, strict=True):
            while waiting and taken[waiting[-1]]:
                waiting.pop()
            if not ready:
                if not waiting:
                    return False
                self.longest = max(self.longest, lengths[waiting[-1]])
        for ready, waiting in zip(self.ready, self.waiting, strict=True):
            while waiting and lengths[waiting[-1]] <= self.longest:
                text = waiting.pop()
                if not taken[text]:
                    heappush(ready, text)
        return True


#: Minus score, left, right; the fragment's number only breaks ties between entries of the same pair.
_Entry: TypeAlias = tuple[float, int, int, int, _Texts]

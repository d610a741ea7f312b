"""What chance can do: how far rates move when the signs of the groups are flipped.

If two runs are equally good, each group of items might as well have moved a rate the other way. The rate that moves
most, by each way to flip the signs, is what a measured move is compared with (Westfall and Young).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from harness.scoring.boxes import Floats

#: Up to so many groups every way to flip their signs is tried; beyond, at least so many are drawn.
EXACT_GROUPS = 14
DRAWS = 10_000
#: Sums of the same moves in another order differ by less.
_TIE = 1e-9
#: Groups whose signs are drawn together: one for each bit of a byte.
_BLOCK = 8
#: So many rates are flipped at a time: 40 MB for 10,000 draws.
_RATES = 1024


@dataclass(frozen=True)
class Furthest:
    """How far the rate that moves most gets, in units of its own scatter, by flipped signs of the groups, ascending;
    `exact` where every way to flip them was tried."""

    ways: Floats
    exact: bool

    def share(self, measured: float) -> float:
        """How many ways get as far as was measured. Among drawn ways what was measured counts as one more."""
        hits = len(self.ways) - int(np.searchsorted(self.ways, measured - _TIE))
        return hits / len(self.ways) if self.exact else (hits + 1) / (len(self.ways) + 1)

    def critical(self, level: float) -> float:
        """What is exceeded in at most this share of the ways, counted likewise."""
        beyond = math.floor(level * len(self.ways)) if self.exact else math.floor(level * (len(self.ways) + 1)) - 1
        return float(self.ways[-1 - beyond])


def furthest_by_chance(moves: Floats, seed: int = 0, draws: int = DRAWS) -> Furthest:
    """Flip the signs of the groups; `moves` has one row a group and one column a rate, each column of length 1."""
    moves = moves[moves.any(axis=1)]
    exact = len(moves) <= EXACT_GROUPS
    turned, most, least = _turned(moves), [], []
    # Many rates are taken some at a time: their ways together would not fit into memory.
    for first in range(0, turned.shape[1], _RATES):
        ways = _flipped(turned[:, first : first + _RATES], exact, seed, draws)
        most.append(ways.max(axis=1))
        least.append(ways.min(axis=1))
    # For each way to flip the signs its opposite counts as well: chance then does as much up as down.
    return Furthest(np.sort(np.concatenate([np.max(most, axis=0), -np.min(least, axis=0)])), exact)


def _turned(moves: Floats) -> Floats:
    """The groups in an order, and turned a way, that depends on their moves alone: which run is the baseline, how
    groups are called and in which order items come then changes no drawn chance."""
    first = np.take_along_axis(moves, (moves != 0).argmax(axis=1)[:, None], axis=1)
    turned = moves * np.sign(first)
    return np.asarray(turned[np.lexsort(turned.T)])


def _flipped(turned: Floats, exact: bool, seed: int, draws: int) -> Floats:
    """How far each rate gets: one row for each way to flip the signs of the groups, or for half of them, of which the
    others are the opposite."""
    if exact:
        half = _all_ways(len(turned))[: 2 ** (len(turned) - 1)]
        every: Floats = np.einsum("ij,jk->ik", half, turned)
        return every
    reached = np.zeros((math.ceil(draws / 2), turned.shape[1]))
    for block, start in enumerate(range(0, len(turned), _BLOCK)):
        part = turned[start : start + _BLOCK]
        # All sums that the groups of a block can come to; a random byte chooses one of them for each draw.
        sums = np.einsum("ij,jk->ik", _all_ways(_BLOCK)[:, : len(part)], part)
        reached += sums[_random_bytes(seed, block, len(reached))]
    return reached


@lru_cache
def _all_ways(groups: int) -> Floats:
    """Every way to give signs to so many groups, one row each; in the first half the last one is a minus."""
    signs = (np.arange(2**groups)[:, None] >> np.arange(groups) & 1) * 2 - 1
    return signs.astype(np.float64)


@lru_cache(maxsize=256)
def _random_bytes(seed: int, block: int, draws: int) -> NDArray[np.uint8]:
    return np.random.default_rng([seed, block]).integers(256, size=draws, dtype=np.uint8)

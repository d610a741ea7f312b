"""Several methods on the same items: which one wins each, and what choosing among them could gain.

An item's win is 1. Methods that share the best score share the win in equal parts. An item on which no method scores
anything has no winner.
"""

from __future__ import annotations

from collections.abc import Sequence


def win_shares(scores: Sequence[float]) -> tuple[float, ...]:
    """The part of one item's win that each method gets."""
    best = max(scores, default=0.0)
    if best <= 0:
        return (0.0,) * len(scores)
    winners = [score == best for score in scores]
    return tuple(won / sum(winners) for won in winners)

"""How many photos does it take to see a loss? Asked before there is a run to judge.

For example, where a change makes three photos in a hundred come out otherwise, and five metrics are judged together:

>>> photos_needed(0.05, churn=0.03, together=5)
322
>>> round(smallest_loss(60, churn=0.03, together=5), 2)
0.19

These are the figures that a verdict gives afterwards (`PairedRate.items_needed` and `PairedRate.smallest_loss`), for
two runs that are imagined: each photo has one target and is a group of its own, and of those that come out otherwise
half are better and half are worse. Photos of one burst or one runner count as one.
"""

from __future__ import annotations

import numpy as np

from harness.scoring.pairing import PairedRate

#: Shares of photos that a change makes come out otherwise: a threshold that moved a little, another model.
CHURNS = (0.01, 0.03, 0.1)
#: So many imagined photos have whole numbers of them for every churn.
_MANY = 10_000


def smallest_loss(photos: int, churn: float, together: int) -> float:
    """The loss that is seen in four of five cases on so many photos; 1 or more where no loss is sure to be seen."""
    return _imagined(photos, churn).smallest_loss(together)


def photos_needed(margin: float, churn: float, together: int) -> int | None:
    """On how many photos a loss of the margin is seen in four of five cases; None where no number is enough."""
    return _imagined(_MANY, churn).items_needed(margin, together)


def _imagined(photos: int, churn: float) -> PairedRate:
    """A rate in two runs between which this share of the photos has moved, up and down in turn."""
    moved = round(churn * photos)
    moves = np.zeros(photos)
    moves[:moved] = np.resize([1.0, -1.0], moved)
    return PairedRate(0.5, 0.5, moves, 1 / photos, photos, photos)

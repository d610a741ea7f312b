"""The one matcher: pairs predictions with targets, photo by photo, for a whole batch at once.

Greedy: all pairs at or above the threshold, best IoU first; ties fall to the lower prediction index, then to the lower
target index; one to one. Boxes without coordinates match nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.scoring.boxes import Bools, Boxes, Floats, Ints, iou

UNMATCHED = -1


@dataclass(frozen=True, slots=True)
class Matches:
    """For every prediction its target and for every target its prediction, as rows of the batch; -1 for none."""

    target_of: Ints
    prediction_of: Ints

    @property
    def matched(self) -> Bools:
        """Which predictions found a target."""
        return np.not_equal(self.target_of, UNMATCHED)

    @property
    def found(self) -> Bools:
        """Which targets were found."""
        return np.not_equal(self.prediction_of, UNMATCHED)


def pairs_within_photos(a: Boxes, b: Boxes) -> tuple[Ints, Ints]:
    """Rows of every pair (one of `a`, one of `b`) that share a photo, ordered by row of `a`, then of `b`."""
    if a.photos != b.photos:
        raise ValueError(f"predictions cover {a.photos} photos, targets {b.photos}; expected the same photos")
    photo = a.photo_index
    partners = np.diff(b.offsets)[photo]
    left = np.repeat(np.arange(len(a)), partners)
    first = np.repeat(b.offsets[photo] - (np.cumsum(partners) - partners), partners)
    return left, first + np.arange(len(left))


def match_greedy(predictions: Boxes, targets: Boxes, threshold: float, eligible: Bools | None = None) -> Matches:
    """Match greedily, best IoU first. `eligible` leaves the other targets out."""
    left, right = pairs_within_photos(predictions, targets)
    overlap = iou(predictions.xywh[left], targets.xywh[right])
    keep = (overlap >= threshold) & predictions.has_coords[left] & targets.has_coords[right]
    if eligible is not None:
        keep &= eligible[right]
    left, right, overlap = left[keep], right[keep], overlap[keep]
    return _take_best_first(left, right, overlap, len(predictions), len(targets))


def _take_best_first(left: Ints, right: Ints, value: Floats, n_left: int, n_right: int) -> Matches:
    """Accept pairs in falling order of value, each side once.

    In every round, each pair that comes first for both of its sides is accepted, which is what going through the
    sorted list one by one would do; the pairs that it rules out are dropped. A few rounds settle any batch.
    """
    target_of = np.full(n_left, UNMATCHED, dtype=np.int64)
    prediction_of = np.full(n_right, UNMATCHED, dtype=np.int64)
    order = np.lexsort((right, left, -value))
    left, right = left[order], right[order]
    while len(left):
        rank = np.arange(len(left))
        first_left = np.empty(n_left, dtype=np.int64)
        first_right = np.empty(n_right, dtype=np.int64)
        first_left[left[::-1]] = rank[::-1]
        first_right[right[::-1]] = rank[::-1]
        best = (first_left[left] == rank) & (first_right[right] == rank)
        target_of[left[best]] = right[best]
        prediction_of[right[best]] = left[best]
        free = (target_of[left] == UNMATCHED) & (prediction_of[right] == UNMATCHED)
        left, right = left[free], right[free]
    return Matches(target_of, prediction_of)

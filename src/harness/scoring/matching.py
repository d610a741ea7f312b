"""The one matcher: pairs predictions with targets, photo by photo, for a whole batch at once.

Greedy: all pairs at or above the threshold, best IoU first; ties fall to the lower prediction index, then to the lower
target index; one to one. Boxes without coordinates match nothing.

Optimal: of all one-to-one pairings of a photo, the one with the least total cost, where a pair costs 1 - IoU; so it is
the one with the greatest total IoU. Only pairs with an IoU above the floor may be formed, and no pair is formed without
one. Where pairings of equal total compete, the solver's choice stands: the boxes of the photo alone decide it, in
their order, never the rest of the batch, so the same photo always gives the same pairs.

By key: boxes of one photo with the same key, wherever they are; a key that stands more than once on a side is paired
best IoU first, with the ties of the greedy rule, and is reported. A box without a key matches nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from harness.scoring.boxes import Bools, Boxes, Floats, Ints, iou
from harness.scoring.overlaps import Overlaps, overlapping_pairs, photo_blocks, same_photos

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


@dataclass(frozen=True, slots=True, order=True)
class DuplicateKey:
    """A key that stands more than once among the predictions or among the targets of a photo."""

    photo: int
    key: str
    predictions: int
    targets: int


def match_greedy(predictions: Boxes, targets: Boxes, threshold: float, eligible: Bools | None = None) -> Matches:
    """Match greedily, best IoU first. `eligible` leaves the other targets out."""
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold {threshold}: expected a number above 0 and at most 1")

    def match(predictions: Boxes, targets: Boxes, rows: slice) -> Matches:
        pairs = overlapping_pairs(predictions, targets, threshold)
        if eligible is not None:
            pairs = pairs.where(eligible[rows][pairs.right])
        return _take_best_first(pairs.left, pairs.right, pairs.iou, len(predictions), len(targets))

    return _in_blocks(match, predictions, targets)


def match_optimal(predictions: Boxes, targets: Boxes, min_iou: float = 0.0) -> Matches:
    """Match for the least total of 1 - IoU in each photo; a pair needs an IoU above `min_iou`."""
    if not 0 <= min_iou < 1:
        raise ValueError(f"min_iou {min_iou}: expected a number from 0 and below 1")

    def match(predictions: Boxes, targets: Boxes, _: slice) -> Matches:
        pairs = overlapping_pairs(predictions, targets, min_iou)
        if min_iou:
            pairs = pairs.where(pairs.iou > min_iou)
        rivals = np.bincount(pairs.left, minlength=len(predictions))[pairs.left]
        rivals += np.bincount(pairs.right, minlength=len(targets))[pairs.right]
        alone = rivals == 2  # the only pair of its prediction and of its target
        left, right = _assign(pairs.where(~alone), predictions, targets)
        return _matches(
            np.concatenate([pairs.left[alone], left]),
            np.concatenate([pairs.right[alone], right]),
            len(predictions),
            len(targets),
        )

    return _in_blocks(match, predictions, targets)


def match_by_key(
    predictions: Boxes, targets: Boxes, prediction_keys: Sequence[str | None], target_keys: Sequence[str | None]
) -> tuple[Matches, tuple[DuplicateKey, ...]]:
    """Match boxes of a photo that have the same key, and report the keys that a side has more than once."""
    same_photos(predictions, targets)
    _check_lengths("prediction", prediction_keys, predictions)
    _check_lengths("target", target_keys, targets)
    codes: dict[tuple[int, str], int] = {}
    code = _codes(prediction_keys, predictions, codes)
    target_code = _codes(target_keys, targets, codes)
    n = np.bincount(code[code >= 0], minlength=len(codes))
    n_targets = np.bincount(target_code[target_code >= 0], minlength=len(codes))

    by_code = np.argsort(target_code, kind="stable")[np.count_nonzero(target_code < 0) :]
    keyed = np.flatnonzero(code >= 0)
    partners = n_targets[code[keyed]]
    first = (np.cumsum(n_targets) - n_targets)[code[keyed]]
    left = np.repeat(keyed, partners)
    right = by_code[np.repeat(first - (np.cumsum(partners) - partners), partners) + np.arange(len(left))]
    overlap = iou(predictions.xywh[left], targets.xywh[right])
    duplicates = sorted(
        DuplicateKey(photo, key, int(n[row]), int(n_targets[row]))
        for (photo, key), row in codes.items()
        if n[row] > 1 or n_targets[row] > 1
    )
    return _take_best_first(left, right, overlap, len(predictions), len(targets)), tuple(duplicates)


def _in_blocks(match: Callable[[Boxes, Boxes, slice], Matches], predictions: Boxes, targets: Boxes) -> Matches:
    """Match some photos at a time; `match` gets their boxes and the rows that their targets have in the batch."""
    target_of, prediction_of = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for first, stop in photo_blocks(predictions, targets):
        left, right = int(predictions.offsets[first]), int(targets.offsets[first])
        rows = slice(right, int(targets.offsets[stop]))
        part = match(predictions.span(first, stop), targets.span(first, stop), rows)
        target_of.append(np.where(part.matched, part.target_of + right, UNMATCHED))
        prediction_of.append(np.where(part.found, part.prediction_of + left, UNMATCHED))
    return Matches(np.concatenate(target_of), np.concatenate(prediction_of))


def _take_best_first(left: Ints, right: Ints, value: Floats, n_left: int, n_right: int) -> Matches:
    """Accept pairs in falling order of value, each side once; the pairs come ordered by `left`, then by `right`.

    In every round, each pair that comes first for both of its sides is accepted, which is what going through the
    sorted list one by one would do; the pairs that it rules out are dropped. A few rounds settle any batch.
    """
    target_of = np.full(n_left, UNMATCHED, dtype=np.int64)
    prediction_of = np.full(n_right, UNMATCHED, dtype=np.int64)
    order = np.argsort(-value, kind="stable")
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


def _assign(pairs: Overlaps, predictions: Boxes, targets: Boxes) -> tuple[Ints, Ints]:
    """Solve photo by photo, over the boxes that have a pair; what is not listed as a pair is never formed.

    The cost matrices of all photos lie one after the other in `cost`.
    """
    from scipy.optimize import linear_sum_assignment  # slow to load, and nothing else in the core needs it

    left, left_row, left_photo = _open_rows(pairs.left, predictions)
    right, right_row, right_photo = _open_rows(pairs.right, targets)
    rows = np.bincount(left_photo, minlength=predictions.photos)
    columns = np.bincount(right_photo, minlength=targets.photos)
    start = np.cumsum(rows * columns) - rows * columns
    first_row, first_column = np.cumsum(rows) - rows, np.cumsum(columns) - columns
    #: Adding the place of a target among the open ones gives the place of a pair.
    cell_of_row = (start - first_row * columns - first_column)[left_photo] + np.arange(len(left)) * columns[left_photo]
    cost = np.zeros(int(np.sum(rows * columns)))
    cost[cell_of_row[left_row[pairs.left]] + right_row[pairs.right]] = -pairs.iou

    photos = np.flatnonzero(rows)
    shapes = zip(*(a[photos].tolist() for a in (start, rows, columns)), strict=True)
    solved = [linear_sum_assignment(cost[at : at + r * c].reshape(r, c)) for at, r, c in shapes]
    if not solved:
        return left, right
    photo = np.repeat(photos, np.minimum(rows, columns)[photos])
    row, column = (np.concatenate(side) for side in zip(*solved, strict=True))
    row, column = row + first_row[photo], column + first_column[photo]
    formed = cost[cell_of_row[row] + column] < 0
    return left[row[formed]], right[column[formed]]


def _open_rows(paired: Ints, boxes: Boxes) -> tuple[Ints, Ints, Ints]:
    """The rows that have a pair; for every row its place among them; and their photos."""
    is_open = np.zeros(len(boxes), dtype=bool)
    is_open[paired] = True
    rows = np.flatnonzero(is_open)
    return rows, np.cumsum(is_open) - 1, boxes.photo_index[rows]


def _matches(left: Ints, right: Ints, n_left: int, n_right: int) -> Matches:
    target_of = np.full(n_left, UNMATCHED, dtype=np.int64)
    prediction_of = np.full(n_right, UNMATCHED, dtype=np.int64)
    target_of[left] = right
    prediction_of[right] = left
    return Matches(target_of, prediction_of)


def _codes(keys: Sequence[str | None], boxes: Boxes, known: dict[tuple[int, str], int]) -> Ints:
    """One number for each (photo, key) on either side; -1 for a box without a key."""
    codes = np.full(len(boxes), -1, dtype=np.int64)
    keyed = [row for row, key in enumerate(keys) if key is not None]
    pairs = zip(boxes.photo_index[keyed].tolist(), (key for key in keys if key is not None), strict=True)
    codes[keyed] = [known.setdefault(pair, len(known)) for pair in pairs]
    return codes


def _check_lengths(side: str, keys: Sequence[str | None], boxes: Boxes) -> None:
    if len(keys) != len(boxes):
        raise ValueError(f"{len(keys)} {side} keys for {len(boxes)} {side} boxes; expected one key (or None) a box")

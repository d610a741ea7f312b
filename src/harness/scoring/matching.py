"""The one matcher: pairs predictions with targets, photo by photo, for a whole batch at once.

Greedy: all pairs at or above the threshold, best IoU first; ties fall to the lower prediction index, then to the lower
target index; one to one. Boxes without coordinates match nothing.

Optimal: of all one-to-one pairings of a photo, the one with the least total cost, where a pair costs 1 - IoU; so it is
the one with the greatest total IoU. Only pairs with an IoU above the floor may be formed, and no pair is formed without
one. Where pairings of equal total compete, the solver's choice stands: the boxes of the photo alone decide it, in
their order, never the rest of the batch, so the same photo always gives the same pairs.

By key: boxes of one photo with the same key, wherever they are; a key that stands more than once on a side is paired
best IoU first, with the ties of the greedy rule, and is reported. A box without a key, or with a blank one, matches
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from harness.scoring.boxes import Bools, Boxes, Floats, Ints
from harness.scoring.overlaps import Overlaps, overlapping_pairs, pair_iou, photo_blocks, same_photos

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
        sure, contested = _certain(pairs, len(predictions), len(targets))
        left, right = _assign(contested, predictions, targets)
        return _matches(
            np.concatenate([sure.left, left]), np.concatenate([sure.right, right]), len(predictions), len(targets)
        )

    return _in_blocks(match, predictions, targets)


def match_by_key(
    predictions: Boxes, targets: Boxes, prediction_keys: Sequence[str | None], target_keys: Sequence[str | None]
) -> tuple[Matches, tuple[DuplicateKey, ...]]:
    """Match boxes of a photo that have the same key, and report the keys that a side has more than once."""
    same_photos(predictions, targets)
    _check_lengths("prediction", prediction_keys, predictions)
    _check_lengths("target", target_keys, targets)
    names: list[str | None] = [None, *dict.fromkeys(chain(prediction_keys, target_keys))]
    numbers = {name: n if name and not name.isspace() else 0 for n, name in enumerate(names)}
    number = np.fromiter(map(numbers.__getitem__, prediction_keys), np.int64, count=len(predictions))
    target_number = np.fromiter(map(numbers.__getitem__, target_keys), np.int64, count=len(targets))
    keyed, target_keyed = np.flatnonzero(number), np.flatnonzero(target_number)
    #: A photo and a key as one number; equal ones get the same code, from 0 up.
    place = predictions.photo_index[keyed] * len(names) + number[keyed]
    target_place = targets.photo_index[target_keyed] * len(names) + target_number[target_keyed]
    places, codes = np.unique(np.concatenate([place, target_place]), return_inverse=True)
    code, target_code = codes[: len(keyed)], codes[len(keyed) :]
    n, n_targets = np.bincount(code, minlength=len(places)), np.bincount(target_code, minlength=len(places))

    by_code = target_keyed[np.argsort(target_code, kind="stable")]
    partners = n_targets[code]
    first = (np.cumsum(n_targets) - n_targets)[code]
    left = np.repeat(keyed, partners)
    right = by_code[np.repeat(first - (np.cumsum(partners) - partners), partners) + np.arange(len(left))]
    overlap = pair_iou(predictions, left, targets, right)
    duplicates = sorted(
        DuplicateKey(int(places[c]) // len(names), str(names[places[c] % len(names)]), int(n[c]), int(n_targets[c]))
        for c in np.flatnonzero((n > 1) | (n_targets > 1))
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


def _certain(pairs: Overlaps, n_left: int, n_right: int) -> tuple[Overlaps, Overlaps]:
    """The pairs that every best pairing has, and those that are left to choose from.

    A pair that is worth more than the next best of its prediction and the next best of its target together belongs to
    every best pairing: whatever else the two were given, forming the pair instead would gain. Most pairs are such.
    """
    next_best = _second_best(pairs.left, pairs.iou, n_left)[pairs.left]
    next_best += _second_best(pairs.right, pairs.iou, n_right)[pairs.right]
    sure = pairs.where(pairs.iou > next_best)
    taken, taken_right = np.zeros(n_left, dtype=bool), np.zeros(n_right, dtype=bool)
    taken[sure.left] = True
    taken_right[sure.right] = True
    return sure, pairs.where(~(taken[pairs.left] | taken_right[pairs.right]))


def _second_best(box: Ints, value: Floats, n: int) -> Floats:
    """The second highest value among the pairs of each of `n` boxes, 0 where there is none."""
    best, second = np.zeros(n), np.zeros(n)
    np.maximum.at(best, box, value)
    below = value < best[box]
    np.maximum.at(second, box[below], value[below])
    tied = np.bincount(box[~below], minlength=n) > 1
    second[tied] = best[tied]
    return second


def _assign(pairs: Overlaps, predictions: Boxes, targets: Boxes) -> tuple[Ints, Ints]:
    """Solve photo by photo, over the boxes that have a pair; what is not listed as a pair is never formed.

    The cost matrices of all photos lie one after the other in `cost`.
    """
    if not len(pairs.left):
        return pairs.left, pairs.right
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


def _check_lengths(side: str, keys: Sequence[str | None], boxes: Boxes) -> None:
    if len(keys) != len(boxes):
        raise ValueError(f"{len(keys)} {side} keys for {len(boxes)} {side} boxes; expected one key (or None) a box")

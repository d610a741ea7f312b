"""One matcher for every task: greedy, optimal and by key, each against a plain implementation of its rule."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from harness.scoring import overlaps
from harness.scoring.boxes import Boxes
from harness.scoring.matching import (
    DuplicateKey,
    Matches,
    match_by_key,
    match_greedy,
    match_optimal,
)
from harness.types import Box

Xywh = tuple[float, float, float, float]


#: Boxes on a coarse grid, some without coordinates: equal overlaps are the rule there, not the exception.
grid_box = st.tuples(*[st.sampled_from([0.0, 0.1, 0.2, 0.3])] * 2, *[st.sampled_from([0.0, 0.2, 0.3, 0.4])] * 2)
photo_lists = st.lists(st.tuples(st.lists(grid_box, max_size=5), st.lists(grid_box, max_size=4)), max_size=4)


def boxes(*photos: Sequence[Xywh]) -> Boxes:
    return Boxes.of([[Box(x=x, y=y, w=w, h=h) for x, y, w, h in photo] for photo in photos])


def batch(photos: Sequence[tuple[Sequence[Xywh], Sequence[Xywh]]]) -> tuple[Boxes, Boxes]:
    return boxes(*(p for p, _ in photos)), boxes(*(t for _, t in photos))


def pairs_within_photos(a: Boxes, b: Boxes) -> list[tuple[int, int]]:
    """Rows of every pair that shares a photo."""
    photo_of_a, photo_of_b = a.photo_index.tolist(), b.photo_index.tolist()
    return [(i, j) for i, photo in enumerate(photo_of_a) for j, other in enumerate(photo_of_b) if photo == other]


def plain_iou(a: Xywh, b: Xywh) -> float:
    width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    height = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    return width * height / (a[2] * a[3] + b[2] * b[3] - width * height)


def plain_greedy(predictions: Sequence[Xywh], targets: Sequence[Xywh], threshold: float) -> dict[int, int]:
    ranked = sorted(
        (-plain_iou(p, t), i, j)
        for i, p in enumerate(predictions)
        for j, t in enumerate(targets)
        if plain_iou(p, t) >= threshold
    )
    chosen: dict[int, int] = {}
    for _, i, j in ranked:
        if i not in chosen and j not in chosen.values():
            chosen[i] = j
    return chosen


def best_total(predictions: Sequence[Xywh], targets: Sequence[Xywh], min_iou: float) -> float:
    """Try every pairing."""
    if len(predictions) < len(targets):
        predictions, targets = targets, predictions
    worth = [[v if (v := plain_iou(p, t)) > min_iou else 0.0 for p in predictions] for t in targets]
    return max(
        sum(worth[j][i] for j, i in enumerate(chosen)) for chosen in permutations(range(len(predictions)), len(targets))
    )


def pairs_of(matches: Matches) -> list[tuple[int, int]]:
    return [(i, j) for i, j in enumerate(matches.target_of.tolist()) if j >= 0]


def one_to_one(matches: Matches) -> bool:
    back = [(i, j) for j, i in enumerate(matches.prediction_of.tolist()) if i >= 0]
    return sorted(back) == pairs_of(matches)


class TestPairs:
    def test_every_pair_of_a_photo_and_none_across_photos(self) -> None:
        unit = (0.0, 0.0, 1.0, 1.0)
        found = overlaps.overlapping_pairs(boxes([unit, unit], [], [unit]), boxes([unit], [unit], [unit, unit]))
        assert list(zip(found.left.tolist(), found.right.tolist(), strict=True)) == [(0, 0), (1, 0), (2, 2), (2, 3)]

    @given(photo_lists, st.sampled_from([1, 3, 1 << 16]))
    def test_overlaps_are_the_pairs_with_an_iou_above_zero(
        self, photos: list[tuple[list[Xywh], list[Xywh]]], block: int
    ) -> None:
        a, b = batch(photos)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(overlaps, "BLOCK", block)
            found = overlaps.overlapping_pairs(a, b)
        expected = [
            (i, j, v) for i, j in pairs_within_photos(a, b) if (v := plain_iou(tuple(a.xywh[i]), tuple(b.xywh[j]))) > 0
        ]
        assert list(zip(found.left.tolist(), found.right.tolist(), found.iou.tolist(), strict=True)) == expected

    def test_a_part_of_a_batch_keeps_its_photos(self) -> None:
        a, b, c = (0.0, 0.0, 1.0, 1.0), (0.0, 0.0, 2.0, 2.0), (0.0, 0.0, 3.0, 3.0)
        batch = boxes([a, b], [], [c])
        chosen = batch.only(np.array([False, True, True]))
        assert (chosen.xywh.tolist(), chosen.offsets.tolist()) == ([list(b), list(c)], [0, 1, 1, 2])
        later = batch.span(1, 3)
        assert (later.xywh.tolist(), later.offsets.tolist()) == ([list(c)], [0, 0, 1])

    def test_batches_of_different_photos_are_refused(self) -> None:
        with pytest.raises(ValueError, match="predictions cover 1 photos, targets 2"):
            match_optimal(boxes([]), boxes([], []))
        with pytest.raises(ValueError, match="predictions cover 1 photos, targets 2"):
            match_by_key(boxes([]), boxes([], []), [], [])


class TestGreedy:
    @given(photo_lists, st.sampled_from([0.1, 0.25, 0.5, 1.0]))
    @settings(max_examples=300)
    def test_equals_going_through_the_ranked_pairs_one_by_one(
        self, photos: list[tuple[list[Xywh], list[Xywh]]], threshold: float
    ) -> None:
        predictions, targets = batch(photos)
        matches = match_greedy(predictions, targets, threshold)
        expected = [
            (int(predictions.offsets[n]) + i, int(targets.offsets[n]) + j)
            for n, (p, t) in enumerate(photos)
            for i, j in plain_greedy(p, t, threshold).items()
        ]
        assert pairs_of(matches) == sorted(expected)
        assert one_to_one(matches)

    def test_how_many_photos_are_matched_together_changes_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        left, right = (0.0, 0.0, 0.2, 0.2), (0.5, 0.0, 0.2, 0.2)
        predictions, targets = boxes([left], [left, right], [right]), boxes([right, left], [right], [right, left])
        eligible = np.array([True, True, True, False, True])
        whole = match_greedy(predictions, targets, 0.5), match_greedy(predictions, targets, 0.5, eligible)
        assert [pairs_of(matches) for matches in whole] == [[(0, 1), (2, 2), (3, 3)], [(0, 1), (2, 2)]]
        monkeypatch.setattr(overlaps, "BLOCK", 1)
        monkeypatch.setattr(overlaps, "PHOTO_BLOCK", 1)
        apart = match_greedy(predictions, targets, 0.5), match_greedy(predictions, targets, 0.5, eligible)
        assert [pairs_of(matches) for matches in apart] == [pairs_of(matches) for matches in whole]
        assert all(one_to_one(matches) for matches in apart)
        assert pairs_of(match_optimal(predictions, targets)) == pairs_of(whole[0])

    def test_ties_fall_to_the_lower_prediction_then_to_the_lower_target(self) -> None:
        box = (0.1, 0.1, 0.2, 0.2)
        assert pairs_of(match_greedy(boxes([box, box]), boxes([box]), 0.5)) == [(0, 0)]
        assert pairs_of(match_greedy(boxes([box]), boxes([box, box]), 0.5)) == [(0, 0)]

    def test_the_threshold_is_inclusive(self) -> None:
        half = match_greedy(boxes([(0, 0, 1, 1)]), boxes([(0, 0, 0.5, 1)]), 0.5)
        assert pairs_of(half) == [(0, 0)]
        same = match_greedy(boxes([(0, 0, 1, 1)]), boxes([(0, 0, 1, 1)]), 1.0)
        assert pairs_of(same) == [(0, 0)]

    @pytest.mark.parametrize("threshold", [0.0, -0.5, 1.5, float("nan")])
    def test_a_threshold_that_says_nothing_is_refused(self, threshold: float) -> None:
        with pytest.raises(ValueError, match=r"threshold .*: expected a number above 0 and at most 1"):
            match_greedy(boxes([]), boxes([]), threshold)


class TestOptimal:
    #: Prediction 0 is the best partner of both targets; taking the best pair first strands the other prediction.
    PREDICTIONS = (((0.0, 0.0, 1.0, 0.2), (0.45, 0.0, 1.0, 0.2)),)
    TARGETS = (((0.1, 0.0, 1.0, 0.2), (-0.3, 0.0, 1.0, 0.2)),)

    def test_beats_greedy_where_the_best_pair_is_not_in_the_best_whole(self) -> None:
        predictions, targets = boxes(*self.PREDICTIONS), boxes(*self.TARGETS)
        greedy, optimal = match_greedy(predictions, targets, 0.01), match_optimal(predictions, targets)
        assert pairs_of(greedy) == [(0, 0), (1, 1)]
        assert pairs_of(optimal) == [(0, 1), (1, 0)]

        def total(matches: Matches) -> float:
            chosen = pairs_of(matches)
            return sum(plain_iou(self.PREDICTIONS[0][i], self.TARGETS[0][j]) for i, j in chosen)

        assert total(optimal) > total(greedy)

    @given(photo_lists, st.sampled_from([0.0, 0.2, 0.5]))
    @settings(max_examples=300)
    def test_no_pairing_has_a_greater_total(self, photos: list[tuple[list[Xywh], list[Xywh]]], min_iou: float) -> None:
        predictions, targets = batch(photos)
        matches = match_optimal(predictions, targets, min_iou)
        assert one_to_one(matches)
        photo_of, totals = predictions.photo_index.tolist(), [0.0] * len(photos)
        for i, j in pairs_of(matches):
            value = plain_iou(tuple(predictions.xywh[i]), tuple(targets.xywh[j]))
            assert value > min_iou
            assert targets.photo_index[j] == photo_of[i]
            totals[photo_of[i]] += value
        assert totals == pytest.approx([best_total(p, t, min_iou) for p, t in photos], abs=1e-12)

    @given(photo_lists)
    def test_a_photo_gets_the_same_pairs_whatever_else_is_in_the_batch(
        self, photos: list[tuple[list[Xywh], list[Xywh]]]
    ) -> None:
        together = match_optimal(*batch(photos)).target_of.tolist()
        alone, offset = [], 0
        for predictions, targets in photos:
            found = match_optimal(boxes(predictions), boxes(targets)).target_of.tolist()
            alone += [j + offset if j >= 0 else -1 for j in found]
            offset += len(targets)
        assert together == alone

    def test_totals_equal_scipys_on_crowded_photos(self) -> None:
        rng = np.random.default_rng(0)
        shape = (200, 12, 4)
        xywh = rng.random(shape) * [0.6, 0.6, 0.5, 0.5]
        other = rng.random(shape) * [0.6, 0.6, 0.5, 0.5]
        offsets = np.arange(201) * 12
        matches = match_optimal(Boxes(xywh.reshape(-1, 4), offsets), Boxes(other.reshape(-1, 4), offsets))
        chosen = np.array(pairs_of(matches))
        for photo in range(200):
            values = np.array([[plain_iou(tuple(a), tuple(b)) for b in other[photo]] for a in xywh[photo]])
            here = chosen[chosen[:, 0] // 12 == photo] % 12
            best = values[linear_sum_assignment(1 - values)].sum()
            assert values[here[:, 0], here[:, 1]].sum() == pytest.approx(best, abs=1e-12)

    def test_boxes_that_do_not_overlap_or_were_never_drawn_stay_unmatched(self) -> None:
        predictions, targets = boxes([(0, 0, 0.1, 0.1), (0, 0, 0, 0)]), boxes([(0.5, 0.5, 0.1, 0.1), (0, 0, 0, 0)])
        assert pairs_of(match_optimal(predictions, targets)) == []

    def test_the_floor_is_exclusive(self) -> None:
        predictions, targets = boxes([(0, 0, 1, 1)]), boxes([(0, 0, 0.5, 1)])
        assert pairs_of(match_optimal(predictions, targets, min_iou=0.5)) == []
        assert pairs_of(match_optimal(predictions, targets, min_iou=0.499)) == [(0, 0)]

    @pytest.mark.parametrize("min_iou", [-0.1, 1.0, float("nan")])
    def test_a_floor_that_says_nothing_is_refused(self, min_iou: float) -> None:
        with pytest.raises(ValueError, match=r"min_iou .*: expected a number from 0 and below 1"):
            match_optimal(boxes([]), boxes([]), min_iou)


class TestByKey:
    NEAR, FAR = (0.0, 0.0, 0.2, 0.2), (0.7, 0.7, 0.2, 0.2)

    def test_equal_keys_pair_even_where_another_box_overlaps_better(self) -> None:
        predictions, targets = boxes([self.NEAR, self.FAR]), boxes([self.NEAR, self.FAR])
        matches, duplicates = match_by_key(predictions, targets, ["a", "b"], ["b", "a"])
        assert pairs_of(matches) == [(0, 1), (1, 0)]
        assert duplicates == ()

    def test_a_key_pairs_within_its_photo_only_and_none_pairs_nothing(self) -> None:
        predictions, targets = boxes([self.NEAR], [self.NEAR]), boxes([self.NEAR], [self.NEAR])
        matches, _ = match_by_key(predictions, targets, ["a", None], ["b", None])
        assert pairs_of(matches) == []

    @pytest.mark.parametrize("blank", [None, "", " ", "\t"])
    def test_a_blank_key_is_none_and_never_a_duplicate(self, blank: str | None) -> None:
        predictions, targets = boxes([self.NEAR, self.NEAR]), boxes([self.NEAR, self.NEAR])
        matches, duplicates = match_by_key(predictions, targets, [blank, blank], [blank, blank])
        assert (pairs_of(matches), duplicates) == ([], ())

    def test_duplicate_keys_pair_best_iou_first_and_are_reported(self) -> None:
        shifted = (0.05, 0.0, 0.2, 0.2)
        predictions, targets = boxes([], [shifted, self.NEAR, self.FAR]), boxes([], [self.NEAR, self.FAR])
        matches, duplicates = match_by_key(predictions, targets, ["7", "7", "9"], ["7", "8"])
        assert pairs_of(matches) == [(1, 0)]
        assert duplicates == (DuplicateKey(photo=1, key="7", predictions=2, targets=1),)

    def test_a_duplicate_that_has_no_partner_is_reported_too(self) -> None:
        matches, duplicates = match_by_key(boxes([]), boxes([self.NEAR, self.FAR]), [], ["7", "7"])
        assert pairs_of(matches) == []
        assert duplicates == (DuplicateKey(photo=0, key="7", predictions=0, targets=2),)

    @given(st.data(), photo_lists)
    def test_equals_greedy_among_equal_keys(
        self, data: st.DataObject, photos: list[tuple[list[Xywh], list[Xywh]]]
    ) -> None:
        predictions, targets = batch(photos)
        key = st.sampled_from(["a", "b", None])
        keys = data.draw(st.lists(key, min_size=len(predictions), max_size=len(predictions)))
        target_keys = data.draw(st.lists(key, min_size=len(targets), max_size=len(targets)))
        matches, _ = match_by_key(predictions, targets, keys, target_keys)
        candidates = sorted(
            (-plain_iou(tuple(predictions.xywh[i]), tuple(targets.xywh[j])), i, j)
            for i, j in pairs_within_photos(predictions, targets)
            if keys[i] is not None and keys[i] == target_keys[j]
        )
        chosen: dict[int, int] = {}
        for _, i, j in candidates:
            if i not in chosen and j not in chosen.values():
                chosen[i] = j
        assert pairs_of(matches) == sorted(chosen.items())

    def test_a_key_too_few_is_refused(self) -> None:
        with pytest.raises(ValueError, match="1 prediction keys for 2 prediction boxes"):
            match_by_key(boxes([self.NEAR, self.FAR]), boxes([]), ["a"], [])
        with pytest.raises(ValueError, match="1 target keys for 2 target boxes"):
            match_by_key(boxes([]), boxes([self.NEAR, self.FAR]), [], ["a"])

"""Bootstrap over photos: intervals of one run, and the paired difference of two."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from harness.scoring import uncertainty
from harness.scoring.bibs import BibScorecard
from harness.scoring.cards import Tally
from harness.scoring.faces import FaceScorecard
from harness.scoring.pairing import paired_difference
from harness.scoring.uncertainty import Interval, intervals, rate_intervals, resampled_sums


def tally(*photos: tuple[int, int, int], unlabeled: int = 0) -> Tally[FaceScorecard]:
    """A tally of (found, false, missed) photos, then of photos that nobody labelled."""
    rows = [FaceScorecard(*photo, photos=1) for photo in photos]
    rows += [FaceScorecard(0, 0, 0, unlabeled_photos=1)] * unlabeled
    return Tally.of_cards(FaceScorecard, rows)


def random_tally(photos: int, recall: float, seed: int) -> Tally[FaceScorecard]:
    """Photos of six targets each; their hardness depends on the photo's place, not on the seed."""
    hardness = np.random.default_rng(99).normal(0, 0.15, photos)
    found = np.random.default_rng(seed).binomial(6, np.clip(recall + hardness, 0, 1))
    return tally(*((n, 1, 6 - n) for n in found.tolist()))


class TestResampling:
    def test_each_resample_sums_as_many_rows_as_there_are(self) -> None:
        sums = resampled_sums(np.ones((7, 1)), seed=1, resamples=50)
        assert sums.shape == (50, 1)
        assert (sums == 7).all()

    def test_columns_are_summed_over_the_same_draws(self) -> None:
        values = np.random.default_rng(0).integers(0, 9, (20, 1)).astype(float)
        sums = resampled_sums(np.hstack([values, 2 * values]), seed=3, resamples=100)
        assert (sums[:, 1] == 2 * sums[:, 0]).all()
        assert len(np.unique(sums[:, 0])) > 10

    def test_how_many_are_drawn_together_changes_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        values = np.random.default_rng(0).integers(0, 9, (30, 2)).astype(float)
        whole = resampled_sums(values, seed=5, resamples=40)
        monkeypatch.setattr(uncertainty, "BLOCK", 1)
        assert (resampled_sums(values, seed=5, resamples=40) == whole).all()

    def test_spread_is_that_of_a_mean(self) -> None:
        values = np.random.default_rng(0).random((400, 1))
        means = resampled_sums(values, seed=0, resamples=4000)[:, 0] / 400
        assert means.std() == pytest.approx(values.std() / 20, rel=0.05)

    def test_no_resamples_are_refused(self) -> None:
        with pytest.raises(ValueError, match="resamples 0: expected at least 1"):
            resampled_sums(np.ones((3, 1)), resamples=0)


class TestIntervals:
    def test_an_interval_is_the_middle_95_percent_of_the_values(self) -> None:
        middle = Interval.of(np.arange(1001.0))
        assert (middle.low, middle.high) == pytest.approx((25, 975))

    def test_what_is_not_said_is_seed_0_and_2000_resamples(self) -> None:
        run = random_tally(50, 0.7, 1)
        assert intervals(run) == intervals(run, seed=0, resamples=2000) != intervals(run, seed=1)
        given = {"rate": ([1.1, 2.0, 4.7, 3.3, 0.4], [5.0, 5.0, 7.0, 8.1, 9.2])}
        assert rate_intervals(given) == rate_intervals(given, seed=0, resamples=2000) != rate_intervals(given, seed=1)
        values = np.arange(9.0).reshape(-1, 1)
        assert np.array_equal(resampled_sums(values), resampled_sums(values, seed=0, resamples=2000))

    def test_each_rate_with_a_denominator_lies_in_its_interval(self) -> None:
        found = intervals(random_tally(200, 0.7, seed=1))
        card = random_tally(200, 0.7, seed=1).scorecard()
        assert set(found) == {"face/precision", "face/recall", "face/f1", "face/strict_precision", "face/strict_f1"}
        assert found["face/recall"].low < card.detection_recall < found["face/recall"].high

    def test_the_same_seed_gives_the_same_interval(self) -> None:
        assert intervals(random_tally(50, 0.7, 1), seed=4) == intervals(random_tally(50, 0.7, 1), seed=4)
        assert intervals(random_tally(50, 0.7, 1), seed=4) != intervals(random_tally(50, 0.7, 1), seed=5)

    def test_a_rate_without_a_denominator_has_none(self) -> None:
        assert set(intervals(tally((0, 0, 3), (0, 0, 1)))) == {"face/recall", "face/f1", "face/strict_f1"}

    def test_resamples_without_a_denominator_are_left_out(self) -> None:
        assert intervals(tally((1, 0, 0), (0, 0, 0), (0, 0, 0)))["face/recall"] == Interval(1.0, 1.0)

    def test_where_no_resample_has_a_denominator_there_is_no_interval(self) -> None:
        lucky = [seed for seed in range(20) if "face/recall" in intervals(tally((1, 0, 0), (0, 0, 0)), seed, 1)]
        assert 0 < len(lucky) < 20

    def test_photos_that_nobody_labelled_are_no_part_of_the_sample(self) -> None:
        photos = [(3, 1, 0), (1, 0, 2), (2, 2, 2)]
        assert intervals(tally(*photos, unlabeled=50)) == intervals(tally(*photos))

    def test_an_empty_tally_has_none(self) -> None:
        assert intervals(tally()) == {}
        assert intervals(tally(unlabeled=3)) == {}


class TestRateIntervals:
    def test_rates_given_item_by_item_are_drawn_like_those_of_a_tally(self) -> None:
        counted = random_tally(40, 0.7, seed=3)
        given = {
            ratio.metric: (
                counted.items().weights(ratio.numerator).tolist(),
                counted.items().weights(ratio.denominator).tolist(),
            )
            for ratio in FaceScorecard.DECLARED.rates.values()
        }
        assert rate_intervals(given, seed=5) == intervals(counted, seed=5)

    def test_a_rate_without_a_denominator_has_none(self) -> None:
        assert rate_intervals({"rate": ([0.0, 0.0], [0.0, 0.0])}) == {}
        assert rate_intervals({"rate": ([0.25], [0.5]), "other": ([1.0], [1.0])}) == {
            "rate": Interval(0.5, 0.5),
            "other": Interval(1.0, 1.0),
        }
        assert rate_intervals({}) == {}


class TestPairedDifference:
    def test_a_run_beside_itself_differs_in_nothing(self) -> None:
        run = random_tally(100, 0.8, seed=1)
        for difference in paired_difference(run, run).values():
            assert (difference.delta, difference.low, difference.high) == (0.0, 0.0, 0.0)
            assert (difference.p_worse, difference.p_better, difference.photos) == (0.0, 0.0, 100)

    def test_a_clear_loss_is_told_from_chance(self) -> None:
        lost = paired_difference(random_tally(300, 0.8, 1), random_tally(300, 0.7, 2))["face/recall"]
        assert lost.delta < 0
        assert lost.low <= lost.delta <= lost.high < 0
        assert lost.p_worse == 1.0

    def test_delta_is_the_difference_of_the_two_rates(self) -> None:
        a, b = random_tally(60, 0.6, 1), random_tally(60, 0.65, 2)
        both = paired_difference(a, b)
        back = paired_difference(b, a)
        assert both["face/f1"].delta == b.scorecard().detection_f1 - a.scorecard().detection_f1
        assert back["face/f1"].delta == -both["face/f1"].delta
        assert back["face/f1"].p_worse == both["face/f1"].p_better

    def test_pairing_is_sharper_than_two_intervals_side_by_side(self) -> None:
        """One more target found in every third photo: certain when paired, lost in the noise otherwise."""
        baseline = random_tally(200, 0.5, seed=1)
        better = baseline.counts.copy()
        names = [field.name for field in fields(FaceScorecard)]
        gains = (np.arange(200) % 3 == 0) & (better[:, names.index("detection_fn")] > 0)
        better[gains, names.index("detection_tp")] += 1
        better[gains, names.index("detection_fn")] -= 1
        candidate = Tally(FaceScorecard, better)
        assert paired_difference(baseline, candidate)["face/recall"].low > 0
        assert intervals(baseline)["face/recall"].high > intervals(candidate)["face/recall"].low

    def test_a_rate_that_only_one_run_has_is_left_out(self) -> None:
        silent, speaking = tally((0, 0, 2), (0, 0, 1)), tally((1, 0, 1), (0, 1, 1))
        assert set(paired_difference(silent, speaking)) == {"face/recall", "face/f1", "face/strict_f1"}

    def test_what_cannot_be_compared_is_refused(self) -> None:
        with pytest.raises(ValueError, match="baseline has 2 photos, candidate 1"):
            paired_difference(tally((1, 0, 0), (1, 0, 0)), tally((1, 0, 0)))
        with pytest.raises(ValueError, match="photo 1: scored in the baseline only"):
            paired_difference(tally((1, 0, 0), (1, 0, 0)), tally((1, 0, 0), unlabeled=1))
        with pytest.raises(ValueError, match="cannot compare a bib scorecard with a face scorecard"):
            paired_difference(tally((1, 0, 0)), Tally.of_cards(BibScorecard, [BibScorecard(1, 0, 0)]))

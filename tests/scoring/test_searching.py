"""The search by face, strangers, and operating points, against plain loops."""

from __future__ import annotations

import math
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scoring import searching
from harness.scoring.people import FOLDS, NOBODY, UNKNOWN, Evidence, Vectors, folds_of
from harness.scoring.searching import Gallery, Operating, Search, fnir_curve, operate, threshold_at
from tests.scoring.worlds import World, photo_score, plain_threshold, random_world, shuffled, stranger_score

seeds = st.integers(0, 10**6)
galleries = st.sampled_from(["all", "linked"])


class TestScores:
    @given(seeds, galleries)
    @settings(max_examples=60, deadline=None)
    def test_equal_those_of_plain_loops(self, seed: int, gallery: Gallery) -> None:
        evidence = random_world(seed).evidence()
        search, queries = Search(evidence, gallery), evidence.queries
        for rows in search.blocks():
            look = search.look(rows)
            for n, row in enumerate(rows.tolist()):
                whose, own = int(queries.person[row]), int(queries.photo[row])
                expected = [
                    photo_score(evidence, queries.vectors[row], whose, own, photo, gallery)
                    for photo in range(len(evidence.photos))
                ]
                assert search.scores(look)[n].tolist() == pytest.approx(expected, abs=2e-9)
        expected = [stranger_score(evidence, row, gallery) for row in range(len(queries))]
        assert search.stranger_scores().tolist() == pytest.approx(expected, abs=2e-9)

    @given(seeds, st.sampled_from([1, 15, 40]))
    @settings(max_examples=30, deadline=None)
    def test_blocks_change_nothing(self, seed: int, block: int) -> None:
        evidence = random_world(seed).evidence()
        whole = Search(evidence).stranger_scores()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(searching, "BLOCK", block)
            patch.setattr(searching, "TILE", 2)
            assert Search(evidence).stranger_scores().tolist() == whole.tolist()

    def test_memory_is_that_of_a_block(self) -> None:
        """Twenty thousand faces and queries; all pairs at once would be 3,200 MB."""
        world, rng = World(), np.random.default_rng(0)
        world.person("ann")
        world.photo()
        evidence = world.evidence()
        vectors = rng.normal(size=(20_000, 4)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        search = Search(_many(evidence, vectors))
        tracemalloc.start()
        rows = next(search.blocks())
        search.scores(search.look(rows))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(rows) == searching.BLOCK // 20_000
        assert peak < 100e6

    def test_a_face_of_somebody_else_never_brings_back_a_wanted_photo(self) -> None:
        world = World()
        ann, bob = world.person("ann"), world.person("bob")
        photo = world.photo()
        world.face(photo, (1, 0), bob)
        world.face(photo, (0, 1), ann)
        world.query(ann, (1, 0))
        search = Search(world.evidence())
        assert search.scores(search.look(np.array([0]))).tolist() == [[0.0]]

    @pytest.mark.parametrize(
        ("person", "said", "score"),
        [(NOBODY, False, 1.0), (UNKNOWN, False, -math.inf), (UNKNOWN, True, 1.0)],
    )
    def test_elsewhere_only_faces_known_not_to_be_theirs_count(self, person: int, said: bool, score: float) -> None:
        world = World()
        ann = world.person("ann")
        world.face(world.photo(said=said), (1, 0), person)
        world.query(ann, (1, 0))
        search = Search(world.evidence())
        assert search.scores(search.look(np.array([0]))).tolist() == [[score]]
        assert search.stranger_scores().tolist() == [score]


def _many(evidence: Evidence, vectors: Vectors) -> Evidence:
    """As many strangers in one photo, each a query of the only person."""
    n, zero = len(vectors), np.zeros(len(vectors), dtype=np.int64)
    yes = np.ones(n, dtype=bool)
    faces = replace(
        evidence.faces,
        vectors=vectors,
        photo=zero,
        person=zero + NOBODY,
        enrolled=yes,
        heights=yes * 1.0,
        linked=yes,
        numbers=(None,) * n,
    )
    queries = replace(evidence.queries, vectors=vectors, person=zero, photo=zero - 1, face=zero - 1)
    return replace(evidence, faces=faces, queries=queries)


class TestOperatingPoints:
    def test_the_worked_example(self) -> None:
        """Of 300 strangers three may be returned at an FPIR of 1 %: the threshold is just above the fourth highest."""
        scores = np.arange(300) / 1000
        cut = threshold_at(scores, 0.01)
        assert cut == np.nextafter(0.296, 1)
        assert np.count_nonzero(scores >= cut) == 3

    @given(st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4, 0.5]), min_size=1, max_size=60), st.sampled_from([0.01, 0.1]))
    def test_equal_a_plain_search_for_the_threshold(self, scores: list[float], share: float) -> None:
        cut = threshold_at(np.array(scores), share)
        assert cut == plain_threshold(scores, share)
        assert np.count_nonzero(np.array(scores) >= cut) <= share * len(scores) + 1e-9

    def test_shares_are_told_in_decimals(self) -> None:
        assert threshold_at(np.arange(100) / 100, 0.29) == np.nextafter(0.70, 1)

    def test_without_strangers_nothing_is_returned(self) -> None:
        assert threshold_at(np.empty(0), 0.01) == math.inf

    @pytest.mark.parametrize("share", [0.0, 1.0, -0.1])
    def test_a_share_that_is_none_is_refused(self, share: float) -> None:
        with pytest.raises(ValueError, match="expected a number above 0 and below 1"):
            threshold_at(np.ones(3), share)

    @given(seeds)
    @settings(max_examples=40, deadline=None)
    def test_people_are_judged_by_the_strangers_of_other_folds(self, seed: int) -> None:
        evidence = random_world(seed).evidence()
        search = Search(evidence)
        (found,) = operate(search, (0.3,))
        scores = search.stranger_scores().tolist()
        folds = [int(evidence.folds[person]) for person in evidence.queries.person]
        for fold in range(FOLDS):
            others = [s for s, own in zip(scores, folds, strict=True) if own != fold and s > -math.inf]
            assert found.strangers[fold] == len(others)
            assert found.thresholds[fold] == plain_threshold(others, 0.3)
        assert found.whole == plain_threshold([s for s in scores if s > -math.inf], 0.3)
        assert found.measurable == all(n >= 1 / 0.3 for n in found.strangers)

    @given(seeds, seeds)
    @settings(max_examples=30, deadline=None)
    def test_the_order_of_things_changes_nothing(self, seed: int, other: int) -> None:
        evidence = random_world(seed).evidence()
        again = shuffled(evidence, other)[0]
        assert operate(Search(again), (0.1, 0.3)) == operate(Search(evidence), (0.1, 0.3))

    def test_too_few_strangers_cannot_measure_a_low_share(self) -> None:
        scores, folds = np.linspace(0, 1, 124), np.arange(124) % FOLDS
        assert Operating.of(scores, folds, 0.1).measurable
        assert not Operating.of(scores, folds, 0.01).measurable
        assert Operating.of(scores, folds, 0.01).whole == np.nextafter(scores[-2], 2)
        assert Operating.of(np.linspace(0, 1, 125), np.arange(125) % FOLDS, 0.01).measurable

    def test_queries_that_were_compared_with_nobody_are_no_strangers(self) -> None:
        found = Operating.of(np.array([-np.inf, 0.5, 0.7]), np.array([0, 0, 1]), 0.5)
        assert found.strangers == (1, 1, 2, 2, 2)
        assert found.thresholds[1] == np.nextafter(0.5, 1)

    def test_a_fixed_threshold_is_that_of_everybody(self) -> None:
        fixed = Operating.fixed(0.01, 0.42, 250, "iteration of race_v1")
        assert fixed.by_person(np.array([0, 4, 2])).tolist() == [0.42] * 3
        assert fixed.measurable
        assert not Operating.fixed(0.01, 0.42, 99, "").measurable


class TestFolds:
    def test_they_are_nearly_equal_and_do_not_depend_on_the_order(self) -> None:
        names = [f"runner {n}" for n in range(23)]
        folds = folds_of(names)
        assert sorted(np.bincount(folds, minlength=FOLDS)) == [4, 4, 5, 5, 5]
        assert folds_of(names[::-1]).tolist() == folds[::-1].tolist()

    def test_they_stay_what_they_are(self) -> None:
        """Thresholds of older runs were set on these fifths."""
        assert folds_of(["ann", "bob", "cat", "dan", "eve", "fay", "gil"]).tolist() == [0, 3, 2, 1, 4, 0, 1]


class TestCurve:
    def test_a_worked_example(self) -> None:
        """Two strangers at .3 and .6; of the four others one is below each of them and two above both."""
        curve = fnir_curve(np.array([0.2, 0.5, 0.7, 0.9]), np.array([0.3, 0.6, -np.inf]))
        assert [(point.fpir, point.fnir) for point in curve] == [(0.0, 0.5), (0.5, 0.25), (1.0, 0.0)]

    def test_equal_scores_make_one_point(self) -> None:
        curve = fnir_curve(np.array([0.5]), np.array([0.5, 0.5, 0.4]))
        assert [(point.fpir, point.fnir) for point in curve] == [(0.0, 1.0), (2 / 3, 0.0), (1.0, 0.0)]

    @given(st.lists(st.floats(-1, 1), min_size=1, max_size=30), st.lists(st.floats(-1, 1), min_size=1, max_size=500))
    def test_each_point_is_what_its_threshold_gives(self, mated: list[float], strangers: list[float]) -> None:
        curve = fnir_curve(np.array(mated), np.array(strangers))
        assert len(curve) <= searching.MOST_POINTS + 1
        for point in curve:
            assert point.fpir == sum(score >= point.threshold for score in strangers) / len(strangers)
            assert point.fnir == sum(score < point.threshold for score in mated) / len(mated)

    def test_nothing_to_compare_is_no_curve(self) -> None:
        assert fnir_curve(np.empty(0), np.array([0.1])) == fnir_curve(np.array([0.1]), np.array([-np.inf])) == ()

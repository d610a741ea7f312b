"""Clusters of faces: pairwise, B-cubed and NMI, against plain definitions and scikit-learn."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import pair_confusion_matrix

from harness.scoring.clusters import ClusterScorecard, score_clusters

faces = st.lists(
    st.tuples(st.sampled_from(["ann", "bob", "anonymous_1", None]), st.sampled_from([0, 1, 2, 3, None])), max_size=14
)


def plain(items: list[tuple[Any, Any]]) -> dict[str, float]:
    """The definitions, face by face and pair by pair."""
    known = [
        (identity, (n,) if cluster is None else cluster) for n, (identity, cluster) in enumerate(items) if identity
    ]
    pairs = [(a[0] == b[0], a[1] == b[1]) for a, b in combinations(known, 2)]
    result: dict[str, float] = {
        "pair_tp": sum(person and cluster for person, cluster in pairs),
        "pair_fp": sum(cluster and not person for person, cluster in pairs),
        "pair_fn": sum(person and not cluster for person, cluster in pairs),
        "faces": len(known),
    }
    precision = recall = 0.0
    for identity, cluster in known:
        both = sum(other == (identity, cluster) for other in known)
        precision += both / sum(other[1] == cluster for other in known) / len(known)
        recall += both / sum(other[0] == identity for other in known) / len(known)
    return result | {"bcubed_precision": precision, "bcubed_recall": recall}


class TestDefinitions:
    def test_a_worked_example(self) -> None:
        """Ann's three faces: two together, one with Bob's only face."""
        card = score_clusters(["ann", "ann", "ann", "bob"], [0, 0, 1, 1])
        assert (card.pair_tp, card.pair_fp, card.pair_fn) == (1, 1, 2)
        assert (card.pair_precision, card.pair_recall, card.pair_f1) == pytest.approx((1 / 2, 1 / 3, 2 / 5))
        assert card.bcubed_precision == pytest.approx((1 + 1 + 1 / 2 + 1 / 2) / 4)
        assert card.bcubed_recall == pytest.approx((2 / 3 + 2 / 3 + 1 / 3 + 1) / 4)
        assert (card.faces, card.identities, card.clusters) == (4, 2, 2)
        logged, names = card.metrics(), ("precision", "recall", "f1")
        assert [logged[f"cluster/pair_{name}"] for name in names] == pytest.approx([1 / 2, 1 / 3, 2 / 5])
        assert [logged[f"cluster/bcubed_{name}"] for name in names] == pytest.approx([3 / 4, 2 / 3, 12 / 17])
        assert (logged["cluster/identities"], logged["cluster/clusters"]) == (2.0, 2.0)

    @given(faces)
    def test_equal_the_plain_definitions(self, items: list[tuple[Any, Any]]) -> None:
        card = score_clusters([identity for identity, _ in items], [cluster for _, cluster in items])
        found = {name: getattr(card, name) for name in plain(items)}
        assert found == pytest.approx(plain(items), abs=1e-12)
        assert ClusterScorecard.from_dict(json.loads(json.dumps(card.to_dict()))) == card

    @given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=60))
    def test_nmi_and_pairs_equal_those_of_scikit_learn(self, items: list[tuple[int, int]]) -> None:
        identities, clusters = np.array(items).T
        card = score_clusters(identities, clusters)
        assert card.nmi == pytest.approx(normalized_mutual_info_score(identities, clusters), abs=1e-9)
        (_, fp), (fn, tp) = pair_confusion_matrix(identities, clusters)
        assert (2 * card.pair_tp, 2 * card.pair_fp, 2 * card.pair_fn) == (tp, fp, fn)

    def test_many_faces_overflow_nothing(self) -> None:
        n = 200_000
        card = score_clusters(np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int8))
        assert card.pair_tp == n * (n - 1) // 2
        assert (card.pair_fp, card.pair_fn, card.bcubed_f1) == (0, 0, 1.0)

    def test_names_and_numbers_far_apart_are_all_the_same(self) -> None:
        small = score_clusters(np.array([0, 0, 1, 2]), np.array([1, 1, 1, 0]))
        far = score_clusters(np.array([7, 7, 10**15, 9]), np.array([10**17, 10**17, 10**17, 3]))
        named = score_clusters(["a", "a", "b", "c"], ["x", "x", "x", "y"])
        assert small == far == named


class TestWhoTakesPart:
    def test_faces_without_an_identity_are_counted_apart(self) -> None:
        named = score_clusters(["ann", None, "ann", None], [0, 0, 0, 1])
        numbered = score_clusters(np.array([3, -1, 3, -1]), np.array([0, 0, 0, 1]))
        assert (named.faces, named.unidentified_faces, named.pair_tp, named.pair_fp) == (2, 2, 1, 0)
        assert named == numbered

    def test_a_face_that_was_left_out_is_a_cluster_of_its_own(self) -> None:
        card = score_clusters(["ann", "ann", "bob"], [None, None, None])
        assert (card.clusters, card.pair_fp, card.pair_fn) == (3, 0, 1)
        assert score_clusters(np.array([0, 0, 1]), np.array([-1, -1, -1])) == card


class TestConstraints:
    def test_violations_are_counted_for_faces_with_an_identity_or_without(self) -> None:
        card = score_clusters(
            ["ann", "ann", None, None], [0, 1, 1, -1], must_link=[(0, 1), (1, 2)], cannot_link=[(1, 2), (0, 3)]
        )
        assert (card.must_links, card.must_link_violations) == (2, 1)
        assert (card.cannot_links, card.cannot_link_violations) == (2, 1)
        logged = card.metrics()
        assert (logged["cluster/must_link_violations"], logged["cluster/cannot_link_violations"]) == (1.0, 1.0)
        assert (logged["cluster/faces"], logged["cluster/unidentified_faces"]) == (2.0, 2.0)

    def test_faces_that_were_left_out_are_not_together(self) -> None:
        card = score_clusters([None, None], [None, None], must_link=[(0, 1)], cannot_link=[(0, 1)])
        assert (card.must_link_violations, card.cannot_link_violations) == (1, 0)


class TestNothingVacuous:
    def test_without_faces_only_counts_are_logged(self) -> None:
        card = score_clusters([None], [0])
        assert set(card.metrics()) == set(ClusterScorecard.DECLARED.counts.values())
        assert score_clusters([], []).metrics()["cluster/faces"] == 0.0
        assert score_clusters(np.array([], dtype=int), np.array([], dtype=int)) == score_clusters([], [])
        assert card.bcubed_f1 == 0.0

    def test_without_pairs_there_are_no_pairwise_rates(self) -> None:
        logged = score_clusters(["ann", "bob"], [0, 1]).metrics()
        assert "cluster/pair_precision" not in logged
        assert logged["cluster/bcubed_f1"] == 1.0

    def test_nmi_is_logged_only_where_there_is_something_to_tell_apart(self) -> None:
        alike = score_clusters(["ann", "ann"], [0, 0])
        assert alike.nmi == 1.0
        assert "cluster/nmi" not in alike.metrics()
        assert score_clusters(["ann", "ann"], [0, 1]).metrics()["cluster/nmi"] == 0.0


class TestBadInput:
    @pytest.mark.parametrize(
        ("identities", "clusters", "links", "message"),
        [
            (["ann"], [0, 1], (), "1 identities for 2 clusters"),
            (np.array([0, -2]), [0, 0], (), "face 1: identity -2; expected a number from 0, or -1"),
            (["ann", float("nan")], [0, 0], (), "face 1: identity nan; expected a name"),
            (["ann", "bob"], [0, 0], [(0, 2)], r"must-link 0: \[0, 2\]; expected two different faces of 2"),
            (["ann", "bob"], [0, 0], [(0, 1), (1, 1)], r"must-link 1: \[1, 1\]"),
        ],
    )
    def test_it_is_refused_by_place(self, identities: Any, clusters: Any, links: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            score_clusters(identities, clusters, must_link=links)

"""Retrieval by face: recall at k, and the share of a person's photos found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scoring import retrieval
from harness.scoring.retrieval import RetrievalScorecard, score_retrieval, tally_retrieval
from harness.scoring.uncertainty import intervals

face = st.tuples(
    st.sampled_from([(1.0, 0.0), (1.0, 1.0), (0.0, 2.0), (-1.0, 0.5), (3.0, 0.0)]),
    st.sampled_from(["ann", "bob", "cat", None]),
    st.sampled_from(["p1", "p2", "p3", "p4"]),
)


def plain(items: list[tuple[Any, str | None, str]]) -> dict[str, int]:
    """Each query ranked in plain Python."""
    faces = [(np.array(vector) / np.hypot(*vector), who, photo) for vector, who, photo in items if who]
    counts = dict.fromkeys(
        ["queries", "found_at_1", "found_at_5", "found_at_10", "person_photos", "person_photos_found"], 0
    )
    for i, (vector, who, photo) in enumerate(faces):
        ranked = sorted((-round(float(vector @ other), 9), j) for j, (other, _, _) in enumerate(faces) if j != i)
        hits = [rank for rank, (_, j) in enumerate(ranked) if faces[j][1] == who]
        if hits:
            counts["queries"] += 1
            for k in (1, 5, 10):
                counts[f"found_at_{k}"] += hits[0] < k
        order = list(dict.fromkeys(faces[j][2] for _, j in ranked if faces[j][2] != photo))
        wanted = {other for _, person, other in faces if person == who and other != photo}
        counts["person_photos"] += len(wanted)
        counts["person_photos_found"] += len(wanted & set(order[: len(wanted)]))
    return counts


def search(items: Sequence[tuple[Any, str | None, str]]) -> RetrievalScorecard:
    vectors, identities, photos = zip(*items, strict=True)
    return score_retrieval(np.array(vectors), identities, photos)


class TestDefinitions:
    def test_a_worked_example(self) -> None:
        """Ann is near herself in two photos and far from herself in a third, where Bob is nearer."""
        card = search(
            [
                ((1.0, 0.0), "ann", "p1"),
                ((1.0, 0.1), "ann", "p2"),
                ((0.0, 1.0), "ann", "p3"),
                ((1.0, 0.3), "bob", "p4"),
            ]
        )
        assert (card.queries, card.found_at_1, card.found_at_5) == (3, 2, 3)
        assert (card.person_photos, card.person_photos_found) == (6, 3)
        assert (card.recall_at_1, card.photo_share) == pytest.approx((2 / 3, 1 / 2))

    @given(st.lists(face, min_size=1, max_size=14))
    @settings(max_examples=200)
    def test_equals_a_plain_ranking(self, items: list[tuple[Any, str | None, str]]) -> None:
        card = search(items)
        assert {name: getattr(card, name) for name in plain(items)} == plain(items)

    @given(st.lists(face, min_size=1, max_size=14), st.sampled_from([1, 20, 50]))
    def test_blocks_change_nothing(self, items: list[tuple[Any, str | None, str]], block: int) -> None:
        whole = search(items)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(retrieval, "BLOCK", block)
            assert search(items) == whole

    def test_ties_go_to_the_lower_row(self) -> None:
        same = (1.0, 0.0)
        first = search([(same, "ann", "p1"), (same, "ann", "p2"), (same, "bob", "p3")])
        last = search([(same, "ann", "p1"), (same, "bob", "p3"), (same, "ann", "p2")])
        assert (first.found_at_1, last.found_at_1) == (2, 1)

    def test_the_length_of_an_embedding_says_nothing(self) -> None:
        items = [((1.0, 0.0), "ann", "p1"), ((90.0, 1.0), "ann", "p2"), ((0.0, 0.01), "bob", "p3")]
        assert search(items).recall_at_1 == 1.0


class TestWhoTakesPart:
    def test_a_face_without_an_identity_is_neither_query_nor_candidate(self) -> None:
        items = [((1.0, 0.0), "ann", "p1"), ((1.0, 0.0), None, "p2"), ((0.0, 1.0), "ann", "p3")]
        card = search(items)
        assert (card.faces, card.unidentified_faces, card.queries, card.found_at_1) == (2, 1, 2, 2)

    def test_a_person_with_one_face_is_no_query(self) -> None:
        card = search([((1.0, 0.0), "ann", "p1"), ((1.0, 0.1), "bob", "p2")])
        assert (card.queries, card.person_photos) == (0, 0)
        assert not any("recall" in name or "share" in name for name in card.metrics())

    def test_the_querys_own_photo_is_not_to_be_found(self) -> None:
        card = search([((1.0, 0.0), "ann", "p1"), ((1.0, 0.1), "ann", "p1"), ((0.0, 1.0), "bob", "p2")])
        assert (card.queries, card.found_at_1, card.person_photos) == (2, 2, 0)

    def test_no_faces_at_all(self) -> None:
        assert score_retrieval(np.zeros((0, 4)), [], []).queries == 0


def test_counts_are_kept_photo_by_photo_for_intervals() -> None:
    rng = np.random.default_rng(0)
    people = rng.integers(0, 30, 150)
    vectors = rng.normal(size=(30, 8))[people] + rng.normal(size=(150, 8)) * 0.6
    tally = tally_retrieval(vectors, people, [f"photo {n // 3}" for n in range(150)])
    assert len(tally.counts) == tally.scorecard().photos == 50
    found = intervals(tally)["retrieval/recall_at_1"]
    assert found.low < tally.scorecard().recall_at_1 < found.high


@pytest.mark.parametrize(
    ("vectors", "identities", "message"),
    [
        ([[1.0, 0.0], [float("nan"), 0.0]], ["a", "b"], "face 1: its embedding has length nan"),
        ([[0.0, 0.0], [1.0, 0.0]], ["a", "b"], "face 0: its embedding has length 0.0"),
        ([[1.0, 0.0]], ["a", "b"], r"embeddings of shape \(1, 2\), 2 identities, 2 photos"),
        ([1.0, 0.0], ["a", "b"], r"embeddings of shape \(2,\)"),
    ],
)
def test_bad_input_is_refused(vectors: Any, identities: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        score_retrieval(vectors, identities, ["p1", "p2"])

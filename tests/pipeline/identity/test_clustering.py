"""Clusters of faces: no constraint is ever broken, and the rest is average link, as a plain loop and scipy do it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage

from harness.pipeline.identity.clustering import Clustering
from harness.pipeline.identity.constraints import ANY, Constraints
from harness.pipeline.identity.hints import Hints
from harness.scoring.boxes import Floats, Ints
from harness.scoring.people import Vectors
from tests.pipeline.identity.test_searching import unit

PLAIN = Clustering(neighbours=1000, number_weight=0.0, time_weight=0.0, seconds_apart=60.0)
Partition = set[frozenset[int]]


def faces(seed: int, count: int, people: int = 4) -> Vectors:
    """Faces around a few people, so that there is something to find."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(people, 8))
    return unit(centres[rng.integers(0, people, count)] + 0.6 * rng.normal(size=(count, 8)))


def free(count: int) -> Constraints:
    return Constraints(np.full(count, ANY))


def pairs(*links: tuple[int, int]) -> Ints:
    return np.array(links, dtype=np.int64).reshape(-1, 2)


def parts(clusters: Iterable[int]) -> Partition:
    members: dict[int, set[int]] = {}
    for face, cluster in enumerate(clusters):
        members.setdefault(cluster, set()).add(face)
    return {frozenset(each) for each in members.values()}


def closeness(apart: float, seconds_apart: float, start: float) -> float:
    """The share of the quarters of `seconds_apart` that do not begin between two moments, counted from 0."""
    quarter = seconds_apart / 4
    begun = np.floor((start + apart) / quarter) - np.floor(start / quarter)
    return float(max(0.0, 1 - begun / 4))


def similarities(vectors: Vectors, how: Clustering, hints: Hints) -> Floats:
    """Pair by pair, with what the hints add."""
    similar = vectors.astype(np.float64) @ vectors.T.astype(np.float64)
    for a, b in product(range(len(vectors)), repeat=2):
        if hints.numbers[a] and hints.numbers[b]:
            similar[a, b] += how.number_weight * (1 if hints.numbers[a] == hints.numbers[b] else -1)
        start, end = sorted((hints.seconds[a], hints.seconds[b]))
        if not np.isnan(start + end):
            similar[a, b] += how.time_weight * closeness(end - start, how.seconds_apart, start)
    return similar


def plain_clusters(similar: Floats, threshold: float, constraints: Constraints) -> Partition:
    """Average link with constraints in plain loops, always the most similar pair that may be merged."""
    apart = {frozenset(pair) for pair in constraints.cannot.tolist()}
    photo = constraints.photo
    apart |= {frozenset(p) for p in combinations(range(len(photo)), 2) if photo[p[0]] == photo[p[1]] != ANY}
    clusters = sorted(parts(constraints.groups()), key=min)

    def value(a: frozenset[int], b: frozenset[int]) -> float:
        if any(frozenset(pair) in apart for pair in product(a, b)):
            return -np.inf
        return float(np.mean(similar[np.ix_(sorted(a), sorted(b))]))

    while len(clusters) > 1:
        a, b = max(combinations(clusters, 2), key=lambda two: value(*two))
        if value(a, b) < threshold:
            break
        clusters = [each for each in clusters if each not in (a, b)] + [a | b]
    return set(clusters)


@st.composite
def problems(draw: st.DrawFn, most: int = 14) -> tuple[Vectors, Constraints, float]:
    """Faces with constraints that do not contradict each other: must-links within people who are in a photo once."""
    count = draw(st.integers(1, most))
    vectors = faces(draw(st.integers(0, 10**6)), count)
    face = st.integers(0, count - 1)
    person = draw(st.lists(st.integers(0, 5), min_size=count, max_size=count))
    wished = draw(st.lists(st.integers(ANY, 5), min_size=count, max_size=count))
    seen: set[tuple[int, int]] = set()
    photo = []
    for who, where in zip(person, wished, strict=True):
        photo.append(ANY if (who, where) in seen else where)
        seen.add((who, where))
    links = draw(st.lists(st.tuples(face, face), max_size=8))
    must = [link for link in links if person[link[0]] == person[link[1]] and link[0] != link[1]]
    cannot = [link for link in links if person[link[0]] != person[link[1]]]
    return vectors, Constraints(np.array(photo), pairs(*must), pairs(*cannot)), draw(st.floats(-0.5, 0.9))


@st.composite
def hinted(draw: st.DrawFn) -> tuple[Vectors, Constraints, float, Clustering, Hints]:
    vectors, constraints, threshold = draw(problems(9))
    count = len(vectors)
    numbers = draw(st.lists(st.sampled_from([None, "12", "34"]), min_size=count, max_size=count))
    # Moments in the middle of tenths of a quarter, so that no rounding decides which quarter one is in.
    moment = st.none() | st.integers(-400, 400)
    seconds = [np.nan if m is None else 1.5 * m + 0.75 for m in draw(st.lists(moment, min_size=count, max_size=count))]
    weight = st.sampled_from([0.0, 0.13, 0.31])
    how = Clustering(neighbours=1000, number_weight=draw(weight), time_weight=draw(weight), seconds_apart=60.0)
    return vectors, constraints, threshold, how, Hints(numbers, np.array(seconds))


@given(problems(), st.integers(1, 4))
def test_no_constraint_is_ever_broken_and_every_face_is_in_one_cluster(
    problem: tuple[Vectors, Constraints, float], neighbours: int
) -> None:
    vectors, constraints, threshold = problem
    how = Clustering(neighbours=neighbours, number_weight=0.0, time_weight=0.0, seconds_apart=60.0)
    found = how.cluster(vectors, threshold, constraints)
    assert len(found) == len(vectors)
    assert list(dict.fromkeys(found.tolist())) == list(range(found.max() + 1))
    assert all(found[a] == found[b] for a, b in constraints.must)
    assert all(found[a] != found[b] for a, b in constraints.cannot)
    for a, b in combinations(range(len(found)), 2):
        assert found[a] != found[b] or constraints.photo[a] != constraints.photo[b] or constraints.photo[a] == ANY


@given(hinted())
@settings(deadline=None)
def test_clusters_are_those_of_plain_loops(problem: tuple[Vectors, Constraints, float, Clustering, Hints]) -> None:
    vectors, constraints, threshold, how, hints = problem
    expected = plain_clusters(similarities(vectors, how, hints), threshold, constraints)
    assert parts(how.cluster(vectors, threshold, constraints, hints)) == expected


@given(hinted(), st.floats(0.0, 1.0))
@settings(deadline=None)
def test_the_clusters_at_any_higher_threshold_are_cut_from_the_same_merges(
    problem: tuple[Vectors, Constraints, float, Clustering, Hints], higher: float
) -> None:
    vectors, constraints, least, how, hints = problem
    merges = how.merges(vectors, least, constraints, hints)
    assert (np.diff(merges.similarity) <= 0).all()
    threshold = least + higher
    assert parts(merges.cut(threshold)) == parts(how.cluster(vectors, threshold, constraints, hints))


@given(st.integers(0, 10**6), st.integers(2, 60), st.floats(-0.9, 0.95))
def test_without_constraints_it_is_scipy_s_average_link_cut_at_the_threshold(
    seed: int, count: int, threshold: float
) -> None:
    """Wherever no face has more neighbours at the threshold than asked for, and similarities are distinct."""
    vectors = faces(seed, count).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    distance = 1 - (vectors @ vectors.T)[np.triu_indices(count, 1)]
    expected = fcluster(linkage(distance, "average"), 1 - threshold, "distance")
    found = PLAIN.cluster(vectors.astype(np.float32), threshold, free(count))
    assert parts(found.tolist()) == parts(expected.tolist())


@given(problems(), st.integers(1, 1000), st.randoms())
def test_the_order_of_the_faces_does_not_matter(
    problem: tuple[Vectors, Constraints, float], neighbours: int, random: Any
) -> None:
    vectors, constraints, threshold = problem
    how = Clustering(neighbours=neighbours, number_weight=0.0, time_weight=0.0, seconds_apart=60.0)
    order = np.array(random.sample(range(len(vectors)), len(vectors)))
    place = np.argsort(order)
    moved = Constraints(constraints.photo[order], place[constraints.must], place[constraints.cannot])
    found = parts(how.cluster(vectors[order], threshold, moved).tolist())
    assert {frozenset(order[list(each)].tolist()) for each in found} == parts(
        how.cluster(vectors, threshold, constraints).tolist()
    )


def test_must_links_reach_through_others_and_hold_whatever_the_threshold() -> None:
    vectors = unit(np.eye(5))
    found = PLAIN.cluster(vectors, 0.99, Constraints(np.arange(5), must=pairs((4, 2), (2, 0))))
    assert found.tolist() == [0, 1, 0, 2, 0]


def test_equal_similarities_go_to_the_lowest_face() -> None:
    """Both neighbours of face 0 are as similar to it as the other; the two cannot both have it."""
    vectors = unit([[1, 0], [1, 1], [1, -1]])
    assert PLAIN.cluster(vectors, 0.5, Constraints(np.array([0, 1, 1]))).tolist() == [0, 0, 1]
    assert PLAIN.cluster(vectors[[1, 2, 0]], 0.5, Constraints(np.array([1, 1, 0]))).tolist() == [0, 1, 0]


def test_similarities_that_agree_to_nine_digits_are_equal() -> None:
    """Face 2 is more similar to face 0 than face 1 is, by less than 1e-9."""
    vectors = unit([[1, 1e-10], [0.6, -0.8], [0.6, 0.8]])
    assert vectors[0].astype(float) @ vectors[2].astype(float) > vectors[0].astype(float) @ vectors[1].astype(float)
    assert PLAIN.cluster(vectors, 0.5, Constraints(np.array([0, 1, 1]))).tolist() == [0, 0, 1]


def test_two_faces_of_one_photo_are_two_people_unless_one_is_on_a_poster() -> None:
    vectors = unit([[1, 0], [1, 0.01]])
    assert PLAIN.cluster(vectors, 0.5, Constraints(np.array([7, 7]))).tolist() == [0, 1]
    assert PLAIN.cluster(vectors, 0.5, Constraints(np.array([7, ANY]))).tolist() == [0, 0]


def test_a_merge_that_a_constraint_forbids_leaves_room_for_the_next_best() -> None:
    vectors = unit([[1, 0], [1, 0.1], [1, 0.5]])
    assert PLAIN.cluster(vectors, 0.5, free(3)).tolist() == [0, 0, 0]
    apart = Constraints(np.full(3, ANY), cannot=pairs((0, 1)))
    assert PLAIN.cluster(vectors, 0.5, apart).tolist() == [0, 1, 1]


def test_a_face_without_a_vector_joins_by_must_links_alone_and_changes_no_average() -> None:
    vectors = unit([[0, 0], [1, 0], [1, 0.5], [0, 0]])
    assert PLAIN.cluster(vectors, -1, free(4)).tolist() == [0, 1, 1, 2]
    tied = Constraints(np.full(4, ANY), must=pairs((0, 1)))
    assert PLAIN.cluster(vectors, 0.85, tied).tolist() == [0, 0, 0, 1]


def test_no_faces_are_no_clusters() -> None:
    assert PLAIN.cluster(np.empty((0, 128), dtype=np.float32), 0.5, free(0)).tolist() == []


def test_numbers_bring_together_and_keep_apart_and_an_unknown_one_does_neither() -> None:
    vectors = unit([[1, 0], [1, 1.2]])  # .64 similar
    how = Clustering(neighbours=1000, number_weight=0.2, time_weight=0.0, seconds_apart=60.0)

    def found(threshold: float, *numbers: str | None) -> list[int]:
        return list(how.cluster(vectors, threshold, free(2), Hints(numbers, np.full(2, np.nan))))

    assert found(0.82, "7", "7") == [0, 0]
    assert found(0.82, "7", None) == found(0.82, None, None) == [0, 1]
    assert found(0.5, "7", "8") == [0, 1]
    assert found(0.5, "7", None) == found(0.5, None, None) == [0, 0]


def test_photos_of_one_moment_bring_together_and_hours_between_them_do_nothing() -> None:
    vectors = unit([[1, 0], [1, 1.2]])
    how = Clustering(neighbours=1000, number_weight=0.0, time_weight=0.2, seconds_apart=60.0)

    def found(*seconds: float) -> list[int]:
        return list(how.cluster(vectors, 0.7, free(2), Hints([None, None], np.array(seconds))))

    assert found(1000.0, 1003.0) == [0, 0]
    assert found(1000.0, 1061.0) == found(1000.0, np.nan) == found(1000.0, 99000.0) == [0, 1]


@pytest.mark.parametrize(
    ("constraints", "told"),
    [
        (Constraints(np.array([0, 1, 2]), must=pairs((0, 1), (1, 2)), cannot=pairs((2, 0))), "face c and face a are"),
        (Constraints(np.array([5, 1, 5]), must=pairs((0, 1), (1, 2))), "face a and face c .* in one photo"),
        (Constraints(np.array([0, 1, 2]), cannot=pairs((1, 1))), "cannot-link 0: face b with itself"),
        (Constraints(np.array([0, 1, 2]), must=pairs((0, 3))), r"must-link 0: \[0, 3\]; expected two faces of 3"),
        (Constraints(np.array([0, 1, 2]), must=np.array([0, 1])), "one row of two faces"),
    ],
)
def test_contradictions_and_links_of_nobody_are_told_by_name(constraints: Constraints, told: str) -> None:
    named = Constraints(constraints.photo, constraints.must, constraints.cannot, names="abc")
    with pytest.raises(ValueError, match=told):
        PLAIN.cluster(unit(np.eye(3)), 0.5, named)


def test_one_of_each_a_face() -> None:
    with pytest.raises(ValueError, match="3 vectors, 2 photos, 3 numbers and 3 times"):
        PLAIN.cluster(unit(np.eye(3)), 0.5, free(2))


def test_a_threshold_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="threshold nan"):
        PLAIN.cluster(unit(np.eye(3)), float("nan"), free(3))

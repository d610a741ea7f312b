"""How alike strangers are, told without labels, and in sets of few people."""

from __future__ import annotations

import numpy as np
import pytest

from harness.pipeline.identity.clustering import Clustering
from harness.pipeline.identity.constraints import ANY, Constraints
from harness.pipeline.identity.strangers import SURE, stranger_similarity
from harness.scoring.boxes import Ints
from harness.scoring.people import UNKNOWN, Vectors

CLUSTERING = Clustering(neighbours=64, number_weight=0.0, time_weight=0.0, seconds_apart=60.0)


def faces_of(people: int, each: int) -> tuple[Vectors, Ints]:
    """Vectors around those of people, about .6 similar where they are one person's; and whose they are."""
    rng = np.random.default_rng(people)
    person = np.repeat(np.arange(people), each)
    vectors = rng.normal(size=(people, 128))[person] + 0.8 * rng.normal(size=(people * each, 128))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32), person


def clusters(vectors: Vectors, threshold: float) -> int:
    return int(CLUSTERING.cluster(vectors, threshold, Constraints(np.full(len(vectors), ANY))).max()) + 1


@pytest.mark.parametrize("people", [3, 4, 6, 20])
def test_faces_of_several_people_are_grouped_without_a_label(people: int) -> None:
    vectors, _ = faces_of(people, 15)
    assert clusters(vectors, stranger_similarity(vectors, 0.03)) == people


def test_where_most_pairs_are_one_person_s_labels_tell_which_are_strangers() -> None:
    vectors, person = faces_of(2, 30)
    vectors, person = vectors[:40], person[:40]
    assert clusters(vectors, stranger_similarity(vectors, 0.03)) > 2
    assert clusters(vectors, stranger_similarity(vectors, 0.03, person)) == 2


def test_faces_of_nobody_in_particular_are_strangers() -> None:
    vectors, person = faces_of(4, 15)
    nobody = np.full(len(person), UNKNOWN)
    assert stranger_similarity(vectors, 0.03, nobody) == stranger_similarity(vectors, 0.03)


def test_of_one_person_nothing_can_be_told() -> None:
    vectors, person = faces_of(1, 20)
    assert stranger_similarity(vectors, 0.03, person) == SURE
    assert stranger_similarity(vectors[:3], 0.03) == SURE

"""The threshold of clusters: chosen by the labels of others, and told where there are too few of them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scoring.boxes import Ints
from harness.scoring.clusters import BCUBED_F1
from harness.scoring.grouping_point import LEAST, choose
from harness.scoring.people import FOLDS, Evidence
from harness.scoring.people_clusters import tally_clusters
from tests.scoring.test_people_clusters import known_faces, plain
from tests.scoring.worlds import World, random_world

CANDIDATES = (0.2, 0.3, 0.4, 0.5)


def people_with(faces: int, people: int) -> Evidence:
    """So many people with so many faces each, each in a photo of its own."""
    world = World()
    for person in range(people):
        who = world.person(f"P{person}")
        for _ in range(faces):
            world.face(world.photo(), [1.0, 0.0], who)
    return world.evidence()


def together(evidence: Evidence, *people: int) -> Ints:
    """Clusters in which the faces of these people are together, person by person, and all others alone."""
    person = evidence.faces.person
    return np.where(np.isin(person, people), person, len(evidence.people) + np.arange(len(person)))


@given(st.integers(0, 10**6), st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_each_fold_s_threshold_is_the_best_of_the_others_in_plain_loops(seed: int, other: int) -> None:
    evidence = random_world(seed).evidence()
    cuts: dict[float, Any] = {
        each: np.random.default_rng(other + place).integers(0, 4, len(evidence.faces))
        for place, each in enumerate(CANDIDATES)
    }
    found = choose(evidence, CANDIDATES, lambda threshold: cuts[threshold])
    counts = {
        each: [plain(known_faces(evidence, cut), person) for person in range(len(evidence.people))]
        for each, cut in cuts.items()
    }

    def f1(threshold: float, fold: int) -> float:
        rows = [row for row, own in zip(counts[threshold], evidence.folds, strict=True) if own != fold]
        n, p, r = (sum(row[name] for row in rows) for name in ("faces", "precisions", "recalls"))
        return 2 * p * r / (p + r) / n

    several = [
        sum(row["several"] for row, own in zip(counts[0.2], evidence.folds, strict=True) if own != fold)
        for fold in range(FOLDS)
    ]
    if min(several) < LEAST:
        assert found is None
        return
    assert found is not None
    for fold, threshold in enumerate((*found.thresholds, found.whole)):
        best = max(f1(each, fold) for each in CANDIDATES)
        assert f1(threshold, fold) == pytest.approx(best, rel=1e-9)


def test_who_chooses_is_not_judged_by_the_choice() -> None:
    """One candidate suits a single person, and by one face more the rest are as well off with another. Each is judged
    by what the others chose, so that nobody gains by a threshold of their own."""
    evidence = people_with(3, 15)
    lonely = int(np.flatnonzero(evidence.folds == 0)[0])
    cuts = {0.2: together(evidence, *(set(range(15)) - {lonely})), 0.6: together(evidence, lonely)}
    found = choose(evidence, tuple(cuts), lambda threshold: cuts[threshold])
    assert found is not None
    assert set(found.thresholds) == {0.2}
    fitted = tally_clusters(evidence, cuts[found.whole], by_fold=[cuts[each] for each in found.thresholds])
    assert fitted.figures[BCUBED_F1] == tally_clusters(evidence, cuts[0.2]).figures[BCUBED_F1] < 1


def _at(cuts: list[Ints], place: float) -> Ints:
    return cuts[int(place)]


def test_where_folds_disagree_the_score_is_below_that_of_the_best_single_threshold() -> None:
    """With noise alone, the best of several looks better than it is; cross-fitted it does not."""
    evidence, rng = people_with(3, 40), np.random.default_rng(0)
    flattered, honest = [], []
    for _ in range(20):
        cuts = [together(evidence, *np.flatnonzero(rng.random(40) < 0.5).tolist()) for _ in range(20)]
        found = choose(evidence, range(20), partial(_at, cuts))
        assert found is not None
        by_fold = [cuts[int(each)] for each in found.thresholds]
        scores = [tally_clusters(evidence, cut).figures[BCUBED_F1] for cut in cuts]
        flattered.append(max(scores) - np.mean(scores))
        honest.append(tally_clusters(evidence, cuts[0], by_fold=by_fold).figures[BCUBED_F1] - np.mean(scores))
    assert np.mean(flattered) > 0.05
    assert np.mean(honest) < 0.02


def test_of_equally_good_thresholds_the_middle_one_is_taken() -> None:
    evidence = people_with(2, 10)
    cuts = {each: together(evidence, *range(10)) for each in CANDIDATES[:3]} | {0.5: together(evidence)}
    found = choose(evidence, CANDIDATES, lambda threshold: cuts[threshold])
    assert found is not None
    assert (found.whole, set(found.thresholds), found.people) == (0.3, {0.3}, 10)


@pytest.mark.parametrize(("faces", "people"), [(1, 40), (2, LEAST), (2, 0)])
def test_with_too_few_people_of_several_faces_nothing_is_chosen(faces: int, people: int) -> None:
    evidence = people_with(faces, people)
    assert choose(evidence, CANDIDATES, lambda _: together(evidence)) is None

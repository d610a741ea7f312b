"""Clusters person by person: against plain loops, the plain scorecard and scikit-learn."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score

from harness.scoring.clusters import BCUBED_F1, NMI, ClusterScorecard, score_clusters
from harness.scoring.format import format_scorecard
from harness.scoring.people import FOLDS, NOBODY, UNKNOWN, Evidence, Tallied
from harness.scoring.people_clusters import tally_clusters
from harness.scoring.uncertainty import intervals, parts_of
from tests.scoring.worlds import World, random_world, shuffled

seeds = st.integers(0, 10**6)


def random_clusters(evidence: Evidence, seed: int) -> Any:
    return np.random.default_rng(seed).integers(-1, 4, len(evidence.faces))


def known_faces(evidence: Evidence, clusters: Any, left_out: frozenset[int] = frozenset()) -> list[tuple[Any, Any]]:
    """Whose each face is and its cluster; a face of nobody is somebody of its own, and so is a cluster of none."""
    faces = evidence.faces
    return [
        (("nobody", n) if who == NOBODY else who, ("alone", n) if cluster < 0 else int(cluster))
        for n, (who, cluster) in enumerate(zip(faces.person.tolist(), clusters, strict=True))
        if who != UNKNOWN and faces.enrolled[n] and who not in left_out
    ]


def plain(faces: list[tuple[Any, Any]], person: int) -> dict[str, float]:
    """The counts of one person, pair by pair and face by face."""
    mine = [cluster for who, cluster in faces if who == person]
    pairs = [(a, b) for a, b in combinations(faces, 2) if person in (a[0], b[0])]
    counts: dict[str, float] = {
        "pair_tp": sum(a == b for a, b in pairs),
        "pair_fn": sum(a[0] == b[0] and a[1] != b[1] for a, b in pairs),
        "pair_fp": 0.0,
        "faces": len(mine),
        "identities": int(bool(mine)),
        "several": int(len(mine) > 1),
        "split": int(len(set(mine)) > 1),
        "merged": int(any(who != person and cluster in mine for who, cluster in faces)),
        "precisions": 0.0,
        "recalls": 0.0,
    }
    for (who, cluster), (other, theirs) in pairs:
        if who != other and cluster == theirs:
            counts["pair_fp"] += 0.5 if isinstance(who, int) and isinstance(other, int) else 1
    for cluster in mine:
        size = sum(theirs == cluster for _, theirs in faces)
        counts["precisions"] += mine.count(cluster) / size
        counts["recalls"] += mine.count(cluster) / len(mine)
    return counts


def plain_figures(faces: list[tuple[Any, Any]], people: int) -> dict[str, float]:
    counts = [plain(faces, person) for person in range(people)]
    n, p, r = (sum(each[name] for each in counts) for name in ("faces", "precisions", "recalls"))
    if not n:
        return {BCUBED_F1: math.nan, NMI: math.nan}
    who, cluster = ([str(each[side]) for each in faces] for side in (0, 1))
    nmi = normalized_mutual_info_score(who, cluster) if len(set(who)) > 1 or len(set(cluster)) > 1 else math.nan
    return {BCUBED_F1: 2 * (p / n) * (r / n) / (p / n + r / n), NMI: nmi}


def card_of(tally: Tallied) -> ClusterScorecard:
    return ClusterScorecard(**{"nmi": 0.0, **tally.counted().counts})  # type: ignore[arg-type]


class TestAgainstPlainLoops:
    @given(seeds, seeds)
    @settings(max_examples=80, deadline=None)
    def test_every_count_of_every_person(self, seed: int, other: int) -> None:
        evidence = random_world(seed).evidence()
        clusters = random_clusters(evidence, other)
        tally = tally_clusters(evidence, clusters)
        faces = known_faces(evidence, clusters)
        for person, counts in enumerate(tally.counts.by_item()):
            assert counts == pytest.approx(plain(faces, person), abs=1e-9)
        expected = plain_figures(faces, len(evidence.people))
        found = {metric: tally.figures.get(metric, math.nan) for metric in expected}
        assert found == pytest.approx(expected, abs=1e-9, nan_ok=True)
        assert tally.shared["clusters"] == len({cluster for _, cluster in faces})

    @given(seeds, seeds)
    @settings(max_examples=40, deadline=None)
    def test_without_faces_of_nobody_it_is_the_plain_scorecard(self, seed: int, other: int) -> None:
        world = random_world(seed)
        for face in world.faces:
            face["enrolled"], face["person"] = True, UNKNOWN if face["person"] == NOBODY else face["person"]
        evidence = world.evidence()
        clusters = random_clusters(evidence, other)
        card, whole = card_of(tally_clusters(evidence, clusters)), score_clusters(evidence.faces.person, clusters)
        for name in ("pair_tp", "pair_fp", "pair_fn", "faces", "identities", "clusters", "several", "split", "merged"):
            assert getattr(card, name) == getattr(whole, name), name
        for name in ("bcubed_precision", "bcubed_recall", "bcubed_f1"):
            assert getattr(card, name) == pytest.approx(getattr(whole, name))

    @given(seeds, seeds)
    @settings(max_examples=40, deadline=None)
    def test_each_person_counts_as_in_the_clusters_of_their_fold(self, seed: int, other: int) -> None:
        evidence = random_world(seed).evidence()
        by_fold = [random_clusters(evidence, other + fold) for fold in range(FOLDS)]
        common = random_clusters(evidence, other + FOLDS)
        found = tally_clusters(evidence, common, by_fold=by_fold)
        own = [known_faces(evidence, clusters) for clusters in by_fold]
        for person, counts in enumerate(found.counts.by_item()):
            assert counts == pytest.approx(plain(own[evidence.folds[person]], person), abs=1e-9)
        assert found.shared["clusters"] == tally_clusters(evidence, common).shared["clusters"]
        same = tally_clusters(evidence, common, by_fold=[common] * FOLDS)
        assert same.figures == tally_clusters(evidence, common).figures

    @given(seeds, seeds)
    @settings(max_examples=30, deadline=None)
    def test_figures_without_each_group(self, seed: int, other: int) -> None:
        evidence = random_world(seed).evidence()
        clusters = random_clusters(evidence, other)
        names, parts = parts_of([person.name for person in evidence.people], evidence.groups)
        sureness = tally_clusters(evidence, clusters).sureness
        expected = {}
        for number, name in enumerate(names):
            left = known_faces(evidence, clusters, frozenset(np.flatnonzero(parts == number).tolist()))
            expected[name] = plain_figures(left, len(evidence.people))
        for metric, sure in sureness.items():
            values = {name: each[metric] for name, each in expected.items()}
            if any(map(math.isnan, values.values())):
                assert sure.left_out is None
            else:
                assert sure.left_out is not None
                assert dict(sure.left_out.without) == pytest.approx(values)

    @given(seeds, seeds)
    @settings(max_examples=30, deadline=None)
    def test_the_order_of_things_changes_nothing(self, seed: int, other: int) -> None:
        """Clusters by what the faces are like, so that they are the same in any order."""
        evidence = random_world(seed).evidence()
        again, to_person, _ = shuffled(evidence, other)
        before, after = (
            tally_clusters(each, (each.faces.vectors[:, 0] * 2).astype(int) + 2) for each in (evidence, again)
        )
        rows = after.counts.by_item()
        for person, counts in enumerate(before.counts.by_item()):
            assert rows[to_person[person]] == pytest.approx(counts)
        assert after.figures == pytest.approx(before.figures)
        assert after.shared == before.shared


def ann_and_bob() -> World:
    """Ann has three faces and Bob one; and there is a face of nobody, one that is unknown, and one not enrolled."""
    world = World()
    ann, bob = world.person("ann", group="a"), world.person("bob", group="b")
    for who in (ann, ann, ann, bob, NOBODY, UNKNOWN):
        world.face(world.photo(), (1, 0), who)
    world.face(world.photo(), (1, 0), ann, enrolled=False)
    return world


class TestDefinitions:
    def test_a_worked_example(self) -> None:
        """Two faces of Ann are with the face of nobody; the third is with Bob's."""
        tally = tally_clusters(ann_and_bob().evidence(), [0, 0, 1, 1, 0, 0, 0])
        card = card_of(tally)
        assert (card.pair_tp, card.pair_fp, card.pair_fn) == (1, 3, 2)
        assert card.bcubed_precision == pytest.approx((2 / 3 + 2 / 3 + 1 / 2 + 1 / 2) / 4)
        assert card.bcubed_recall == pytest.approx((2 / 3 + 2 / 3 + 1 / 3 + 1) / 4)
        assert (card.several, card.split, card.merged) == (1, 1, 2)
        assert (card.unidentified_faces, card.not_enrolled, card.distractors, card.distractors_grouped) == (1, 1, 1, 1)

    def test_a_face_of_nobody_gives_no_recall_away(self) -> None:
        """However many strangers are alone, as they should be, the rates of people stay what they are."""
        world = ann_and_bob()
        few = card_of(tally_clusters(world.evidence(), [0, 1, 2, 3, 4, -1, -1]))
        for n in range(50):
            world.face(world.photo(), (1, n), NOBODY)
        many = card_of(tally_clusters(world.evidence(), [0, 1, 2, 3, 4, -1, -1, *[-1] * 50]))
        assert (few.bcubed_recall, few.faces) == (many.bcubed_recall, many.faces) == (0.5, 4)

    def test_constraints_that_are_broken_are_counted_for_any_faces(self) -> None:
        links = {"must_link": [(0, 1), (5, 6)], "cannot_link": [(0, 3), (4, 5)]}
        card = card_of(tally_clusters(ann_and_bob().evidence(), [0, 0, 0, 1, 2, 2, 3], **links))
        assert (card.must_links, card.must_link_violations) == (2, 1)
        assert (card.cannot_links, card.cannot_link_violations) == (2, 1)

    def test_all_of_it_is_shown(self) -> None:
        evidence = ann_and_bob().evidence()
        tally = tally_clusters(evidence, [0, 0, 1, 1, 0, 0, 0], must_link=[(0, 2)])
        text = format_scorecard(tally.counted())
        assert "1 must-link of 1, 0 cannot-link of 0" in text
        assert "4 faces, 2 people, 2 clusters, 1 of unknown people, 1 not enrolled, 1 of nobody" in text
        assert "B-cubed F1" in text

    def test_rates_have_intervals_by_the_groups_of_people(self) -> None:
        evidence = ann_and_bob().evidence()
        tally = tally_clusters(evidence, [0, 0, 1, 1, 0, 0, 0])
        spread = intervals(tally.counts, evidence.groups)
        assert spread["cluster/bcubed_precision"].groups == 2
        assert spread["cluster/pair_recall"].low < 1 / 3 < spread["cluster/pair_recall"].high


class TestNothingVacuous:
    @pytest.mark.parametrize("people", [0, 2])
    def test_without_faces_there_are_only_counts(self, people: int) -> None:
        world = World()
        for _ in range(people):
            world.person()
        world.face(world.photo(), (1, 0), NOBODY)
        tally = tally_clusters(world.evidence(), [0])
        assert set(tally.counted().metrics()) == set(ClusterScorecard.DECLARED.counts.values())
        assert not tally.figures
        assert not tally.sureness

    def test_as_many_clusters_as_faces_are_needed(self) -> None:
        with pytest.raises(ValueError, match="1 clusters for 7 faces; expected one a face"):
            tally_clusters(ann_and_bob().evidence(), [0])

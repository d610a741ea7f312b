"""Search by selfie: recall at k, mAP, recall and precision at the threshold, FNIR and FPIR, against plain loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scoring import searching, selfies
from harness.scoring.people import NOBODY, Evidence
from harness.scoring.searching import Gallery, Operating, Search, operate
from harness.scoring.selfies import SelfieScorecard, SelfieTally, tally_selfies
from harness.scoring.uncertainty import intervals
from tests.scoring.worlds import World, labelled_in, photo_score, random_world, shuffled, stranger_score

seeds = st.integers(0, 10**6)
galleries = st.sampled_from(["all", "linked"])
#: At any FPIR that it is given, everything from .5 on comes back.
HALF = Operating.fixed(0.01, 0.5, 1000, "a test")


def card_of(tally: SelfieTally) -> SelfieScorecard:
    return SelfieScorecard(**tally.counted().counts)  # type: ignore[arg-type]


def plain(
    evidence: Evidence, gallery: str, operating: Operating, points: dict[str, Operating]
) -> list[dict[str, float]]:
    """Each query ranked and judged in plain Python, person by person."""
    queries, photos = evidence.queries, range(len(evidence.photos))
    names = [
        "queries",
        "mated",
        "wanted",
        "found",
        "wrong",
        "precisions",
        "strangers",
        "strangers_returned",
        "found_at_r",
    ]
    names += [f"found_at_{k}" for k in (1, 5, 10)] + [
        f"{what}_{name}" for what in ("mated", "missed") for name in points
    ]
    counts = [dict.fromkeys(names, 0.0) for _ in evidence.people]
    for row in range(len(queries)):
        person, own = int(queries.person[row]), int(queries.photo[row])
        mine, fold = counts[person], int(evidence.folds[person])
        scores = {n: photo_score(evidence, queries.vectors[row], person, own, n, gallery) for n in photos}
        wanted = {n for n in photos if labelled_in(evidence)[person, n] and n != own}
        ranked = sorted((n for n in photos if scores[n] > -math.inf), key=lambda n: (-scores[n], n))
        back = {n for n in photos if scores[n] >= operating.thresholds[fold]}
        stranger = stranger_score(evidence, row, gallery)
        mine["queries"] += 1
        mine["wanted"] += len(wanted)
        mine["found_at_r"] += len(wanted & set(ranked[: len(wanted)]))
        mine["found"] += len(back & wanted)
        mine["wrong"] += len(back - wanted)
        mine["strangers"] += stranger > -math.inf
        mine["strangers_returned"] += stranger >= operating.thresholds[fold]
        if not wanted:
            continue
        mine["mated"] += 1
        for k in (1, 5, 10):
            mine[f"found_at_{k}"] += bool(wanted & set(ranked[:k]))
        hits = 0
        for rank, photo in enumerate(ranked, 1):
            if photo in wanted:
                hits += 1
                mine["precisions"] += hits / rank / len(wanted)
        for name, point in points.items():
            if all(n >= 1 / point.target for n in point.strangers):
                mine[f"mated_{name}"] += 1
                mine[f"missed_{name}"] += not any(scores[n] >= point.thresholds[fold] for n in wanted)
    return counts


class TestAgainstPlainLoops:
    @given(seeds, galleries)
    @settings(max_examples=80, deadline=None)
    def test_every_count_of_every_person(self, seed: int, gallery: Gallery) -> None:
        evidence = random_world(seed).evidence()
        search = Search(evidence, gallery)
        operating, tenth = operate(search, (0.3, 0.1))
        points = {"1e_2": Operating.fixed(0.01, 0.4, 100, ""), "1e_1": tenth}
        found = tally_selfies(search, operating, tuple(points.values())).counts.by_item()
        for mine, expected in zip(found, plain(evidence, gallery, operating, points), strict=True):
            assert {name: mine[name] for name in expected} == pytest.approx(expected, abs=1e-9)

    @given(seeds, seeds)
    @settings(max_examples=30, deadline=None)
    def test_the_order_of_things_changes_nothing(self, seed: int, other: int) -> None:
        """But for ties, which go by the rows of photos."""
        world = random_world(seed)
        rng = np.random.default_rng(seed)
        for each in (*world.faces, *world.queries):
            each["vector"] = rng.normal(size=3).tolist()
        evidence = world.evidence()
        again, to_person, _ = shuffled(evidence, other)
        before, after = (tally_selfies(Search(each), HALF, (HALF,)) for each in (evidence, again))
        rows = after.counts.by_item()
        for person, counts in enumerate(before.counts.by_item()):
            assert rows[to_person[person]] == pytest.approx(counts, abs=1e-9)
        assert before.curve == after.curve
        assert before.shared == after.shared

    @given(seeds, st.sampled_from([1, 15, 40]))
    @settings(max_examples=20, deadline=None)
    def test_blocks_change_nothing(self, seed: int, block: int) -> None:
        search = Search(random_world(seed).evidence())
        whole = tally_selfies(search, HALF, (HALF,))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(searching, "BLOCK", block)
            patch.setattr(selfies, "BLOCK", block)
            again = tally_selfies(search, HALF, (HALF,))
        assert again.counts.by_item() == [pytest.approx(row, abs=1e-12) for row in whole.counts.by_item()]
        assert again.curve == whole.curve


def ann_and_bob() -> World:
    """Ann is in three photos: clearly in the first, turned away in the second, and not found in the third. Bob, who
    looks a little like her, is in the fourth."""
    world = World()
    ann, bob = world.person("ann"), world.person("bob")
    first, second, third, fourth = (world.photo() for _ in range(4))
    world.face(first, (1.0, 0.1), ann)
    world.face(second, (0.1, 1.0), ann)
    world.appears(ann, third, face_labeled=True)
    world.face(fourth, (0.8, 0.6), bob)
    world.query(ann, (1.0, 0.0))
    return world


class TestDefinitions:
    def test_a_worked_example(self) -> None:
        """Ranked: the first photo, Bob's, the second. The third can never come back, and stays wanted."""
        card = card_of(tally_selfies(Search(ann_and_bob().evidence()), HALF, (HALF,)))
        assert (card.queries, card.mated, card.wanted) == (1, 1, 3)
        assert (card.found_at_1, card.found_at_5) == (1, 1)
        assert card.rate("map") == pytest.approx((1 / 1 + 2 / 3 + 0) / 3)
        assert (card.found, card.wrong) == (1, 1)
        assert card.rate("photo_share") == pytest.approx(2 / 3)
        assert (card.rate("recall"), card.rate("precision")) == pytest.approx((1 / 3, 1 / 2))
        assert (card.strangers, card.strangers_returned) == (1, 1)

    def test_fnir_is_not_told_where_so_low_an_fpir_cannot_be_measured(self) -> None:
        few = Operating.fixed(0.01, 0.5, 99, "")
        tally = tally_selfies(Search(ann_and_bob().evidence()), few, (few, Operating.fixed(0.1, 0.999, 99, "")))
        logged = tally.counts.total().metrics()
        assert "selfie/fnir_at_fpir_1e-2" not in logged
        assert logged["selfie/fnir_at_fpir_1e-1"] == 1.0
        assert logged["selfie/recall"] == pytest.approx(1 / 3)

    def test_the_photo_of_a_query_is_not_to_be_found(self) -> None:
        world = World()
        ann = world.person("ann")
        world.face(world.photo(), (1, 0), ann)
        world.query(ann, (1, 0), photo=0)
        card = card_of(tally_selfies(Search(world.evidence()), HALF))
        assert (card.queries, card.mated, card.wanted, card.found, card.wrong) == (1, 0, 0, 0, 0)

    def test_a_score_at_the_threshold_returns_a_photo(self) -> None:
        """A face at exactly .5 of ann, and one of a stranger."""
        world = World()
        ann = world.person("ann")
        for who in (ann, NOBODY):
            world.face(world.photo(), (1, 0, 0, 0), who)
        world.query(ann, (0.5, 0.5, 0.5, 0.5))
        card = card_of(tally_selfies(Search(world.evidence()), HALF, (HALF,)))
        assert (card.found, card.wrong, card.strangers_returned, card.missed_1e_2) == (1, 1, 1, 0)

    def test_ties_go_to_the_lower_photo(self) -> None:
        ranks = []
        for mine in (0, 1):
            world = World()
            ann = world.person("ann")
            for photo in (world.photo(), world.photo()):
                world.face(photo, (1, 0), ann if photo == mine else NOBODY)
            world.query(ann, (1, 0))
            ranks.append(card_of(tally_selfies(Search(world.evidence()), HALF)).found_at_1)
        assert ranks == [1, 0]

    def test_what_a_query_without_wanted_photos_returns_is_wrong(self) -> None:
        world = World()
        ann = world.person("ann")
        world.face(world.photo(), (1, 0), NOBODY)
        world.query(ann, (1, 0))
        card = card_of(tally_selfies(Search(world.evidence()), HALF))
        assert (card.mated, card.found, card.wrong) == (0, 0, 1)
        assert card.rate("fpir") == 1.0

    def test_pictures_and_faces_that_took_no_part_are_counted(self) -> None:
        world = ann_and_bob()
        world.face(0, (1, 1), enrolled=False)
        world.pictures[0] = 2, 1
        tally = tally_selfies(Search(world.evidence()), HALF)
        card = card_of(tally)
        assert (card.not_found, card.not_enrolled) == (2, 1)
        assert (card.gallery_faces, card.gallery_not_enrolled) == (3, 1)
        assert "gallery_faces" not in tally.counts.by_item()[0]
        linked = tally_selfies(Search(world.evidence(), "linked"), HALF)
        assert card_of(linked).gallery_faces == 0
        assert linked.counted().metrics()["count/selfie_gallery_faces"] == 0.0


class TestNothingVacuous:
    @pytest.mark.parametrize("people", [0, 3])
    def test_without_queries_there_are_no_rates(self, people: int) -> None:
        world = World()
        for _ in range(people):
            world.person()
        tally = tally_selfies(Search(world.evidence()), HALF, (HALF,))
        assert set(tally.counted().metrics()) == set(SelfieScorecard.DECLARED.counts.values())
        assert tally.counts.items == people
        assert tally.curve == ()

    def test_rates_have_intervals_by_the_groups_of_people(self) -> None:
        rng, world = np.random.default_rng(1), World()
        for n in range(30):
            person, center = world.person(f"p{n}", group=f"g{n % 10}"), rng.normal(size=6)
            for _ in range(3):
                world.face(world.photo(), center + rng.normal(size=6) * 0.8, person)
            world.query(person, center)
        evidence = world.evidence()
        search = Search(evidence)
        tally = tally_selfies(search, operate(search, (0.1,))[0])
        spread = intervals(tally.counts, evidence.groups)
        found: dict[str, Any] = tally.counts.total().metrics()
        for metric in ("selfie/recall_at_1", "selfie/map", "selfie/recall"):
            assert spread[metric].low < found[metric] < spread[metric].high
            assert spread[metric].groups == 10

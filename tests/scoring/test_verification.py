"""Verification: TAR at FAR and EER, against plain loops over all pairs of faces."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scoring import verification
from harness.scoring.people import NOBODY, UNKNOWN, Evidence
from harness.scoring.uncertainty import intervals, parts_of
from harness.scoring.verification import EER, VerifyScorecard, VerifyTally, tally_verification
from tests.scoring.worlds import World, plain_threshold, random_world, shuffled, similarity

seeds = st.integers(0, 10**6)
FARS = {"1e_2": 0.01, "1e_3": 0.001, "1e_4": 0.0001}


def card_of(tally: VerifyTally) -> VerifyScorecard:
    return VerifyScorecard(**tally.counted().counts)  # type: ignore[arg-type]


def plain_pairs(
    evidence: Evidence, left_out: frozenset[int] = frozenset()
) -> tuple[list[tuple[int, float]], list[float]]:
    """The genuine pairs, each with its person, and the impostor pairs, by their similarity to four digits."""
    genuine, impostors, faces = [], [], evidence.faces
    for a, b in combinations(range(len(faces)), 2):
        one, other = int(faces.person[a]), int(faces.person[b])
        usable = faces.enrolled[a] and faces.enrolled[b] and UNKNOWN not in (one, other)
        if not usable or faces.photo[a] == faces.photo[b] or {one, other} & left_out:
            continue
        score = round(similarity(faces.vectors[a], faces.vectors[b]) * 10**4) / 10**4
        if one == other != NOBODY:
            genuine.append((one, score))
        else:
            impostors.append(score)
    return genuine, impostors


def plain_eer(genuine: list[float], impostors: list[float]) -> float:
    """Every threshold tried in turn."""
    if not genuine or not impostors:
        return math.nan
    errors = []
    for cut in [*sorted({*genuine, *impostors}), 2.0]:
        rejected, accepted = sum(s < cut for s in genuine), sum(s >= cut for s in impostors)
        far, frr = accepted / len(impostors), rejected / len(genuine)
        errors.append((abs(rejected * len(impostors) - accepted * len(genuine)), cut, (far + frr) / 2))
    return min(errors)[2]


class TestAgainstPlainLoops:
    @given(seeds, st.sampled_from([9, 9, 9, 30, 30, 60]))
    @settings(max_examples=40, deadline=None)
    def test_every_count_of_every_person(self, seed: int, most: int) -> None:
        evidence = random_world(seed, most).evidence()
        genuine, impostors = plain_pairs(evidence)
        tally = tally_verification(evidence)
        assert card_of(tally).impostors == len(impostors)
        for name, far in FARS.items():
            measurable = len(impostors) >= 1 / far
            cut = plain_threshold(impostors, far)
            for person, counts in enumerate(tally.counts.by_item()):
                mine = [score for who, score in genuine if who == person]
                assert counts["genuine"] == len(mine)
                assert counts[f"genuine_{name}"] == (len(mine) if measurable else 0)
                assert counts[f"accepted_{name}"] == (sum(s >= cut for s in mine) if measurable else 0)
        expected = plain_eer([score for _, score in genuine], impostors)
        assert tally.figures.get(EER, math.nan) == pytest.approx(expected, nan_ok=True)

    @pytest.mark.parametrize("seed", range(3))
    def test_low_fars_of_many_pairs(self, seed: int) -> None:
        """150 strangers and 30 people of three faces: 28,590 impostor pairs, of which 285, 28 and 2 may be accepted."""
        rng, world = np.random.default_rng(seed), World()
        for n in range(30):
            person, center = world.person(f"p{n}"), rng.normal(size=5)
            for _ in range(3):
                world.face(world.photo(), center + rng.normal(size=5) * 0.2, person)
        for _ in range(150):
            world.face(world.photo(), rng.normal(size=5), NOBODY)
        evidence = world.evidence()
        genuine, impostors = plain_pairs(evidence)
        card = card_of(tally_verification(evidence))
        assert (card.genuine, card.impostors) == (90, 28590)
        for name, allowed in (("1e_2", 285), ("1e_3", 28), ("1e_4", 2)):
            cut = sorted(impostors)[-1 - allowed]
            assert getattr(card, f"accepted_{name}") == sum(score > cut for _, score in genuine)
            assert getattr(card, f"accepted_{name}") > 0

    def test_of_very_many_faces_some_make_impostor_pairs_and_all_make_genuine_ones(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        evidence = random_world(2, 60).evidence()
        whole = card_of(tally_verification(evidence))
        monkeypatch.setattr(verification, "MOST_FACES", 20)
        fewer = card_of(tally_verification(evidence))
        assert fewer.genuine == whole.genuine > 0
        assert 0 < fewer.impostors <= 20 * 19 // 2 < whole.impostors

    @given(seeds)
    @settings(max_examples=15, deadline=None)
    def test_the_eer_without_each_group(self, seed: int) -> None:
        evidence = random_world(seed, most=9).evidence()
        names, parts = parts_of([person.name for person in evidence.people], evidence.groups)
        tally = tally_verification(evidence)
        expected = {}
        for number, name in enumerate(names):
            genuine, impostors = plain_pairs(evidence, frozenset(np.flatnonzero(parts == number).tolist()))
            expected[name] = plain_eer([score for _, score in genuine], impostors)
        if EER not in tally.sureness:
            assert EER not in tally.figures
        elif any(map(math.isnan, expected.values())):
            assert tally.sureness[EER].left_out is None
        else:
            left_out = tally.sureness[EER].left_out
            assert left_out is not None
            assert dict(left_out.without) == pytest.approx(expected)
            assert left_out.n == len(plain_pairs(evidence)[0])

    @given(seeds, seeds)
    @settings(max_examples=20, deadline=None)
    def test_the_order_of_things_changes_nothing(self, seed: int, other: int) -> None:
        evidence = random_world(seed).evidence()
        again, to_person, _ = shuffled(evidence, other)
        before, after = tally_verification(evidence), tally_verification(again)
        rows = after.counts.by_item()
        assert [rows[to_person[person]] for person in range(len(rows))] == before.counts.by_item()
        assert (before.figures, before.shared, before.histogram) == (after.figures, after.shared, after.histogram)

    @given(seeds, st.sampled_from([1, 2, 5]))
    @settings(max_examples=15, deadline=None)
    def test_blocks_change_nothing(self, seed: int, together: int) -> None:
        evidence = random_world(seed, most=9).evidence()
        whole = tally_verification(evidence)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(verification, "TOGETHER", together)
            again = tally_verification(evidence)
        assert again.counts.by_item() == whole.counts.by_item()
        assert (again.figures, again.sureness, again.histogram) == (whole.figures, whole.sureness, whole.histogram)


def many(strangers: int) -> World:
    """Ann twice, alike; Bob twice, at .6; and strangers who look like none of them, one in each photo."""
    world = World()
    ann, bob = world.person("ann"), world.person("bob")
    world.face(world.photo(), (1, 0, 0, 0), ann)
    world.face(world.photo(), (1, 0, 0, 0), ann)
    world.face(world.photo(), (0, 1, 0, 0), bob)
    world.face(world.photo(), (0, 0.6, 0.8, 0), bob)
    for _ in range(strangers):
        world.face(world.photo(), (0, 0, 0, 1), NOBODY)
    return world


class TestDefinitions:
    def test_a_worked_example(self) -> None:
        """15 strangers make 4 x 15 impostor pairs at 0 and 105 of their own at 1, with 4 between Ann and Bob: of these
        169, one may be accepted at a FAR of .01, and so none is."""
        card = card_of(tally_verification(many(15).evidence()))
        assert (card.genuine, card.impostors, card.faces) == (2, 169, 4)
        assert (card.genuine_1e_2, card.accepted_1e_2) == (2, 0)
        assert card.rate("tar_1e_2") == 0.0

    def test_a_far_that_cannot_be_measured_is_not_told(self) -> None:
        """34 impostor pairs are too few for 1 in 100. Above .6, their errors are nearest: the 10 pairs of strangers are
        accepted, and Bob's is rejected."""
        tally = tally_verification(many(5).evidence())
        assert card_of(tally).impostors == 34
        logged = tally.counted().metrics()
        assert not any("tar_at_far" in metric for metric in logged)
        assert logged["verify/eer"] == pytest.approx((10 / 34 + 1 / 2) / 2)

    def test_pairs_within_a_photo_and_unknown_faces_do_not_count(self) -> None:
        world = World()
        ann = world.person("ann")
        photo = world.photo()
        world.face(photo, (1, 0), ann)
        world.face(photo, (1, 0), ann)
        world.face(photo, (1, 0), NOBODY)
        world.face(world.photo(), (1, 0), UNKNOWN)
        world.face(1, (1, 0), ann, enrolled=False)
        card = card_of(tally_verification(world.evidence()))
        assert (card.genuine, card.impostors) == (0, 0)

    def test_histograms_have_every_pair_once(self) -> None:
        tally = tally_verification(many(15).evidence())
        genuine, impostors, edges = tally.histogram.genuine, tally.histogram.impostors, tally.histogram.edges
        assert (sum(genuine), sum(impostors)) == (2, 169)
        assert [edges[n] for n in np.flatnonzero(genuine)] == pytest.approx([0.6, 0.98])
        assert impostors[50] == 64
        assert (edges[50], edges[-1]) == (0, 1)


class TestNothingVacuous:
    @pytest.mark.parametrize("people", [0, 2])
    def test_without_faces_there_are_only_counts(self, people: int) -> None:
        world = World()
        for _ in range(people):
            world.person()
        tally = tally_verification(world.evidence())
        assert set(tally.counted().metrics()) == set(VerifyScorecard.DECLARED.counts.values())
        assert (tally.figures, tally.sureness) == ({}, {})

    def test_rates_and_the_eer_have_intervals(self) -> None:
        rng, world = np.random.default_rng(3), World()
        for n in range(24):
            person, center = world.person(f"p{n}", group=f"g{n % 12}"), rng.normal(size=6)
            for _ in range(3):
                world.face(world.photo(), center + rng.normal(size=6) * 0.7, person)
        evidence = world.evidence()
        tally = tally_verification(evidence)
        logged, spread = tally.counted().metrics(), intervals(tally.counts, evidence.groups)
        assert spread["verify/tar_at_far_1e-2"].low < logged["verify/tar_at_far_1e-2"]
        interval = tally.sureness[EER].interval
        assert interval.low < logged[EER] < interval.high
        assert interval.groups == 12

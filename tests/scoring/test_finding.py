"""A runner finds their photos by number, by selfie and by both: golden cases, and plain loops on random worlds."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scoring import searching, strangers
from harness.scoring.asking import WAYS
from harness.scoring.finding import CAUSES, FindScorecard, FindTally, Missed, headline, tally_finding
from harness.scoring.people import NOBODY, UNKNOWN, Evidence
from harness.scoring.searching import Gallery, Operating, Search, operate
from harness.scoring.uncertainty import intervals
from tests.scoring.worlds import World, is_searched, labelled_in, photo_score, random_world, shuffled, similarity

seeds = st.integers(0, 10**6)
galleries = st.sampled_from(["all", "linked"])
HALF = Operating.fixed(0.01, 0.5, 1000, "a test")


def find(world: World, gallery: Gallery = "all", operating: Operating = HALF) -> FindTally:
    return tally_finding(Search(world.evidence(), gallery), operating)


def card_of(tally: FindTally) -> FindScorecard:
    return FindScorecard(**tally.counted().counts)  # type: ignore[arg-type]


class Plain:
    """The rule in plain loops over everything."""

    def __init__(self, evidence: Evidence, gallery: str, operating: Operating) -> None:
        self.e, self.gallery, self.operating = evidence, gallery, operating
        self.photos = range(len(evidence.photos))

    def threshold(self, person: int) -> float:
        return self.operating.thresholds[int(self.e.folds[person])]

    def back_by_face(self, vector: Any, person: int, own: int) -> tuple[set[int], set[int]]:
        """The photos that come back by a vector, and those that do by any face at all."""
        cut, surely, perhaps = self.threshold(person), set(), set()
        for photo in self.photos:
            if photo_score(self.e, vector, person, own, photo, self.gallery) >= cut:
                surely.add(photo)
            for face in np.flatnonzero(self.e.faces.photo == photo).tolist():
                usable = is_searched(self.e, face, self.gallery) and photo != own
                if usable and similarity(vector, self.e.faces.vectors[face]) >= cut:
                    perhaps.add(photo)
        return surely, perhaps

    def numbers(self, vector: Any, person: int, own: int) -> tuple[str, ...]:
        if self.e.people[person].numbers or vector is None:
            return self.e.people[person].numbers
        sums: Counter[str] = Counter()
        for face, number in enumerate(self.e.faces.numbers):
            if number is None or not is_searched(self.e, face, self.gallery) or self.e.faces.photo[face] == own:
                continue
            score = similarity(vector, self.e.faces.vectors[face])
            if score >= self.threshold(person):
                sums[number] += round(score * 10**9)
        for number in sorted(sums, key=lambda number: (-sums[number], number))[:1]:
            return (number,) if sums[number] * 2 > sum(sums.values()) else ()
        return ()

    def back_by_both(self, vector: Any, person: int, own: int) -> tuple[set[int], set[int], set[int], bool]:
        """Surely by a face, perhaps by a face, by number; and whether a face was searched by."""
        numbers = self.numbers(vector, person, own)
        reads = {n for n in self.photos if n != own and set(numbers) & self.e.photos.read[n]}
        surely, perhaps = (set(), set()) if vector is None else self.back_by_face(vector, person, own)
        total, linked = np.zeros(self.e.faces.vectors.shape[1]) if vector is None else np.array(vector, float), 0
        for face, number in enumerate(self.e.faces.numbers):
            if number in numbers and self.e.faces.enrolled[face] and self.e.faces.photo[face] != own:
                total, linked = total + self.e.faces.vectors[face].astype(float), linked + 1
        averaged = linked > 0 and bool(np.linalg.norm(total) > 0)
        any_face = any(
            is_searched(self.e, face, self.gallery) and self.e.faces.photo[face] != own
            for face in range(len(self.e.faces))
        )
        if averaged:
            more = self.back_by_face(total / np.linalg.norm(total), person, own)
            surely, perhaps = surely | more[0], perhaps | more[1]
        return surely, perhaps, reads, vector is not None or (averaged and any_face)

    def cause(self, person: int, photo: int, by_face: bool) -> str:
        e, seen = self.e, self.e.appearances
        row = next(n for n in range(len(seen)) if (seen.person[n], seen.photo[n]) == (person, photo))
        eye = seen.face_labeled[row] or seen.photo_alone[row]
        if not eye and not seen.bib_labeled[row]:
            return "nobody_readable"
        if not np.any(e.queries.person == person):
            if e.queries.not_found[person]:
                return "face_not_found"
            if e.queries.not_enrolled[person]:
                return "not_enrolled"
        if eye:
            here = np.flatnonzero((e.faces.photo == photo) & (e.faces.person == UNKNOWN)).tolist()
            faces = [int(seen.face[row])] if seen.face_labeled[row] else here
            faces = [face for face in faces if face >= 0]
            if not faces:
                return "face_not_found"
            if not any(e.faces.enrolled[face] for face in faces):
                return "not_enrolled"
            if by_face and any(is_searched(e, face, self.gallery) for face in faces):
                return "below_threshold"
        if seen.bib_labeled[row] and not seen.bib_found[row]:
            return "bib_not_found"
        if seen.bib_labeled[row] and not seen.bib_read[row]:
            return "misread"
        return "not_linked"

    def person(self, person: int) -> dict[str, float]:
        """The counts of one person."""
        e = self.e
        counts = dict.fromkeys(["runners", "wanted", *CAUSES], 0.0)
        counts |= {f"{way}_{what}": 0.0 for way in WAYS for what in ("asked", "found", "wrong", "unknown")}
        if not e.people[person].runner:
            return counts
        mine = [n for n in self.photos if labelled_in(e)[person, n]]
        queries = [
            (e.queries.vectors[n], int(e.queries.photo[n]))
            for n in range(len(e.queries))
            if e.queries.person[n] == person
        ]
        pictures = e.queries.not_found[person] + e.queries.not_enrolled[person]
        numbers = e.people[person].numbers
        counts |= {"wanted": len(mine), "runners": int(bool(mine))}
        selfie = [(own, *self.back_by_face(vector, person, own)) for vector, own in queries]
        both = [(own, *self.back_by_both(vector, person, own)) for vector, own in queries]
        alone = [(-1, *self.back_by_both(None, person, -1))] if numbers else []
        for photo in mine:
            if numbers:
                counts["number_asked"] += 1
                counts["number_found"] += bool(set(numbers) & e.photos.read[photo])
            asked = [surely for own, surely, _ in selfie if own != photo]
            if asked or (not queries and pictures):
                counts["selfie_asked"] += 1
                counts["selfie_found"] += sum(photo in surely for surely in asked) / max(1, len(asked))
            ways = [each for each in both if each[0] != photo] or alone
            if ways or (not queries and pictures):
                share = sum(photo in surely | reads for _, surely, _, reads, _ in ways) / max(1, len(ways))
                counts["both_asked"] += 1
                counts["both_found"] += share
                counts[self.cause(person, photo, any(way[4] for way in ways))] += 1 - share
        for photo in set(self.photos) - set(mine):
            said = e.photos.bibs_said[photo]
            if set(numbers) & e.photos.read[photo]:
                counts["number_wrong" if said else "number_unknown"] += 1
            for _, surely, perhaps in selfie:
                counts["selfie_wrong"] += (photo in surely) / len(selfie)
                counts["selfie_unknown"] += (photo in perhaps - surely) / len(selfie)
            ways = both or alone
            for _, surely, perhaps, reads, _ in ways:
                wrong = photo in surely or (photo in reads and said)
                counts["both_wrong"] += wrong / len(ways)
                counts["both_unknown"] += (photo in perhaps | reads and not wrong) / len(ways)
        return counts

    def pairs(self, person: int) -> tuple[dict[int, dict[str, float]], dict[int, float]]:
        """By wanted photo the share of each way that asks for it, and by photo of others the share that came back."""
        e = self.e
        if not e.people[person].runner:
            return {}, {}
        rows = np.flatnonzero(e.queries.person == person).tolist()
        queries = [(e.queries.vectors[n], int(e.queries.photo[n])) for n in rows]
        tried = not queries and e.queries.not_found[person] + e.queries.not_enrolled[person] > 0
        selfie = [(own, self.back_by_face(vector, person, own)[0]) for vector, own in queries]
        numbers = e.people[person].numbers
        both = [(own, *self.back_by_both(vector, person, own)[0::2]) for vector, own in queries]
        alone = [(-1, *self.back_by_both(None, person, -1)[0::2])] if numbers else []
        wanted: dict[int, dict[str, float]] = {}
        for photo in (n for n in self.photos if labelled_in(e)[person, n]):
            wanted[photo] = {}
            if numbers:
                wanted[photo]["number"] = float(bool(set(numbers) & e.photos.read[photo]))
            asked = [photo in surely for own, surely in selfie if own != photo]
            if asked or tried:
                wanted[photo]["selfie"] = sum(asked) / max(1, len(asked))
            ways = [each for each in both if each[0] != photo] or alone
            if ways or tried:
                back = [photo in surely | reads for _, surely, reads in ways]
                wanted[photo]["both"] = sum(back) / max(1, len(back))
        others: Counter[int] = Counter()
        for _, surely, reads in both or alone:
            for photo in (surely | {n for n in reads if e.photos.bibs_said[n]}) - wanted.keys():
                others[photo] += 1 / len(both or alone)  # type: ignore[assignment]
        return wanted, dict(others)


def wanted_of(tally: FindTally, person: int) -> dict[int, dict[str, float]]:
    rows = np.flatnonzero(tally.wanted.person == person).tolist()
    shares = {n: {way: float(getattr(tally.wanted, way)[n]) for way in WAYS} for n in rows}
    return {
        int(tally.wanted.photo[n]): {way: share for way, share in own.items() if not math.isnan(share)}
        for n, own in shares.items()
    }


class TestPairs:
    """Every pair of a runner and a photo, as a run keeps them."""

    @given(seeds, galleries, st.sampled_from([None, 0.2, 0.5, 0.9]), st.sampled_from([15, 1 << 22]))
    @settings(max_examples=80, deadline=None)
    def test_each_pair_is_what_plain_loops_say_and_they_add_up_to_the_counts(
        self, seed: int, gallery: Gallery, fixed: float | None, block: int
    ) -> None:
        evidence = random_world(seed, most=6).evidence()
        search = Search(evidence, gallery)
        operating = operate(search, (0.3,))[0] if fixed is None else Operating.fixed(0.3, fixed, 9, "")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(searching, "BLOCK", block)
            patch.setattr(strangers, "_TOGETHER", 3)
            tally = tally_finding(search, operating)
        plain, wanted, others = Plain(evidence, gallery, operating), tally.wanted, tally.others
        for person, counts in enumerate(tally.counts.by_item()):
            pairs, back = plain.pairs(person)
            assert wanted_of(tally, person) == {photo: pytest.approx(own) for photo, own in pairs.items()}
            mine, theirs = wanted.person == person, others.person == person
            assert dict(zip(others.photo[theirs].tolist(), others.share[theirs].tolist(), strict=True)) == (
                pytest.approx(back)
            )
            assert np.count_nonzero(mine) == counts["wanted"]
            for way in WAYS:
                assert np.count_nonzero(~np.isnan(getattr(wanted, way)[mine])) == counts[f"{way}_asked"]
                assert np.nansum(getattr(wanted, way)[mine]) == pytest.approx(counts[f"{way}_found"], abs=1e-9)
            assert others.share[theirs].sum() == pytest.approx(counts["both_wrong"], abs=1e-9)
            for place, cause in enumerate(CAUSES):
                missed = (1 - wanted.both)[mine & (wanted.cause == place)].sum()
                assert missed == pytest.approx(counts[cause], abs=1e-9)

    @given(seeds)
    @settings(max_examples=40, deadline=None)
    def test_a_score_that_reaches_the_threshold_came_back_and_one_below_did_not_by_face(self, seed: int) -> None:
        tally = find(random_world(seed))
        wanted, asked = tally.wanted, ~np.isnan(tally.wanted.both)
        reached = wanted.score >= tally.thresholds[wanted.person]
        assert (wanted.both[reached] > 0).all()
        by_number_at_most = (wanted.number == 1) | np.isnan(wanted.number)
        assert (by_number_at_most | (wanted.both == 0))[asked & ~reached].all()
        assert ((tally.others.score >= tally.thresholds[tally.others.person]) | (tally.others.face < 0)).all()


class TestAgainstPlainLoops:
    @given(seeds, galleries, st.sampled_from([None, 0.2, 0.5, 0.9]))
    @settings(max_examples=100, deadline=None)
    def test_every_count_of_every_person(self, seed: int, gallery: Gallery, fixed: float | None) -> None:
        evidence = random_world(seed, most=6).evidence()
        search = Search(evidence, gallery)
        operating = operate(search, (0.3,))[0] if fixed is None else Operating.fixed(0.3, fixed, 9, "")
        plain = Plain(evidence, gallery, operating)
        for person, counts in enumerate(tally_finding(search, operating).counts.by_item()):
            assert counts == pytest.approx(plain.person(person), abs=1e-9)

    @given(seeds, galleries)
    @settings(max_examples=60, deadline=None)
    def test_causes_add_up_to_what_is_missed(self, seed: int, gallery: Gallery) -> None:
        tally = find(random_world(seed), gallery)
        card = card_of(tally)
        assert sum(card.causes.values()) == pytest.approx(card.both_asked - card.both_found, abs=1e-9)
        listed = Counter[str]()
        for missed in tally.missed:
            listed[missed.cause.replace("_", " ")] += missed.share  # type: ignore[assignment]
        assert dict(listed) == pytest.approx({cause: n for cause, n in card.causes.items() if n}, abs=1e-9)

    @given(seeds, seeds)
    @settings(max_examples=40, deadline=None)
    def test_the_order_of_things_changes_nothing(self, seed: int, other: int) -> None:
        evidence = random_world(seed).evidence()
        again, to_person, to_photo = shuffled(evidence, other)
        before, after = (tally_finding(Search(each), HALF) for each in (evidence, again))
        rows = after.counts.by_item()
        for person, counts in enumerate(before.counts.by_item()):
            assert rows[to_person[person]] == pytest.approx(counts, abs=1e-9)
        moved = {(to_person[each.person], to_photo[each.photo], each.cause, each.score) for each in before.missed}
        assert moved == {(each.person, each.photo, each.cause, each.score) for each in after.missed}
        strangers = {(to_person[each.person], to_photo[each.photo], each.score) for each in before.strangers}
        assert strangers == {(each.person, each.photo, each.score) for each in after.strangers}
        assert headline(before.counts.total()) == headline(after.counts.total())

    @given(seeds, st.sampled_from([1, 15, 40]))
    @settings(max_examples=20, deadline=None)
    def test_blocks_change_nothing(self, seed: int, block: int) -> None:
        whole = find(random_world(seed))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(searching, "BLOCK", block)
            again = find(random_world(seed))
        assert again.counts.by_item() == [pytest.approx(row, abs=1e-12) for row in whole.counts.by_item()]
        assert again.strangers == whole.strangers

    @given(seeds, galleries)
    @settings(max_examples=60, deadline=None)
    def test_a_stranger_never_counts_as_found(self, seed: int, gallery: Gallery) -> None:
        """Whatever comes back is found only where the runner is labelled; without any labels nothing is found."""
        evidence = random_world(seed).evidence()
        tally = tally_finding(Search(evidence, gallery), HALF)
        for stranger in tally.strangers:
            assert not labelled_in(evidence)[stranger.person, stranger.photo]
            if stranger.face is not None:
                assert evidence.faces.photo[stranger.face] == stranger.photo
                assert evidence.faces.person[stranger.face] != stranger.person
        world = random_world(seed)
        for face in world.faces:
            face["person"] = NOBODY
        world.seen = {}
        world.queries = [query for query in world.queries if query["photo"] < 0]
        card = card_of(find(world, gallery))
        assert (card.number_found, card.selfie_found, card.both_found) == (0, 0, 0)


def ann() -> tuple[World, int]:
    """Ann wears 12 and has one selfie."""
    world = World()
    person = world.person("ann", numbers=("12",))
    world.query(person, (1, 0))
    return world, person


class TestGoldenCases:
    def test_by_number_by_selfie_and_by_both(self) -> None:
        """Ann wants three photos: one has her face, one her number, and one has neither."""
        world, person = ann()
        world.face(world.photo(), (1, 0), person)
        world.appears(person, world.photo(read=["12"]), bib_labeled=True, bib_found=True, bib_read=True)
        world.face(world.photo(), (0, 1), person)
        card = card_of(find(world))
        assert (card.runners, card.wanted) == (1, 3)
        assert (card.rate("by_selfie"), card.rate("by_number")) == pytest.approx((1 / 3, 1 / 3))
        assert card.rate("by_both") == pytest.approx(2 / 3)
        assert card.below_threshold == 1

    def test_a_pair_counts_as_the_share_of_queries_that_return_it(self) -> None:
        world, person = ann()
        world.query(person, (0, 1))
        world.face(world.photo(), (1, 0), person)
        tally = find(world)
        assert card_of(tally).rate("by_selfie") == 0.5
        assert tally.missed == (Missed(person, 0, 0.5, "below_threshold", 1.0),)

    def test_the_photo_that_a_query_was_cut_from_is_asked_for_by_the_other_queries(self) -> None:
        """Two faces, each a query for the other photo; then a single face, which asks for nothing."""
        world = World()
        person = world.person("ann")
        for _ in range(2):
            photo = world.photo()
            world.face(photo, (1, 0), person)
            world.query(person, (1, 0), photo)
        card = card_of(find(world))
        assert (card.selfie_asked, card.selfie_found, card.both_asked) == (2, 2, 2)
        world.seen.pop((person, 1))
        world.faces.pop()
        world.queries.pop()
        card = card_of(find(world))
        assert (card.wanted, card.selfie_asked, card.both_asked, card.both_found) == (1, 0, 0, 0)

    def test_faces_lead_to_a_number_and_the_number_to_photos(self) -> None:
        """Ann has no number of her own. Her selfie finds a face that is linked to 12, and 12 is read elsewhere."""
        world = World()
        person = world.person("ann")
        world.query(person, (1, 0))
        world.face(world.photo(read=["12"]), (1, 0.1), person, number="12")
        world.appears(person, world.photo(read=["12"]), photo_alone=True)
        card = card_of(find(world))
        assert (card.rate("by_selfie"), card.rate("by_both")) == (0.5, 1.0)
        assert card.number_asked == 0

    def test_a_number_is_believed_only_with_more_than_half_of_the_scores(self) -> None:
        world = World()
        person = world.person("ann")
        world.query(person, (1, 0))
        for number in ("12", "13"):
            world.face(world.photo(), (1, 0), person, number=number)
        world.appears(person, world.photo(read=["12"]), photo_alone=True)
        assert card_of(find(world)).both_found == 2
        world.face(0, (1, 0.1), NOBODY, number="12")
        assert card_of(find(world)).both_found == 3

    def test_a_number_leads_to_faces_and_their_average_to_photos(self) -> None:
        """A face that is linked to her number lies between her selfie and a face that the selfie alone misses."""
        world, person = ann()
        world.face(world.photo(read=["12"]), (0.3, 1), person, number="12")
        world.face(world.photo(), (0.3, 1), person)
        card = card_of(find(world))
        assert (card.selfie_found, card.both_found) == (0, 2)

    def test_the_own_photo_lends_neither_number_nor_face(self) -> None:
        world = World()
        person = world.person("ann")
        own = world.photo(read=["12"])
        world.face(own, (1, 0), person, number="12")
        world.query(person, (1, 0), own)
        world.appears(person, world.photo(read=["12"]), photo_alone=True)
        assert card_of(find(world)).both_found == 0

    def test_a_runner_without_a_query_is_asked_for_by_the_number_alone(self) -> None:
        world = World()
        person = world.person("ann", numbers=("12",))
        world.face(world.photo(read=["12"]), (1, 0), person, number="12")
        world.face(world.photo(), (1, 0), person)
        world.photo(read=["12"], bibs_said=True)
        card = card_of(find(world))
        assert (card.selfie_asked, card.number_found, card.both_asked, card.both_found) == (0, 1, 2, 2)
        assert (card.number_wrong, card.both_wrong) == (1, 1)

    def test_a_runner_of_whose_pictures_none_became_a_query_has_missed_by_selfie(self) -> None:
        world = World()
        person = world.person("ann")
        world.pictures[person] = 0, 1
        world.face(world.photo(), (1, 0), person)
        card = card_of(find(world))
        assert (card.selfie_asked, card.selfie_found, card.both_asked, card.both_found) == (1, 0, 1, 0)
        assert card.not_enrolled == 1
        world.pictures[person] = 1, 1
        assert card_of(find(world)).face_not_found == 1

    def test_bystanders_want_nothing_and_are_strangers_to_others(self) -> None:
        world, person = ann()
        other = world.person("anonymous_1", runner=False)
        world.face(world.photo(), (1, 0), other)
        world.query(other, (1, 0))
        card = card_of(find(world))
        assert (card.runners, card.wanted, card.selfie_wrong) == (0, 0, 1)
        assert find(world).strangers[0].person == person


class TestPrecision:
    def test_what_may_be_right_counts_neither_way(self) -> None:
        """A stranger's face, an unknown face, a wrong number, and a number in a photo whose bibs nobody labelled."""
        world, person = ann()
        world.face(world.photo(), (1, 0), person)
        world.face(world.photo(), (1, 0), NOBODY)
        world.face(world.photo(), (1, 0), UNKNOWN)
        world.photo(bibs_said=True, read=["12"])
        world.photo(read=["12"])
        card = card_of(find(world))
        assert (card.selfie_found, card.selfie_wrong, card.selfie_unknown) == (1, 1, 1)
        assert (card.number_found, card.number_wrong, card.number_unknown) == (0, 1, 1)
        assert (card.both_found, card.both_wrong, card.both_unknown) == (1, 2, 2)
        assert card.rate("by_both_precision") == pytest.approx(1 / 3)

    def test_an_unknown_face_where_it_is_said_who_is_there_is_a_stranger(self) -> None:
        world, person = ann()
        world.face(world.photo(said=True), (1, 0), UNKNOWN)
        tally = find(world)
        assert card_of(tally).selfie_wrong == 1
        (stranger,) = tally.strangers
        assert (stranger.person, stranger.photo, stranger.face, stranger.score) == (person, 0, 0, 1.0)

    def test_strangers_are_listed_by_score_and_those_by_number_last(self) -> None:
        world, _ = ann()
        world.photo(bibs_said=True, read=["12"])
        world.face(world.photo(), (1, 0.5), NOBODY)
        world.face(world.photo(), (1, 0), NOBODY)
        found = [(each.photo, each.face) for each in find(world).strangers]
        assert found == [(2, 1), (1, 0), (0, None)]

    def test_not_too_many_are_listed(self) -> None:
        world, _ = ann()
        for n in range(9):
            world.face(world.photo(), (1, n / 20), NOBODY)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(strangers, "MOST_STRANGERS", 2)
            assert [each.photo for each in find(world).strangers] == [0, 1]

    @pytest.mark.parametrize(("person", "counts"), [(0, (1, 0, 0)), (NOBODY, (0, 1, 0)), (UNKNOWN, (0, 0, 1))])
    def test_a_score_at_the_threshold_returns_a_photo(self, person: int, counts: tuple[float, float, float]) -> None:
        world = World()
        ann = world.person("ann")
        world.query(ann, (0.5, 0.5, 0.5, 0.5))
        world.face(world.photo(), (1, 0, 0, 0), person)
        card = card_of(find(world))
        assert (card.selfie_found, card.selfie_wrong, card.selfie_unknown) == counts
        assert (card.both_found, card.both_wrong, card.both_unknown) == counts


class TestCauses:
    @pytest.mark.parametrize(
        ("labels", "face", "cause"),
        [
            ({}, None, "nobody_readable"),
            ({"face_labeled": True}, None, "face_not_found"),
            ({"face_labeled": True, "bib_labeled": True}, None, "face_not_found"),
            ({"photo_alone": True}, None, "face_not_found"),
            ({"bib_labeled": True}, None, "bib_not_found"),
            ({"bib_labeled": True, "bib_found": True}, None, "misread"),
            ({"bib_labeled": True, "bib_found": True, "bib_read": True}, None, "not_linked"),
            ({"photo_alone": True}, {"enrolled": False}, "not_enrolled"),
            ({"photo_alone": True}, {}, "below_threshold"),
            ({"photo_alone": True}, {"person": NOBODY}, "face_not_found"),
        ],
    )
    def test_the_first_that_holds(self, labels: dict[str, bool], face: dict[str, Any] | None, cause: str) -> None:
        world = World()
        person = world.person("ann")
        world.query(person, (1, 0))
        photo = world.photo()
        if face is not None:
            world.face(photo, (0, 1), **face)
        world.appears(person, photo, **labels)
        tally = find(world)
        assert [each.cause for each in tally.missed] == [cause]
        assert card_of(tally).causes[cause.replace("_", " ")] == 1

    @pytest.mark.parametrize(
        ("gallery", "more", "cause"),
        [
            ("all", {}, "below_threshold"),
            ("all", {"enrolled": False}, "not_enrolled"),
            ("linked", {}, "not_linked"),
            ("linked", {"linked": True}, "below_threshold"),
        ],
    )
    def test_of_a_face_that_was_found(self, gallery: Gallery, more: dict[str, Any], cause: str) -> None:
        world, person = ann()
        world.face(world.photo(), (0, 1), person, **more)
        (missed,) = find(world, gallery).missed
        assert missed.cause == cause
        assert (missed.score is None) == (cause != "below_threshold")

    def test_without_a_face_to_search_by_it_is_the_bib(self) -> None:
        """Ann's only face is in the photo that is asked for, so that nothing but the number could have found it."""
        world = World()
        person = world.person("ann", numbers=("12",))
        photo = world.photo()
        world.face(photo, (1, 0), person)
        world.query(person, (1, 0), photo)
        world.appears(person, photo, bib_labeled=True, bib_found=True)
        assert [each.cause for each in find(world).missed] == ["misread"]


class TestSlices:
    def test_by_the_height_of_the_labelled_face(self) -> None:
        world, person = ann()
        for height, vector in ((23.9, (0, 1)), (24, (0, 1)), (24, (1, 0)), (80, (1, 0)), (500, (1, 0))):
            world.face(world.photo(), vector, person, height=height)
        world.appears(person, world.photo(), face_labeled=True, height=60.0)
        world.appears(person, world.photo(read=["12"]), bib_labeled=True)
        found = {each.metric: (each.found, each.total) for each in find(world).slices}
        expected = {
            "face_0_24": (0, 1),
            "face_24_40": (1, 2),
            "face_40_80": (0, 1),
            "face_80_up": (2, 2),
        }
        ways = ("selfie", "both")
        assert found == {f"slice/{way}_recall_{tag}": n for way in ways for tag, n in expected.items()}

    def test_by_the_tags_of_their_boxes_and_of_the_photo(self) -> None:
        world, person = ann()
        for tags, vector in ((("blurry",), (0, 1)), (("blurry", "night"), (1, 0)), ((), (1, 0))):
            photo = world.photo()
            world.face(photo, vector, person)
            world.appears(person, photo, tags=tags)
        found = {each.metric: (each.found, each.total) for each in find(world).slices}
        assert found["slice/selfie_recall_blurry"] == (1, 2)
        assert found["slice/both_recall_night"] == (1, 1)

    @given(seeds)
    @settings(max_examples=30, deadline=None)
    def test_they_add_up_to_the_pairs_with_a_labelled_face(self, seed: int) -> None:
        evidence = random_world(seed).evidence()
        tally = tally_finding(Search(evidence), HALF)
        assert sum(each.total for each in tally.slices if each.scorecard == "both") <= card_of(tally).both_asked
        for each in tally.slices:
            assert each.interval is not None
            assert each.interval.low - 1e-9 <= each.recall <= each.interval.high + 1e-9


class TestHeadline:
    def say(self, **counts: float) -> str:
        return headline(FindScorecard(**counts).counted())  # type: ignore[arg-type]

    def test_the_whole_sentence(self) -> None:
        told = self.say(
            runners=10,
            wanted=61,
            selfie_asked=61,
            selfie_found=51.85,
            number_asked=61,
            number_found=45,
            both_asked=61,
            both_found=56.73,
            both_wrong=1.75,
        )
        assert told == (
            "Of the 61 photos that 10 runners want, 85 % come back by selfie, 74 % by number, 93 % by both; "
            "97 % of what comes back by both is theirs."
        )

    def test_what_was_not_asked_is_said(self) -> None:
        told = self.say(runners=2, wanted=5, selfie_asked=3, selfie_found=3, both_asked=3, both_found=3)
        assert told == (
            "Of the 5 photos that 2 runners want, 100 % of 3 come back by selfie, 100 % of 3 by both, "
            "and nobody asks by number; 100 % of what comes back by both is theirs."
        )

    def test_nothing_that_came_back_has_no_precision(self) -> None:
        told = self.say(runners=1, wanted=1, number_asked=1, both_asked=1)
        assert told == (
            "Of the 1 photo that 1 runner wants, 0 % come back by number, 0 % by both, and nobody asks by selfie."
        )

    def test_nobody_asks(self) -> None:
        assert self.say(runners=1, wanted=2) == "Of the 2 photos that 1 runner wants, none is asked for."

    def test_nobody_wants_anything(self) -> None:
        assert self.say() == "No runner is labelled in any photo, so that no photo is wanted."

    def test_nearly_all_is_not_all(self) -> None:
        told = self.say(runners=1, wanted=1000, both_asked=1000, both_found=999, both_wrong=0.001)
        assert "99.9 % come back by both" in told
        assert "99.9 % of what comes back" in told

    def test_nearly_nothing_is_not_nothing(self) -> None:
        told = self.say(runners=1, wanted=10_000, both_asked=10_000, both_found=1, both_wrong=9_999)
        assert "0.01 % come back by both" in told
        assert "0.01 % of what comes back" in told
        assert "0 % come back by both" in self.say(runners=1, wanted=1, both_asked=1)


class TestNothingVacuous:
    @pytest.mark.parametrize("people", [0, 2])
    def test_without_photos_there_are_no_rates(self, people: int) -> None:
        world = World()
        for _ in range(people):
            world.person()
        tally = find(world)
        assert set(tally.counts.total().metrics()) == set(FindScorecard.DECLARED.counts.values())
        assert (tally.counts.items, tally.slices, tally.missed, tally.strangers) == (people, (), (), ())

    def test_rates_have_intervals_by_the_groups_of_people(self) -> None:
        rng, world = np.random.default_rng(2), World()
        for n in range(20):
            person, center = world.person(f"p{n}", group=f"g{n % 8}", numbers=(str(n),)), rng.normal(size=6)
            for _ in range(3):
                photo = world.photo(read=[str(n)] if rng.random() < 0.5 else [], bibs_said=True, said=True)
                world.face(photo, center + rng.normal(size=6) * 0.8, person)
            world.query(person, center)
            world.query(person, center + rng.normal(size=6) * 0.5)
        evidence = world.evidence()
        search = Search(evidence)
        tally = tally_finding(search, operate(search, (0.1,))[0])
        spread, logged = intervals(tally.counts, evidence.groups), tally.counts.total().metrics()
        for way in WAYS:
            metric = f"find/by_{way}"
            assert spread[metric].low < logged[metric] < spread[metric].high
        assert logged["find/by_both"] >= max(logged["find/by_number"], logged["find/by_selfie"])
        assert math.isclose(spread["find/by_both"].groups or 0, 8)

"""One search and why each photo comes back: what the scorecard of finding counts, without a label of the searcher."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scoring.answering import Threshold, answer, threshold_of, within_photos
from harness.scoring.finding import tally_finding
from harness.scoring.people import UNKNOWN
from harness.scoring.searching import Gallery, Operating, Search, operate
from tests.scoring.worlds import World, is_searched, labelled_in, random_world, similarity

seeds = st.integers(0, 10**6)
galleries = st.sampled_from(["all", "linked"])
HALF = Threshold(0.5, "labels", 1000, 0.01, True)
A, NEAR_A, B, BETWEEN = (1.0, 0.0), (0.9, 0.436), (0.0, 1.0), (0.6, 0.8)


def unit(vector: tuple[float, ...]) -> np.ndarray:
    array = np.array(vector, dtype=np.float32)
    return array / np.linalg.norm(array)


def selfies_alone(seed: int) -> World:
    """A random world in which everybody has at most one selfie, so that each share of the scorecard is 0 or 1."""
    world = random_world(seed)
    world.queries = [{**each, "photo": -1} for each in {each["person"]: each for each in world.queries}.values()]
    return world


class TestWhatTheScorecardCounts:
    """A search returns the photos that `find/*` counts for the same query: as found, as wrong or as unknown."""

    @given(seeds, galleries, st.sampled_from([-0.3, 0.2, 0.6, 0.95, math.inf]))
    @settings(deadline=None, max_examples=150)
    def test_by_selfie_by_number_and_by_both(self, seed: int, gallery: Gallery, least: float) -> None:
        world = selfies_alone(seed)
        for face in world.faces:
            face["person"] = UNKNOWN  # so that in a wanted photo no face is known to be somebody else's
        search = Search(world.evidence(), gallery)
        rows = tally_finding(search, Operating.fixed(0.01, least, 1000, "a test")).counts.by_item()
        vectors = dict(zip(search.evidence.queries.person.tolist(), search.evidence.queries.vectors, strict=True))
        for person, who in enumerate(search.evidence.people):
            if not who.runner or not (who.numbers or person in vectors):
                continue
            found = answer(search, vectors.get(person), who.numbers, Threshold(least, "labels", 1000)).photos
            returned = {
                "selfie": [each for each in found if each.face is not None],
                "number": [each for each in found if each.numbers and who.numbers],
                "both": found,
            }
            for way, photos in returned.items():
                counted = sum(rows[person][f"{way}_{what}"] for what in ("found", "wrong", "unknown"))
                assert len(photos) == counted, way
            assert (
                sum(bool(labelled_in(search.evidence)[person, each.photo]) for each in found)
                == rows[person]["both_found"]
            )

    @given(seeds, galleries)
    @settings(deadline=None, max_examples=60)
    def test_with_labelled_faces_only_a_wanted_photo_can_come_back_uncounted(self, seed: int, gallery: Gallery) -> None:
        """The scorecard does not count a wanted photo that comes back by the face of somebody else. A search has no
        labels and returns it."""
        search = Search(selfies_alone(seed).evidence(), gallery)
        rows = tally_finding(search, Operating.fixed(0.01, 0.5, 1000, "a test")).counts.by_item()
        for vector, person in zip(
            search.evidence.queries.vectors, search.evidence.queries.person.tolist(), strict=True
        ):
            who = search.evidence.people[person]
            if who.runner:
                found = [each.photo for each in answer(search, vector, who.numbers, HALF).photos]
                wanted = labelled_in(search.evidence)[person, found].sum()
                assert len(found) - wanted == rows[person]["both_wrong"] + rows[person]["both_unknown"]
                assert wanted >= rows[person]["both_found"]


class TestReasons:
    def world(self) -> Search:
        """0: a face and the number; 1: the face alone; 2: the number on a back; 3: like the linked faces; 4: nobody."""
        world = World()
        for read in (["17"], [], ["17"], [], ["23"]):
            world.photo(read=read)
        world.face(0, BETWEEN, number="17")
        world.face(1, A)
        world.face(3, B)
        return Search(world.evidence())

    def test_a_picture_and_a_number(self) -> None:
        found = answer(self.world(), unit(A), ("17",), HALF)
        assert [(each.photo, each.numbers) for each in found.photos] == [(0, ("17",)), (1, ()), (2, ("17",))]
        first, second, third = found.photos
        assert first.face == pytest.approx(0.6, abs=1e-6)
        # The average of the picture and the linked face lies half way between them.
        assert first.linked == pytest.approx(math.cos(math.acos(0.6) / 2), abs=1e-6)
        assert second.face == pytest.approx(1)
        assert second.at == 1
        assert (third.face, third.linked, third.at) == (None, None, None)
        assert found.numbers_given

    def test_a_picture_leads_to_the_number_of_its_linked_faces(self) -> None:
        found = answer(self.world(), unit(BETWEEN), (), HALF)
        assert (found.numbers, found.numbers_given) == (("17",), False)
        assert [each.photo for each in found.photos] == [0, 3, 1, 2]

    def test_a_number_leads_to_the_faces_that_are_linked_to_it(self) -> None:
        found = answer(self.world(), None, ("17",), HALF)
        assert [(each.photo, each.face, each.numbers) for each in found.photos] == [
            (0, None, ("17",)),
            (2, None, ("17",)),
            (3, None, ()),
            (1, None, ()),
        ]
        assert found.photos[2].linked == pytest.approx(0.8, abs=1e-6)

    @pytest.mark.parametrize("number", ["99", "2", "1 7", "17a"])
    def test_nobody_is_found_by_a_number_that_was_not_read(self, number: str) -> None:
        assert answer(self.world(), None, (number,), HALF).photos == ()

    def test_nobody_is_found_below_the_threshold_and_nearest_are_not_listed(self) -> None:
        found = answer(self.world(), unit((-1.0, 0.0)), (), HALF)
        assert (found.photos, found.nearest, found.numbers) == ((), (), ())

    def test_without_a_threshold_no_face_returns_a_photo_and_the_nearest_are_listed(self) -> None:
        found = answer(self.world(), unit(A), ("17",), Threshold(math.inf, "none", 0))
        assert [each.photo for each in found.photos] == [0, 2]
        assert [(each.photo, each.at) for each in found.nearest] == [(1, 1), (0, 0), (3, 2)]

    def test_a_set_without_a_face_is_searched_by_number_alone(self) -> None:
        world = World()
        world.photo(read=["17"])
        found = answer(Search(world.evidence()), np.ones(3, dtype=np.float32) / np.sqrt(np.float32(3)), ("17",), HALF)
        assert [each.photo for each in found.photos] == [0]

    def test_a_vector_of_another_model_is_refused(self) -> None:
        with pytest.raises(ValueError, match="a vector of 3 numbers; the faces of this set have 2"):
            answer(self.world(), unit((1.0, 0.0, 0.0)), (), HALF)


class TestThreshold:
    @given(seeds, galleries, st.sampled_from([0.01, 0.3]))
    @settings(deadline=None, max_examples=60)
    def test_it_is_that_of_the_identity_task(self, seed: int, gallery: Gallery, fpir: float) -> None:
        search = Search(random_world(seed).evidence(), gallery)
        strangers = int(np.count_nonzero(search.stranger_scores() > -np.inf))
        found = threshold_of(search, fpir)
        if strangers:
            assert (found.value, found.source, found.rests_on) == (
                operate(search, (fpir,))[0].whole,
                "labels",
                strangers,
            )
            assert found.measurable == (strangers * fpir >= 1 - 1e-9)
        else:
            assert found.source != "labels"

    @given(seeds)
    @settings(deadline=None, max_examples=60)
    def test_the_most_similar_two_faces_of_a_photo_by_a_plain_loop(self, seed: int) -> None:
        evidence = random_world(seed).evidence()
        enrolled = [face for face in range(len(evidence.faces)) if is_searched(evidence, face, "all")]
        pairs = [
            similarity(evidence.faces.vectors[a], evidence.faces.vectors[b])
            for a in enrolled
            for b in enrolled
            if a < b and evidence.faces.photo[a] == evidence.faces.photo[b]
        ]
        highest, count = within_photos(Search(evidence))
        assert count == len(pairs)
        assert highest == pytest.approx(max(pairs, default=-math.inf), abs=1e-9)

    def test_without_labels_the_two_most_similar_faces_of_one_photo_do_not_return_each_other(self) -> None:
        world = World()
        for vectors in ((A, NEAR_A), (B, A), (B,)):
            photo = world.photo()
            for vector in vectors:
                world.face(photo, vector)
        search = Search(world.evidence())
        found = threshold_of(search, 0.01)
        assert (found.source, found.rests_on, found.fpir, found.measurable) == ("photos", 2, None, False)
        assert found.value > similarity(unit(A), unit(NEAR_A))
        assert [each.photo for each in answer(search, unit(B), (), found).photos] == [1, 2]

    def test_without_two_faces_in_a_photo_there_is_none(self) -> None:
        world = World()
        world.face(world.photo(), A)
        found = threshold_of(Search(world.evidence()), 0.01)
        assert (found.source, found.exists) == ("none", False)

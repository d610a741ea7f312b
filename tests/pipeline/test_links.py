"""Linking by geometry. Distances are in heights of the face, measured from centre to centre."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.optimize import linear_sum_assignment

from harness.pipeline.links.geometric import GeometricLinker, best_pairs
from harness.pipeline.links.rule_of_thumb import RuleOfThumbLinker
from harness.pipeline.stages import Linker
from harness.testing import LinkerContract
from harness.types import BibBox, BibFaceLink, FaceBox

LINKER = GeometricLinker(min_drop=1.0, max_drop=4.0, half_width=1.5, behind=0.5, nearer=1.25, threshold=0.0)
THUMB = RuleOfThumbLinker(torso=2.5, slack=1.5, aside=0.5, threshold=0.0)
HEIGHT = 0.1


def face(x: float, y: float) -> FaceBox:
    return FaceBox(x=x - 0.05, y=y - HEIGHT / 2, w=0.1, h=HEIGHT)


def bib(x: float, y: float) -> BibBox:
    return BibBox(x=x - 0.05, y=y - 0.05, w=0.1, h=0.1)


class LinkerRules(LinkerContract):
    """What our own linkers promise beyond the contract, with the settings that they come with."""

    def test_a_bib_on_the_chest_is_linked_with_a_score(self) -> None:
        (link,) = self.make().link([bib(0.5, 0.6)], [face(0.5, 0.3)], aspect=1.0)
        assert link == BibFaceLink(0, 0)
        assert link.score is not None
        assert 0.5 < link.score <= 1

    @pytest.mark.parametrize("far", [bib(0.5, 0.05), bib(0.95, 0.6), bib(0.5, 0.99)])
    def test_far_fetched_pairs_are_refused(self, far: BibBox) -> None:
        assert self.make().link([far], [face(0.5, 0.3)], aspect=1.0) == ()

    def test_a_threshold_of_1_refuses_what_does_not_fit_perfectly(self) -> None:
        strict = replace(self.make(), threshold=1.0)
        assert strict.link([bib(0.52, 0.55)], [face(0.5, 0.3)], aspect=1.0) == ()


class TestGeometric(LinkerRules):
    choice = "geometric"


class TestRuleOfThumb(LinkerRules):
    choice = "rule_of_thumb"


@pytest.mark.parametrize("linker", [LINKER, THUMB])
@given(points=st.lists(st.tuples(st.floats(0.1, 0.9), st.floats(0.1, 0.9), st.booleans()), max_size=8))
def test_links_are_one_to_one_and_score_from_0_to_1(linker: Linker, points: list[tuple[float, float, bool]]) -> None:
    bibs = [bib(x, y) for x, y, is_bib in points if is_bib]
    faces = [face(x, y) for x, y, is_bib in points if not is_bib]
    links = linker.link(bibs, faces, aspect=1.5)
    assert len({link.bib_index for link in links}) == len({link.face_index for link in links}) == len(links)
    assert all(link.score is not None and 0 < link.score <= 1 for link in links)


@pytest.mark.parametrize(
    ("aside", "drop", "linked"),
    [(0, 2.5, True), (0, 0.9, False), (0, 4.1, False), (1.4, 2.5, True), (1.6, 2.5, False), (0, -2.5, False)],
)
def test_a_pair_outside_the_range_is_refused(aside: float, drop: float, linked: bool) -> None:
    links = LINKER.link([bib(0.5 + aside * HEIGHT, 0.4 + drop * HEIGHT)], [face(0.5, 0.4)], aspect=1.0)
    assert links == ((BibFaceLink(0, 0),) if linked else ())


def test_the_score_falls_from_the_middle_of_the_range_to_its_edge_and_can_be_cut() -> None:
    scores = [
        LINKER.fit([bib(0.5 + aside * HEIGHT, 0.4 + 2.5 * HEIGHT)], [face(0.5, 0.4)], aspect=1.0)[0, 0]
        for aside in (0.0, 0.75, 1.5)
    ]
    assert scores == pytest.approx([1.0, 0.75, 0.0])
    half_way = [bib(0.5 + 0.75 * HEIGHT, 0.4 + 2.5 * HEIGHT)]
    assert replace(LINKER, threshold=0.7).link(half_way, [face(0.5, 0.4)], aspect=1.0)
    assert not replace(LINKER, threshold=0.8).link(half_way, [face(0.5, 0.4)], aspect=1.0)


def test_sideways_distance_is_measured_in_pixels_not_in_shares_of_the_width() -> None:
    near = bib(0.5 + 0.08, 0.4 + 2.5 * HEIGHT)
    assert LINKER.link([near], [face(0.5, 0.4)], aspect=1.0)
    assert not LINKER.link([near], [face(0.5, 0.4)], aspect=2.0)


def test_each_runner_gets_their_own_bib_whatever_the_order() -> None:
    faces = [face(0.3, 0.2), face(0.45, 0.2)]
    bibs = [bib(0.46, 0.45), bib(0.31, 0.45)]
    assert set(LINKER.link(bibs, faces, aspect=1.0)) == {BibFaceLink(0, 1), BibFaceLink(1, 0)}


def test_a_poor_pair_never_breaks_up_a_good_one() -> None:
    # The second bib could only go to the first face, and the first bib could go, badly, to the second face.
    faces, bibs = [face(0.5, 0.2), face(0.64, 0.2)], [bib(0.5, 0.45), bib(0.36, 0.45)]
    assert LINKER.link(bibs, faces, aspect=1.0) == (BibFaceLink(0, 0),)


def test_a_face_in_between_hides_the_torso_of_the_one_behind() -> None:
    child, grown_up, number = face(0.5, 0.4), face(0.5, 0.25), bib(0.5, 0.56)
    assert LINKER.link([number], [child, grown_up], aspect=1.0) == (BibFaceLink(0, 0),)
    assert replace(LINKER, behind=1.0).link([number], [child, grown_up], aspect=1.0) == (BibFaceLink(0, 1),)
    aside = face(0.7, 0.4)
    assert LINKER.link([number], [aside, grown_up], aspect=1.0) == (BibFaceLink(0, 1),)


def test_of_two_torsos_in_one_place_the_nearer_hides_the_other() -> None:
    # The spectator further back fits a little better, and the runner in front of them wears the number.
    runner, spectator = FaceBox(x=0.42, y=0.2, w=0.16, h=0.16), face(0.59, 0.32)
    number = bib(0.54, 0.58)
    assert LINKER.link([number], [spectator, runner], aspect=1.0) == (BibFaceLink(0, 1),)
    assert replace(LINKER, nearer=2.0).link([number], [spectator, runner], aspect=1.0) == (BibFaceLink(0, 0),)


def test_a_nearer_face_far_from_the_bib_hides_nothing() -> None:
    passer_by, runner = FaceBox(x=0.65, y=0.1, w=0.2, h=0.2), face(0.5, 0.3)
    fit = LINKER.fit([bib(0.5, 0.55)], [passer_by, runner], aspect=1.0)
    assert 0 < fit[0, 0] < LINKER.behind
    assert fit[0, 1] == pytest.approx(1.0)


def test_the_rule_of_thumb_lets_faces_choose_in_turn() -> None:
    # Both faces are above the first bib; the first face takes it although the second fits it better.
    first, second = face(0.53, 0.2), face(0.5, 0.25)
    assert THUMB.link([bib(0.5, 0.5)], [first, second], aspect=1.0) == (BibFaceLink(0, 0),)
    assert LINKER.link([bib(0.5, 0.5)], [first, second], aspect=1.0) == (BibFaceLink(0, 1),)


def test_the_rule_of_thumb_measures_sideways_in_widths_of_the_bib() -> None:
    assert THUMB.link([bib(0.54, 0.5)], [face(0.5, 0.25)], aspect=1.0)
    assert not THUMB.link([bib(0.56, 0.5)], [face(0.5, 0.25)], aspect=1.0)


#: Few values, so that ways to pair are often equally good, and many zeros, so that there are often few ways.
FITS = arrays(
    np.float64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.sampled_from([0, 0, 0.25, 0.3, 1])
)


@given(fit=FITS)
def test_pairs_are_those_of_the_solver_however_they_are_found(
    fit: np.ndarray[tuple[int, int], np.dtype[np.float64]],
) -> None:
    rows, columns = linear_sum_assignment(fit, maximize=True)
    solved = [(b, f) for b, f in zip(rows.tolist(), columns.tolist(), strict=True) if fit[b, f] > 0]
    assert list(best_pairs(fit)) == solved

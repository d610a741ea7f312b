"""Linking by geometry. Distances are in heights of the face, measured from centre to centre."""

from __future__ import annotations

import pytest

from harness.pipeline.links import GeometricLinker
from harness.types import BibBox, BibFaceLink, FaceBox

LINKER = GeometricLinker(min_drop=1.0, max_drop=4.0, half_width=1.5)
HEIGHT = 0.1


def face(x: float, y: float) -> FaceBox:
    return FaceBox(x=x - 0.05, y=y - HEIGHT / 2, w=0.1, h=HEIGHT)


def bib(x: float, y: float) -> BibBox:
    return BibBox(x=x - 0.05, y=y - 0.05, w=0.1, h=0.1)


@pytest.mark.parametrize(
    ("aside", "drop", "linked"),
    [(0, 2.5, True), (0, 0.9, False), (0, 4.1, False), (1.4, 2.5, True), (1.6, 2.5, False), (0, -2.5, False)],
)
def test_a_pair_outside_the_range_is_refused(aside: float, drop: float, linked: bool) -> None:
    links = LINKER.link([bib(0.5 + aside * HEIGHT, 0.4 + drop * HEIGHT)], [face(0.5, 0.4)], aspect=1.0)
    assert links == ((BibFaceLink(0, 0),) if linked else ())


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


def test_bystanders_stay_unlinked() -> None:
    assert LINKER.link([], [face(0.5, 0.5)], aspect=1.0) == ()
    assert LINKER.link([bib(0.5, 0.5)], [], aspect=1.0) == ()

"""Whose torso a number hangs on."""

from __future__ import annotations

import pytest

from harness.pipeline.bibs.torsos import Torso
from harness.types import Box, FaceBox

TORSO = Torso(min_drop=1.0, max_drop=5.0, half_width=2.0, min_height=0.2, max_height=1.5, rival_share=0.6)


def face(x: float, y: float = 0.2, h: float = 0.1) -> FaceBox:
    return FaceBox(x=x - h / 2, y=y - h / 2, w=h, h=h)


def number_at(x: float, y: float, h: float = 0.05) -> Box:
    return Box(x=x - 0.05, y=y - h / 2, w=0.1, h=h)


@pytest.mark.parametrize(
    ("box", "wearer"),
    [
        (number_at(0.5, 0.5), 0),
        (number_at(0.5, 0.25), None),  # in the face
        (number_at(0.5, 0.05), None),  # a banner above
        (number_at(0.5, 0.9), None),  # a camera credit below
        (number_at(0.75, 0.5), None),  # beside
        (number_at(0.5, 0.5, h=0.01), None),  # small print
        (number_at(0.5, 0.5, h=0.3), None),  # a billboard
    ],
)
def test_a_number_hangs_on_a_torso_or_on_nobody(box: Box, wearer: int | None) -> None:
    assert TORSO.wearer([face(0.5)], box, aspect=1.0) == wearer


def test_of_two_people_the_one_above_wears_it() -> None:
    assert TORSO.wearer([face(0.4), face(0.55)], number_at(0.56, 0.5), aspect=1.0) == 1


def test_a_torso_region_stays_in_the_picture() -> None:
    region = TORSO.region(face(0.05, 0.7), aspect=1.5)
    assert region.x == 0.0
    assert region.y + region.h == 1.0
    assert region.has_coords


def test_a_scene_is_the_strip_with_all_torsos() -> None:
    left, right = face(0.3, 0.2), face(0.6, 0.3, h=0.05)
    scene = TORSO.scene([left, right], aspect=1.0)
    assert scene is not None
    for one in (TORSO.region(left, 1.0), TORSO.region(right, 1.0)):
        assert scene.x <= one.x
        assert scene.y <= one.y
        assert scene.x + scene.w >= one.x + one.w
        assert scene.y + scene.h >= one.y + one.h
    assert (scene.x, scene.w) == (0, 1), "somebody beside them may have a face that was not found"
    assert scene.h < 1


def test_there_is_no_scene_without_a_torso() -> None:
    assert TORSO.scene([], aspect=1.0) is None
    assert TORSO.scene([face(0.5, 0.99, h=0.02)], aspect=1.0) is None


@pytest.mark.parametrize(
    ("box", "somebody"),
    [
        (number_at(0.9, 0.5), True),  # beside a runner, as far down as a bib of theirs
        (number_at(0.9, 0.2), False),  # a clock, as high up as the faces
        (number_at(0.9, 0.5, h=0.01), False),  # small print
    ],
)
def test_a_number_beside_everybody_may_hang_on_somebody_whose_face_was_not_found(box: Box, somebody: bool) -> None:
    assert TORSO.wearer([face(0.5)], box, aspect=1.0) is None
    assert TORSO.somebody([face(0.5)], box) is somebody
    assert TORSO.somebody([], box)


def test_a_photo_that_shows_a_bib_and_no_face_is_of_one_torso() -> None:
    large, small = number_at(0.5, 0.5, h=0.2), number_at(0.5, 0.8, h=0.05)
    assert TORSO.wearer([], large, aspect=1.0) == 0
    assert TORSO.wearer([], small, aspect=1.0) is None
    assert TORSO.wearer([face(0.5, h=0.02)], large, aspect=1.0) is None


def test_a_number_far_larger_than_those_of_all_faces_may_hang_on_somebody_near() -> None:
    far = [face(0.5, h=0.02)]
    assert TORSO.somebody(far, number_at(0.2, 0.6, h=0.1))
    assert not TORSO.somebody(far, number_at(0.2, 0.6, h=0.07))


@pytest.mark.parametrize(
    ("box", "missed"),
    [
        (number_at(0.9, 0.5, h=0.07), True),  # somebody nearer than two spectators
        (number_at(0.9, 0.21, h=0.003), True),  # somebody farther away
        (number_at(0.9, 0.1, h=0.07), False),  # a banner above their heads
        (number_at(0.9, 0.5, h=0.005), False),  # small print
        (number_at(0.9, 0.21, h=0.07), False),  # as high up as their faces
    ],
)
def test_where_no_number_is_found_on_anybody_it_may_hang_on_somebody_nearer_or_farther(box: Box, missed: bool) -> None:
    spectators = [face(0.1, h=0.03), face(0.2, h=0.02)]
    assert not TORSO.somebody(spectators, box)
    assert TORSO.somebody(spectators, box, missed=True) == missed

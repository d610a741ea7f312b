"""Plates on a dark shirt, drawn and read: one with a single digit, and one that is wider than the torso it hangs on."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from harness.config import build, compose
from harness.pipeline.looks import Image, Look
from harness.references.sample import lettering
from harness.testing import Picture
from harness.types import FaceBox
from tests.conftest import QUICK

pytestmark = pytest.mark.slow

WIDTH, HEIGHT = 480, 600
SHIRT = (60, 45, 40)


def picture(number: str, font: str, height: int) -> Image:
    """A white plate, so many pixels high, in the middle of the picture, a little tilted and not quite sharp."""
    mask = lettering.stencil(number, font, 96)[..., None]
    plate = np.full((170, mask.shape[1] + 90, 3), 245, np.float32)
    plate[37:133, 45:-45] = 245 * (1 - mask) + 60 * mask
    middle = (plate.shape[1] / 2, plate.shape[0] / 2)
    move = cv2.getRotationMatrix2D(middle, 14, height / plate.shape[0])
    move[:, 2] += (WIDTH / 2 - middle[0], HEIGHT / 2 - middle[1])
    laid = cv2.warpAffine(plate, move, (WIDTH, HEIGHT), flags=cv2.INTER_AREA)
    weight = cv2.warpAffine(np.ones(plate.shape[:2], np.float32), move, (WIDTH, HEIGHT))[..., None]
    mixed = np.asarray(SHIRT, np.float32) * (1 - weight) + np.asarray(laid) * weight
    return np.asarray(cv2.GaussianBlur(mixed, (0, 0), 0.7), np.uint8)


def face(height: float) -> FaceBox:
    """A face of that many pixels, whose torso has the plate in its middle."""
    high = height / HEIGHT
    return FaceBox(x=0.5 - height / WIDTH / 2, y=0.5 - 3.4 * high - high / 2, w=height / WIDTH, h=high)


def read(look: Look, wearer: FaceBox, *overrides: str) -> list[str]:
    reader = build(compose(["references=staging", *QUICK, *overrides])).photos.pipeline.bib
    return [bib.number or "" for bib in reader.read(look, (wearer,))]


@pytest.mark.parametrize(("digit", "font"), [("3", lettering.SERIF), ("5", lettering.TIMES)])
def test_the_digit_on_a_plate_that_looks_like_a_character_is_read(digit: str, font: str) -> None:
    photo = Picture(picture(digit, font, 56 if digit == "5" else 44))
    without, with_step = Look(photo), Look(photo)
    assert read(without, face(60), "bib.lone_plates=false") == []
    assert "bib.lone_plates" not in without.steps
    assert read(with_step, face(60)) == [digit]
    assert with_step.steps["bib.lone_plates"] > 0


def test_a_number_that_reaches_the_edge_of_a_closer_look_gets_a_wider_one() -> None:
    """Five heights of the face are wider than a torso, and the first look is too small to show any text."""
    photo = Picture(picture("K47110", lettering.SANS, 40))
    closer = ("bib.long_side=64", "bib.torso_faces=[64]")
    look = Look(photo)
    assert read(look, face(36), *closer) == ["K47110"]
    assert look.misses["text"] == 3


def test_a_number_within_a_closer_look_gets_no_wider_one() -> None:
    look = Look(Picture(picture("K47110", lettering.SANS, 40)))
    assert read(look, face(60), "bib.long_side=64", "bib.torso_faces=[64]") == ["K47110"]
    assert look.misses["text"] == 2


def test_a_number_that_fills_its_picture_is_read_in_a_last_look() -> None:
    """A bib cut out of its photo: no face, and hardly any paper beside the number."""
    photo = picture("2605", lettering.SANS, 40)
    cut = np.ascontiguousarray(photo[HEIGHT // 2 - 21 : HEIGHT // 2 + 21, WIDTH // 2 - 36 : WIDTH // 2 + 36])
    reader = build(compose(["references=staging", *QUICK])).photos.pipeline.bib
    without = build(compose(["references=staging", *QUICK, "bib.last_looks=[]"])).photos.pipeline.bib
    look = Look(Picture(cut))
    assert "2605" not in [bib.number for bib in without.read(Look(Picture(cut)), ())]
    assert [bib.number for bib in reader.read(look, ())] == ["2605"]
    assert look.steps["bib.last_looks"] == 1

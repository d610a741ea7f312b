"""An arm over a bib: what is left of the number is a part of it, and the missed number is told as such."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from harness.config import build, compose
from harness.pipeline.looks import Image, Look
from harness.scoring import missed_numbers
from harness.testing import Picture
from harness.types import BibBox, FaceBox, PhotoLabels, PhotoPrediction
from tests.conftest import BIB, PEOPLE, QUICK, person_picture, unit

pytestmark = pytest.mark.slow

#: The left arm in `person_picture("P001")`, in pixels, and its middle.
ARM = [(308, 268), (341, 268), (337, 340), (333, 420), (330, 462), (313, 462), (309, 400), (307, 330)]
MIDDLE = (322, 365)
FACE = FaceBox(**unit(PEOPLE["P001"][1]))  # type: ignore[arg-type]


def picture(number: str | None) -> Image:
    return np.ascontiguousarray(np.asarray(person_picture("P001", number))[:, :, ::-1])


def with_arm(number: str, x: int, tilt: float) -> Image:
    """The runner with their own arm once more, tilted, in front of the bib, with its middle at `x`."""
    bare, photo = picture(None), picture(number)
    mask = np.zeros(bare.shape[:2], np.float32)
    cv2.fillPoly(mask, [np.array(ARM, np.int32)], 1.0)
    move = cv2.getRotationMatrix2D(MIDDLE, tilt, 1.0)
    move[0, 2] += x - MIDDLE[0]
    move[1, 2] += BIB[1] + BIB[3] / 2 - MIDDLE[1]
    size = (bare.shape[1], bare.shape[0])
    arm = cv2.warpAffine(bare, move, size, flags=cv2.INTER_CUBIC)
    weight = cv2.warpAffine(cv2.GaussianBlur(mask, (0, 0), 0.8), move, size)[..., None]
    return np.asarray(photo * (1 - weight) + arm * weight, np.uint8)


def read(number: str, x: int) -> tuple[BibBox, ...]:
    reader = build(compose(["references=staging", *QUICK])).photos.pipeline.bib
    return reader.read(Look(Picture(with_arm(number, x, tilt=0))), (FACE,))


def test_a_number_of_which_an_arm_covers_half_a_digit_is_a_part_and_told_as_one() -> None:
    """As the arm moves across the last digit, there are places where the digit is seen and cannot be told."""
    found = [read("2856", x) for x in range(283, 289)]
    parts = [bibs for bibs in found if [bib.number for bib in bibs] == ["285?"]]
    assert parts
    labels = PhotoLabels(bibs=(replace(parts[0][0], number="2856"),))
    (missed,) = missed_numbers(labels, PhotoPrediction(bibs=parts[0]))
    assert (missed.cause, missed.words()) == ("partial", 'read in part as "285?"')


def test_beside_an_arm_that_covers_nothing_the_number_is_whole() -> None:
    assert [bib.number for bib in read("2856", 325)] == ["2856"]

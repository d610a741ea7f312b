"""Whether an arm hides one end of a number: told by an edge that goes on beyond the bib."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from harness.pipeline.bibs.covered import covered_side
from harness.pipeline.bibs.numbers import covered_number
from harness.pipeline.looks import Image
from harness.references.sample import lettering
from tests.pipeline.test_voting import reading

SHIRT, PAPER, INK = (60, 45, 120), (240, 240, 240), (30, 30, 30)
SKIN = [(150, 178, 224), (100, 135, 190), (40, 58, 98)]
#: The plate and the digits on it, in pixels: left, top, right, bottom.
PLATE, DIGITS = (200, 220, 400, 320), (230, 250, 370, 290)
#: The middles of four digits along the line, of which an arm may hide the last or the first.
PLACES = (0.125, 0.375, 0.625, 0.875)


def bib() -> Image:
    """A bib with the number 2856 on a shirt."""
    image = np.full((540, 600, 3), SHIRT, np.float32)
    image[PLATE[1] : PLATE[3], PLATE[0] : PLATE[2]] = PAPER
    mask = lettering.stencil("2856", lettering.SANS, DIGITS[3] - DIGITS[1])
    sized = cv2.resize(mask, (DIGITS[2] - DIGITS[0], DIGITS[3] - DIGITS[1])).astype(np.float32)
    lettering.paint(image, sized, DIGITS[0], DIGITS[1], INK)
    return np.asarray(image, np.uint8)


def with_limb(colour: tuple[int, int, int], edge: float, way: int, lean: float = 0.0, thick: int = 60) -> Image:
    """The bib behind a limb whose edge crosses the line of digits at `edge` and which lies to that side of it."""
    image, middle, far = bib(), (DIGITS[1] + DIGITS[3]) / 2, 250.0
    start, end = edge - lean * far, edge + lean * far
    points = [
        (start, middle - far),
        (end, middle + far),
        (end + way * thick, middle + far),
        (start + way * thick, middle - far),
    ]
    cv2.fillPoly(image, [np.round(np.array(points)).astype(np.int32)], colour, cv2.LINE_AA)
    return image


def corners(first: int = 0, last: int = 4) -> list[list[float]]:
    """The piece of text of the digits from the first to the last that is seen."""
    step = (DIGITS[2] - DIGITS[0]) / 4
    left, right = (DIGITS[0] + first * step - 4) / 600, (DIGITS[0] + last * step + 4) / 600
    top, bottom = (DIGITS[1] - 5) / 540, (DIGITS[3] + 5) / 540
    return [[left, top], [right, top], [right, bottom], [left, bottom]]


def test_a_bib_that_nothing_hides_has_a_whole_number() -> None:
    assert covered_side(corners(), PLACES, bib()) == ""


@pytest.mark.parametrize("lean", [0.0, 0.4, -0.4])
@pytest.mark.parametrize("colour", [*SKIN, (40, 40, 44), (40, 40, 220), (200, 200, 20)])
def test_an_arm_before_the_last_or_the_first_digit_hides_it(colour: tuple[int, int, int], lean: float) -> None:
    """Skin of several colours, and sleeves."""
    three = (1 / 6, 1 / 2, 5 / 6)
    assert covered_side(corners(0, 3), three, with_limb(colour, 340, 1, lean)) == "right"
    assert covered_side(corners(1, 4), three, with_limb(colour, 260, -1, lean)) == "left"


def test_an_arm_beside_the_bib_hides_nothing() -> None:
    assert covered_side(corners(), PLACES, with_limb(SKIN[0], PLATE[2] + 15, 1)) == ""


def test_the_stripe_of_a_shirt_hides_nothing() -> None:
    """The bib lies upon it."""
    image = with_limb((220, 220, 220), PLATE[2] - 2, 1, thick=14)
    image[PLATE[1] : PLATE[3], PLATE[0] : PLATE[2]] = bib()[PLATE[1] : PLATE[3], PLATE[0] : PLATE[2]]
    assert covered_side(corners(), PLACES, image) == ""


def test_text_without_any_extent_is_not_judged() -> None:
    assert covered_side(corners(), (0.5, 0.5), bib()) == ""


def test_a_character_beside_what_hides_the_rest_is_kept_where_it_is_sure() -> None:
    sure = reading("338", score=0.95)
    unsure = replace(reading("8035", score=0.95), char_scores=(0.6, 0.95, 0.95, 0.95))
    assert covered_number(sure, "right", 0.9).text == "338?"
    assert covered_number(unsure, "left", 0.9).text == "?035"

"""The digit on a plate that was taken for a character, by its pixels."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from harness.pipeline.bibs.plates import ink_on, within
from harness.pipeline.looks import Image

WIDTH = HEIGHT = 100


def plate(text: str, paper: int = 240, ink: int = 30, ground: int = 70, size: float = 1.8, margin: int = 14) -> Image:
    """A plate on the runner's shirt, as the text detector cuts it out, with the text in its middle."""
    picture = np.full((HEIGHT, WIDTH, 3), ground, np.uint8)
    picture[margin : HEIGHT - margin, margin : WIDTH - margin] = paper
    (wide, high), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_DUPLEX, size, 4)
    at = ((WIDTH - wide) // 2, (HEIGHT + high) // 2)
    cv2.putText(picture, text, at, cv2.FONT_HERSHEY_DUPLEX, size, (ink, ink, ink), 4, cv2.LINE_AA)
    return picture


def turned_by(picture: Image, degrees: float) -> Image:
    move = cv2.getRotationMatrix2D((WIDTH / 2, HEIGHT / 2), degrees, 1.0)
    return np.asarray(cv2.warpAffine(picture, move, (WIDTH, HEIGHT), borderMode=cv2.BORDER_REPLICATE), np.uint8)


@pytest.mark.parametrize("digit", "0123456789")
@pytest.mark.parametrize("degrees", [-15, 0, 15])
def test_the_digit_of_a_plate_is_found_with_a_little_paper_around_it(digit: str, degrees: float) -> None:
    picture = turned_by(plate(digit), degrees)
    found = ink_on(picture)
    assert found is not None
    left, top, right, bottom = (round(edge * 100) for edge in found)
    inside = picture[14:-14, 14:-14] if degrees == 0 else picture[24:-24, 24:-24]
    rows, columns = np.nonzero(inside.mean(axis=2) < 120)
    first = 14 if degrees == 0 else 24
    assert top < first + rows.min() < first + rows.max() < bottom
    assert left < first + columns.min() < first + columns.max() < right
    assert (bottom - top) < 1.5 * (rows.max() - rows.min())


@pytest.mark.parametrize(("paper", "ink", "ground"), [(240, 30, 230), (40, 230, 120), (240, 120, 20), (200, 40, 40)])
def test_paper_and_ink_may_have_any_brightness_and_paper_that_of_the_shirt(paper: int, ink: int, ground: int) -> None:
    assert ink_on(plate("7", paper, ink, ground)) == pytest.approx(ink_on(plate("7")), abs=0.03)


@pytest.mark.parametrize("text", ["37", "11", "311"])
def test_one_of_several_digits_is_not_taken_for_the_number(text: str) -> None:
    assert ink_on(plate(text, size=1.2)) is None


def test_what_is_left_of_a_pale_digit_beside_another_is_one_more() -> None:
    picture = plate("1")
    assert ink_on(picture) is not None
    picture[40:52, 25:30] = 30
    assert ink_on(picture) is None


@pytest.mark.parametrize("digit", "0468")
def test_a_digit_that_fills_its_piece_of_text_stays_and_its_hole_is_no_digit(digit: str) -> None:
    assert ink_on(plate(digit, ground=240, size=3.2)) is None


def test_a_digit_at_the_side_of_a_plate_may_be_the_last_of_a_longer_number() -> None:
    assert ink_on(np.roll(plate("7", ground=240), 25, axis=1)) is None


@pytest.mark.parametrize("value", [0, 128, 255])
def test_an_empty_plate_has_no_digit(value: int) -> None:
    assert ink_on(np.full((HEIGHT, WIDTH, 3), value, np.uint8)) is None
    assert ink_on(plate("")) is None


def test_print_above_the_digit_does_not_hide_it() -> None:
    picture = plate("7")
    cv2.putText(picture, "RUN", (30, 27), cv2.FONT_HERSHEY_DUPLEX, 0.35, (30, 30, 30), 1, cv2.LINE_AA)
    assert ink_on(picture) == ink_on(plate("7"))


def test_the_part_of_a_tilted_piece_lies_between_its_corners() -> None:
    corners = [[0.2, 0.2], [0.6, 0.3], [0.5, 0.7], [0.1, 0.6]]
    assert within(corners, (0.0, 0.0, 1.0, 1.0)) == corners
    assert within(corners, (0.5, 0.0, 1.0, 0.5)) == [[0.4, 0.25], [0.6, 0.3], [0.55, 0.5], [0.35, 0.45]]

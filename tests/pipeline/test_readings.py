"""A piece of text as it was read, and the bib that its number is printed on."""

from __future__ import annotations

import numpy as np
import pytest

from harness.pipeline.bibs.engine import decode
from harness.pipeline.bibs.readings import Plate, Reading
from harness.types import Box

ALPHABET = ["blank", "1", "7", "A", " "]
CORNERS = [[0.2, 0.5], [0.6, 0.5], [0.6, 0.6], [0.2, 0.6]]


def test_steps_that_agree_in_a_row_are_one_character_as_sure_as_the_surest_of_them() -> None:
    steps = np.array(
        [
            [0.9, 0.05, 0.03, 0.02, 0.0],
            [0.2, 0.5, 0.3, 0.0, 0.0],
            [0.1, 0.7, 0.2, 0.0, 0.0],
            [0.9, 0.1, 0.0, 0.0, 0.0],
            [0.0, 0.9, 0.005, 0.095, 0.0],
            [0.1, 0.0, 0.0, 0.0, 0.9],
            [0.0, 0.0, 0.0, 1.0, 0.0],
            [1.0, 0.0, 0.0, 0.0, 0.0],
        ]
    )
    assert decode(steps, ALPHABET, used=1.0) == [
        (0.25, [("1", 0.7), ("7", 0.2)]),
        (0.5625, [("1", 0.9), ("A", 0.095)]),
        (0.8125, [("A", 1.0)]),
    ]
    assert [place for place, _ in decode(steps, ALPHABET, used=0.9)] == pytest.approx([0.2778, 0.625, 0.9028])
    assert decode(np.eye(5)[[0, 0]], ALPHABET) == []


def test_a_reading_knows_where_its_characters_are_and_what_else_they_may_be() -> None:
    reading = Reading.of([(0.25, [("1", 0.7), ("7", 0.2)]), (0.75, [("A", 1.0)])], CORNERS)
    assert (reading.text, reading.char_scores) == ("1A", (0.7, 1.0))
    assert reading.places == pytest.approx((0.3, 0.5))
    assert [reading.chance(0, character) for character in "17A"] == [0.7, 0.2, 0.0]
    assert (reading.weakest, reading.score) == (0.7, 0.85)
    assert Reading.of([], CORNERS).weakest == 0.0


def test_a_look_alike_is_as_sure_as_both_that_were_seen() -> None:
    reading = Reading.of([(0.5, [("B", 0.7), ("8", 0.25)])], CORNERS)
    assert reading.as_text("8").char_scores == pytest.approx((0.95,))
    assert reading.as_text("B") == reading


def test_a_reading_without_an_end_keeps_the_rest_of_everything() -> None:
    reading = Reading.of([(0.25, [("1", 0.7)]), (0.5, [("2", 0.8)]), (0.75, [("3", 0.9)])], CORNERS)
    assert (reading.without(1).text, reading.without(1).char_scores) == ("23", (0.8, 0.9))
    assert reading.without(-1).text == "12"
    assert reading.without(-1).places == pytest.approx((0.3, 0.4))
    assert reading.without(0) == reading


def test_the_plate_is_cut_at_the_border_and_keeps_what_was_read() -> None:
    reading = Reading(Box(x=0.01, y=0.5, w=0.1, h=0.1), "12", (0.9, 0.9))
    bib = Plate(widen=2.0, heighten=3.0).around(reading, aspect=1.0)
    assert (bib.x, bib.y) == pytest.approx((0.0, 0.4))
    assert (bib.w, bib.h) == pytest.approx((0.16, 0.3))
    assert (bib.number, bib.score, bib.char_scores) == ("12", 0.9, (0.9, 0.9))


@pytest.mark.parametrize("aspect", [1.5, 0.667])
def test_the_bib_of_a_lone_digit_is_wider_than_high_and_that_of_a_long_number_as_wide_as_the_number(
    aspect: float,
) -> None:
    # A digit half as wide as high, in a photo of any shape.
    digit = Reading(Box(x=0.5, y=0.5, w=0.05 / aspect, h=0.1), "7", (0.9,))
    bib = Plate(widen=1.05, heighten=1.45, least_width=1.2).around(digit, aspect)
    assert bib.w * aspect / bib.h == pytest.approx(1.2)
    assert bib.x + bib.w / 2 == pytest.approx(digit.box.x + digit.box.w / 2)
    long = Reading(Box(x=0.1, y=0.5, w=0.25 / aspect, h=0.1), "12345", (0.9,) * 5)
    assert Plate(widen=1.05, heighten=1.45, least_width=1.2).around(long, aspect).w == pytest.approx(long.box.w * 1.05)

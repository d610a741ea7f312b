"""What is a bib number, and where the bib is that it is printed on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.pipeline.bibs.readings import NumberRule, Plate, Reading
from harness.types import Box

RULE = NumberRule(min_digits=2, max_digits=5, leading_zeros="drop", min_char_score=0.6, clearance=0.05)


def reading(text: str, low: float = 0.9) -> Reading:
    return Reading(Box(x=0.01, y=0.5, w=0.1, h=0.1), text, (0.9,) * (len(text) - 1) + (low,))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("123", "123"),
        ("12", "12"),
        ("1", None),
        ("123456", None),
        ("12a", None),
        ("01:23", None),
        ("٣٤", None),
        ("", None),
    ],
)
def test_a_number_is_made_of_so_many_digits(text: str, number: str | None) -> None:
    read = RULE.number(reading(text))
    assert (read.text if read else None) == number


def test_a_number_is_read_with_certainty_in_each_character() -> None:
    assert RULE.number(reading("123", low=0.6))
    assert not RULE.number(reading("123", low=0.59))
    assert not RULE.number(replace(reading("123"), char_scores=()))


def test_leading_zeros_are_kept_dropped_or_refused() -> None:
    text = replace(reading("0042"), char_scores=(0.1, 0.2, 0.8, 0.9))
    kept = replace(RULE, leading_zeros="keep", min_char_score=0.0).number(text)
    dropped = RULE.number(text)
    assert kept is not None
    assert kept.text == "0042"
    assert dropped is not None
    assert (dropped.text, dropped.char_scores) == ("42", (0.8, 0.9))
    assert replace(RULE, leading_zeros="refuse").number(text) is None
    assert RULE.number(reading("00")) is None


def test_the_plate_is_cut_at_the_border_and_keeps_what_was_read() -> None:
    bib = Plate(widen=2.0, heighten=3.0).around(reading("12"))
    assert (bib.x, bib.y) == pytest.approx((0.0, 0.4))
    assert (bib.w, bib.h) == pytest.approx((0.16, 0.3))
    assert (bib.number, bib.score, bib.char_scores) == ("12", 0.9, (0.9, 0.9))

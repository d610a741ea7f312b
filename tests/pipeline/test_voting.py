"""From many readings of the same places to one number each."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.pipeline.bibs.readings import Reading
from harness.pipeline.bibs.voting import (
    Sighting,
    align,
    beyond,
    covers,
    elect,
    merge,
    same_line,
    support,
    without_rivals,
)
from harness.types import Box

STEP = 0.02


def reading(
    text: str, x: float = 0.1, h: float = 0.05, score: float = 0.9, first: int = 0, room: float = 0.0
) -> Reading:
    """A text whose first character stands `first` steps to the right of where others begin, cut out with some room."""
    start = x + first * STEP
    places = tuple(start + (place + 0.5) * STEP for place in range(len(text)))
    box = Box(x=start - room, y=0.5, w=max(len(text), 1) * STEP + 2 * room, h=h)
    return Reading(box, text, (score,) * len(text), places, ((),) * len(text), height=h)


def supported(number: Reading, *voters: Reading) -> list[float]:
    return [round(score, 3) for score in support(number, [number, *voters])]


def test_readings_are_aligned_by_character_and_by_place() -> None:
    whole, lost, other = reading("1442"), reading("442", first=1), reading("1447")
    assert align(whole, whole) == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert align(whole, lost) == [(0, None), (1, 0), (2, 1), (3, 2)]
    assert align(whole, other) == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert align(whole, reading("14", first=0)) == [(0, 0), (1, 1), (2, None), (3, None)]
    # Which of two equal digits is missing is told by its place.
    inner = replace(reading("142"), places=(whole.places[0], whole.places[2], whole.places[3]))
    assert align(whole, inner) == [(0, 0), (1, None), (2, 1), (3, 2)]
    assert align(whole, reading("")) == [(place, None) for place in range(4)]


@given(st.text("0123456789", max_size=6), st.text("0123456789", max_size=6), st.integers(0, 3))
def test_an_alignment_has_every_character_once_and_in_order(a: str, b: str, first: int) -> None:
    pairs = align(reading(a), reading(b, first=first))
    assert [mine for mine, _ in pairs if mine is not None] == list(range(len(a)))
    assert [other for _, other in pairs if other is not None] == list(range(len(b)))
    assert (None, None) not in pairs


def test_a_character_is_as_likely_as_the_readings_say_each_as_heavy_as_it_is_sure() -> None:
    assert supported(reading("12", score=0.8)) == [0.8, 0.8]
    # Here (0.9 * 0.9 + 0.3 * 0.3) / (0.9 + 0.3).
    assert supported(reading("12"), reading("12", score=0.3)) == [0.75, 0.75]
    # An unsure reading that disagrees weighs little: 0.9 * 0.9 / (0.9 + 0.3)
    assert supported(reading("12"), reading("13", score=0.3)) == [0.75, 0.675]
    # What it thought of as well counts: (0.9 * 0.9 + 0.5 * 0.4) / (0.9 + 0.5)
    doubtful = replace(reading("13"), char_scores=(0.9, 0.5), others=((), (("2", 0.4),)))
    assert supported(reading("12"), doubtful) == [0.9, 0.721]


def test_two_readings_that_lost_a_digit_do_not_outvote_a_whole_and_sure_one() -> None:
    lost = reading("517", first=1, score=1.0, room=STEP)
    assert supported(reading("7517", score=1.0), lost, lost) == [0.667, 1.0, 1.0, 1.0]
    # One that was cut out too close to show it says nothing about it.
    assert supported(reading("7517", score=1.0), reading("517", first=1, score=1.0)) == [1.0, 1.0, 1.0, 1.0]


def test_a_mere_stroke_at_an_end_needs_more_votes() -> None:
    without = reading("676", score=1.0, room=STEP)
    assert supported(reading("6761", score=0.8), without, without)[-1] == pytest.approx(
        0.8 * 0.8 / (0.8 + 1.0), abs=0.001
    )
    assert supported(reading("6765", score=0.8), without, without)[-1] == pytest.approx(
        0.8 * 0.8 / (0.8 + 0.5), abs=0.001
    )


def test_a_digit_that_is_missing_or_too_much_inside_counts_wholly() -> None:
    whole = reading("142", score=1.0)
    inner = replace(reading("12", score=1.0), places=(whole.places[0], whole.places[2]), box=whole.box)
    assert supported(whole, inner) == [1.0, 0.5, 1.0]
    assert supported(inner, whole) == [0.667, 1.0]


def test_a_reading_that_is_no_number_counts_against_those_that_are() -> None:
    assert supported(reading("21", score=1.0), reading("2X", score=1.0)) == [1.0, 0.5]


@given(st.lists(st.tuples(st.text("0123456789AX", max_size=6), st.integers(0, 2), st.floats(0, 1)), max_size=6))
def test_scores_stay_scores(voters: list[tuple[str, int, float]]) -> None:
    number = reading("1234", score=1.0)
    readings = [reading(text, first=first, score=score) for text, first, score in voters]
    assert all(0 <= score <= 1 for score in support(number, [number, *readings]))
    assert all(0 <= score <= 1 for score in beyond(number, [number, *readings], str.isdecimal))


def test_one_more_character_beside_a_number_is_noticed() -> None:
    number = reading("297", first=1, score=1.0)
    assert beyond(number, [number, number], str.isdecimal) == (0.0, 0.0)
    # Here 0.7 / (0.7 + 2 * 0.25).
    before, after = beyond(number, [number, number, reading("2297", score=0.7)], str.isdecimal)
    assert (round(before, 3), after) == (0.583, 0.0)
    assert beyond(number, [number, reading("297/", first=1)], str.isdecimal) == (0.0, 0.0)
    assert beyond(number, [number, reading("2297")], lambda text: len(text) < 4) == (0.0, 0.0)
    assert beyond(number, [reading("6451")], str.isdecimal) == (0.0, 0.0)


def test_each_number_of_a_place_is_elected_once_with_its_tightest_box() -> None:
    wide, tight = reading("1442", room=0.01), reading("1442")
    lost = reading("442", first=1)
    (number, other) = elect([wide, lost, tight], [Sighting(wide.box, (wide, lost, tight))])
    assert (number.text, number.box) == ("1442", tight.box)
    assert (other.text, other.box) == ("442", lost.box)
    assert number.score > 0.8


def test_different_places_are_different_elections() -> None:
    there = [reading("12"), reading("34", x=0.3), reading("12", x=0.6)]
    assert [n.text for n in elect(there, [Sighting(r.box, (r,)) for r in there])] == ["12", "34", "12"]


def test_what_only_a_closer_look_reads_is_marked() -> None:
    first, closer = reading("12"), replace(reading("12"), closer=True)
    assert [r.closer for r in elect([closer], [Sighting(closer.box, (closer,))])] == [True]
    assert [r.closer for r in elect([first, closer], [Sighting(first.box, (first, closer))])] == [False]


def test_of_two_numbers_that_cover_each_other_the_surer_stays() -> None:
    assert [r.text for r in merge([reading("123", score=0.9), reading("128", score=0.95)])] == ["128"]


def test_a_cut_off_reading_gives_way_to_the_whole_one() -> None:
    whole, cut = reading("3638", score=0.85), reading("363", score=0.99)
    assert [r.text for r in merge([cut, whole])] == ["3638"]
    assert [r.text for r in merge([whole, cut])] == ["3638"]


def test_numbers_in_different_places_stay_apart() -> None:
    numbers = [reading("12", x=0.1), reading("34", x=0.3), reading("12", x=0.6)]
    assert merge(numbers) == tuple(numbers)


def test_small_print_is_not_on_the_same_line_as_what_it_stands_in() -> None:
    number = Box(x=0.1, y=0.5, w=0.1, h=0.05)
    print_in_it = Box(x=0.12, y=0.51, w=0.05, h=0.02)
    assert covers(number, print_in_it)
    assert not same_line(number, print_in_it)


def on_torso(text: str, wearer: int | None, h: float = 0.1, score: float = 1.0) -> Reading:
    return replace(reading(text, h=h, score=score), wearer=wearer)


def test_small_print_on_a_torso_is_not_the_number() -> None:
    number, year, other = on_torso("53", 0), on_torso("2024", 0, h=0.05), on_torso("77", 1, h=0.05)
    assert without_rivals([number, year, other], 0.6, 0.9) == (number, other)
    nobody = on_torso("2024", None, h=0.05)
    assert without_rivals([number, nobody], 0.6, 0.9) == (number, nobody)


def test_what_is_less_sure_beside_a_sure_number_of_a_torso_is_none() -> None:
    sure, unsure = on_torso("2244", 0), on_torso("116", 0, score=0.6)
    assert without_rivals([sure, unsure], 0.6, 0.9) == (sure,)
    assert without_rivals([replace(unsure, text="117"), unsure], 0.6, 0.9) == (replace(unsure, text="117"), unsure)


def test_a_lone_digit_beside_a_longer_number_is_none_however_high() -> None:
    number, digit = on_torso("10171", 0, h=0.04, score=0.7), on_torso("6", 0)
    assert without_rivals([digit, number], 0.6, 0.9) == (number,)
    assert without_rivals([digit], 0.6, 0.9) == (digit,)

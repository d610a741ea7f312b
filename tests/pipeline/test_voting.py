"""From many readings of the same places to one number each."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from harness.pipeline.bibs.readings import Reading
from harness.pipeline.bibs.voting import Sighting, elect, merge, without_rivals
from harness.types import Box


def reading(text: str, x: float = 0.1, w: float = 0.1, h: float = 0.05, score: float = 0.9) -> Reading:
    return Reading(Box(x=x, y=0.5, w=w, h=h), text, (score,) * len(text))


def sighting(*texts: str, x: float = 0.1, score: float = 0.9) -> Sighting:
    readings = tuple(reading(text, x=x, score=score) for text in texts)
    return Sighting(readings[0].box, readings)


def elected(*sightings: Sighting) -> list[tuple[str, float]]:
    return [(r.text, round(r.score, 6)) for r in elect(sightings)]


def test_the_text_that_most_readings_agree_on_is_elected_with_its_share_of_the_votes() -> None:
    assert elected(sighting("442", "1442", "1442", score=1.0)) == [("1442", round(2 / 3, 6))]


def test_looks_at_the_same_place_vote_together() -> None:
    whole, closer = sighting("71517", score=0.6), sighting("1517", "1517", x=0.105)
    assert elected(whole, closer) == [("1517", 0.6)]


def test_a_reading_that_is_no_number_counts_against_those_that_are() -> None:
    assert elected(sighting("21", "2:1", "", score=1.0)) == [("21", round(1 / 3, 6))]
    assert elected(sighting("ACME", "HYUNDAI")) == []


def test_different_places_are_different_elections() -> None:
    assert [text for text, _ in elected(sighting("12"), sighting("34", x=0.3), sighting("12", x=0.6))] == [
        "12",
        "34",
        "12",
    ]


def test_the_tightest_box_in_which_the_whole_number_was_read_is_kept() -> None:
    wide, tight = reading("1442", w=0.14), reading("1442", x=0.11, w=0.12)
    (number,) = elect([Sighting(wide.box, (wide, reading("442", x=0.12, w=0.09), tight))])
    assert number.box == tight.box


def test_what_only_a_closer_look_reads_is_marked() -> None:
    closer = Sighting(reading("12").box, (replace(reading("12"), closer=True),))
    assert [r.closer for r in elect([closer])] == [True]
    assert [r.closer for r in elect([sighting("12"), closer])] == [False]
    assert [r.closer for r in elect([sighting("1Z"), closer])] == [True]


@given(st.lists(st.lists(st.sampled_from(["12", "13", "1", "x", ""]), min_size=1, max_size=4), max_size=5))
def test_scores_stay_scores_and_numbers_are_ones_that_were_read(places: list[list[str]]) -> None:
    sightings = [sighting(*texts, x=0.19 * number) for number, texts in enumerate(places)]
    for number in elect(sightings):
        assert any(number.text in texts for texts in places)
        assert all(0 <= score <= 0.9 + 1e-9 for score in number.char_scores)
        assert len(number.char_scores) == len(number.text)


def test_of_two_numbers_that_cover_each_other_the_surer_stays() -> None:
    assert [r.text for r in merge([reading("123", score=0.9), reading("128", x=0.11, score=0.95)])] == ["128"]


def test_a_cut_off_reading_gives_way_to_the_whole_one() -> None:
    whole, cut = reading("3638", w=0.12, score=0.85), reading("363", score=0.99)
    assert [r.text for r in merge([cut, whole])] == ["3638"]
    assert [r.text for r in merge([whole, cut])] == ["3638"]


def test_numbers_in_different_places_stay_apart() -> None:
    numbers = [reading("12", x=0.1), reading("34", x=0.3), reading("12", x=0.6)]
    assert merge(numbers) == tuple(numbers)


def test_small_print_on_a_torso_is_not_the_number() -> None:
    number, year, other = (
        replace(reading(t, h=h), wearer=w) for t, h, w in (("53", 0.1, 0), ("2024", 0.05, 0), ("7", 0.05, 1))
    )
    assert without_rivals([number, year, other], 0.6) == (number, other)
    nobody = replace(year, wearer=None)
    assert without_rivals([number, nobody], 0.6) == (number, nobody)

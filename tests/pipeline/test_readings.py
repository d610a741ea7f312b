"""From pieces of text to bibs: what is a number, whose it is, and which of several readings is kept."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.pipeline.bibs.rapidocr import _tiles
from harness.pipeline.bibs.readings import NumberRule, Plate, Reading, merge, without_rivals
from harness.pipeline.torsos import Torso
from harness.types import Box, FaceBox

RULE = NumberRule(min_digits=2, max_digits=5, leading_zero=False, min_score=0.8, min_char_score=0.6)
TORSO = Torso(min_drop=1.0, max_drop=5.0, half_width=2.0, min_height=0.2, max_height=1.5, rival_share=0.6)


def reading(
    text: str, x: float = 0.1, w: float = 0.1, h: float = 0.05, score: float = 0.9, low: float = 0.9
) -> Reading:
    return Reading(Box(x=x, y=0.5, w=w, h=h), text, score, (score,) * (len(text) - 1) + (low,))


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("123", True),
        ("12", True),
        ("1", False),
        ("123456", False),
        ("12a", False),
        ("012", False),
        ("01:23", False),
        ("٣٤", False),
    ],
)
def test_a_number_is_made_of_so_many_digits(text: str, accepted: bool) -> None:
    assert RULE.accepts(reading(text)) is accepted


def test_a_leading_zero_is_a_choice() -> None:
    assert replace(RULE, leading_zero=True).accepts(reading("012"))


def test_a_number_is_read_with_certainty_in_all_and_in_each_character() -> None:
    assert not RULE.accepts(reading("123", score=0.7))
    assert not RULE.accepts(reading("123", low=0.5))
    assert not RULE.accepts(replace(reading("123"), char_scores=()))


def test_two_readings_of_one_place_are_one_number() -> None:
    assert [r.text for r in merge([reading("123", score=0.9), reading("128", x=0.11, score=0.95)])] == ["128"]


def test_a_cut_off_reading_gives_way_to_the_whole_one() -> None:
    whole, cut = reading("3638", w=0.12, score=0.85), reading("363", score=0.99)
    assert [r.text for r in merge([cut, whole])] == ["3638"]
    assert [r.text for r in merge([whole, cut])] == ["3638"]


def test_numbers_in_different_places_stay_apart() -> None:
    assert [r.text for r in merge([reading("12", x=0.1), reading("34", x=0.3), reading("12", x=0.6)])] == [
        "12",
        "34",
        "12",
    ]


def test_small_print_on_a_torso_is_not_the_number() -> None:
    number, year, other = (
        replace(reading(t, h=h), wearer=w) for t, h, w in (("53", 0.1, 0), ("2024", 0.05, 0), ("7", 0.05, 1))
    )
    assert without_rivals([number, year, other], 0.6) == (number, other)
    nobody = replace(year, wearer=None)
    assert without_rivals([number, nobody], 0.6) == (number, nobody)


def test_the_plate_is_cut_at_the_border_and_keeps_what_was_read() -> None:
    bib = Plate(widen=2.0, heighten=3.0).around(reading("12", x=0.01, w=0.1, h=0.1))
    assert (bib.x, bib.y) == pytest.approx((0.0, 0.4))
    assert (bib.w, bib.h) == pytest.approx((0.16, 0.3))
    assert (bib.number, bib.score, bib.char_scores) == ("12", 0.9, (0.9, 0.9))


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


@pytest.mark.parametrize("count", [1, 2, 3])
def test_tiles_cover_the_photo_and_overlap(count: int) -> None:
    tiles = list(_tiles(count))
    assert len(tiles) == count**2
    assert min(tile.x for tile in tiles) == 0.0
    assert max(tile.x + tile.w for tile in tiles) == pytest.approx(1.0)
    if count > 1:
        assert tiles[0].x + tiles[0].w > tiles[1].x

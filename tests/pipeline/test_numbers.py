"""From the pieces of text of a photo to its numbers, and the rule that dropped each of the others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.building import instantiate
from harness.config import compose_choice
from harness.pipeline.bibs.formats import BibFormat
from harness.pipeline.bibs.numbers import Found, NumberRule
from harness.pipeline.bibs.readings import Reading
from harness.pipeline.bibs.torsos import Torso
from harness.pipeline.bibs.voting import Sighting
from harness.types import Box, FaceBox
from tests.pipeline.test_voting import STEP, reading

AUTO: BibFormat = instantiate(compose_choice("bib_format", "auto"), "bib_format")
TORSO = Torso(min_drop=0.8, max_drop=6.0, half_width=2.0, min_height=0.2, max_height=1.8, rival_share=0.6)
RULE = NumberRule(min_char_score=0.5, lone_char_score=0.75, sure=0.9, clearance=0.05)
#: Above the texts of `reading`, which stand at x 0.1 and y 0.5.
FACE = FaceBox(x=0.1, y=0.3, w=0.05, h=0.05)


def found(*readings: Reading, guided: float = 0.4, faces: tuple[FaceBox, ...] = (FACE,), cut: str = "") -> Found:
    """All readings of one piece of text."""
    made = Found(RULE, AUTO, TORSO, guided, faces)
    made.add(Sighting(readings[0].box, readings, cut), readings[0].box, 1.0)
    return made


def told(made: Found) -> tuple[list[str], list[tuple[str, str]]]:
    numbers = made.numbers()
    return [number.text for number in numbers], [(text.text, text.rule) for text in made.dropped(numbers)]


def test_a_number_on_a_torso_is_a_number_with_the_score_of_its_votes() -> None:
    (number,) = found(reading("417", score=0.95)).numbers()
    assert (number.text, number.wearer, round(number.score, 6)) == ("417", 0, 0.95)


@pytest.mark.parametrize(
    ("text", "score", "rule", "value", "limit"),
    [
        ("417", 0.46, "min_char_score", 0.46, 0.5),
        ("7", 0.7, "lone_char_score", 0.7, 0.75),
        ("START", 1.0, "format", None, None),
        ("10K", 1.0, "format", None, None),
        ("1:23", 1.0, "format", None, None),
    ],
)
def test_what_is_no_number_is_told_with_its_rule_and_by_how_much(
    text: str, score: float, rule: str, value: float | None, limit: float | None
) -> None:
    made = found(reading(text, score=score))
    assert made.numbers() == ()
    (dropped,) = made.dropped(())
    assert (dropped.text, dropped.rule, dropped.limit) == (text, rule, limit)
    assert dropped.value == (None if value is None else pytest.approx(value))
    assert dropped.xywh == reading(text).box.xywh


def test_a_lone_digit_that_is_sure_is_a_number() -> None:
    assert told(found(reading("7", score=0.8))) == (["7"], [])


BESIDE = FaceBox(x=0.7, y=0.3, w=0.05, h=0.05)


def test_a_number_on_nobody_keeps_a_part_of_its_score_and_has_to_be_sure() -> None:
    (number,) = found(reading("417", score=1.0), faces=(BESIDE,)).numbers()
    assert (number.wearer, round(number.score, 6)) == (None, 0.6)
    assert told(found(reading("417", score=0.8), faces=(BESIDE,))) == ([], [("417", "min_char_score")])
    assert told(found(reading("417", score=0.51), faces=(BESIDE,), guided=0)) == (["417"], [])


@pytest.mark.parametrize("text", ["2024", "1998", "77", "7"])
def test_a_year_or_a_short_text_on_nobody_is_no_number(text: str) -> None:
    assert told(found(reading(text, score=1.0), faces=(BESIDE,))) == ([], [(text, "torso")])
    assert told(found(reading(text, score=1.0))) == ([text], [])


def test_text_that_hangs_on_nobody_or_is_cut_off_is_told_without_being_read() -> None:
    made = Found(RULE, AUTO, TORSO, 1.0, (BESIDE,))
    box = reading("417").box
    assert not made.may_be_read(box, box, "", 1.0)
    assert not replace_guided(made, 0.4).may_be_read(box, box, "edge", 1.0)
    assert replace_guided(made, 0.4).may_be_read(box, box, "left", 1.0)
    above = replace(box, y=0.1)
    assert not replace_guided(made, 0.4).may_be_read(above, above, "", 1.0)
    assert replace_guided(made, 0.0).may_be_read(above, above, "", 1.0)
    assert told(made) == ([], [("", "torso")])


def replace_guided(made: Found, guided: float) -> Found:
    return Found(made.rule, made.format, made.torso, guided, made.faces)


def test_a_longer_sure_reading_wins_and_the_other_is_kept_as_its_runner_up() -> None:
    lost = reading("517", first=1, score=1.0, room=STEP)
    made = found(reading("7517", score=1.0), lost, lost)
    numbers = made.numbers()
    assert [number.text for number in numbers] == ["7517"]
    (runner_up,) = made.dropped(numbers)
    assert (runner_up.text, runner_up.rule) == ("517", "vote")
    assert runner_up.value == pytest.approx(1.0)
    assert runner_up.limit == pytest.approx(numbers[0].score)


def test_a_number_with_one_more_character_that_nobody_can_tell_is_a_part() -> None:
    whole = reading("297", first=1, score=1.0, room=STEP)
    made = found(reading("2297", score=0.65), whole, whole)
    (number,) = made.numbers()
    assert number.text == "?297"
    assert len(number.char_scores) == 4
    assert [(text.text, text.rule) for text in made.dropped((number,))] == [("?297", "partial")]


def test_a_number_whose_end_cannot_be_told_is_a_part() -> None:
    def seen(first: str) -> Reading:
        return replace(reading(f"{first}475", score=1.0), char_scores=(0.5, 1.0, 1.0, 1.0))

    assert [number.text for number in found(seen("9"), seen("2"), seen("9"), seen("2")).numbers()] == ["?475"]
    # Nothing is a part of a number of which less than two sure digits are left.
    unsure = replace(reading("947"), char_scores=(0.3, 0.7, 0.95))
    assert found(unsure).numbers() == ()


def test_a_digit_that_an_arm_covers_by_half_reads_as_many_things_and_is_a_part() -> None:
    def seen(last: str, score: float) -> Reading:
        return replace(reading(f"114{last}", score=1.0), char_scores=(1.0, 1.0, 1.0, score))

    assert told(found(seen("0", 0.6), seen("u", 0.7), seen("U", 0.6))) == (["114?"], [("114?", "partial")])


@pytest.mark.parametrize(("side", "text"), [("left", "?10151"), ("right", "10151?")])
def test_what_the_frame_of_the_photo_cuts_is_a_part(side: str, text: str) -> None:
    assert told(found(reading("10151", score=1.0), cut=side)) == ([text], [(text, "partial")])
    assert told(found(reading("10151", score=1.0), cut=side, faces=(BESIDE,)))[0] == []


def test_a_torso_with_a_whole_number_has_no_part_of_another() -> None:
    made = found(reading("10151", score=1.0))
    behind = reading("33", x=0.25, score=1.0)
    made.add(Sighting(behind.box, (behind,), "right"), Box(x=0.11, y=0.5, w=0.02, h=0.05), 1.0)
    assert told(made) == (["10151"], [("33?", "partial")])


def test_a_torso_without_a_sure_whole_number_is_worth_a_closer_look() -> None:
    assert found(reading("417", score=0.95)).unsure() == []
    assert found(reading("417", score=0.85)).unsure() == [0]
    assert found(reading("417", score=0.95), cut="left").unsure() == [0]
    assert found(reading("417", score=1.0), faces=(FACE, BESIDE)).unsure() == [1]


def test_a_start_list_makes_a_number_that_is_not_on_it_less_sure(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("list") / "start.txt"
    path.write_text("417\n")
    made = found(reading("418", score=0.8))
    made.format = replace(AUTO, entrants=str(path))
    assert told(made) == ([], [("418", "min_char_score")])
    assert [number.text for number in found(reading("418", score=0.8)).numbers()] == ["418"]


def test_a_torso_whose_text_reaches_the_edge_of_every_look_is_told() -> None:
    box = reading("417").box
    made = Found(RULE, AUTO, TORSO, 0.4, (FACE,))
    assert made.cut_off() == []
    assert not made.may_be_read(box, box, "edge", 1.0)
    assert made.cut_off() == [0]
    made.add(Sighting(box, (reading("417", score=0.6),)), box, 1.0)
    assert made.cut_off() == []


def test_a_torso_with_a_sure_number_needs_no_wider_look_for_other_text() -> None:
    made = found(reading("417", score=0.95))
    below = replace(reading("417").box, y=0.56)
    assert not made.may_be_read(below, below, "edge", 1.0)
    assert made.cut_off() == []


def test_text_on_nobody_that_reaches_the_edge_asks_for_no_wider_look() -> None:
    box = reading("417").box
    made = Found(RULE, AUTO, TORSO, 0.4, (BESIDE,))
    assert not made.may_be_read(box, box, "edge", 1.0)
    assert made.cut_off() == []

"""What the numbers of a race look like."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import ConfigError
from harness.building import instantiate
from harness.config import build, compose, compose_choice
from harness.pipeline.bibs.formats import BibFormat
from harness.pipeline.bibs.readings import Reading
from harness.types import Box


def choice(name: str, *overrides: str) -> BibFormat:
    made: BibFormat = instantiate(compose_choice("bib_format", name, overrides), "bib_format")
    return made


AUTO, DIGITS, LETTERS = choice("auto"), choice("digits"), choice("letter_digits")


def reading(text: str, *others: tuple[str, float]) -> Reading:
    """A text whose first character may be others, too."""
    more = (others, *((),) * (len(text) - 1)) if text else ()
    return Reading(Box(x=0, y=0, w=0.1, h=0.1), text, (0.9,) * len(text), (0.0,) * len(text), more)


def read(rule: BibFormat, text: str, *others: tuple[str, float]) -> str | None:
    number = rule.number(reading(text, *others))
    return number.text if number else None


@pytest.mark.parametrize(
    ("text", "auto", "digits", "letters"),
    [
        ("417", "417", "417", None),
        ("7", "7", "7", None),
        ("0891", "0891", "0891", "O891"),
        ("M50701", "M50701", None, "M50701"),
        ("m50701", "M50701", None, "M50701"),
        ("S0780", "S0780", "50780", "S0780"),
        ("AB12", "AB12", None, "AB12"),
        ("1234A", "1234A", None, None),
        ("A1", None, None, None),
        ("123456", None, None, "I23456"),
        ("850701", None, None, "B50701"),  # a prefix that was read as a digit
        ("11B4", "1184", "1184", "I184"),
        ("1O1", "101", "101", None),
        ("l42", "142", "142", "L42"),
        ("O123", "0123", "0123", "O123"),
        ("10K", None, None, None),
        ("21k", None, None, None),
        ("10KM", None, None, None),
        ("START", None, None, None),
        ("HIG", None, None, None),
        ("BOSS", None, None, None),
        ("BIB1", None, None, None),
        ("21.0975km", None, None, None),
        ("01:23", None, None, None),
        ("12.05.24", None, None, None),
        ("No.A0001", None, None, None),
        ("00", None, None, None),
        ("O", None, None, None),
        ("٣٤", None, None, None),
        ("", None, None, None),
    ],
)
def test_what_is_a_number(text: str, auto: str | None, digits: str | None, letters: str | None) -> None:
    assert (read(AUTO, text), read(DIGITS, text), read(LETTERS, text)) == (auto, digits, letters)


def test_the_letter_that_the_recognizer_thought_of_is_taken_for_a_digit_in_its_place() -> None:
    assert read(LETTERS, "0123") == "O123"
    assert read(LETTERS, "0123", ("D", 0.1), ("Q", 0.05)) == "D123"


def test_without_look_alikes_a_text_is_what_it_is() -> None:
    plain = replace(DIGITS, look_alikes=False)
    assert (read(plain, "417"), read(plain, "4l7")) == ("417", None)


def test_case_and_leading_zeros() -> None:
    kept = replace(AUTO, case="keep", pattern="[a-z][0-9]{2,4}")
    assert (read(kept, "m123"), read(kept, "M123")) == ("m123", None)
    dropped = replace(AUTO, leading_zeros="drop").number(reading("0042"))
    assert dropped is not None
    assert (dropped.text, dropped.char_scores) == ("42", (0.9, 0.9))
    assert read(replace(AUTO, leading_zeros="refuse"), "0042") is None


@given(st.text("0123456789OIlSBZGQDKMR.: ", max_size=9))
def test_a_number_fits_and_is_what_was_read_but_for_look_alikes(text: str) -> None:
    for rule in (AUTO, DIGITS, LETTERS):
        number = rule.number(reading(text))
        if number is not None:
            assert rule.fits(number.text)
            assert len(number.text) == len(text) == len(number.char_scores)
            alike = ("0OoQDC", "1Ili", "2Zz", "5Ss", "6G", "8B")
            assert all(
                now == was.upper() or any(now in group and was in group for group in alike)
                for was, now in zip(text, number.text, strict=True)
            )


class TestEntrants:
    def listed(self, folder: Path, content: str, **values: Any) -> BibFormat:
        (folder / "start.csv").write_text(content)
        return replace(AUTO, entrants=str(folder / "start.csv"), **values)

    def test_a_look_alike_that_exists_is_preferred(self, tmp_path: Path) -> None:
        rule = self.listed(tmp_path, "bib,name\nB0123,Ann\n417,Bo\n80123,Cy\nC777\n")
        assert read(rule, "B0123") == "B0123"
        assert read(rule, "80123") == "80123"
        assert read(rule, "4l7") == "417"
        assert read(rule, "0777", ("D", 0.2)) == "C777"

    def test_what_is_not_there_is_less_sure_and_not_lost(self, tmp_path: Path) -> None:
        rule = self.listed(tmp_path, "417\n")
        assert read(rule, "418") == "418"
        assert rule.prior("418") < rule.prior("417") == 1.0
        assert AUTO.prior("418") == 1.0

    def test_its_content_is_part_of_the_key(self, tmp_path: Path) -> None:
        first = self.listed(tmp_path, "417\n")
        assert first == self.listed(tmp_path, "417\n\n")
        assert first.digest != self.listed(tmp_path, "418\n").digest

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            ("bib\n417\nrun me\n", r"start.csv: line 3: 'run me' does not fit the pattern"),
            ("bib\n", r"start.csv: no number in it; expected one a line"),
        ],
    )
    def test_a_bad_file_is_named_with_its_line(self, content: str, told: str, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=told):
            self.listed(tmp_path, content)

    def test_a_file_that_is_not_there_is_told_in_one_sentence(self) -> None:
        with pytest.raises(
            ConfigError, match=r"^bib_format: entrants=nowhere.csv: cannot be read: .*one number a line$"
        ):
            build(compose(["bib_format.entrants=nowhere.csv"]))


def test_a_pattern_of_ones_own_has_to_be_given_and_be_one() -> None:
    assert read(choice("pattern", "bib_format.pattern='[A-F][0-9]{4}'"), "A1234") == "A1234"
    with pytest.raises(ConfigError, match="bib_format"):
        build(compose(["bib_format=pattern"]))
    with pytest.raises(ConfigError, match=r"bib_format: pattern='\[A' is no regular expression"):
        build(compose(["bib_format=pattern", "bib_format.pattern='[A'"]))


def test_the_reader_gets_the_format_of_the_run() -> None:
    bib: Any = build(compose(["references=staging", "bib_format=digits"])).photos.pipeline.bib
    assert bib.format == DIGITS


@pytest.mark.parametrize(
    ("text", "side", "auto", "digits"),
    [
        ("334", "right", True, True),
        ("10151", "left", True, False),
        ("M507", "right", True, False),
        ("PRINGRUN2024", "left", False, False),
    ],
)
def test_what_may_be_left_of_a_number_that_is_cut_off(text: str, side: str, auto: bool, digits: bool) -> None:
    assert AUTO.may_be_part(text, side) is auto
    assert DIGITS.may_be_part(text, side) is digits

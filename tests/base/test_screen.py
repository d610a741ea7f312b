"""What is printed fits the terminal that it is printed to, and is coloured only where somebody looks."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.screen import ENDLESS, Screen, abridged, fitted, screen, wide

HEADS = ["RUN", "NAME", "DATA", "NUMBERS", "BIBS", "VERDICT"]
ROWS = [
    HEADS,
    ["75f74145", "fast face.threshold=0.93", "sample iteration 5e67a5be", "50.0%", "54.9%", "REGRESSED"],
    ["96bdeb26", "fast face.threshold=0.85", "sample iteration 5e67a5be", "80.0%", "81.2%", "CANNOT TELL"],
]
#: Data and name may be shortened; the later headline goes first, then the data, then the first headline.
LEAST, DROP = {2: 12, 1: 20}, [4, 2, 3]


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COLUMNS", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")


def test_a_pipe_has_no_width_and_no_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    assert screen(io.StringIO()).width is None
    assert not screen(io.StringIO()).colours
    monkeypatch.setenv("COLUMNS", "72")
    assert screen(io.StringIO()).width is None
    assert screen(Terminal()) == Screen(72, True)


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_a_terminal_has_colours_unless_they_are_not_wanted(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert screen(Terminal()).paint("x", "bad") == "\033[31mx\033[0m"
    monkeypatch.setenv(name, value)
    assert screen(Terminal()).paint("x", "bad") == "x"


def test_a_table_is_whole_where_there_is_room() -> None:
    assert fitted(ROWS, ENDLESS, LEAST, DROP).left_out == ()
    assert "sample iteration 5e67a5be" in fitted(ROWS, ENDLESS, LEAST, DROP).lines[1]
    assert fitted(ROWS, Screen(90), LEAST, DROP).lines == fitted(ROWS, ENDLESS, LEAST, DROP).lines


def test_a_narrow_table_is_shortened_first_and_then_does_without_columns() -> None:
    assert fitted(ROWS, Screen(75), LEAST, DROP).lines[1].split("  ")[:3] == [
        "75f74145",
        "fast face.…eshold=0.93",
        "sampl…67a5be",
    ]
    narrow = fitted(ROWS, Screen(52), LEAST, DROP)
    assert narrow.left_out == ("DATA", "BIBS")
    assert [line.split()[-1] for line in narrow.lines] == ["VERDICT", "REGRESSED", "TELL"]
    assert narrow.text(Screen(52)).splitlines()[-1] == "Not shown, for want of width: DATA, BIBS"


@given(st.integers(12, 120))
def test_no_line_of_a_table_is_wider_than_the_screen_and_runs_stay_apart(width: int) -> None:
    told = fitted(ROWS, Screen(width), LEAST, DROP)
    assert all(wide(line) <= width for line in told.text(Screen(width)).splitlines() if width >= 20)
    assert len(set(told.lines)) == len(ROWS)
    assert all(head in told.left_out or head[:3] in told.lines[0] for head in HEADS if width >= 60)


@given(st.text(max_size=40), st.integers(4, 30))
def test_what_is_abridged_has_its_width_and_both_ends(text: str, width: int) -> None:
    short = abridged(text, width)
    assert wide(short) <= width
    if wide(text) > width:
        assert re.fullmatch(r"(.*)…(.*)", short, re.DOTALL)
    else:
        assert short == text


def test_letters_of_two_columns_count_as_two() -> None:
    assert wide("read 同") == 7
    assert Screen(6).clip("read 同") == "read …"


def test_lines_are_broken_between_words_and_go_on_beside_their_beginning() -> None:
    text = "Numbers  (7 photos)\n  precision   88.9%    32 of 36, effective n 24.1"
    assert ENDLESS.wrapped_text(text) == text
    assert Screen(32).wrapped_text(text).splitlines() == [
        "Numbers  (7 photos)",
        "  precision   88.9%    32 of 36,",
        "    effective n 24.1",
    ]

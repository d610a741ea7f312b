"""Whoever sits at a terminal sees within a second what is being done; in a pipe nothing of it is seen."""

from __future__ import annotations

import io
import re
import sys
import time

import pytest

from harness.base import waiting
from harness.base.progress import busy, silent, track, track_stream


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True

    def screen(self) -> str:
        """What stands on it, with the lines that were cleared gone."""
        return re.sub(r"[^\n]*\r\x1b\[K", "", self.getvalue())


def sit_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """One terminal behind both streams. Called by the test itself: pytest sets the streams anew after its fixtures."""
    shown = Terminal()
    monkeypatch.setattr(sys, "stdout", shown)
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setattr(waiting, "_SECONDS_BEFORE", 0.01)
    monkeypatch.setattr(waiting, "_SECONDS_BETWEEN", 0.01)
    return shown


def wait_for(terminal: Terminal, text: str) -> None:
    deadline = time.monotonic() + 30
    while text not in terminal.getvalue():
        assert time.monotonic() < deadline, terminal.getvalue()
        time.sleep(0.005)


def test_a_line_says_what_is_done_and_is_gone_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = sit_at_a_terminal(monkeypatch)
    streams = sys.stdout, sys.stderr
    with busy("opening models"):
        wait_for(terminal, "opening models  0 s")
    assert terminal.screen() == ""
    assert (sys.stdout, sys.stderr) == streams


def test_what_others_print_stands_on_lines_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = sit_at_a_terminal(monkeypatch)
    with busy("evaluating"):
        wait_for(terminal, "evaluating")
        print("harness: a warning", file=sys.stderr)
        before = len(terminal.getvalue())
        while "evaluating" not in terminal.getvalue()[before:]:
            time.sleep(0.005)
    assert terminal.screen() == "harness: a warning\n"


def test_the_line_of_a_whole_command_ends_with_its_first_word(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = sit_at_a_terminal(monkeypatch)
    with busy("harness freeze", until_output=True):
        wait_for(terminal, "harness freeze")
        print("Replace it? [y/N] ", end="")
        time.sleep(0.1)
        assert terminal.screen() == "Replace it? [y/N] "


def test_the_innermost_is_shown_and_a_bar_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = sit_at_a_terminal(monkeypatch)
    with busy("evaluating"):
        with busy("judging"):
            wait_for(terminal, "judging")
        wait_for(terminal, "evaluating")
        bar = track([1, 2, 3], "photos")
        next(bar)
        before = len(terminal.getvalue())
        time.sleep(0.1)
        assert "evaluating" not in terminal.getvalue()[before:]
        list(bar)
        while "evaluating" not in terminal.getvalue()[before:]:
            time.sleep(0.005)
    assert "photos:  33%" in terminal.getvalue()
    assert re.search(r"1/3 \[\d\d:\d\d<\d\d:\d\d, .*(/s|s/)\]", terminal.getvalue()), "rate and time left"


def test_an_error_takes_the_line_away(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = sit_at_a_terminal(monkeypatch)

    def fail() -> None:
        with busy("reading"):
            wait_for(terminal, "reading")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert terminal.screen() == ""


def test_a_line_is_no_wider_than_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = sit_at_a_terminal(monkeypatch)
    monkeypatch.setenv("COLUMNS", "20")
    with busy("a" * 50):
        wait_for(terminal, "a" * 19)
        assert "a" * 20 not in terminal.getvalue()


def test_nothing_is_shown_in_a_pipe_or_where_all_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = sit_at_a_terminal(monkeypatch)
    with silent(), busy("reading"):
        time.sleep(0.1)
    assert terminal.getvalue() == ""
    piped = io.StringIO()
    monkeypatch.setattr(sys, "stderr", piped)
    with busy("reading"):
        time.sleep(0.1)
    assert list(track_stream([1, 2], "checking photos", 2, lines=False)) == [1, 2]
    assert piped.getvalue() == ""


def test_output_to_a_file_ends_a_line_that_waits_for_output(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in `harness ui > log`, and in the pages that `harness serve` starts: their terminal is behind stderr alone."""
    terminal, file = sit_at_a_terminal(monkeypatch), io.StringIO()
    monkeypatch.setattr(sys, "stdout", file)
    with busy("harness ui", until_output=True):
        wait_for(terminal, "harness ui")
        print("Labelling pages: http://127.0.0.1:8600")
        shown = terminal.getvalue()
        time.sleep(0.05)
        assert terminal.getvalue() == shown
        assert terminal.screen() == ""
    assert file.getvalue() == "Labelling pages: http://127.0.0.1:8600\n"

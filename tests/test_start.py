"""`harness start FOLDER`: from photos to the first verdict, whatever is done already and wherever it was ended."""

from __future__ import annotations

import os
import pty
import re
import select
import shlex
import shutil
import signal
import sys
import time
from argparse import Namespace
from pathlib import Path

import pytest

from harness.__main__ import run
from harness.base.signals import EndedError
from harness.cli import ui
from harness.references.freeze import choose
from harness.references.frozen import frozen_sets
from harness.references.store import LabelStore
from harness.tracking.entries import RunEntry
from harness.tracking.finding import list_runs
from harness.tracking.store import LocalStore
from tests.conftest import QUICK

#: Nobody is recognised, so that no more models than needed are opened.
CHOSEN = ("preset=plain", "identity=off", *QUICK)
LABELS = ("photo_index.json", "bib_ground_truth.json", "face_ground_truth.json", "bib_face_links.json")
ROOT = Path("data/reference")


@pytest.fixture
def photos(tiny_set: Path, empty_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of bare photos, beside an empty working folder."""
    work = tmp_path / "work"
    work.mkdir()
    shutil.copytree(empty_store, work / "mlruns")
    monkeypatch.chdir(work)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False)
    return Path(shutil.copytree(tiny_set / "photos", tmp_path / "race day"))


def start(photos: Path, *more: str) -> int:
    return run(["start", str(photos), *CHOSEN, *more])


def label(tiny_set: Path) -> None:
    """What somebody does on the pages: every photo is labelled, and all of them are in the iteration split."""
    for name in LABELS:
        shutil.copy(tiny_set / name, ROOT / name)


def forget_one(name: str) -> None:
    """Take back that the bibs of the first photo are done."""
    path = ROOT / "bib_ground_truth.json"
    path.write_text(path.read_text().replace('"labeled":true', '"labeled":false', 1))
    assert len(choose(LabelStore(ROOT).contents(), include_incomplete=False, everything=False)) == 2, name


def stored() -> list[RunEntry]:
    return list_runs(LocalStore("mlruns", "harness").open())


def frozen() -> list[tuple[str, int]]:
    return [(each.name, each.photos) for each in frozen_sets(ROOT).sets]


@pytest.mark.slow
def test_without_a_terminal_each_call_goes_as_far_as_it_can_and_says_what_a_person_has_to_do(
    photos: Path, tiny_set: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert start(photos) == 0
    told = capsys.readouterr().out
    assert "Photos: 3 new, 0 known" in told
    assert "To confirm and correct" not in told, "that is the next step of `prepare` alone"
    assert "0 of 3 photos are labelled." in told
    needed = r"label about so many photos: \d+ if 1% differ, \d+ if 3% differ, \d+ if 10% differ\."
    assert re.search(f"To see a loss of 5 points, {needed}", told)
    again = f"harness start {shlex.quote(str(photos))} {' '.join(CHOSEN)}"
    assert f"  harness ui --page /persons/\n  {again}\n" in told
    assert (frozen(), stored()) == ([], [])

    label(tiny_set)
    forget_one("P001")
    assert start(photos) == 0
    told = capsys.readouterr().out
    assert "Photos: 0 new, 3 known" in told
    assert "2 of 3 photos are labelled." in told
    assert f"Or go on with the 2 that are labelled:\n  {again} --enough\n" in told
    assert (frozen(), stored()) == ([], [])

    label(tiny_set)
    assert start(photos) == 0
    told = capsys.readouterr().out
    assert "3 of 3 photos are labelled." in told
    assert frozen() == [("benchmark_v1", 3)]
    (made,) = stored()
    assert made.pinned
    changed, looked = told.splitlines()[-2:]
    assert changed == f"  harness references=frozen {' '.join(CHOSEN[1:])} preset=fast"
    assert looked == "  harness ui references=frozen"

    assert start(photos) == 0
    assert f"benchmark_v1 has a baseline: {made.short_id} (plain" in capsys.readouterr().out
    assert len(stored()) == 1, "what is done is not done again"

    assert run(shlex.split(changed)[1:]) == 0
    assert "Verdict: NO BASELINE" not in (verdict := capsys.readouterr().out)
    assert "Verdict: " in verdict


@pytest.mark.slow
def test_it_goes_on_from_wherever_it_was_ended(
    photos: Path, tiny_set: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = LabelStore(ROOT)
    assert run(["prepare", str(photos), *CHOSEN]) == 0
    label(tiny_set)
    forget_one("P001")
    assert start(photos, "--enough", "--name", "two") == 0  # frozen, run and pinned under a name of its own
    assert frozen() == [("two", 2)]
    assert f"references.name=two {' '.join(CHOSEN[1:])}" in capsys.readouterr().out
    label(tiny_set)
    assert root.contents()
    assert run(["freeze", "--name", "benchmark_v1"]) == 0
    on_frozen = ["references=frozen", *CHOSEN]
    assert run(on_frozen) == 0  # ended between the run and the pin
    capsys.readouterr()
    assert start(photos) == 0
    told = capsys.readouterr().out
    assert "Nothing has changed since this run was made" in told
    assert [bool(each.pinned) for each in stored()] == [True, True]
    assert start(photos, "--name", "two") == 0
    assert "1 of 3 photos were labelled since two was frozen" in capsys.readouterr().out


@pytest.mark.slow
def test_at_a_terminal_the_pages_open_at_the_first_photo_and_ctrl_c_goes_on(
    photos: Path, tiny_set: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[Namespace] = []

    def label_all(arguments: Namespace) -> int:
        opened.append(arguments)
        label(tiny_set)
        return 0

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(ui, "open_pages", label_all)
    assert start(photos, "--port", "8765", "--no-browser") == 0
    (asked,) = opened
    first = re.fullmatch(r"persons/([0-9a-f]{64})#continue", asked.page)
    assert first
    assert first[1] == min(path.stem for path in photos.iterdir()), "by name, which is the hash here"
    assert (asked.port, asked.host, asked.no_browser) == (8765, "127.0.0.1", True)
    assert frozen() == [("benchmark_v1", 3)]
    assert stored()[0].pinned
    assert "3 of 3 photos are labelled." in capsys.readouterr().out


def test_what_is_labelled_in_part_is_frozen_after_a_yes_alone(
    photos: Path, tiny_set: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def label_two(_: Namespace) -> int:
        label(tiny_set)
        forget_one("P001")
        return 0

    def end(_: Namespace) -> int:
        label_two(_)
        raise EndedError(signal.SIGTERM)

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda: "n")
    monkeypatch.setattr(ui, "open_pages", label_two)
    assert start(photos) == 2
    told = capsys.readouterr()
    assert "1 photo would stay out of benchmark_v1. [y/N]" in told.out
    assert "nothing was changed" in told.err
    monkeypatch.setattr(ui, "open_pages", end)
    assert start(photos) == 143, "SIGTERM ends it, and nothing goes on"
    assert frozen() == []


def test_other_references_are_refused(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert start(photos, "references=sample") == 2
    assert "start labels the staging set and freezes it" in capsys.readouterr().err
    assert not ROOT.exists()


def until(screen: int, text: str, seen: str = "") -> str:
    """Read a terminal until it shows a text."""
    deadline = time.monotonic() + 120
    while text not in seen:
        assert time.monotonic() < deadline, seen
        if select.select([screen], [], [], 1)[0]:
            seen += os.read(screen, 4096).decode(errors="replace")
    return seen


@pytest.mark.slow
def test_a_person_at_a_terminal_sees_what_is_done_and_where_to_label(photos: Path) -> None:
    command = [sys.executable, "-m", "harness", "start", str(photos), "--no-browser", "--port", "0", *CHOSEN]
    command[command.index("0")] = str(20_000 + os.getpid() % 10_000)
    child, screen = pty.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell in the background leaves it ignored; no person's does
        os.environ |= {"COLUMNS": "100", "TERM": "xterm"}
        os.execv(command[0], command)
    try:
        seen = until(screen, "Stop it with Ctrl-C.")
        assert seen.index("harness start  ") < seen.index("$ harness prepare"), "a line before the first step"
        bar = re.search(r"suggesting labels: +\d+%.*\| [1-3]/3 \[\d\d:\d\d<\d\d:\d\d, .*(/s|s/)\]", seen)
        assert bar, "a bar with rate and time left"
        assert re.search(r"at http://127\.0\.0\.1:\d+/persons/[0-9a-f]{64}#continue", seen)
        os.write(screen, b"\x03")
        seen = until(screen, "call the same command again", seen)
        assert seen.count("0 of 3 photos are labelled.") == 2
        assert os.waitpid(child, 0)[1] == 0
    finally:
        os.close(screen)  # which ends a process that still runs

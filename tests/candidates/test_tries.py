"""The ledger of tries notices what was changed in it; and the rules of the answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.base.errors import ConflictError
from harness.candidates.deciding import decide, failed
from harness.candidates.page import tries_page
from harness.candidates.scorer import Scored, level_of
from harness.candidates.tries import Answer, Tries, Try


def a_try(number: int, **changes: object) -> Try:
    known: dict[str, object] = {
        "number": number,
        "at": "2026-01-01T00:00:00+00:00",
        "key": str(number) * 64,
        "tree": f"t{number}",
        "parent": f"t{number - 1}",
        "candidate": "c0ffee",
        "base": "ba5e",
        "answer": Answer.KEEP,
        "reason": "it is better",
        "sides": ([1.0, 0.5], [1.0, 1.0]),
    }
    return Try(**{**known, **changes})  # type: ignore[arg-type]


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    tries = Tries(tmp_path / "study")
    for number in (1, 2, 3):
        tries.append(a_try(number))
    return tmp_path / "study" / "judged.jsonl"


def test_what_was_written_is_read(ledger: Path) -> None:
    found = Tries(ledger.parent).read()
    assert [each.number for each in found] == [1, 2, 3]
    assert found[1].sides == ([1.0, 0.5], [1.0, 1.0])
    assert Tries(ledger.parent).find("2" * 64) == found[1]
    assert Tries(ledger.parent / "none").read() == []


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda lines: [lines[0].replace(b"better", b"worse!"), *lines[1:]], id="a line changed"),
        pytest.param(lambda lines: [*lines[:2], lines[2].replace(b"better", b"worse!")], id="the last line changed"),
        pytest.param(lambda lines: [lines[0], lines[2]], id="a line removed"),
        pytest.param(lambda lines: lines[:2], id="the last line removed"),
        pytest.param(lambda lines: lines[:1], id="two lines removed"),
        pytest.param(lambda _: [], id="all removed"),
        pytest.param(lambda lines: [*lines, lines[2]], id="a line twice"),
        pytest.param(lambda lines: [lines[1], lines[0], lines[2]], id="another order"),
        pytest.param(lambda lines: [*lines, b"{}"], id="no line of it"),
        pytest.param(lambda lines: [*lines, b"[1]"], id="no object"),
    ],
)
def test_a_change_is_noticed_and_nothing_is_added(ledger: Path, change: Callable[[list[bytes]], list[bytes]]) -> None:
    lines = ledger.read_bytes().splitlines()
    ledger.write_bytes(b"".join(line + b"\n" for line in change(lines)))
    with pytest.raises(ConflictError, match="changed"):
        Tries(ledger.parent).read()
    with pytest.raises(ConflictError, match="changed"):
        Tries(ledger.parent).append(a_try(4))


def test_a_line_that_a_crash_cut_short_goes(ledger: Path) -> None:
    with ledger.open("ab") as file:
        file.write(b'{"previous": "12')
    Tries(ledger.parent).append(a_try(4))
    assert [each.number for each in Tries(ledger.parent).read()] == [1, 2, 3, 4]


def test_a_crash_before_the_note_of_the_last_line_loses_nothing(ledger: Path) -> None:
    head = ledger.with_name("judged.head")
    before = head.read_bytes()
    Tries(ledger.parent).append(a_try(4))
    head.write_bytes(before)
    assert len(Tries(ledger.parent).read()) == 4
    Tries(ledger.parent).append(a_try(5))
    assert len(Tries(ledger.parent).read()) == 5


SHOWN = Scored("IMPROVED", "IMPROVED", finding="shown to be better")


@pytest.mark.parametrize(
    ("scored", "broken", "answer", "reason"),
    [
        (SHOWN, [], Answer.KEEP, "by more than chance explains"),
        (Scored("IMPROVED", "IMPROVED", finding="candidate"), [], Answer.KEEP, "chance"),
        (Scored("IMPROVED", "IMPROVED", finding="nothing found"), [], Answer.CANNOT_TELL, "once all tries are counted"),
        (Scored("IMPROVED", "NO WORSE"), [], Answer.CANNOT_TELL, "is not shown"),
        (Scored("NO WORSE", "NO WORSE"), [], Answer.CANNOT_TELL, "is not shown"),
        (Scored("CANNOT TELL", "CANNOT TELL", unseen=("m: any loss",)), [], Answer.CANNOT_TELL, "m: any loss"),
        (Scored("REGRESSED", "IMPROVED", finding="shown to be better"), [], Answer.DISCARD, "worse than the base"),
        (SHOWN, ["n is 1, expected at most 0"], Answer.DISCARD, "breaks a constraint: n is 1"),
        (Scored("INCOMPLETE", "", ("1 of 9 photos",)), [], Answer.DISCARD, "incomplete: 1 of 9"),
        (Scored("", "", bad="line 1:\x1b[2J"), [], Answer.DISCARD, r"cannot be scored: 'line 1:\x1b[2J'"),
    ],
)
def test_the_answer(scored: Scored, broken: list[str], answer: Answer, reason: str) -> None:
    found = decide("m", scored, broken)
    assert found[0] is answer
    assert reason in found[1]


def test_whoever_reaches_a_limit_is_discarded() -> None:
    assert failed("", "") is None
    assert failed("it took too long", "") == (Answer.DISCARD, "it took too long")


def test_the_levels_of_all_tries_add_up_to_5_percent() -> None:
    assert level_of(1) == 0.025
    assert sum(level_of(number) for number in range(1, 100_000)) < 0.05


def test_the_page_is_a_tree_and_shows_text_as_text(tmp_path: Path) -> None:
    hostile = "</pre><img src=x onerror=alert(1)>"
    tries = [
        a_try(1, parent="elsewhere", hypothesis=hostile, candidate=hostile, reason=hostile),
        a_try(2, answer=Answer.DISCARD),
        a_try(3, answer=Answer.CANNOT_TELL, parent="t1"),
        a_try(4, parent="t4"),  # below itself
    ]
    folder = tmp_path / "judged" / tries[0].key[:16]
    folder.mkdir(parents=True)
    (folder / "change.diff").write_text(hostile)
    page = tries_page("study", tries, tmp_path)
    assert "<img" not in page
    assert page.count("&lt;img src=x onerror=alert(1)&gt;") == 4
    depths = [line.split("--depth: ")[1][0] for line in page.splitlines() if "--depth: " in line and "section" in line]
    assert depths == ["0", "1", "1", "0"]
    assert [mark in page for mark in ("✓ KEEP", "✗ DISCARD", "? CANNOT TELL")] == [True] * 3

"""Two runs side by side: which photos came out otherwise, what differs in the configs, and how that is told."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.report.comparisons import LISTED, comparison_dict, markdown_comparison, text_comparison
from harness.report.notebook import comparison_html
from harness.runs.archive import BenchmarkRun
from harness.runs.comparison import (
    Change,
    Comparison,
    ConfigChange,
    Outcome,
    code_diff,
    compare,
    config_diff,
    item_changes,
)
from harness.runs.gate import Judgement, Verdict
from harness.runs.items import PhotoDetail
from harness.scoring import Cause, MissedNumber
from tests.benchmark_runs import METADATA, Photo, benchmark_run, gate

BEFORE: list[Photo] = [(2, 0, 0), (1, 1, 1), (1, 1, 1), (2, 0, 0), (0, 0, 0)]
AFTER: list[Photo] = [(0, 0, 2), (2, 0, 0), (2, 2, 0), (1, 1, 1), (0, 0, 0)]


def with_photo(run: BenchmarkRun, **changes: Any) -> BenchmarkRun:
    """A run of one photo with the photo changed."""
    task = run.tasks["photos"]
    return replace(run, tasks={"photos": replace(task, items=(replace(task.items[0], **changes),))})


def compared(before: list[Photo] = BEFORE, after: list[Photo] = AFTER) -> Comparison:
    return compare(gate(), benchmark_run(after), benchmark_run(before))


def test_the_ledger_lists_each_photo_that_a_scorecard_counts_otherwise() -> None:
    ledger = compared().ledger()
    told = {kind: {photo.name: photo.words() for photo in photos} for kind, photos in ledger.items()}
    assert told == {
        Change.BROKEN: {"000.jpg": "2 faces lost", "003.jpg": "1 face lost, 1 face invented"},
        Change.MIXED: {"002.jpg": "1 face found, 1 face invented"},
        Change.FIXED: {"001.jpg": "1 face found, 1 face no longer invented"},
    }
    first = ledger[Change.BROKEN][0]
    assert (first.scorecard, first.before, first.after) == ("face", Outcome(2, 0, 0), Outcome(0, 0, 2))
    assert compared().totals()["face"] == ("face", 3, 2)


def test_the_numbers_that_went_and_came_are_named() -> None:
    photos = benchmark_run([(0, 0, 0)], numbers=[(1, 0, 0)]), benchmark_run([(0, 0, 0)], numbers=[(0, 1, 1)])
    before, after = (
        with_photo(run, photo=PhotoDetail("PASS", expected=("417",), read=(read,)))
        for run, read in zip(photos, ("417", "471"), strict=True)
    )
    (change,) = compare(gate(), after, before).items
    assert (change.scorecard, change.gone, change.come) == ("number", ("417",), ("471",))
    assert change.words() == "1 number lost, 1 number invented (-417 +471)"


def test_a_number_that_is_lost_is_told_with_its_cause() -> None:
    photos = benchmark_run([(0, 0, 0)], numbers=[(2, 0, 0)]), benchmark_run([(0, 0, 0)], numbers=[(0, 1, 2)])
    missed = (MissedNumber("417", Cause.MISREAD, "471"), MissedNumber("58", Cause.DROPPED, "5B", "format"))
    details = PhotoDetail("PASS", read=("417", "58")), PhotoDetail("MISS", read=("471",), missed=missed)
    before, after = (with_photo(run, photo=detail) for run, detail in zip(photos, details, strict=True))
    (change,) = compare(gate(), after, before).items
    assert change.why == {"417": 'seen as "471"', "58": 'dropped by format, read "5B"'}
    told = '2 numbers lost, 1 number invented (-417: seen as "471", -58: dropped by format, read "5B", +471)'
    assert change.words() == told
    comparison = compare(gate(), after, before)
    assert told in text_comparison(comparison, "a" * 32, "b" * 32)
    assert json.loads(json.dumps(comparison_dict(comparison, "a", "b")))["photos"][0]["why"] == change.why
    (found,) = compare(gate(), before, after).items
    assert found.words() == "2 numbers found, 1 number no longer invented (-471 +417 +58)"


def test_a_photo_stands_once_with_all_that_happened_to_it_and_the_worst_first() -> None:
    before = benchmark_run([(2, 0, 0)] * 3, numbers=[(1, 0, 0)] * 3)
    after = benchmark_run([(2, 0, 0), (1, 0, 1), (0, 0, 2)], numbers=[(0, 0, 1), (1, 0, 0), (0, 0, 1)])
    comparison = compare(gate(), after, before)
    lines = [(changes[0].name, [change.scorecard for change in changes]) for changes in comparison.newly_broken()]
    assert comparison.newly_fixed() == ()
    assert lines == [("002.jpg", ["number", "face"]), ("000.jpg", ["number"]), ("001.jpg", ["face"])]


def test_what_got_better_on_a_photo_does_not_take_it_from_the_newly_broken() -> None:
    """A count that left out photos with a new error, because another error of theirs is gone, would flatter."""
    before = benchmark_run([(1, 1, 0), (0, 0, 1)], numbers=[(0, 0, 1), (0, 0, 1)])
    after = benchmark_run([(0, 0, 1), (1, 0, 0)], numbers=[(1, 0, 0), (1, 0, 0)])
    comparison = compare(gate(), after, before)
    assert [changes[0].name for changes in comparison.newly_broken()] == ["000.jpg"]
    assert [changes[0].name for changes in comparison.newly_fixed()] == ["001.jpg"]


_COUNTS = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))


@given(st.lists(st.tuples(_COUNTS, _COUNTS, _COUNTS, _COUNTS), min_size=1, max_size=8))
def test_every_changed_photo_is_newly_broken_or_newly_fixed_and_never_both(
    rows: list[tuple[Photo, Photo, Photo, Photo]],
) -> None:
    base = benchmark_run([row[0] for row in rows], numbers=[row[1] for row in rows])
    run = benchmark_run([row[2] for row in rows], numbers=[row[3] for row in rows])
    comparison = Comparison(run, base, Judgement(Verdict.NO_WORSE), tuple(item_changes(run, base)), ())
    worse = {item.id for item in comparison.items if item.lost > 0 or item.invented > 0}
    assert len(comparison.newly_broken("photos")) == len(worse), "each photo counts once"
    assert {changes[0].id for changes in comparison.newly_broken()} == worse
    assert {changes[0].id for changes in comparison.newly_fixed()} == {item.id for item in comparison.items} - worse


def test_runs_that_are_the_same_have_nothing_to_tell() -> None:
    same = compared(BEFORE, BEFORE)
    assert (same.items, same.config, same.ledger(), same.newly_broken()) == ((), (), {}, ())
    assert "no difference" in text_comparison(same, "a" * 32, "b" * 32)


def test_incomparable_runs_have_no_ledger() -> None:
    other = compare(gate(), benchmark_run(AFTER, data_digest="e" * 64), benchmark_run(BEFORE))
    assert other.judgement.verdict is Verdict.INCOMPARABLE
    assert other.items == ()
    for form in (text_comparison, markdown_comparison):
        assert "data: the baseline is on races (iteration) dddddddddddd" in form(other, "a" * 32, "b" * 32)


def test_of_an_incomplete_run_the_photos_that_were_evaluated_are_compared() -> None:
    partial = compare(gate(), benchmark_run(AFTER[:1], failed=["x.jpg"]), benchmark_run(BEFORE))
    assert partial.judgement.verdict is Verdict.INCOMPLETE
    assert [photo.name for photo in partial.items] == ["000.jpg"]


def test_only_what_differs_in_the_configs_is_listed() -> None:
    run, base = {"a": "1", "b": "2", "new": "x"}, {"a": "1", "b": "3", "old": "y"}
    assert config_diff(run, base) == (
        ConfigChange("b", "3", "2"),
        ConfigChange("new", None, "x"),
        ConfigChange("old", "y", None),
    )


CODE = {
    "sources": {"helper": "1", "old": "1", "harness.types": "1", "harness.pipeline": "1"},
    "distributions": {"numpy": "2.4.1", "scipy": "1.2", "python": "3.12.1"},
}
OTHER = {
    "sources": {"helper": "2", "harness.types": "2", "harness.pipeline": "1", "harness.scoring": "1"},
    "distributions": {"numpy": "2.4.2", "scipy": "1.2", "torch": "9"},
}


def test_the_code_that_differs_is_named_in_every_form() -> None:
    comparison = replace(compared(), code=code_diff(OTHER, CODE))
    told = text_comparison(comparison, "a" * 32, "b" * 32)
    lines = [
        "helper changed",
        "numpy 2.4.1 -> 2.4.2",
        "only in the run: torch 9",
        "only in the base: old",
        "the harness itself: 2 modules (harness.scoring, harness.types)",
    ]
    assert "\n".join(["Code", *(f"  {line}" for line in lines)]) in told
    assert "\n".join(lines) in markdown_comparison(comparison, "a" * 32, "b" * 32)
    shown = comparison_dict(comparison, "a" * 32, "b" * 32)["code"]
    assert {"kind": "distribution", "name": "numpy", "before": "2.4.1", "after": "2.4.2"} in shown
    assert "numpy 2.4.1 -&gt; 2.4.2" in comparison_html(comparison, "a" * 32, "b" * 32)


def test_code_that_is_not_known_of_both_runs_is_no_equal_code() -> None:
    assert code_diff(None, CODE) is code_diff(CODE, None) is None
    assert code_diff(CODE, CODE) == ()
    unknown, equal = (text_comparison(replace(compared(), code=code), "a", "b") for code in (None, ()))
    assert "Code\n  not known" in unknown
    assert "Code\n  no difference" in equal


def test_a_group_that_one_run_does_not_have_is_one_line() -> None:
    config = {"seed": "0", "link.a": "1", "predictions.name": "x", "predictions.sha256": "y"}
    base = {"seed": "0", "link.a": "2", "face.a": "1", "face.b": "2", "face.c": "3"}
    runs = benchmark_run(AFTER, config=config), benchmark_run(BEFORE, config=base)
    told = text_comparison(compare(gate(), *runs), "a", "b")
    assert re.findall(r"^  (\w\S*) +(.* -> .*)$", told, re.MULTILINE) == [
        ("face", "(3 settings) -> (none)"),
        ("link.a", "2 -> 1"),
        ("predictions", "(none) -> (2 settings)"),
    ]


def told_twice() -> Comparison:
    config = {**METADATA.config, "face.threshold": "0.99"}
    return compare(gate(), benchmark_run(AFTER, config=config, name="fast | <b>`x`"), benchmark_run(BEFORE))


def test_for_a_terminal() -> None:
    text = text_comparison(told_twice(), "a" * 32, "b" * 32)
    for line in (
        "run   aaaaaaaa  fast | <b>`x`, code c0ffee",
        "base  bbbbbbbb  fast, code c0ffee",
        "Verdict: CANNOT TELL",
        "  face.threshold  0.7 -> 0.99",
        "Newly broken (3 photos)",
        "  000.jpg  2 faces lost",
        "  002.jpg  1 face found, 1 face invented",
        "Newly fixed (1 photo)",
        "faces: 3 lost, 2 found",
    ):
        assert line in text.splitlines()


def test_for_a_pull_request() -> None:
    text = markdown_comparison(told_twice(), "a" * 32, "b" * 32)
    assert text.startswith("### harness: CANNOT TELL\n")
    assert "| 000.jpg | 2 faces lost |" in text
    assert "<summary>Newly broken: 3 photos</summary>" in text
    assert "face.threshold  0.7 -> 0.99" in text
    assert text.count("<details>") == text.count("</details>") == 3


def test_a_file_name_makes_no_markup() -> None:
    run, base = benchmark_run([(0, 0, 1)]), benchmark_run([(1, 0, 0)])
    renamed = with_photo(run, name="<script>|`x`.jpg")
    text = markdown_comparison(compare(gate(), renamed, base), "a" * 32, "b" * 32)
    assert r"| &lt;script>\|'x'.jpg | 1 face lost |" in text


def test_people_see_the_first_photos_and_programs_all() -> None:
    size = LISTED + 7
    many = compared([(1, 0, 0)] * size, [(0, 0, 1)] * size)
    assert "  ... and 7 more (--json has all)" in text_comparison(many, "a" * 32, "b" * 32).splitlines()
    data = json.loads(json.dumps(comparison_dict(many, "a" * 32, "b" * 32)))
    assert len(data["photos"]) == size
    assert data["photos"][0]["change"] == "broken"
    assert data["totals"]["face"] == {"lost": size, "found": 0}
    assert data["verdict"] == "REGRESSED"
    assert data["metrics"][0]["gain"] == pytest.approx(-1.0)

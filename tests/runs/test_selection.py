"""Many runs beside one: which rates can be held against each other, and the best of them in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.runs.archive import BenchmarkRun
from harness.runs.selection import RateItems, best_in_words, comparable, rate_items
from tests.benchmark_runs import benchmark_run

RECALL = "face/recall"


def found(photos: int, of: int = 20, **metadata: Any) -> BenchmarkRun:
    """A run that finds the faces of its first photos, one a photo, and misses the others."""
    return benchmark_run([(1, 0, 0)] * photos + [(0, 0, 1)] * (of - photos), **metadata)


def rate(run: BenchmarkRun) -> RateItems:
    known = rate_items(run, RECALL)
    assert known is not None
    return known


def test_a_rate_is_read_item_by_item_and_goes_through_a_ledger() -> None:
    known = rate(found(1, of=3))
    assert known.items == tuple(f"{place:064x}" for place in range(3))
    assert known.listed() == ([1, 0, 0], [1, 1, 1])
    again = rate(found(3, of=3)).with_sides(*known.listed())
    assert [side.tolist() for side in again.sides] == [side.tolist() for side in known.sides]


def test_what_is_no_rate_of_items_or_has_no_denominator_is_none() -> None:
    assert rate_items(found(2), "runtime/pipeline_seconds") is None
    assert rate_items(found(2), "number/recall") is None
    assert rate_items(benchmark_run([(0, 1, 0)] * 3), RECALL) is None


@pytest.mark.parametrize(
    "other",
    [found(2, scorer_version=2), found(2, thresholds={"face_iou": 0.7}), found(2, data_digest="e" * 64), found(2, 21)],
)
def test_runs_by_other_rules_on_other_data_or_items_are_not_held_against_each_other(other: BenchmarkRun) -> None:
    base = rate(found(3))
    assert comparable(rate(found(4)), base)
    assert not comparable(rate(other), base)
    assert best_in_words(RECALL, "the baseline", base, [("other", rate(other))]) == ""


def test_the_best_is_told_with_what_it_was_chosen_from() -> None:
    runs = [
        ("good", rate(found(16))),
        ("better", rate(found(18))),
        ("elsewhere", rate(found(20, data_digest="e" * 64))),
    ]
    words = best_in_words(RECALL, "the baseline", rate(found(10)), runs)
    start = "better, the best of 2 runs held against the baseline in face/recall on 20 groups: observed +0.4000, on "
    assert words.startswith(start)
    assert words.endswith(": shown to be better; 1 on other data or scored by other rules take no part")
    assert best_in_words(RECALL, "the first run", rate(found(10)), [("a", rate(found(11)))]).endswith(
        ": nothing found (1 of 20 groups moved; fewer than 5 never show a gain)"
    )


def test_items_belong_together_as_the_run_says() -> None:
    base, best = (rate(_in_one_group(run)) for run in (found(10), found(18)))
    assert " on 1 group: observed +0.4000, 95 % bound" in best_in_words(RECALL, "the baseline", base, [("a", best)])


def _in_one_group(run: BenchmarkRun) -> BenchmarkRun:
    task = run.tasks["photos"]
    return replace(run, tasks={"photos": replace(task, items=tuple(replace(one, group="a") for one in task.items))})

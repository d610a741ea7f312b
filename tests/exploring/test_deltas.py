"""What a list tells of gains: only those about a present baseline, and in colour only what the gate calls moved."""

from __future__ import annotations

import pytest

from harness.exploring.deltas import Delta, delta_of, moves, undecided, unseen_of
from harness.tracking.entries import RunEntry
from tests.exploring.entries import entry

BASE = entry(1, pinned="2026-01-01", verdict="BASELINE", metrics={"number/f1": 0.9, "face/f1": 0.8})


def judged(**values: object) -> RunEntry:
    known: dict[str, object] = {
        "verdict": "REGRESSED",
        "judged_against": BASE.run_id,
        "metrics": {"number/f1": 0.6, "delta/number_f1": -0.3, "face/f1": 0.7},
        "metric_verdicts": {"number/f1": "REGRESSED"},
    }
    return entry(2, **(known | values))


def told(run: RunEntry, metric: str = "number/f1") -> Delta | None:
    return delta_of(run, metric, BASE, {BASE.run_id})


def test_what_the_gate_calls_moved_has_a_colour_and_a_mark() -> None:
    worse = told(judged())
    assert worse == Delta("−30.0", "bad", "▼", "number/f1 is worse, by more than chance")
    better = told(judged(verdict="IMPROVED", metric_verdicts={"number/f1": "IMPROVED"}, metrics=gain(0.024)))
    assert better == Delta("+2.4", "good", "▲", "number/f1 is better, by more than chance")


def gain(value: float) -> dict[str, float]:
    return {"number/f1": 0.6, "delta/number_f1": value}


def test_what_may_be_chance_has_a_hollow_mark_and_no_colour() -> None:
    chance = judged(verdict="CANNOT TELL", metric_verdicts={"number/f1": "CANNOT TELL"})
    assert told(chance) == Delta("−30.0", "even", "▽", "number/f1 is worse, which may be chance")
    assert told(judged(metrics=gain(0.0004), metric_verdicts={})) == Delta("0.0", "even", "=", "number/f1 is unchanged")


@pytest.mark.parametrize(
    "values",
    [
        {"judged_against": "f" * 32},
        {"judged_against": ""},
        {"pinned": "2026-01-02"},
        {"verdict": "INCOMPARABLE"},
        {"verdict": ""},
    ],
    ids=["earlier baseline", "no baseline known", "itself pinned", "other data", "not judged"],
)
def test_gains_that_are_about_another_run_are_not_told(values: dict[str, str]) -> None:
    assert told(judged(**values)) is None
    assert told(judged(**values), "face/f1") is None


def test_a_headline_that_is_not_judged_has_the_worst_that_moved_beside_it() -> None:
    run = judged(
        metrics={"face/f1": 0.7, "delta/face_recall": -0.4, "delta/face_precision": 0.1},
        metric_verdicts={"face/precision": "IMPROVED", "face/recall": "REGRESSED"},
    )
    assert told(run, "face/f1") == Delta("−40.0", "bad", "▼", "face/recall is worse, by more than chance", "recall")


def test_or_the_plain_difference_and_no_mark() -> None:
    assert told(judged(), "face/f1") == Delta("−10.0", "even", "", "beside the baseline; not judged")
    assert delta_of(judged(), "face/f1", None, {BASE.run_id}) is None
    assert told(judged(), "link/f1") is None


def test_a_gain_that_was_taken_back_is_none() -> None:
    """MLflow cannot delete a metric: what no longer holds is logged as nan."""
    taken_back = judged(metrics={"number/f1": 0.6, "delta/number_f1": float("nan")}, metric_verdicts={})
    assert told(taken_back) == Delta("−30.0", "even", "", "beside the baseline; not judged")


def test_why_in_words_the_worst_first() -> None:
    run = judged(
        metrics={"delta/a_x": -0.1, "delta/b_x": -0.2, "delta/c_x": 0.3, "delta/runtime_photos_per_second": -1.5},
        metric_verdicts={
            "c/x": "IMPROVED",
            "a/x": "REGRESSED",
            "b/x": "REGRESSED",
            "d/x": "CANNOT TELL",
            "runtime/photos_per_second": "REGRESSED",
            "e/x": "REGRESSED",
        },
    )
    assert moves(run) == (
        "runtime/photos_per_second is worse by 1.50",
        "b/x is worse by 20.0 points",
        "a/x is worse by 10.0 points",
        "e/x is worse",
        "c/x is better by 30.0 points",
    )
    assert undecided(run) == ("d/x",)


def test_what_could_not_be_seen_metric_by_metric() -> None:
    first = "number/f1: a loss of 0.05 cannot be excluded; any loss could go unseen"
    second = "find/by_both: nothing moved; one below 0.3 could go unseen (rough: 8 groups); to see 0.05 takes 9 people"
    assert unseen_of(judged(unseen=f"{first}; {second}")) == [first, second]
    assert unseen_of(judged()) == []

"""What a sweep shows: the front, the presets' promise, and what made no difference."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from harness.report.sweep_page import SweepFindings, pareto_figure, sweep_markdown, sweep_page, sweep_table
from harness.runs.sweeps import (
    SweepJob,
    extremes,
    headlines,
    identical,
    idle_params,
    ladder_inversions,
    pareto_front,
    quality,
    varied,
)
from harness.scoring.speed import PHOTOS_PER_SECOND, SECONDS

QUALITY = "number/f1"


def job(name: str, f1: float = 0.5, seconds: float = 10.0, predictions: str = "", **params: str) -> SweepJob:
    metrics = {QUALITY: f1, SECONDS: seconds, PHOTOS_PER_SECOND: 100 / seconds}
    headline = {QUALITY: "numbers"}
    return SweepJob(
        name, name, "FINISHED", name.split()[0], params, metrics, "WITHIN NOISE", predictions or name, headline
    )


def names(jobs: tuple[SweepJob, ...]) -> list[str]:
    return [item.name for item in jobs]


def test_the_best_and_the_worst_job() -> None:
    jobs = [job("balanced", 0.8), job("best", 0.9), job("fast", 0.6), job("fast again", 0.6)]
    assert names(extremes(jobs)) == ["best", "fast"]
    assert names(extremes(jobs[:1])) == ["balanced"]
    assert extremes([replace(jobs[0], status="FAILED")]) == extremes([]) == ()


def test_the_front_has_what_no_other_job_beats() -> None:
    jobs = [
        job("best", 0.9, 60),
        job("fast", 0.6, 10),
        job("balanced", 0.8, 30),
        job("dear", 0.8, 50),
        job("poor", 0.5, 30),
    ]
    assert names(pareto_front(jobs)) == ["fast", "balanced", "best"]


def test_times_that_differ_by_chance_put_no_worse_job_on_the_front() -> None:
    assert names(pareto_front([job("a", 0.8, 30.0), job("b", 0.7, 29.5)])) == ["a"]
    assert names(pareto_front([job("a", 0.8, 30.0), job("b", 0.8, 29.5)])) == ["b", "a"]


def test_a_job_that_failed_or_lacks_a_metric_is_not_on_the_front() -> None:
    failed = SweepJob("x", "x", "FAILED", "x", {}, {QUALITY: 1.0, SECONDS: 1.0})
    lacking = SweepJob("y", "y", "FINISHED", "y", {}, {SECONDS: 1.0})
    assert pareto_front([failed, lacking]) == ()
    assert names(pareto_front([failed, lacking, job("a")])) == ["a"]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 5)), min_size=1, max_size=12))
def test_every_job_is_on_the_front_or_beaten_by_one_that_is_as_good(points: list[tuple[int, int]]) -> None:
    jobs = [job(f"{n}", f1 / 5, seconds * 10) for n, (f1, seconds) in enumerate(points)]
    front = pareto_front(jobs)
    assert front
    for item in jobs:
        rivals = [
            j
            for j in front
            if j.metrics[QUALITY] >= item.metrics[QUALITY] and j.metrics[SECONDS] <= item.metrics[SECONDS]
        ]
        assert rivals, item


def test_a_sweep_is_compared_by_what_its_jobs_declare() -> None:
    tables = SweepJob("t", "t", "FINISHED", "best", {}, {"table/fuzzy_f1": 0.9}, headlines={"table/fuzzy_f1": "tables"})
    assert (quality([tables]), headlines([tables])) == ("table/fuzzy_f1", {"table/fuzzy_f1": "tables"})
    assert headlines([job("a"), tables]) == {QUALITY: "numbers", "table/fuzzy_f1": "tables", SECONDS: "seconds"}
    assert (pareto_front([tables]), pareto_figure([tables])) == ((), None)
    assert sweep_table([tables])["table/fuzzy_f1"] == [0.9]


def test_presets_in_order_are_not_flagged() -> None:
    assert ladder_inversions([job("fast", 0.6, 10), job("best", 0.9, 60), job("balanced", 0.8, 30)]) == ()


def test_inversions_are_told_in_words_for_each_combination() -> None:
    jobs = [job("fast", 0.8, 10), job("balanced", 0.7, 30), job("fast t=1", 0.5, 20), job("best t=1", 0.6, 10)]
    assert ladder_inversions(jobs) == (
        "balanced has a lower number/f1 than fast: 70.0% against 80.0%",
        "best is faster than fast: 10.00 against 5.00 photos a second (with t=1)",
    )


def test_a_parameter_that_changed_nothing_is_named_and_one_that_did_is_not() -> None:
    jobs = [
        job("a", predictions="p", size="640", threshold="0.5"),
        job("b", predictions="p", size="800", threshold="0.5"),
        job("c", predictions="q", size="640", threshold="0.7"),
        job("d", predictions="q", size="800", threshold="0.7"),
    ]
    assert varied(jobs) == varied([*jobs, job("killed before it had any")]) == ["size", "threshold"]
    assert idle_params(jobs) == ("size",)
    assert [names(group) for group in identical(jobs)] == [["a", "b"], ["c", "d"]]


def test_without_jobs_that_differ_in_it_alone_a_parameter_is_not_judged() -> None:
    assert idle_params([job("a", predictions="p", x="1", y="1"), job("b", predictions="p", x="2", y="2")]) == ()


def test_the_overview_says_what_to_look_into_and_escapes_names() -> None:
    hostile = "fast note=<script>|x"
    jobs = [job(hostile, 0.8, 10, size="1"), job("balanced", 0.7, 30, size="2")]
    findings = SweepFindings.of([*jobs, job("fast", 0.9, 5, size="1")], f"{hostile}: nothing found")
    page = sweep_page(findings, "id", pareto_figure(jobs))
    assert "<script" not in page
    assert "balanced has a lower number/f1 than fast" in page
    assert "<h2>The best</h2>\n<p>fast note=&lt;script&gt;|x: nothing found.</p>" in page
    markdown = sweep_markdown(findings, "id", "#/chart")
    assert "note=<script>\\|x" in markdown
    assert "Best: fast note=<script>\\|x: nothing found." in markdown
    assert "The best" not in sweep_page(SweepFindings.of(jobs), "id", None)
    assert "[Compare them in a chart](#/chart)" in markdown
    assert sweep_table(findings.jobs)["front"] == ["", "", "★"]

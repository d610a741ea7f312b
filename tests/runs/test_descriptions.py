"""What MLflow shows of a run first: the verdict and what moved, in lines that it does not fold."""

from __future__ import annotations

from dataclasses import replace

from harness.judging import Judged
from harness.runs.comparison import compare
from harness.runs.gate import THE_BASELINE, Gate, Judgement, Verdict
from harness.runs.records import describe, judgement_tags
from harness.runs.tags import MOVED_TAG
from harness.runs.verdicts import moved_points, ranked, verdict_line
from harness.tracking.catalog import Baseline
from tests.benchmark_runs import benchmark_run

SIZE = 40
#: The rules that the scorecards declare.
DECLARED = Gate(strict=False)
BEFORE = benchmark_run([(2, 0, 0)] * SIZE, numbers=[(1, 0, 1)] * SIZE)
AFTER = benchmark_run([(1, 0, 1)] * SIZE, numbers=[(2, 0, 0)] * SIZE)
JUDGED = compare(DECLARED, AFTER, BEFORE).judgement


def test_what_got_worse_comes_first_in_the_line_the_tag_and_the_order_of_metrics() -> None:
    assert JUDGED.verdict is Verdict.REGRESSED
    assert verdict_line(JUDGED).startswith("**▼ REGRESSED**: face/recall 100.0% → 50.0%, number/f1 66.7% → 100.0%")
    assert moved_points(JUDGED).startswith("▼ face/recall -50.0, ▲ number/f1 +33.3")
    assert judgement_tags(JUDGED, "key", "base")[MOVED_TAG] == moved_points(JUDGED)
    judged = Judged(AFTER, JUDGED, None, Baseline("b" * 32, BEFORE), str)
    assert next(iter(judged.metrics)) == "delta/face_recall"
    own = [name for name in judged.metrics if not name.startswith("delta/")]
    assert own[0] == "face/recall", "with which MLflow's compare page begins"
    assert {**AFTER.metrics, **JUDGED.deltas()} == judged.metrics


def test_the_first_two_lines_say_what_happened_and_link_to_both_runs() -> None:
    text = describe(AFTER, JUDGED, "fast [x] | a_b " + "y" * 40, "#/compare", "40 photos newly broken, 0 newly fixed.")
    first, second = text.splitlines()[:2]
    assert first.startswith("**▼ REGRESSED** [against fast \\[x\\]")
    assert "](#/compare): face/recall" in first
    assert len(first) < 160
    assert second == "40 photos newly broken, 0 newly fixed."


def test_verdicts_without_figures_say_why() -> None:
    assert verdict_line(THE_BASELINE) == "**◆ BASELINE**: other runs on these data are judged against this one"
    few = compare(DECLARED, benchmark_run([(1, 0, 1)] * 2), benchmark_run([(2, 0, 0)] * 2)).judgement
    assert verdict_line(few).startswith("**? CANNOT TELL**: no change was shown; a loss could go unseen in")
    other = compare(DECLARED, benchmark_run([(1, 0, 1)], data_digest="e" * 64), benchmark_run([(1, 0, 1)])).judgement
    assert verdict_line(other).startswith("**≠ INCOMPARABLE**: data: the baseline is on")


def test_a_sealed_run_tells_its_verdict_and_no_figure() -> None:
    comparison = compare(DECLARED, AFTER, BEFORE)
    sealed = Judged(AFTER, JUDGED, comparison, Baseline("b" * 32, BEFORE), str).sealed()
    text = describe(sealed.run, sealed.judgement)
    assert "REGRESSED" in text.splitlines()[0]
    assert "%" not in text.splitlines()[0]
    assert MOVED_TAG not in judgement_tags(sealed.judgement, "key", "base")
    assert not any(name.startswith("delta/") for name in sealed.metrics)


def test_the_order_is_worse_better_open_and_for_information_last() -> None:
    kinds = [item.verdict for item in ranked(JUDGED)]
    assert kinds.index(Verdict.REGRESSED) == 0
    assert None not in kinds or kinds[-1] is None
    assert ranked(Judgement(Verdict.NO_BASELINE)) == []
    assert ranked(replace(JUDGED, metrics=JUDGED.metrics[::-1])) == ranked(JUDGED)

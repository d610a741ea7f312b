"""The verdict: what it says, when it says nothing, and that it seldom cries wolf."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t

from harness.base.code import code_of
from harness.building import instantiate
from harness.config import compose
from harness.runs.archive import BenchmarkRun, TaskData, TaskRun
from harness.runs.gate import (
    UNCHANGED,
    Gate,
    Judgement,
    MetricVerdict,
    Rule,
    RuleChange,
    Verdict,
    all_proven,
)
from harness.runs.items import Item
from harness.runs.judge import judge, paired
from harness.runs.records import judgement_tags
from harness.runs.verdicts import markdown_judgement, text_judgement, unseen
from harness.scoring.cards import Counted, Declaration, Figure, Section
from harness.scoring.pairing import JUDGE_VERSION
from harness.scoring.uncertainty import Interval, LeftOut
from tests.benchmark_runs import Photo, benchmark_run, gate, with_tables

GOOD = [(2, 0, 0)] * 40
#: A quarter of the photos lose a face.
WORSE = [(1, 0, 1) if place % 4 == 0 else (2, 0, 0) for place in range(40)]


def verdicts(judgement: Judgement) -> dict[str, Verdict | None]:
    return {item.metric: item.verdict for item in judgement.metrics}


def test_a_run_is_judged_by_what_happened_to_its_photos() -> None:
    good, worse = benchmark_run(GOOD), benchmark_run(WORSE)
    down, up, same = judge(gate(), worse, good), judge(gate(), good, worse), judge(gate(), good, good)
    assert (down.verdict, up.verdict, same.verdict) == (Verdict.REGRESSED, Verdict.IMPROVED, Verdict.NO_WORSE)
    (item,) = down.metrics
    assert (item.metric, item.baseline, item.candidate, item.items) == ("face/recall", 1.0, 0.875, 40)
    assert item.gain == -0.125
    assert item.low is not None
    assert item.high is not None
    assert item.low < -0.125 < item.high < 0
    assert down.deltas() == {"delta/face_recall": -0.125}


def test_the_key_of_a_judgement_covers_the_rules_and_the_statistics() -> None:
    covered = code_of(judge.__module__).sources
    assert {"harness.runs.judge", "harness.runs.gate", "harness.scoring.pairing"} <= covered.keys()


def test_one_photo_of_many_is_no_proof_of_a_loss_and_too_few_photos_exclude_none() -> None:
    one = [(1, 0, 1), *GOOD[1:]]
    few, many = (
        judge(gate(), benchmark_run(one + GOOD * times), benchmark_run(GOOD * (times + 1))) for times in (0, 3)
    )
    assert (few.verdict, many.verdict) == (Verdict.CANNOT_TELL, Verdict.NO_WORSE)
    assert few.metrics[0].note == "1 group moved, all for the worse; fewer than 5 are no proof"


def test_losing_everything_everywhere_is_no_noise() -> None:
    full, empty = benchmark_run([(1, 0, 0)] * 8), benchmark_run([(0, 0, 1)] * 8)
    assert judge(gate(), empty, full).verdict is Verdict.REGRESSED
    assert judge(gate(), full, empty).verdict is Verdict.IMPROVED


def test_three_photos_prove_nothing() -> None:
    before, after = benchmark_run([(1, 0, 0)] * 3), benchmark_run([(0, 0, 1)] * 3)
    judgement = judge(gate(), after, before)
    assert judgement.verdict is Verdict.CANNOT_TELL
    assert judgement.metrics[0].note == "3 groups moved, all for the worse; fewer than 5 are no proof"


def test_photos_without_a_target_prove_nothing_either() -> None:
    nothing: list[Photo] = [(0, 0, 0)] * 100
    before, after = benchmark_run([(1, 0, 0), *nothing]), benchmark_run([(0, 0, 1), *nothing])
    assert judge(gate(), after, before).verdict is Verdict.CANNOT_TELL


def test_over_all_a_regression_wins() -> None:
    before = benchmark_run(GOOD, numbers=[(1, 1, 0)] * 40)
    after = benchmark_run(WORSE, numbers=[(1, 0, 0)] * 40)
    rules = gate(face__recall=Rule(), number__precision=Rule())
    judgement = judge(rules, after, before)
    assert verdicts(judgement) == {"face/recall": Verdict.REGRESSED, "number/precision": Verdict.IMPROVED}
    assert judgement.verdict is Verdict.REGRESSED


def test_what_is_informational_is_shown_and_not_judged() -> None:
    judgement = judge(gate(face__recall=Rule(informational=True)), benchmark_run(WORSE), benchmark_run(GOOD))
    assert (judgement.verdict, judgement.reasons) == (Verdict.CANNOT_TELL, ("no metric is gated",))
    assert verdicts(judgement) == {"face/recall": None}
    assert gate(strict=True, proof=True).fails(judgement), "where nothing is gated, nothing is proven"


def test_what_is_informational_may_go_missing() -> None:
    nothing = benchmark_run([(0, 0, 2)] * 40)
    judgement = judge(gate(face__precision=Rule(informational=True)), nothing, benchmark_run(GOOD))
    assert (judgement.verdict, judgement.reasons) == (Verdict.CANNOT_TELL, ("no metric is gated",))


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Rule(absolute=0.12), Verdict.REGRESSED),
        (Rule(absolute=0.125), Verdict.CANNOT_TELL),
        (Rule(relative=0.12), Verdict.REGRESSED),
        (Rule(relative=0.125), Verdict.CANNOT_TELL),
        (Rule(absolute=0.2, relative=0.01), Verdict.CANNOT_TELL),
        (Rule(absolute=0.2, margin=0.3), Verdict.NO_WORSE),
        (Rule(absolute=0.12, margin=0.3), Verdict.REGRESSED),
        (Rule(better="lower"), Verdict.IMPROVED),
    ],
)
def test_tolerance_and_direction(rule: Rule, expected: Verdict) -> None:
    judgement = judge(gate(face__recall=rule), benchmark_run(WORSE), benchmark_run(GOOD))
    assert judgement.verdict is expected
    (item,) = judgement.metrics
    assert item.gain == (0.125 if rule.better == "lower" else -0.125)
    named = item.verdict not in (Verdict.REGRESSED, Verdict.IMPROVED)
    assert item.note.startswith("a loss of 0.1250 is shown; it is within the tolerance of 0.") is named


@pytest.mark.parametrize(
    ("rule", "speed", "expected"),
    [
        (Rule(informational=True), 1.0, None),
        (Rule(relative=0.2), 8.5, Verdict.NO_WORSE),
        (Rule(relative=0.2), 7.5, Verdict.REGRESSED),
        (Rule(relative=0.2), 13.0, Verdict.IMPROVED),
    ],
)
def test_a_metric_that_is_not_made_of_items_is_judged_by_its_tolerance(
    rule: Rule, speed: float, expected: Verdict | None
) -> None:
    before, after = (benchmark_run(GOOD, metrics={"runtime/photos_per_second": each}) for each in (10.0, speed))
    (item,) = judge(gate(runtime__photos_per_second=rule), after, before).metrics
    assert item.verdict is expected
    assert (item.low, item.high, item.items) == (None, None, None)


def test_a_gated_metric_that_cannot_be_measured_any_more_is_named() -> None:
    nothing = benchmark_run([(0, 0, 2)] * 40)
    only_precision = judge(gate(face__precision=Rule()), nothing, benchmark_run(GOOD))
    assert only_precision.verdict is Verdict.INCOMPLETE
    assert only_precision.reasons == (
        "face/precision: nothing to measure it on in this run, while the baseline has it",
    )
    with_recall = judge(gate(face__precision=Rule(), face__recall=Rule()), nothing, benchmark_run(GOOD))
    assert with_recall.verdict is Verdict.REGRESSED
    new = judge(gate(face__precision=Rule()), benchmark_run(GOOD), nothing)
    told = "face/precision: the baseline has nothing to measure it on, so that it is not judged"
    assert (new.verdict, new.reasons) == (Verdict.CANNOT_TELL, (told,))


def test_what_the_baseline_could_not_measure_is_no_proof() -> None:
    nothing, junk = benchmark_run([(0, 0, 2)] * 80), benchmark_run([(0, 9, 2)] * 80)
    rules = gate(face__recall=Rule(), face__precision=Rule())
    judgement = judge(rules, junk, nothing)
    assert verdicts(judgement) == {"face/recall": Verdict.NO_WORSE}
    assert (judgement.verdict, judgement.proven) == (Verdict.CANNOT_TELL, False)
    assert "face/precision: the baseline has nothing" in judgement.reasons[0]
    better = judge(rules, benchmark_run([(2, 0, 0)] * 80), nothing)
    assert (better.verdict, better.proven) == (Verdict.IMPROVED, False)
    loose = judge(gate(face__recall=Rule(), face__precision=Rule(informational=True)), junk, nothing)
    assert (loose.verdict, loose.proven) == (Verdict.NO_WORSE, True)


@pytest.mark.parametrize("side", ["neither", "candidate", "baseline"])
def test_a_metric_that_one_run_has_not_is_not_shown(side: str) -> None:
    runs = {
        name: benchmark_run(GOOD, metrics={"runtime/seconds": 4.0} if name == side else {})
        for name in ("candidate", "baseline")
    }
    for rule in (Rule(), Rule(informational=True)):
        assert judge(gate(runtime__seconds=rule), runs["candidate"], runs["baseline"]).metrics == ()


@pytest.mark.parametrize(
    ("seconds", "gain", "expected"),
    [(3.0, 1.0, Verdict.IMPROVED), (4.0, 0.0, Verdict.NO_WORSE), (6.0, -2.0, Verdict.REGRESSED)],
)
def test_of_seconds_fewer_are_better(seconds: float, gain: float, expected: Verdict) -> None:
    before, after = (benchmark_run(GOOD, metrics={"runtime/seconds": each}) for each in (4.0, seconds))
    judgement = judge(gate(runtime__seconds=Rule(better="lower")), after, before)
    (item,) = judgement.metrics
    assert (item.baseline, item.candidate, item.gain, item.verdict) == (4.0, seconds, gain, expected)
    assert judgement.verdict is expected


def test_the_interval_of_a_metric_that_is_better_when_lower_is_turned_over() -> None:
    runs = benchmark_run(WORSE), benchmark_run(GOOD)
    (up,), (down,) = (judge(gate(face__recall=Rule(better=better)), *runs).metrics for better in ("higher", "lower"))
    assert up.low is not None
    assert up.high is not None
    assert up.low < up.high
    assert (down.low, down.high) == (-up.high, -up.low)


def test_without_a_baseline_there_is_no_verdict() -> None:
    judgement = judge(gate(), benchmark_run(GOOD), None)
    assert judgement.verdict is Verdict.NO_BASELINE
    assert judgement.reasons == ("no run is pinned as the baseline yet",)


def test_a_run_that_skipped_photos_is_incomplete_whatever_it_is_compared_with() -> None:
    run = benchmark_run(GOOD, failed=["broken.jpg"])
    for baseline in (None, benchmark_run(GOOD), benchmark_run(GOOD, data_digest="e" * 64)):
        judgement = judge(gate(), run, baseline)
        assert judgement.verdict is Verdict.INCOMPLETE
        assert judgement.reasons == ("1 of 41 photos could not be evaluated", "broken.jpg: not an image")


def test_a_run_without_one_of_the_baselines_scorecards_is_incomplete() -> None:
    baseline = benchmark_run(GOOD, numbers=GOOD)
    assert judge(gate(), benchmark_run(GOOD), baseline).reasons == ("no number scorecard, which the baseline has",)
    tables = with_tables(benchmark_run(GOOD), {"a": 9})
    judgement = judge(gate(), benchmark_run(GOOD), tables)
    assert (judgement.verdict, judgement.reasons) == (
        Verdict.INCOMPLETE,
        ("no tables scorecard, which the baseline has",),
    )
    assert judge(gate(), tables, benchmark_run(GOOD)).verdict is Verdict.NO_WORSE
    assert judge(gate(), benchmark_run(GOOD), with_tables(baseline)).reasons == (
        "no tables scorecard, which the baseline has",
        "no number scorecard, which the baseline has",
    )


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (
            benchmark_run(GOOD, data_digest="e" * 64, data_name="other"),
            "data: the baseline is on races (iteration) dddddddddddd, this run on other (iteration) eeeeeeeeeeee",
        ),
        (benchmark_run(GOOD, scorer_version=2), "scorer version: the baseline has 1, this run 2"),
        (
            benchmark_run(GOOD, thresholds={"bib_iou": 0.5, "face_iou": 0.7}),
            "scoring.face_iou: the baseline has 0.5, this run 0.7",
        ),
        (
            benchmark_run(GOOD, thresholds={"bib_iou": 0.5}),
            "scoring.face_iou: the baseline has 0.5, this run None",
        ),
        (
            benchmark_run(GOOD, thresholds={"bib_iou": 0.5, "face_iou": 0.5, "link_iou": 0.4}),
            "scoring.link_iou: the baseline has None, this run 0.4",
        ),
        (benchmark_run(GOOD[:-1]), "photos: 1 only in the baseline, 0 only in this run"),
        (benchmark_run([*GOOD, *GOOD[:2]]), "photos: 0 only in the baseline, 2 only in this run"),
    ],
)
def test_what_cannot_be_compared_is_not_and_the_difference_is_named(other: BenchmarkRun, reason: str) -> None:
    judgement = judge(gate(), other, benchmark_run(GOOD))
    assert judgement.verdict is Verdict.INCOMPARABLE
    assert judgement.reasons == (reason,)
    assert judgement.metrics == ()


def test_runs_without_a_task_in_common_are_incomparable() -> None:
    photos = benchmark_run(GOOD)
    tables = replace(photos, tasks={"tables": TaskRun(TaskData("x", "", "t" * 64), "table")})
    for run, base, reason in (
        (tables, photos, "the baseline evaluates photos, this run tables"),
        (photos, tables, "the baseline evaluates tables, this run photos"),
    ):
        judgement = judge(gate(), run, base)
        assert (judgement.verdict, judgement.reasons) == (Verdict.INCOMPARABLE, (reason,))


def test_the_scorecards_declare_what_is_gated_and_a_gate_changes_it() -> None:
    before, after = benchmark_run(GOOD, numbers=GOOD), benchmark_run(WORSE, numbers=GOOD)
    declared = judge(Gate(strict=False), after, before)
    assert verdicts(declared) == {
        "face/precision": None,
        "face/recall": Verdict.REGRESSED,
        "number/precision": Verdict.NO_WORSE,
        "number/f1": Verdict.NO_WORSE,
    }
    changes = {"face": {"recall": RuleChange(informational=True), "f1": RuleChange(absolute=0.5)}}
    changed = judge(Gate(strict=False, metrics=changes), after, before)
    assert changed.verdict is Verdict.CANNOT_TELL
    assert verdicts(changed)["face/recall"] is None
    assert verdicts(changed)["face/f1"] is Verdict.CANNOT_TELL, "a loss that is tolerated is not excluded"
    assert Gate(strict=False, metrics=changes).rules(after)["face/recall"] == Rule(absolute=0.005, informational=True)


def test_all_differences_are_named_each_kind_in_the_order_of_its_names() -> None:
    other = benchmark_run(GOOD[:-1], scorer_version=2, thresholds={"bib_iou": 0.4, "face_iou": 0.7})
    judgement = judge(
        gate(), with_tables(other, {"b": 9}, "b" * 64), with_tables(benchmark_run(GOOD), {"a": 9}, "a" * 64)
    )
    assert judgement.reasons == (
        "tables: the baseline is on cells aaaaaaaaaaaa, this run on cells bbbbbbbbbbbb",
        "scorer version: the baseline has 1, this run 2",
        "scoring.bib_iou: the baseline has 0.5, this run 0.4",
        "scoring.face_iou: the baseline has 0.5, this run 0.7",
        "photos: 1 only in the baseline, 0 only in this run",
        "tables: 1 only in the baseline, 1 only in this run",
    )


def test_tables_of_other_data_cannot_be_compared_although_they_have_the_same_names() -> None:
    right = {"a": 9, "b": 8}
    ours, theirs = (with_tables(benchmark_run(GOOD), right, digest * 64) for digest in "cb")
    judgement = judge(gate(), ours, theirs)
    assert judgement.verdict is Verdict.INCOMPARABLE
    assert judgement.reasons == ("tables: the baseline is on cells bbbbbbbbbbbb, this run on cells cccccccccccc",)
    assert judge(gate(), ours, ours).verdict is Verdict.NO_WORSE


def test_tables_are_judged_table_by_table_in_whatever_order_they_stand() -> None:
    names = [f"table {number}" for number in range(20)]
    before = with_tables(benchmark_run(GOOD), {name: place % 10 for place, name in enumerate(names)})
    after = with_tables(benchmark_run(GOOD), {name: place % 10 + 1 for place, name in reversed([*enumerate(names)])})
    (item,) = judge(gate(table__accuracy=Rule()), after, before).metrics
    assert (item.baseline, item.candidate, item.items) == (0.45, 0.55, 20)
    assert item.gain == pytest.approx(0.1)
    # Every table moved by the same one cell of ten: what is left open is the weight of a single cell.
    assert [item.low, item.high] == pytest.approx([0.1 - t.ppf(0.975, 19) / 200, 0.1 + t.ppf(0.975, 19) / 200])
    assert item.verdict is Verdict.IMPROVED


def test_items_that_only_one_run_has_are_left_out_of_the_pairs() -> None:
    before = with_tables(benchmark_run(GOOD[:3]), {"a": 1, "b": 4})
    after = with_tables(benchmark_run(GOOD[:2]), {"b": 6, "c": 9})
    pairs = paired(after, before)
    assert (pairs["table/accuracy"].baseline, pairs["table/accuracy"].candidate) == (0.4, 0.6)
    assert (pairs["table/accuracy"].items, pairs["face/recall"].items) == (1, 2)
    assert paired(after, benchmark_run(GOOD[:3])).keys() == pairs.keys() - {"table/accuracy"}


def test_the_same_seed_judges_alike_and_no_verdict_hangs_on_it() -> None:
    good = benchmark_run([(place % 7 + 1, 0, place % 3) for place in range(40)])
    worse = benchmark_run([(place % 7, 0, place % 3 + 1) for place in range(40)])
    assert judge(gate(), worse, good) == judge(gate(), worse, good, seed=0) == judge(gate(), worse, good, seed=1)


def with_precision(values: Sequence[float]) -> BenchmarkRun:
    """A run on forty photos with a figure that is the mean of a value a photo, known without each of them."""
    mean = sum(values) / len(values)
    without = {str(row): (sum(values) - value) / (len(values) - 1) for row, value in enumerate(values)}
    run = benchmark_run(GOOD)
    task = replace(run.tasks["photos"], left_out={"face/ap": LeftOut(len(values), without)})
    return replace(run, tasks={"photos": task}, metrics={**run.metrics, "face/ap": mean})


def test_a_figure_that_is_known_without_each_group_is_judged_like_a_rate() -> None:
    rules = gate(face__ap=Rule(), face__recall=Rule())
    good, worse = with_precision([0.9] * 40), with_precision([0.6] * 10 + [0.9] * 30)
    one = with_precision([0.0, 0.0] + [0.9] * 38)
    found = {item.metric: item for item in judge(rules, worse, good).metrics}["face/ap"]
    assert (found.verdict, found.groups, found.items) == (Verdict.REGRESSED, 40, 40)
    assert (found.low is not None, found.unseen is not None) == (True, True)
    assert verdicts(judge(rules, good, worse))["face/ap"] is Verdict.IMPROVED
    assert verdicts(judge(rules, one, good))["face/ap"] is Verdict.CANNOT_TELL, "two photos are no proof"
    assert verdicts(judge(rules, good, good))["face/ap"] is Verdict.NO_WORSE


def test_a_figure_over_items_that_cannot_be_paired_shows_nothing() -> None:
    rules = gate(face__ap=Rule(absolute=0.005))
    good, worse = (with_precision([value] * 40) for value in (0.9, 0.1))
    interval = {"face/ap": Interval(0.1, 0.9)}
    alone = [
        replace(run, tasks={"photos": replace(run.tasks["photos"], left_out={}, intervals=interval)})
        for run in (good, worse)
    ]
    for candidate, baseline in (alone, alone[::-1], (alone[0], worse), (alone[1], good)):
        judgement = judge(rules, candidate, baseline)
        assert (judgement.verdict, judgement.proven) == (Verdict.CANNOT_TELL, False)
        assert "face/ap: it is not known without the same groups in both runs" in text_judgement(judgement)
        assert "any loss could go unseen" in unseen(judgement)[0]
    assert judge(rules, alone[0], alone[0]).verdict is Verdict.NO_WORSE, "unchanged"


def test_figures_are_judged_by_the_tolerance_that_their_scorecard_declares() -> None:
    declared = Declaration(
        "speed",
        figures=(
            Figure("speed/judged", better="lower", gate="judged", tolerance=0.1),
            Figure("speed/relative", gate="judged", tolerance=0.0, relative=0.2),
            Figure("speed/shown", gate="shown"),
            Figure("speed/logged"),
        ),
    )

    def run(value: float) -> BenchmarkRun:
        values = {figure.metric: value for figure in declared.figures}
        task = TaskRun(TaskData("x", "", "t" * 64), "item", cards={"speed": Counted(declared, {}, values)})
        return replace(benchmark_run(GOOD, tasks={"speed": task}), metrics=values)

    moved = verdicts(judge(Gate(strict=False), run(1.15), run(1.0)))
    assert {name: verdict for name, verdict in moved.items() if name.startswith("speed/")} == {
        "speed/judged": Verdict.REGRESSED,
        "speed/relative": Verdict.NO_WORSE,
        "speed/shown": None,
    }


def test_a_task_without_scorecards_may_have_been_kept_without_its_items() -> None:
    def samples(*ids: str) -> BenchmarkRun:
        items = tuple(Item(name, name) for name in ids)
        return benchmark_run(GOOD, tasks={"samples": TaskRun(TaskData("x", "", "s" * 64), "sample", items)})

    assert judge(gate(), samples("a"), samples()).verdict is Verdict.NO_WORSE


def test_a_scorecard_that_is_only_logged_may_come_and_go_and_one_that_is_shown_may_not() -> None:
    def cells(**cards: tuple[Section, ...]) -> BenchmarkRun:
        made = {name: Counted(Declaration(name, sections=sections), {}) for name, sections in cards.items()}
        return benchmark_run(GOOD, tasks={"cells": TaskRun(TaskData("x", "", "c" * 64), "cell", cards=made)})

    shown = (Section("Cells"),)
    assert judge(gate(), cells(a=shown), cells(a=shown, b=())).verdict is Verdict.NO_WORSE
    assert judge(gate(), cells(a=shown), cells(a=shown, b=shown)).reasons == ("no b scorecard, which the baseline has",)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("face__recal", "gate.metrics.face.recal: the run has no such metric; did you mean face/recall?"),
        ("zzz__q", "gate.metrics.zzz.q: the run has no such metric; there are: face/precision, face/recall, "),
        ("face__recall", None),
        ("count__face_tp", None),
        ("runtime__pipeline_seconds", None),
        ("slice__face_recall_tiny", None),
    ],
)
def test_a_rule_for_a_metric_that_no_scorecard_has_is_found(rule: str, message: str | None) -> None:
    found = gate(False, False, **{rule: Rule()}).unknown(card.declared for card in benchmark_run(GOOD).cards.values())
    assert (found is None) is (message is None)
    assert (found or "").startswith(message or "")


def proven(*items: Verdict | None) -> Judgement:
    """A judgement with these verdicts of its metrics, the first of which is that over all."""
    metrics = [MetricVerdict(str(place), 0, 0, 0, None, None, None, item) for place, item in enumerate(items)]
    return Judgement(items[0] or Verdict.CANNOT_TELL, (), tuple(metrics), proven=all_proven(metrics))


def test_a_gate_that_asks_for_proof_wants_it_of_every_metric() -> None:
    rules = instantiate(compose(["gate=proof"]), "gate")
    assert (rules.strict, rules.proof, rules.name) == (True, True, "proof")
    for passing in (
        proven(Verdict.IMPROVED),
        proven(Verdict.NO_WORSE, None),
        proven(Verdict.IMPROVED, Verdict.NO_WORSE),
        Judgement(Verdict.BASELINE),
    ):
        assert not rules.fails(passing)
    for failing in (
        proven(Verdict.IMPROVED, Verdict.CANNOT_TELL),
        proven(Verdict.CANNOT_TELL),
        proven(Verdict.REGRESSED),
        proven(None),
        Judgement(Verdict.NO_BASELINE),
    ):
        assert rules.fails(failing)
    open_metrics = proven(Verdict.IMPROVED, Verdict.CANNOT_TELL, Verdict.NO_WORSE).open
    assert [item.metric for item in open_metrics] == ["1"]


@pytest.mark.parametrize("verdict", Verdict)
def test_a_strict_gate_passes_what_is_not_shown_to_be_worse(verdict: Verdict) -> None:
    assert not gate(strict=False).fails(Judgement(verdict))
    passing = (Verdict.IMPROVED, Verdict.NO_WORSE, Verdict.CANNOT_TELL, Verdict.BASELINE)
    assert gate(strict=True).fails(Judgement(verdict)) is (verdict not in passing)


photos = st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=1, max_size=25)


@settings(max_examples=40)
@given(photos, st.randoms())
def test_a_run_never_moves_against_itself_and_the_order_of_photos_is_nothing(
    counts: list[Photo], random: object
) -> None:
    rules = gate(face__recall=Rule(), face__f1=Rule())
    run = benchmark_run(counts)
    shuffled = list(run.photos)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    tasks = {"photos": replace(run.tasks["photos"], items=tuple(shuffled))}
    judgement = judge(rules, replace(run, tasks=tasks), run)
    assert judgement.verdict is (Verdict.NO_WORSE if judgement.metrics else Verdict.CANNOT_TELL)
    assert {item.note for item in judgement.metrics} <= {UNCHANGED}
    assert set(judgement.deltas().values()) <= {0.0}


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 1)), min_size=1, max_size=25))
def test_the_two_directions_mirror_each_other(pairs: list[tuple[int, int, int]]) -> None:
    left = benchmark_run([(a, extra, 3 - a) for a, _, extra in pairs])
    right = benchmark_run([(b, extra, 3 - b) for _, b, extra in pairs])
    there, back = judge(gate(), right, left), judge(gate(), left, right)
    mirrored = {
        Verdict.REGRESSED: Verdict.IMPROVED,
        Verdict.IMPROVED: Verdict.REGRESSED,
    }
    assert mirrored.get(back.verdict) is (there.verdict if there.verdict in mirrored else None)
    assert [item.gain for item in back.metrics] == pytest.approx([-item.gain for item in there.metrics])


#: Every fifth photo is a burst of one runner with its neighbours.
BURSTS = [f"burst {place // 5}" for place in range(40)]


def grouped(run: BenchmarkRun, groups: Sequence[str]) -> BenchmarkRun:
    items = tuple(replace(item, group=group) for item, group in zip(run.photos, groups, strict=True))
    return replace(run, tasks={"photos": replace(run.tasks["photos"], items=items)})


def test_photos_of_one_group_are_one_piece_of_evidence() -> None:
    """Ten photos of two bursts lose a face: much by photos, nothing by bursts."""
    lost = benchmark_run([(1, 0, 1) if place < 10 else (2, 0, 0) for place in range(40)])
    good = benchmark_run(GOOD)
    assert judge(gate(), lost, good).verdict is Verdict.REGRESSED
    by_bursts = judge(gate(), grouped(lost, BURSTS), grouped(good, BURSTS))
    assert by_bursts.verdict is Verdict.CANNOT_TELL
    (item,) = by_bursts.metrics
    assert (item.groups, item.items) == (8, 40)
    assert item.note == "2 groups moved, all for the worse; fewer than 5 are no proof"


def test_where_the_runs_disagree_about_groups_those_of_the_candidate_count() -> None:
    lost, good = benchmark_run([(1, 0, 1) if place < 10 else (2, 0, 0) for place in range(40)]), benchmark_run(GOOD)
    assert judge(gate(), grouped(lost, BURSTS), good).verdict is Verdict.CANNOT_TELL
    assert judge(gate(), lost, grouped(good, BURSTS)).verdict is Verdict.REGRESSED


def test_a_holdout_asks_more_of_a_gain_than_of_a_loss() -> None:
    """Six photos of forty lose a face, which happens by chance once in 64 cases."""
    lost = benchmark_run([(1, 0, 1) if place < 6 else (2, 0, 0) for place in range(40)])
    good = benchmark_run(GOOD)
    assert judge(gate(), lost, good, level_better=0.005).verdict is Verdict.REGRESSED
    assert judge(gate(), good, lost).verdict is Verdict.IMPROVED
    gained = judge(gate(), good, lost, level_better=0.005)
    assert gained.verdict is not Verdict.IMPROVED
    assert gained.metrics[0].note == "6 groups moved, all for the better; fewer than 8 are no proof"


def test_equal_counts_are_no_proof_where_the_stages_are_others() -> None:
    """Ten photos on which new code does what the old one did do not show what it does on others."""
    few = benchmark_run(GOOD[:10])
    other = replace(few, tasks={"photos": replace(few.tasks["photos"], stage_keys={"face": "edited"})})
    assert judge(gate(), few, few).metrics[0].note == UNCHANGED
    assert judge(gate(), few, few).verdict is Verdict.NO_WORSE
    assert judge(gate(), other, few).verdict is Verdict.CANNOT_TELL
    assert judge(gate(), benchmark_run(GOOD * 3), benchmark_run(GOOD * 3)).metrics[0].verdict is Verdict.NO_WORSE


def test_a_run_of_an_older_harness_has_to_be_proven() -> None:
    """It does not say which stages it had."""
    run = benchmark_run(GOOD[:10])
    old = replace(run, tasks={"photos": replace(run.tasks["photos"], stage_keys={})})
    assert judge(gate(), old, old).verdict is Verdict.CANNOT_TELL
    known = replace(old, metadata=replace(old.metadata, key="k"))
    assert judge(gate(), known, known).verdict is Verdict.NO_WORSE, "the key of a run covers all of its stages"


def test_a_change_of_one_stage_leaves_the_others_unchanged() -> None:
    rules = gate(face__recall=Rule(), number__recall=Rule())
    base = benchmark_run(GOOD[:10], GOOD[:10])
    keys = {**base.tasks["photos"].stage_keys, "number": "another reader"}
    run = replace(base, tasks={"photos": replace(base.tasks["photos"], stage_keys=keys)})
    verdicts = {item.metric: item.verdict for item in judge(rules, run, base).metrics}
    assert verdicts == {"face/recall": Verdict.NO_WORSE, "number/recall": Verdict.CANNOT_TELL}


def test_a_change_that_its_interval_does_not_show_says_why() -> None:
    """Twelve photos of forty find nothing any more, and invent as much as before: precision falls by little on each."""
    few = [(2, 0, 0)] * 28 + [(0, 0, 2)] * 12
    runs = [benchmark_run(each) for each in ([*[(2, 0, 0)] * 40, (1, 1, 0)], [*few, (1, 1, 0)])]
    (item,) = judge(gate(face__precision=Rule()), runs[1], runs[0]).metrics
    assert item.verdict is Verdict.REGRESSED
    assert (item.low is not None and item.low < 0, item.high is not None and item.high > 0) == (True, True)
    assert item.note.startswith("12 of the 12 groups that moved did so for the worse, which is more than chance does; ")


def test_a_gain_names_what_it_could_not_see() -> None:
    before = benchmark_run([(0, 0, 1)] * 8, numbers=[(1, 0, 0)] * 8)
    after = benchmark_run([(1, 0, 0)] * 8, numbers=[(1, 0, 0)] * 8)
    judgement = judge(gate(face__recall=Rule(), number__recall=Rule()), after, before)
    assert judgement.verdict is Verdict.IMPROVED
    assert verdicts(judgement) == {"face/recall": Verdict.IMPROVED, "number/recall": Verdict.CANNOT_TELL}
    (words,) = unseen(judgement)
    item = judgement.open[0]
    assert item.rough
    assert words == (
        "number/recall: nothing moved on these items, but a loss of 0.0500 cannot be excluded; one below "
        f"{item.unseen:.4f} could go unseen (rough: 8 groups); to see 0.0500 takes about {item.needed} photos"
    )
    assert words in text_judgement(judgement)
    assert f"- {words}" in markdown_judgement(judgement)
    assert judgement_tags(judgement, "key", "base")["verdict.unseen"] == words
    assert judgement_tags(judgement, "key", "base")["verdict.judge_version"] == str(JUDGE_VERSION)


def test_metrics_of_several_tasks_are_judged_by_the_groups_of_all() -> None:
    names = [f"table {number}" for number in range(6)]
    before = with_tables(benchmark_run(GOOD), dict.fromkeys(names, 8))
    after = with_tables(benchmark_run(WORSE), dict.fromkeys(names, 3))
    rates = paired(after, before)
    assert {len(rates["face/recall"].moves), len(rates["table/accuracy"].moves)} == {46}
    assert (rates["face/recall"].groups, rates["table/accuracy"].groups) == (40, 6)
    assert not (rates["face/recall"].moves * rates["table/accuracy"].moves).any()
    both = judge(gate(face__recall=Rule(), table__accuracy=Rule()), after, before)
    assert set(verdicts(both).values()) == {Verdict.REGRESSED}

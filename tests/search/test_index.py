"""The index of a ledger says what a reader of all trials would say, and costs no more as they grow."""

from __future__ import annotations

import math
import re
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from optuna.trial import FrozenTrial

from harness.base.errors import ConfigError, HarnessError
from harness.report.study_page import ShownTrial, StudyPage
from harness.scoring import Interval
from harness.scoring.uncertainty import one_sided
from harness.search.base import read_base
from harness.search.experiment import Budget, Experiment, Limit
from harness.search.finishing import trial_table
from harness.search.index import Spans, TrialIndex
from harness.search.ledger import Ledger
from harness.search.loop import make_outcome, search
from harness.search.space import Parameter, Point
from harness.search.storage import JOURNAL
from harness.search.trials import State, TrialRecord, broken, ranked, record_of
from harness.search.verification import verified
from tests.search.points import evaluate, experiment, value_of

OpenLedger = Callable[..., Ledger]
OLDER = Path(__file__).parent / "data" / "older_journal.log"
OLDER_STUDY = {
    "study": "older",
    "constraints": {"number/precision": {"at_least": 0.5}},
    "budget": {"trials": 12, "minutes": 10},
}


@pytest.fixture
def older(tmp_path: Path) -> Ledger:
    """A ledger that an older harness has begun: with one trial asked for, and every other state a trial can end in."""
    (tmp_path / "older").mkdir()
    shutil.copy(OLDER, tmp_path / "older" / JOURNAL)
    return Ledger.open(experiment(**OLDER_STUDY), tmp_path / "older", create=False)


def test_the_ledger_of_an_older_harness_is_read_and_goes_on(older: Ledger) -> None:
    trials = older.trials()
    assert Counter(str(trial.state) for trial in trials) == {
        "complete": 5,
        "pruned": 1,
        "failed": 1,
        "cancelled": 1,
        "asked": 1,
    }
    best = older.best()
    assert best is not None
    assert (best.number, best.hypothesis, best.run_id, best.values) == (6, "the middle", "run-6", (1.0,))
    assert [trial.number for trial in trials if not trial.feasible] == [2]
    assert broken(older.experiment, trials[2]) == ["number/precision 0.4000, expected at least 0.5"]
    assert trials[0].sides is None
    assert trials[1].sides is not None
    assert list(trials[1].sides) == [[1, 0, 1, 1], [1, 1, 1, 1]]
    base, verification = read_base(older), verified(older, best)
    assert base is not None
    assert verification is not None
    assert (base.run_id, base.values, verification.same) == ("run-base", (0.5,), True)
    assert (older.spending().trials, older.closed()) == (8, None)
    search(older, evaluate)
    assert older.spending().trials == 12
    assert older.trials()[:7] == trials[:7]


def naive(ledger: Ledger, now: float) -> tuple[dict[str, int], float, set[str]]:
    """States, minutes and points from all trials, read anew."""
    trials = [record_of(trial) for trial in ledger.study.get_trials(deepcopy=False)]
    counted = [trial for trial in trials if trial.counts]
    spans = [
        (trial.started, now if trial.seconds is None else trial.started + trial.seconds)
        for trial in counted
        if trial.started and (trial.seconds is not None or trial.state is State.RUNNING)
    ]
    return Counter(str(trial.state) for trial in counted), union(spans) / 60, {str(trial.point) for trial in counted}


def union(spans: list[tuple[float, float]]) -> float:
    total, reached = 0.0, float("-inf")
    for start, end in sorted(spans):
        total += max(end - max(start, reached), 0.0)
        reached = max(reached, end)
    return total


def test_the_index_follows_whatever_others_do_to_the_ledger(open_ledger: OpenLedger) -> None:
    """Two ledgers on one journal: what one does, the other knows."""
    ours, theirs = (open_ledger(budget={"trials": 30, "minutes": 10}) for _ in range(2))
    with ours.worker() as first, theirs.worker() as second:
        for step in range(12):
            ledger, worker = (ours, first) if step % 2 else (theirs, second)
            trial = ledger.claim(worker)
            assert trial is not None
            if step == 3:
                ledger.fail(trial.number, "no")
            elif step == 4:
                ledger.prune(trial.number, 0.1, 8)
            elif step != 7:  # which stays under way
                ledger.tell(trial.number, [value_of(trial)], {"x": 1.0 if step == 5 else -1.0})
        asked = theirs.claim("")
        assert asked is not None
        theirs.give_back(asked.number, "not now")
    for ledger in (ours, theirs):
        now = 2e9
        states, minutes, points = naive(ledger, now)
        index = ledger._refreshed()
        spending = index.spending(Budget(trials=30, minutes=10), now)
        assert dict(spending.states) == states
        assert spending.minutes == pytest.approx(minutes)
        assert (spending.trials, spending.under_way, index.distinct) == (12, 1, len(points))
        order = ranked(ledger.experiment, ledger.trials())
        assert ledger.best() == order[0]
        assert len(order) == 8
        assert all(index.tried(trial.point) == trial for trial in ledger.trials() if trial.counts)
    assert ours.trials() == theirs.trials()


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=30), st.integers(0, 5))
def test_the_union_of_spans_is_that_of_all_of_them(pairs: list[tuple[int, int]], late: int) -> None:
    spans = [(float(start), float(start + length)) for start, length in pairs]
    kept, others = spans[: len(spans) - late], spans[len(spans) - late :] if late else []
    added = Spans()
    for start, end in kept:
        added.add(start, end)
    assert added.total == union(kept)
    assert added.with_others(others) == union(kept + others)
    assert added.total == union(kept), "what is asked is not kept"


def test_a_claim_reads_only_what_is_new(open_ledger: OpenLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever looks through all trials would make each claim dearer than the one before."""
    ledger = open_ledger(budget={"trials": 100, "minutes": 10}, sampler="random")
    with ledger.worker() as worker:
        for _ in range(3):
            claimed = ledger.claim(worker)
            assert claimed is not None
            ledger.tell(claimed.number, [value_of(claimed)], {})
        storage = type(ledger.study._storage)
        monkeypatch.setattr(storage, "get_all_trials", lambda *_args, **_more: pytest.fail("read all trials"))
        read: list[int] = []
        put = TrialIndex._put

        def watched(self: TrialIndex, trial: FrozenTrial) -> None:
            read.append(trial.number)
            put(self, trial)

        monkeypatch.setattr(TrialIndex, "_put", watched)
        for number in range(3, 9):
            claimed = ledger.claim(worker)
            assert claimed is not None
            ledger.tell(number, [value_of(claimed)], {})
            assert ledger.spending().trials == number + 1
            assert ledger.best() is not None
    assert set(read) == set(range(3, 9))
    assert len(read) <= 4 * 6


def test_a_grid_goes_on_where_it_was_and_comes_back_to_what_was_given_back(open_ledger: OpenLedger) -> None:
    space = {"link.max_drop": [1.6, 2.0, 2.5, 3.0]}
    ledger = open_ledger(space=space, sampler="grid", budget={"trials": 9, "minutes": 10})
    first = ledger.claim("")
    assert first is not None
    with ledger.worker() as worker:
        for _ in range(2):
            trial = ledger.claim(worker)
            assert trial is not None
            ledger.tell(trial.number, [0.5], {})
        ledger.give_back(first.number, "not now")
        points = []
        while trial := ledger.claim(worker):
            points.append(trial.point["link.max_drop"])
            ledger.tell(trial.number, [0.5], {})
    assert points == [3.0, 1.6]


def test_the_base_is_told_to_the_sampler_and_costs_nothing(open_ledger: OpenLedger) -> None:
    ledger = open_ledger(budget={"trials": 3, "minutes": 10})
    point: Point = {"link.min_drop": 1.0, "link.max_drop": 5.0, "link.half_width": 2.0}
    with ledger.place.exclusive():
        ledger.tell_base(point, [0.9], {}, mlflow_run_id="run-base")
        ledger.note("first", [["preset fast", {**point, "link.min_drop": 0.5}], ["preset best", point]])
    (base,) = ledger.trials()
    assert (base.is_base, base.state, base.counts, ledger.best()) == (True, State.COMPLETE, False, None)
    assert [trial.value for trial in ledger.study.get_trials()] == [0.9]
    with ledger.worker() as worker:
        first = ledger.claim(worker)
        assert first is not None
        assert (first.proposed_by, first.point) == ("preset fast", {**point, "link.min_drop": 0.5})
        ledger.tell(first.number, [0.8], {})
        again = ledger.claim(worker, point)
        assert again is not None
        assert again.number == base.number, "it was tried"
        second = ledger.claim(worker)
        assert second is not None
        assert second.proposed_by == "tpe"
    assert ledger.spending().trials == 2
    best = ledger.best()
    assert best is not None
    assert best.number == first.number, "the base itself cannot win"


@pytest.mark.parametrize(
    ("parameter", "value", "expected"),
    [
        ({"choices": [1.6, 2.5]}, 2.0, 1.6),
        ({"choices": [1.6, 2.5]}, 2.5, 2.5),
        ({"choices": ["fast", "best"]}, "best", "best"),
        ({"choices": ["fast", "best"]}, "plain", None),
        ({"choices": [True, False]}, 1, None),
        ({"low": 0.0, "high": 1.0, "step": 0.25}, 0.7, 0.75),
        ({"low": 0.0, "high": 1.0}, 7.0, 1.0),
        ({"low": 1, "high": 9}, 3.4, 3),
        ({"low": 0.0, "high": 1.0}, "wide", None),
    ],
)
def test_a_value_off_the_space_has_a_nearest_one(parameter: dict[str, Any], value: Any, expected: Any) -> None:
    assert Parameter.model_validate(parameter).nearest(value) == expected


class TestCertainty:
    """A constraint with a certainty is held against the bound of its metric."""

    def limited(self, **limit: float) -> Experiment:
        return experiment(constraints={"number/f1": limit})

    def test_the_bound_is_that_of_the_interval_with_one_side(self) -> None:
        # 9 of 10 by Clopper and Pearson: the 90 % lower bound is the 10 % quantile of Beta(9, 2), 0.663.
        low, high = one_sided(0.9, 10, 0.9)
        assert (round(low, 4), round(high, 4)) == (0.6632, 0.9895)
        assert one_sided(1.0, 32, 0.975)[0] == pytest.approx(0.8911, abs=1e-4), "32 of 32: [89.1, 100]"

    def test_a_value_that_is_good_by_chance_does_not_do(self) -> None:
        made = self.limited(at_least=0.8, certainty=0.9)
        few, many = (Interval(0, 1, n_eff, 50) for n_eff in (10, 400))
        metrics = {"link/f1": 0.5, "number/f1": 0.9}
        refused = make_outcome(made, "", metrics, {"number/f1": few}, None)
        kept = make_outcome(made, "", metrics, {"number/f1": many}, None)
        assert refused.violations["number/f1"] == pytest.approx(0.8 - 0.6632, abs=1e-4)
        assert refused.bounds == {"number/f1": pytest.approx(0.6632, abs=1e-4)}
        assert kept.violations["number/f1"] < 0
        plain = make_outcome(self.limited(at_least=0.8), "", metrics, {}, None)
        assert plain.violations["number/f1"] == pytest.approx(-0.1)
        assert not plain.bounds
        at_most = self.limited(at_most=0.95, certainty=0.9)
        assert make_outcome(at_most, "", metrics, {"number/f1": few}, None).violations["number/f1"] > 0

    def test_what_has_no_interval_is_refused(self) -> None:
        made = self.limited(at_least=0.8, certainty=0.9)
        with pytest.raises(HarnessError, match="nothing says how sure it is"):
            make_outcome(made, "", {"link/f1": 0.5, "number/f1": 0.9}, {}, None)
        with pytest.raises(ValueError, match="one bound"):
            Limit(at_least=0.1, at_most=0.9, certainty=0.9)
        for certainty in (0.5, 1.0):
            with pytest.raises(ValueError, match="certainty"):
                Limit(at_least=0.1, certainty=certainty)

    def test_a_trial_that_breaks_it_is_told_with_value_and_bound(self) -> None:
        made = self.limited(at_least=0.8, certainty=0.9)
        trial = TrialRecord(
            3, State.COMPLETE, {}, (0.5,), {"number/f1": 0.9}, bounds={"number/f1": 0.6632}, feasible=False
        )
        assert broken(made, trial) == [
            "number/f1 0.9000, with 90 % certainty at least 0.6632: too low for 0.8",
        ]
        table = trial_table(made, [trial])
        assert (table["number/f1"], table["number/f1 bound"], table["feasible"]) == ([0.9], [0.6632], [False])

    def test_a_definition_without_it_is_what_it_was(self) -> None:
        assert self.limited(at_least=0.8).definition()["constraints"] == {
            "number/f1": {"at_least": 0.8, "at_most": None}
        }
        assert "certainty" in self.limited(at_least=0.8, certainty=0.9).definition()["constraints"]["number/f1"]


def test_a_certainty_of_seconds_is_refused() -> None:
    from harness.search.searchable import check_experiment

    made = experiment(constraints={"runtime/pipeline_seconds": {"at_most": 3, "certainty": 0.9}})
    with pytest.raises(ConfigError, match="a time has no interval"):
        check_experiment(made)


def test_the_page_of_a_study_escapes_everything_and_needs_nothing_else() -> None:
    """Names, hypotheses and values come from people and agents."""
    evil = "<script>alert(1)</script>"
    trials = [
        ShownTrial(0, "complete", 0.5, {"link.max_drop": 1.6, "face": evil}),
        ShownTrial(1, "infeasible", 0.9, {"link.max_drop": 2.5, "face": "yunet"}),
        ShownTrial(2, "pruned", 0.1, {"link.max_drop": 2.0, "face": "yunet"}),
        ShownTrial(3, "failed", None, {"link.max_drop": 3.0, "face": "yunet"}),
    ]
    texts: tuple[Any, ...] = (evil, evil, evil, evil, 1, 0.4, False, evil, [evil], trials, ["link.max_drop", "face"])
    learned = [replace(trials[0], told=[evil] * 6)]
    more: tuple[Any, ...] = ({evil: {evil: 0.7}}, 0, [(evil, evil, evil)], learned, [evil] * 6, [evil], evil)
    page = StudyPage(*(*texts, *more))
    html = page.html()
    assert "<script" not in html
    assert html.count("&lt;script&gt;") > 15
    assert not re.findall(r'(?:src|href)="(?!data:|#)', html.replace("xlink:href", "href"))
    assert "default-src 'none'" in html
    assert html.count("<svg") == 3, "the history and a plot for each parameter"
    assert "given up early" in html
    assert "breaks a constraint" in html


def test_a_trial_that_was_given_up_has_no_value_on_the_page() -> None:
    """What it has seen is a part of the photos: it stands at the foot, and no axis reaches for it."""
    trials = [
        ShownTrial(0, "complete", 0.8, {"link.max_drop": 1.6}),
        ShownTrial(1, "pruned", None, {"link.max_drop": 2.0}),
    ]
    plain: tuple[Any, ...] = ("s", "", "", "link/f1", 1, 0.79, True, "", [], trials, ["link.max_drop"], {}, 0, [])
    html = StudyPage(*(*plain, [], [], [], "")).html()
    assert "given up early, at the foot" in html
    low = [ShownTrial(0, "complete", 0.8, {"link.max_drop": 1.6}), ShownTrial(1, "pruned", 0.1, {"link.max_drop": 2.0})]
    assert StudyPage(*(*plain[:9], low, *plain[10:], [], [], [], "")).html() == html


def test_thousands_of_trials_make_no_heavy_page() -> None:
    trials = [ShownTrial(n, "complete", math.sin(n), {"link.max_drop": n / 100}) for n in range(5000)]
    plain: tuple[Any, ...] = ("s", "", "", "link/f1", 1, 0.4, True, "", [], trials, ["link.max_drop"], {}, 9, [])
    assert len(StudyPage(*(*plain, [], [], [], "")).html()) < 1_000_000


@pytest.mark.parametrize("kind", ["infeasible", "pruned"])
def test_a_study_without_a_trial_that_can_win_has_a_page(kind: str) -> None:
    trials = [ShownTrial(0, kind, 0.5, {"preset": "fast"}), ShownTrial(1, kind, 0.4, {"preset": "best"})]
    plain: tuple[Any, ...] = ("s", "", "", "link/f1", 1, 0.6, True, "", [], trials, ["preset"], {}, None, [])
    html = StudyPage(*(*plain, [], [], [], "")).html()
    assert html.count("<svg") == 2
    assert "best so far" not in html

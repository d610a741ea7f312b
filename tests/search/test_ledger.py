"""The ledger: distinct points within a budget, whatever becomes of its workers, in a journal and on PostgreSQL."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from harness.base.errors import BudgetError, ConflictError
from harness.search.ledger import Ledger
from harness.search.loop import search
from harness.search.proposal import preset_yaml
from harness.search.space import point_key
from harness.search.storage import JOURNAL, JournalPlace
from harness.search.trials import State, TrialRecord, ranked
from harness.search.verbs import claim_or_refuse
from tests.conftest import ROOT
from tests.search.points import evaluate, experiment, value_of

OpenLedger = Callable[..., Ledger]


def distinct(trials: list[TrialRecord]) -> set[str]:
    return {point_key(trial.point) for trial in trials if trial.counts}


def numbers(trials: list[TrialRecord]) -> list[tuple[str, tuple[float, ...]]]:
    return [(point_key(trial.point), trial.values) for trial in trials]


def test_a_search_ends_with_its_budget_and_keeps_what_it_found(anywhere: str, open_ledger: OpenLedger) -> None:
    ledger = open_ledger()
    search(ledger, evaluate)
    trials = open_ledger().trials()
    assert len(distinct(trials)) == 10
    assert ledger.closed() == "the budget of 10 trials is spent"
    best = ranked(ledger.experiment, trials)[0]
    assert best.values == (max(value_of(trial) for trial in trials if trial.state is State.COMPLETE),)
    assert best.run_id == f"run-{best.number}"


def test_a_failed_trial_is_told_and_does_not_end_the_search(open_ledger: OpenLedger) -> None:
    ledger = open_ledger(space={**experiment().model_dump()["space"], "link.min_drop": [1.0, 2.0]}, sampler="random")
    search(ledger, evaluate)
    states = {trial.point["link.min_drop"]: trial for trial in ledger.trials()}
    assert states[2.0].state is State.FAILED
    assert states[2.0].reason == "no bib hangs so low"
    assert states[1.0].state is State.COMPLETE
    assert len(distinct(ledger.trials())) == 10


def test_an_error_of_the_code_fails_one_trial_loudly(
    open_ledger: OpenLedger, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = open_ledger(budget={"trials": 1, "minutes": 1})
    search(ledger, lambda _: 1 / 0)  # type: ignore[arg-type,return-value]
    assert ledger.trial(0).reason == "ZeroDivisionError: division by zero"
    assert "Traceback" in capsys.readouterr().err


def test_stopping_anywhere_and_going_on_changes_nothing(open_ledger: OpenLedger) -> None:
    whole, parts = open_ledger(study="whole"), open_ledger(study="parts", budget={"trials": 4, "minutes": 10})
    search(whole, evaluate)
    search(parts, evaluate)
    parts.note("budget", {"trials": 10, "minutes": 10})
    search(open_ledger(study="parts"), evaluate)
    assert numbers(open_ledger(study="parts").trials()) == numbers(whole.trials())


def test_a_small_space_is_searched_to_its_last_point_without_a_repeat(open_ledger: OpenLedger) -> None:
    space = {"link.min_drop": [0.0, 1.0], "link.max_drop": [3.0, 5.0, 7.0], "link.half_width": [2.0]}
    for sampler in ("tpe", "random", "grid", "nsga2"):
        ledger = open_ledger(study=sampler, sampler=sampler, space=space)
        search(ledger, evaluate)
        counted = [trial for trial in ledger.trials() if trial.counts]
        assert len(counted) == len(distinct(ledger.trials())) == 6
        assert ledger.closed() == "every point of the space was tried"


def test_a_point_that_was_tried_is_answered_from_the_ledger(open_ledger: OpenLedger) -> None:
    ledger = open_ledger(budget={"trials": 1, "minutes": 10})
    search(ledger, evaluate)
    first = ledger.trial(0)
    with ledger.worker() as worker:
        assert claim_or_refuse(ledger, worker, first.point) == first
        with pytest.raises(BudgetError, match="the budget of 1 trials is spent"):
            claim_or_refuse(ledger, worker, {**first.point, "link.half_width": 3.9})
    assert len(ledger.trials()) == 1


def test_duplicates_of_the_sampler_are_told_and_cost_nothing(open_ledger: OpenLedger) -> None:
    space = {"link.min_drop": [0.0, 1.0], "link.max_drop": [5.0], "link.half_width": [1.0, 2.0]}
    ledger = open_ledger(space=space, sampler="random", seed=1)
    search(ledger, evaluate)
    repeated = [trial for trial in ledger.trials() if trial.state is State.DUPLICATE]
    assert repeated
    for trial in repeated:
        assert trial.duplicate_of is not None
        twin = ledger.trial(trial.duplicate_of)
        assert (trial.values, trial.run_id) == (twin.values, twin.run_id)
    assert ledger.spending().trials == 4


def test_what_is_asked_for_counts_until_it_is_told_or_given_back(anywhere: str, open_ledger: OpenLedger) -> None:
    ledger = open_ledger(budget={"trials": 2, "minutes": 10})
    first, second = claim_or_refuse(ledger, ""), claim_or_refuse(ledger, "")
    assert (first.state, second.state) == (State.ASKED, State.ASKED)
    with pytest.raises(BudgetError):
        claim_or_refuse(ledger, "")
    ledger.give_back(first.number, "changed my mind")
    third = claim_or_refuse(ledger, "")
    ledger.tell(third.number, (0.5,), {})
    with pytest.raises(ConflictError, match="trial 2 is complete already"):
        ledger.tell(third.number, (0.9,), {})
    with pytest.raises(ConflictError, match="has no trial 7"):
        ledger.tell(7, (0.9,), {})


def test_the_trial_of_a_dead_worker_is_taken_over_and_a_deadly_one_is_not(
    anywhere: str, open_ledger: OpenLedger
) -> None:
    ledger = open_ledger()
    with ledger.worker() as alive:
        kept = ledger.claim(alive)
        with ledger.worker() as dead:
            left = ledger.claim(dead)
        assert kept
        assert left
        for attempt in (2, 3):
            with ledger.worker() as heir:
                again = ledger.claim(heir)
                assert again
                assert (again.number, again.point, again.attempts) == (left.number, left.point, attempt)
        with ledger.worker() as next_one:
            other = ledger.claim(next_one)
        assert other
        assert other.number == 2
        assert ledger.trial(left.number).reason == "3 workers died over it"
        assert ledger.trial(kept.number).worker == alive


def test_minutes_are_those_of_work_and_end_a_search(open_ledger: OpenLedger) -> None:
    ledger = open_ledger(budget={"trials": 100, "minutes": 0.01})

    def sleepy(trial: TrialRecord) -> object:
        time.sleep(0.25)
        return evaluate(trial)

    search(ledger, sleepy)  # type: ignore[arg-type]
    done = ledger.spending()
    assert 0.01 <= done.minutes < 0.03
    assert done.trials < 10
    time.sleep(0.3)
    assert ledger.spending().minutes == done.minutes
    assert ledger.closed() == "the budget of 0.01 minutes is spent"


def test_a_cancelled_search_gives_no_more_trials(open_ledger: OpenLedger) -> None:
    ledger = open_ledger()
    search(ledger, evaluate, lambda trial: ledger.note("cancelled", trial.number >= 2))
    assert len(ledger.trials()) == 3
    assert "cancelled" in str(ledger.closed())


def test_another_definition_under_the_same_name_is_a_conflict(open_ledger: OpenLedger) -> None:
    open_ledger()
    open_ledger(sampler="random", seed=3, budget={"trials": 99, "minutes": 1})
    with pytest.raises(ConflictError, match="its base and constraints changed since it was begun"):
        open_ledger(base=["preset=fast"], constraints={"bib/f1": {"at_least": 0.5}})


def test_constraints_keep_a_trial_from_winning(open_ledger: OpenLedger) -> None:
    ledger = open_ledger(constraints={"link/recall": {"at_least": 0.5}})
    for violation in (0.1, -0.1):
        trial = claim_or_refuse(ledger, "")
        ledger.tell(trial.number, (1.0 - trial.number / 10,), {"link/recall": violation})
    assert [trial.number for trial in ranked(ledger.experiment, ledger.trials())] == [1]


def test_half_a_line_at_the_end_of_a_journal_is_taken_off(tmp_path: Path) -> None:
    ledger = Ledger.open(experiment(), tmp_path)
    search(ledger, evaluate)
    before = (tmp_path / JOURNAL).read_bytes()
    (tmp_path / JOURNAL).write_bytes(before + b'{"op_code":4,"worker')
    assert numbers(Ledger.open(experiment(), tmp_path).trials()) == numbers(ledger.trials())
    assert (tmp_path / JOURNAL).read_bytes().startswith(before)
    assert not JournalPlace(tmp_path).is_alive("nobody")


def start(tmp_path: Path, trials: int, seconds: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.search.points", str(tmp_path / "formula"), str(tmp_path / "log")]
    command += [str(trials), str(seconds)]
    return subprocess.Popen(command, cwd=ROOT, env=dict(os.environ), stderr=subprocess.PIPE, text=True)


def said(tmp_path: Path, what: str) -> list[int]:
    lines = (tmp_path / "log").read_text().splitlines() if (tmp_path / "log").exists() else []
    return [int(line.split()[1]) for line in lines if line.startswith(what)]


def test_eight_workers_at_once_on_a_fresh_study(anywhere: str, tmp_path: Path) -> None:
    workers = [start(tmp_path, 32, 0.02) for _ in range(8)]
    errors = [worker.communicate(timeout=240)[1] for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * 8, errors
    trials = Ledger.open(experiment(), tmp_path / "formula").trials()
    counted = [trial for trial in trials if trial.counts]
    assert len(counted) == len(distinct(trials)) == 32
    assert {trial.state for trial in counted} <= {State.COMPLETE, State.FAILED}
    assert sorted(said(tmp_path, "begin")) == sorted(said(tmp_path, "end")) == sorted(t.number for t in counted)


def test_killed_in_the_middle_and_resumed(anywhere: str, tmp_path: Path) -> None:
    trials_asked, killed_at = (40, 15) if anywhere == "journal" else (20, 7)
    first = start(tmp_path, trials_asked, 0.05)
    deadline = time.monotonic() + 120
    while killed_at not in said(tmp_path, "begin"):
        assert first.poll() is None, first.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.005)
    first.kill()
    first.wait()
    ended = said(tmp_path, "end")
    second = start(tmp_path, trials_asked, 0.0)
    assert second.wait(timeout=120) == 0, second.communicate()[1]
    trials = Ledger.open(experiment(), tmp_path / "formula").trials()
    counted = [trial for trial in trials if trial.counts]
    assert len(counted) == len(distinct(trials)) == trials_asked
    assert {trial.state for trial in counted} <= {State.COMPLETE, State.FAILED}
    after = said(tmp_path, "end")
    assert len(after) == len(set(after))
    assert set(ended) <= set(after)
    assert len(said(tmp_path, "begin")) - len(set(said(tmp_path, "begin"))) <= 1


def test_a_proposed_preset_keeps_the_names_of_choices_and_the_kinds_of_values(open_ledger: OpenLedger) -> None:
    base = ["preset=fast", "identity=off", "bib.guided=0.2", "face.threshold=5e-1", "bib.plate.widen=1"]
    ledger = open_ledger(base=base)
    search(ledger, evaluate)
    proposed = yaml.safe_load(preset_yaml(ledger, ledger.trial(0)))
    assert proposed["defaults"] == [{"override /identity": "off"}]
    assert proposed["bib"]["guided"] == 0.2
    assert proposed["face"]["threshold"] == 0.5  # a text in YAML, and a number on the command line

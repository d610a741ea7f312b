"""Whole searches on real pictures through the command line: found, verified, proposed, and held against the holdout."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hydra import compose, initialize_config_dir

from harness.__main__ import run
from harness.base.conf import conf_dir
from harness.base.errors import ConflictError
from harness.evaluate import evaluate
from harness.references.contents import read_file
from harness.references.files import BibFaceLinks, write_file
from harness.runs.gate import Judgement, MetricVerdict, Verdict
from harness.runs.looks import Protection
from harness.search import verbs
from harness.search.base import ensure_base, open_runs
from harness.search.holdout import Peek, Standing, weigh
from harness.search.ledger import Ledger
from harness.search.loop import Outcome
from harness.search.pruning import Race, in_order, log_pruned, rungs
from harness.search.replay import Replay
from harness.search.searchable import trial_config, trial_spec
from harness.search.space import Point
from harness.search.trials import State
from harness.tracking.catalog import load_run
from harness.tracking.finding import list_runs
from harness.tracking.store import LocalStore
from tests.conftest import QUICK
from tests.search.conftest import WriteExperiment
from tests.search.points import experiment

pytestmark = pytest.mark.slow

Said = Callable[..., Any]

#: A worker that is killed in the middle of a trial.
DIES_AT_WORK = """
import os, signal
from harness.search import verbs
from harness.tasks.photos import predicting
predicting.predict = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
verbs.run("low_bibs")
"""


@pytest.fixture
def said(desk: Path, capsys: pytest.CaptureFixture[str]) -> Said:
    """Run a search command with --json; gives what it printed, after checking its exit code."""

    def call(*arguments: str, code: int = 0) -> Any:
        capsys.readouterr()
        found = run(["search", *arguments, "--json"])
        printed = capsys.readouterr()
        assert found == code, printed.err
        return json.loads(printed.out) if printed.out else printed.err

    return call


def runs_of(desk: Path) -> list[Any]:
    return list_runs(LocalStore(str(desk / "mlruns"), "harness").open())


def test_a_search_finds_verifies_and_proposes_and_an_overfit_is_caught(
    write_experiment: WriteExperiment, said: Said, desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(write_experiment())
    board = said(path)
    # Five of the eight bibs of the search hang too low for the base; every trial that reaches them gets all links.
    assert board["base"] == {"link/f1": pytest.approx(6 / 11)}
    assert board["best"]["values"] == {"link/f1": 1.0}
    assert board["gain"]["gain"] == pytest.approx(5 / 11)
    # Five photos moved, all of them to the better: chance does that once in 32 times.
    assert (board["selection"]["finding"], board["worth_proposing"]) == ("shown to be better", True)
    assert 0 < board["selection"]["bound_95"] < board["selection"]["observed"] == pytest.approx(5 / 11)
    assert (board["selection"]["groups"], board["selection"]["moved"]) == (8, 5)
    assert board["selection"]["left_out"] > 0
    assert board["budget"]["trials"] == 4
    assert board["cold_rerun"] == "the same scorecards"
    assert board["holdout_peeks"] == 0
    runs = runs_of(desk)
    assert {item.study for item in runs} == {"low_bibs"}
    assert {item.data_split for item in runs} == {"iteration"}
    trials = [item for item in runs if "link.max_drop=" in item.name and not item.note]
    assert [item.run_id for item in trials] == [board["best"]["run_id"]], "of the trials the best alone is a run"
    assert len(runs) == 1 + 1 + 1  # and the base, and the cold re-run
    store = LocalStore(str(desk / "mlruns"), "harness").open()
    pictures = {item.run_id: [file.path for file in store.client.list_artifacts(item.run_id)] for item in runs}
    assert not [path for item in trials for path in pictures[item.run_id] if path.endswith(".jpg")]
    assert [path for path in pictures[board["base_run"]] if path.endswith(".jpg")]
    assert load_run(store, board["best"]["run_id"]).metrics["link/f1"] == 1.0

    first = said("confirm", "low_bibs", code=1)
    assert first["peek"]["standing"] == "DOES NOT HOLD UP"
    assert first["peek"]["verdict"] == "REGRESSED"
    assert first["peek"]["data"] == "13 photos of staging (holdout) and 23 people of staging (holdout)"
    assert first["peek"]["words"] == "a gated metric is worse there than with the base"
    assert first["peek"]["searched"]["gain"] > 0
    assert "held_out" not in first["peek"], "no score of the holdout is told"
    assert first["peek"]["look"].startswith("look 1 of 10")
    assert (first["repeated"], first["peeks"]) == (False, 1)
    made = len(runs_of(desk))
    second = said("confirm", "low_bibs", code=1)
    assert (second["repeated"], second["peeks"], second["peek"]) == (True, 1, first["peek"])
    assert len(runs_of(desk)) == made
    assert run(["search", "leaderboard", "low_bibs"]) == 0
    shown = capsys.readouterr().out
    assert "Holdout: looked at once for this study; trial" in shown
    assert "trials on 8 groups: observed +0.4545, on left-out groups +0." in shown
    assert ": shown to be better." in shown

    # The same search under another name starts a count of its own, but the holdout knows the judgement.
    best = board["best"]["params"]["link.max_drop"]
    said(str(write_experiment("renamed", space={"link.max_drop": [best]})))
    third = said("confirm", "renamed", code=1)
    assert (third["peeks"], third["peek"]["look"]) == (1, first["peek"]["look"])
    said(str(write_experiment("another", space={"link.max_drop": [best + 0.3]})))
    assert said("confirm", "another", code=1)["peek"]["look"].startswith("look 2 of 10")


def test_an_honest_gain_holds_up(write_experiment: WriteExperiment, said: Said, race: Path, desk: Path) -> None:
    honest = Path(shutil.copytree(race, desk / "honest"))
    links = read_file(honest, BibFaceLinks).model_dump()
    write_file(honest, BibFaceLinks.model_validate({"photos": {sha256: [(0, 0)] for sha256 in links["photos"]}}))
    base = ["references=staging", f"references.root={honest}", "preset=fast", "link.max_drop=1.7"]
    write_experiment(base=[*base, *QUICK], space={"link.max_drop": [2.5]})
    said("experiments/low_bibs.yaml")
    answer = said("confirm", "low_bibs")
    assert answer["peek"]["standing"] == "HOLDS UP"
    assert answer["peek"]["verdict"] == "IMPROVED"


def test_the_proposed_preset_is_the_configuration_of_the_trial(
    write_experiment: WriteExperiment, said: Said, desk: Path, tmp_path: Path
) -> None:
    base = [*yaml.safe_load(write_experiment().read_text())["base"], "link.max_drop=1.5"]
    space = {"link.max_drop": [2.5], "face": ["yunet"], "bib.rule.min_char_score": [0.45]}
    write_experiment(base=base, space=space, budget={"trials": 1, "minutes": 5})
    said("experiments/low_bibs.yaml")
    answer = said("propose", "low_bibs")
    assert answer["path"] == "experiments/low_bibs/proposed_preset.yaml"
    proposed = desk / answer["path"]
    assert "# Of 1 trial on 8 groups: observed +0." in proposed.read_text()
    assert ": shown to be better.\n" in proposed.read_text()
    assert "Not confirmed on photos that the search has not seen" in proposed.read_text()
    shutil.copytree(conf_dir(), tmp_path / "conf")
    shutil.copy(proposed, tmp_path / "conf" / "preset" / "low_bibs.yaml")
    ledger = verbs.open_study("low_bibs")
    data = [item for item in ledger.experiment.base if item.startswith("references")]
    with initialize_config_dir(str(tmp_path / "conf"), version_base="1.3"):
        composed = compose("config", overrides=[*data, "preset=low_bibs"])
    wanted = trial_config(ledger.experiment, ledger.trial(0).point)
    assert {key: composed[key] for key in ("bib", "face", "link")} == {
        key: wanted[key] for key in ("bib", "face", "link")
    }


def test_a_gain_that_luck_explains_is_not_proposed_unless_a_person_insists(
    write_experiment: WriteExperiment, said: Said, desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = [*yaml.safe_load(write_experiment().read_text())["base"], "link.max_drop=2.06"]
    path = str(write_experiment(base=base, space={"link.max_drop": [2.5, 2.0]}, sampler="grid"))
    proposed = desk / "experiments" / "low_bibs" / "proposed_preset.yaml"
    board = said(path)
    assert board["best"]["params"] == {"link.max_drop": 2.5}  # the low bibs of one of the two faces: two photos
    assert (board["gain"]["gain"] > 0, board["selection"]["moved"]) == (True, 2)
    assert (board["selection"]["finding"], board["worth_proposing"]) == ("nothing found", False)
    assert board["cold_rerun"] == "the same scorecards"
    assert not proposed.exists()
    assert "trial 0 is not proposed: observed +0." in said("propose", "low_bibs", code=4)
    with pytest.raises(ConflictError, match="nothing found"):
        verbs.propose("low_bibs", 0)  # as an agent does
    assert "trial 1 does not beat the base" in said("propose", "low_bibs", "1", code=4)
    said("propose", "low_bibs", "0")
    assert "nothing found (2 of 8 groups moved; fewer than 5 never show a gain).\n" in proposed.read_text()
    assert run(["search", path]) == 0
    assert "Proposed preset" not in capsys.readouterr().out
    assert not proposed.exists()


def test_a_trial_that_breaks_a_constraint_is_no_agents_to_propose(
    write_experiment: WriteExperiment, said: Said, desk: Path
) -> None:
    """Not even where the objective has no bounds, and the trial beats the base."""
    space = {"face.threshold": [0.99]}  # no face is left, so that there is no link either
    limit = {"link/f1": {"at_least": 0.5}}
    said(str(write_experiment(space=space, objectives={"face/ap": "minimize"}, constraints=limit)))
    board = said("leaderboard", "low_bibs")
    assert (board["best"], board["base_broken"], len(board["infeasible"])) == (None, [], 1)
    with pytest.raises(ConflictError, match="trial 0 is not proposed: it breaks a constraint: link/f1 0"):
        verbs.propose("low_bibs", 0)
    said("propose", "low_bibs", "0")
    header = (desk / "experiments" / "low_bibs" / "proposed_preset.yaml").read_text()
    assert "# It breaks a constraint: link/f1 0.0000, expected at least 0.5.\n" in header


def test_a_base_that_breaks_a_constraint_is_told_and_the_best_that_keeps_to_it_is_a_persons_to_propose(
    write_experiment: WriteExperiment, said: Said, desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = [*yaml.safe_load(write_experiment().read_text())["base"][:-1], "link.max_drop=3.0"]
    path = str(
        write_experiment(base=base, space={"link.max_drop": [1.7]}, constraints={"link/recall": {"at_most": 0.9}})
    )
    board = said(path)
    assert board["base_broken"] == ["link/recall 1.0000, expected at most 0.9"]
    assert board["summary"] == (
        "trial 0 is the best that keeps to the constraints: link/f1 0.5455; the base, 1.0000, does not"
    )
    proposed = desk / "experiments" / "low_bibs" / "proposed_preset.yaml"
    assert (board["worth_proposing"], proposed.exists()) == (False, False)
    with pytest.raises(ConflictError, match="trial 0 does not beat the base"):
        verbs.propose("low_bibs", 0)  # as an agent does
    said("propose", "low_bibs", "0")
    assert "nothing found" in proposed.read_text()
    capsys.readouterr()
    assert run(["search", "leaderboard", "low_bibs"]) == 0
    assert "The base breaks a constraint: link/recall 1.0000, expected at most 0.9." in capsys.readouterr().out
    page = (desk / "experiments" / "low_bibs" / "study.html").read_text()
    assert "The base breaks a constraint: link/recall 1.0000" in page
    assert "What the best trial changes" in page


def test_a_trial_that_is_timed_is_measured_as_the_base_is(
    write_experiment: WriteExperiment, said: Said, desk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The base computes every answer, and the trial none. Links are not timed, so that both cost the same: a run that
    an earlier command has made, in another hour, says nothing."""
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cold"))
    path = str(write_experiment(space={"link.max_drop": [2.5]}, objectives={"runtime/photos_per_second": "maximize"}))
    assert run([*yaml.safe_load((desk / path).read_text())["base"]]) == 0
    board = said(path)
    assert board["best"]["values"] == board["base"]
    assert (board["gain"]["gain"], board["worth_proposing"]) == (0.0, False)
    client = LocalStore(str(desk / "mlruns"), "harness").open().client
    tags = [client.get_run(item.run_id).data.tags["runtime.measured"] for item in runs_of(desk) if item.study]
    assert len(tags) >= 2
    assert all(tag.startswith("timing pass") for tag in tags)


def test_the_page_shows_no_best_trial_where_none_beats_the_base(
    write_experiment: WriteExperiment, said: Said, desk: Path
) -> None:
    board = said(str(write_experiment(space={"link.max_drop": [1.6]})))
    assert board["summary"].startswith("none of 1 trials beats the base")
    page = (desk / "experiments" / "low_bibs" / "study.html").read_text()
    assert "Nothing found" in page
    assert "What the best trial changes" not in page
    assert "The dashed line is the base." in page


def test_trials_of_an_older_harness_are_held_against_the_base_by_their_runs(
    write_experiment: WriteExperiment, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(write_experiment(space={"link.max_drop": [2.5]}))
    kept = said(path)["selection"]
    known = Ledger.trials
    monkeypatch.setattr(Ledger, "trials", lambda ledger: [replace(trial, sides=None) for trial in known(ledger)])
    assert said("leaderboard", "low_bibs")["selection"] == kept


def test_an_objective_that_is_no_rate_of_items_has_no_bounds(write_experiment: WriteExperiment, said: Said) -> None:
    board = said(str(write_experiment(space={"link.max_drop": [2.5]}, objectives={"face/ap": "maximize"})))
    assert (board["selection"], board["standing"]) == (None, "no bounds: face/ap is no rate of items")


def test_ask_run_elsewhere_and_tell(write_experiment: WriteExperiment, said: Said, desk: Path) -> None:
    write_experiment(budget={"trials": 2, "minutes": 5})
    asked = said("ask", "low_bibs")
    assert asked["state"] == "asked"
    base = verbs.open_study("low_bibs").experiment.base
    assert run([*base, *asked["overrides"]]) == 0
    mine = runs_of(desk)[0].run_id
    stranger = next(item.run_id for item in runs_of(desk) if item.run_id != mine)
    assert "is not one of trial 0: it has link.max_drop=1.7" in said("tell", "low_bibs", "0", stranger, code=4)
    told = said("tell", "low_bibs", "0", mine)
    assert (told["state"], told["run_id"]) == ("complete", mine)
    assert "only one that was asked for" in said("tell", "low_bibs", "0", mine, code=4)
    again = said("try", "low_bibs", asked["overrides"][0], "--hypothesis", "the same once more")
    assert (again["duplicate_of"], again["run_id"]) == (0, mine)
    assert "hypothesis: say in a sentence" in said("try", "low_bibs", "link.max_drop=1.6", code=2)
    other = next(value for value in (3.0, 4.0) if asked["params"] != {"link.max_drop": value})
    said("try", "low_bibs", f"link.max_drop={other}", "--hypothesis", "no bib hangs lower than that")
    assert "the budget of 2 trials is spent" in said("ask", "low_bibs", code=3)


def test_workers_share_a_study_and_a_change_of_it_is_a_conflict(
    write_experiment: WriteExperiment, said: Said, desk: Path
) -> None:
    path = str(write_experiment())
    board = said(path, "--workers", "2", "--trials", "3")
    assert board["counts"].get("failed", 0) == 0
    assert board["budget"]["trials"] == 3
    write_experiment(space={"link.max_drop": [1.6, 9.0]})
    assert "its space changed since it was begun" in said(path, code=4)


def test_a_study_whose_photos_changed_is_a_conflict(write_experiment: WriteExperiment, said: Said, race: Path) -> None:
    path = str(write_experiment(budget={"trials": 1, "minutes": 5}))
    said(path)
    links = race / "bib_face_links.json"
    before = links.read_bytes()
    first = next(iter(read_file(race, BibFaceLinks).photos))
    changed = read_file(race, BibFaceLinks).model_dump()
    changed["photos"][first] = []
    write_file(race, BibFaceLinks.model_validate(changed))
    assert "the photos or labels of staging (iteration) have changed" in said(path, "--trials", "2", code=4)
    links.write_bytes(before)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["link_geometry", "face=mine"], 2, "face=mine: a search takes no overrides; what all of its trials share"),
        (["nonsense"], 2, "nonsense: expected an experiment file, an experiment (bib_reading, face_detection, "),
        (["nonsense"], 2, "low_bibs), or a verb (describe, leaderboard"),
        (["experiments/none.yaml"], 2, "experiments/none.yaml: cannot be read: No such file"),
        (["leaderboard"], 2, "expected: harness search leaderboard STUDY"),
        (["tell", "low_bibs", "x", "y"], 2, "x: expected the number of a trial"),
        (["leaderboard", "low_bibs"], 4, "study low_bibs has not been begun"),
        (["confirm", "low_bibs"], 4, "study low_bibs has not been begun"),
        (["experiments/low_bibs.yaml", "--trials", "0"], 2, "--trials and --minutes: expected more than 0"),
    ],
)
def test_mistakes_end_with_their_exit_code(
    write_experiment: WriteExperiment, said: Said, arguments: list[str], code: int, words: str
) -> None:
    write_experiment()
    assert words in said(*arguments, code=code)


def test_a_crash_has_an_exit_code_of_its_own(
    write_experiment: WriteExperiment, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_experiment()
    monkeypatch.setattr(verbs, "run", lambda *_: 1 / 0)
    assert "the search has crashed: ZeroDivisionError" in said("experiments/low_bibs.yaml", code=5)


def test_a_reader_that_has_seen_enough_is_no_crash(
    write_experiment: WriteExperiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_experiment()

    def closed(*_: Any) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(verbs, "describe", closed)
    with pytest.raises(BrokenPipeError):
        run(["search", "describe", "low_bibs"])


def test_the_run_of_a_killed_worker_is_ended_on_resuming_and_no_living_one(
    write_experiment: WriteExperiment, desk: Path
) -> None:
    write_experiment(budget={"trials": 2, "minutes": 10}, pruning=False, log="all")
    ledger = verbs.open_study("low_bibs", begun=False)
    ensure_base(ledger)
    killed = subprocess.run([sys.executable, "-c", DIES_AT_WORK], check=False, cwd=desk)
    assert killed.returncode == -signal.SIGKILL
    (left,) = [run for run in runs_of(desk) if run.status == "KILLED"]  # ended by being looked at
    assert left.worker == ledger.trial(0).worker
    with ledger.worker() as alive:
        ledger.adopt(verbs.ask("low_bibs").trial, alive, "takes its time")
        store = open_runs(ledger.experiment)
        living, stranger = (
            store.client.create_run(store.runs_experiment, tags={"study": "low_bibs", "study.worker": name}).info.run_id
            for name in (alive, "of-another-ledger")
        )
        verbs.run("low_bibs")
    statuses = {run.run_id: run.status for run in runs_of(desk)}
    assert (statuses[left.run_id], statuses[living], statuses[stranger]) == ("KILLED", "RUNNING", "RUNNING")
    taken_over = ledger.trial(0)
    assert (taken_over.state, taken_over.left_by) == (State.COMPLETE, (left.worker,))
    assert statuses[taken_over.run_id] == "FINISHED"


def test_a_trial_that_is_surely_worse_is_given_up_after_some_groups_of_photos(
    write_experiment: WriteExperiment, desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.search.pruning.FEWEST_GROUPS", 7)  # chance moves seven alike once in 128 times
    base = [*yaml.safe_load(write_experiment().read_text())["base"], "link.max_drop=2.5"]
    write_experiment(space={"face.long_side": [640, 48, 56]}, sampler="grid", base=base)
    ledger = verbs.open_study("low_bibs", begun=False)
    ensure_base(ledger)
    good: Point = {"face.long_side": 640}
    bad: Point = {"face.long_side": 48}
    verbs.try_point("low_bibs", "sees every face", good)
    race, trial = Race(ledger, Replay.open(ledger.experiment)), ledger.trial(0)
    glance = race.glance(replace(trial, point=bad))
    assert glance is not None
    assert (glance.best, glance.photos, glance.value, glance.best_value) == (0, 7, 0.0, 1.0)
    assert glance.certainty == pytest.approx(1 - 1 / 128)
    assert race.glance(replace(trial, point=good)) is None
    assert race.glance(replace(trial, point=bad)) is None, "what is known costs nothing, and is not raced"
    run_id = log_pruned(ledger.experiment, replace(trial, point=bad), glance)
    (logged,) = [item for item in runs_of(desk) if item.run_id == run_id]
    assert logged.study == "low_bibs"
    assert logged.metrics == {"prefix/link_f1": 0.0, "prefix/photos": 7.0}
    verbs.run("low_bibs")
    trials = ledger.trials()
    assert [item.state for item in trials] == [State.COMPLETE, State.COMPLETE, State.PRUNED]
    assert "0.0000 on the first 7 photos, where trial 0 has 1.0000" in trials[2].reason
    assert trials[2].values == (0.0,), "the sampler is told what was seen"


def test_groups_are_looked_at_in_an_order_that_the_seed_decides(race: Path, write_experiment: WriteExperiment) -> None:
    write_experiment()
    photos = trial_spec(verbs.open_study("low_bibs", begun=False).experiment, {}).photos.references.photos
    assert in_order(photos, 0) == in_order(tuple(reversed(photos)), 0)
    assert in_order(photos, 0) != in_order(photos, 1)
    tied = [replace(photo, group=f"burst {place // 2}") for place, photo in enumerate(photos)]
    assert sorted(map(len, in_order(tied, 0))) == [2, 2, 2, 2], "photos that belong together stay together"
    many = [[replace(photos[0], sha256=f"{place:064d}")] for place in range(100)]
    counts = [[len(rung) for rung in rungs(many[:count])] for count in (8, 16, 40, 100)]
    assert counts == [[], [8], [8, 10, 20], [13, 25, 50]]


@pytest.mark.parametrize(
    ("overall", "objective", "standing"),
    [
        (Verdict.IMPROVED, Verdict.IMPROVED, Standing.HOLDS),
        (Verdict.INCOMPLETE, Verdict.IMPROVED, Standing.OPEN),
        (Verdict.REGRESSED, Verdict.IMPROVED, Standing.FAILS),
        (Verdict.IMPROVED, Verdict.CANNOT_TELL, Standing.OPEN),
        (Verdict.NO_WORSE, Verdict.NO_WORSE, Standing.OPEN),
        (Verdict.CANNOT_TELL, Verdict.CANNOT_TELL, Standing.OPEN),
    ],
)
def test_a_gain_is_weighed_on_the_holdout(overall: Verdict, objective: Verdict, standing: Standing) -> None:
    moved = MetricVerdict("link/f1", 0.5123, 0.6123, 0.1, 0.05, 0.15, 40, objective)
    found, words = weigh(experiment(objectives={"link/f1": "maximize"}), Judgement(overall, metrics=(moved,)))
    assert found is standing
    assert re.search(r"\d\.\d", words) is None, "no score is told"


def test_a_gain_on_a_holdout_that_is_used_up_is_marked() -> None:
    held = Peek(1, 3, "2026-01-01", standing=Standing.HOLDS, look="look 3 of 10 at this holdout; its scores are sealed")
    assert held.told == "HOLDS UP"
    assert replace(held, look=Protection(11).words()).told == "HOLDS UP, UNPROTECTED"
    assert replace(held, look=Protection(1, "2026-01-01").words()).told == "HOLDS UP, UNPROTECTED"
    assert Peek(1, 3, "2026-01-01").told == "", "it broke off"


def test_a_trial_that_does_not_stand_without_the_cache_is_neither_proposed_nor_confirmed(
    write_experiment: WriteExperiment, said: Said, desk: Path
) -> None:
    """The ledger is made to name, for its winner, the run of another configuration."""
    path = str(write_experiment(space={"link.max_drop": [1.6]}, budget={"trials": 1, "minutes": 5}))
    ledger = verbs.open_study(path, begun=False)
    ensure_base(ledger)
    spec = trial_spec(ledger.experiment, {}, {"link.max_drop": 3.0})
    other = evaluate(spec)
    with ledger.worker() as worker:
        claimed = ledger.claim(worker)
        assert claimed
        outcome = Outcome(other.run_id, (1.0,), {}, {"link/f1": 1.0})
        ledger.tell(claimed.number, outcome.values, {}, mlflow_run_id=outcome.run_id, metrics={"link/f1": 1.0})
    board = said(path, code=1)
    assert board["cold_rerun"].startswith("DIFFERS: the link scorecard")
    assert not (desk / "experiments" / "low_bibs" / "proposed_preset.yaml").exists()
    assert "does not stand without the cache" in said("confirm", "low_bibs", code=1)
    assert said("leaderboard", "low_bibs")["holdout_peeks"] == 0

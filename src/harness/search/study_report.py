"""`study.html` of a search, from its ledger: written when the search ends, and whenever somebody asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.base.errors import ConfigError
from harness.config import value_at
from harness.report.study_page import STUDY_FILE, ShownTrial, StudyPage
from harness.scoring.selection import Finding
from harness.search.base import known_base
from harness.search.experiment import Experiment
from harness.search.leaderboard import budget_text, infeasible, leaderboard
from harness.search.ledger import Ledger
from harness.search.searchable import trial_choices, trial_config
from harness.search.selecting import Standings, standings
from harness.search.trials import State, TrialRecord, broken
from harness.search.views import LeaderboardView

#: So many trials that break a constraint are listed; all of them are in the plots and in the table of the study's run.
_MOST_BROKEN = 20
#: What the columns of the table of what was learned are called.
_HEADS = ("trial", "hypothesis", "by", "value", "gain", "verdict")


def write_study(ledger: Ledger) -> Path:
    """Write the page of a study into its folder; returns where it is."""
    path = ledger.folder / STUDY_FILE
    beside = path.with_suffix(".tmp")
    beside.write_text(study_page(ledger, leaderboard(ledger)).html())
    beside.replace(path)
    return path


def study_page(ledger: Ledger, view: LeaderboardView) -> StudyPage:
    """What the page of a study shows."""
    experiment, base, trials = ledger.experiment, known_base(ledger), ledger.trials()
    hypotheses = [trial for trial in trials if trial.hypothesis]
    # The first of many that are no better than the base is no best trial to look at.
    ahead = view.gain is not None and (view.gain.gain > 0 or bool(view.base_broken))
    stand = standings(ledger) if hypotheses else Standings({})
    return StudyPage(
        study=experiment.study,
        description=experiment.description,
        data=f"{base.photos} photos of {base.data}",
        metric=experiment.metric,
        sign=experiment.sign,
        base=base.values[0],
        good=view.worth_proposing and view.selection is not None and view.selection.finding is Finding.SHOWN,
        verdict=_verdict(view),
        findings=list(_findings(view)),
        trials=[_shown(trial) for trial in trials if not trial.is_base],
        parameters=list(experiment.space),
        importances=view.importances,
        best=view.best.trial if view.best and ahead else None,
        changed=list(_changed(experiment, view)) if ahead else [],
        learned=[_learned(experiment, base.values[0], stand, trial) for trial in hypotheses],
        learned_heads=_HEADS,
        broken=[
            f"trial {trial.number}: {experiment.metric} {trial.values[0]:.4f}; {'; '.join(broken(experiment, trial))}"
            for trial in infeasible(experiment, trials)[:_MOST_BROKEN]
        ],
        budget=budget_text(view.budget),
    )


def _verdict(view: LeaderboardView) -> str:
    if view.selection is None:
        return "A gain without bounds" if view.worth_proposing else "Nothing found"
    if view.gain is None or view.gain.gain <= 0:
        return "Nothing found"
    return {Finding.SHOWN: "Shown to be better", Finding.CANDIDATE: "A candidate"}.get(
        view.selection.finding, "Nothing found"
    )


def _findings(view: LeaderboardView) -> Iterator[str]:
    """Best against base, with its bounds, in sentences."""
    if view.base_broken:
        yield f"The base breaks a constraint: {'; '.join(view.base_broken)}."
    yield f"{view.summary[0].upper()}{view.summary[1:]}."
    if view.standing:
        among = f" of {view.selection.among()}" if view.selection else ""
        yield f"As the best{among}: {view.standing}."
    if view.selection:
        yield (
            "The best of many trials looks better than it is. On left-out groups means: chosen on some photos, measured"
            " on the others. The 95 % bound holds for all trials at once; above zero, a trial is shown to be better."
        )
    yield f"Cold re-run of the best: {view.cold_rerun}."
    yield f"Holdout: {view.holdout}." if view.holdout_peeks else "The holdout was not looked at."


def _shown(trial: TrialRecord) -> ShownTrial:
    kind = "infeasible" if trial.state is State.COMPLETE and not trial.feasible else str(trial.state)
    return ShownTrial(trial.number, kind, trial.values[0] if kind != "pruned" and trial.values else None, trial.point)


def _learned(experiment: Experiment, base: float, stand: Standings, trial: TrialRecord) -> ShownTrial:
    value = gain = ""
    verdict = str(trial.state)
    if trial.state is State.COMPLETE:
        value, gain = f"{trial.values[0]:.4f}", f"{experiment.sign * (trial.values[0] - base):+.4f}"
        found = stand.found.get(trial.number)
        verdict = str(found.finding) if found else "; ".join(broken(experiment, trial)) or stand.words(trial.number)
    elif trial.state in (State.PRUNED, State.FAILED):
        verdict = f"{'given up early' if trial.state is State.PRUNED else 'failed'}: {trial.reason}"
    told = (str(trial.number), trial.hypothesis, trial.proposed_by, value, gain, verdict)
    return ShownTrial(trial.number, str(trial.state), None, told=told)


def _changed(experiment: Experiment, view: LeaderboardView) -> Iterator[tuple[str, str, str]]:
    """The parameters of the best trial beside what the base has for them."""
    if view.best is None:
        return
    config, chosen = trial_config(experiment, {}), trial_choices(experiment, {})
    for key, value in view.best.params.items():
        try:
            before = str(chosen.get(key, "") if "." not in key else value_at(config, key))
        except ConfigError:  # a key of a backend that the base does not have
            before = "not there"
        yield key, before, str(value)

"""What can be done with a study: one function a verb, shared by the command line and the MCP server.

A study is named by its experiment file, or by its name alone: `link_geometry` is `experiments/link_geometry.yaml`, or
else the experiment of that name that the harness comes with. All that a verb writes, besides runs in MLflow, goes into
the folder of the study's name beside the file, or in `experiments/` for one that the harness comes with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness.base.errors import BudgetError, ConfigError, ConflictError, HarnessError, NotBegunError
from harness.report.study_page import STUDY_FILE
from harness.search import holdout, leaderboard, proposal
from harness.search.base import ensure_base, known_base, open_runs
from harness.search.experiment import Experiment, experiment_path, read_experiment, study_folder
from harness.search.finishing import TableKeeper, log_finalists
from harness.search.ledger import Ledger
from harness.search.live import ProgressLine
from harness.search.loop import Watch, conclude, outcome_of
from harness.search.searchable import (
    GROUPS,
    REFUSED,
    check_experiment,
    completed,
    described_values,
    trial_spec,
)
from harness.search.selecting import gain_of, standings
from harness.search.space import Value, wrong_values
from harness.search.storage import kept_definitions, place_exists
from harness.search.study_report import write_study
from harness.search.trials import Spending, State, TrialRecord, broken
from harness.search.verification import verify
from harness.search.views import BudgetView, LeaderboardView, SpaceView, TrialView
from harness.search.workers import end_abandoned, run_trial, work
from harness.tracking.catalog import load_run


def open_study(study: str, *, begun: bool = True) -> Ledger:
    """The ledger of a study; raises where it was never begun, unless that is fine."""
    path = experiment_path(study)
    experiment = read_experiment(path)
    folder = study_folder(path, experiment)
    if begun and not place_exists(folder):
        raise NotBegunError(f"study {experiment.study} has not been begun: harness search {study}")
    if not begun:  # whoever only reads what was recorded need not import what the file names
        check_experiment(experiment)
    return Ledger.open(experiment, folder, create=not begun)


def describe(study: str, budget: BudgetView | None = None) -> SpaceView:
    """What an experiment varies, what it is after and what is left of its budget. The file is read, not trusted: no
    code that it names is imported. Whether its values are accepted is checked when the study begins."""
    experiment = read_experiment(experiment_path(study))
    return SpaceView.of(experiment, described_values(experiment), budget or status(study))


def begin(study: str) -> Ledger:
    """Begin a study for an agent: its base is evaluated now, unless it was before. The same experiment under another
    name has the budget that it has under the first one, so that it is refused."""
    path = experiment_path(study)
    experiment = read_experiment(path)
    try:
        known_base(open_study(study))
    except NotBegunError:
        refuse_twin(experiment, study_folder(path, experiment))
    ledger = open_study(study, begun=False)
    ensure_base(ledger)
    return ledger


def run(study: str, workers: int = 1, watch: Watch | None = None) -> LeaderboardView:
    """Search until the budget is spent; verify the best where it beats the base, and propose it where that is more than
    the luck of the best of many. A preset that was proposed before and is worth it no more is withdrawn."""
    ledger = open_study(study, begun=False)
    ensure_base(ledger)
    end_abandoned(ledger, open_runs(ledger.experiment))
    progress, table = ProgressLine(ledger), TableKeeper(ledger)

    def watched(trial: TrialRecord) -> None:
        (watch or progress)(trial)
        table(trial)

    try:
        work(ledger, experiment_path(study), workers, watched)
        log_finalists(ledger)
    finally:
        progress.close()
        table.write()
    view = leaderboard.leaderboard(ledger)
    if view.best is not None and view.gain is not None and view.gain.gain > 0:
        best = ledger.trial(view.best.trial)
        if verify(ledger, best).same and view.worth_proposing:
            proposal.write_proposal(ledger, best)
        else:
            proposal.withdraw(ledger)
        view = leaderboard.leaderboard(ledger)
    write_study(ledger)
    return view


def prepare(study: str, trials: int | None = None, minutes: float | None = None, resume: bool = False) -> Ledger:
    """Make a study ready to search: with another budget, where one is given; and again, where it was cancelled."""
    ledger = open_study(study, begun=False)
    asked = {key: value for key, value in (("trials", trials), ("minutes", minutes)) if value is not None}
    if any(value <= 0 for value in asked.values()):
        raise ConfigError("--trials and --minutes: expected more than 0")
    if asked:
        with ledger.place.exclusive():
            ledger.note("budget", {**ledger.noted("budget"), **asked})
    if resume:
        ledger.note("cancelled", False)
    return ledger


def status(study: str, opened: Callable[[str], Ledger] | None = None) -> BudgetView:
    """What a study has spent, or may spend where nobody has begun it. Whoever asks often has it `opened` once."""
    experiment = read_experiment(experiment_path(study))
    try:
        return _budget((opened or open_study)(study))
    except NotBegunError:
        return BudgetView.of(experiment.study, Spending(experiment.budget, 0, 0, 0.0), None, begun=False)


def board(study: str, limit: int = leaderboard.SHOWN) -> LeaderboardView:
    """How a study stands."""
    return leaderboard.leaderboard(open_study(study), limit)


def ask(study: str, proposed_by: str = "") -> TrialView:
    """The sampler's next point, for somebody who will evaluate and tell it. It counts until it is told or cancelled."""
    ledger = open_study(study, begun=False)
    ensure_base(ledger)
    return _shown(ledger, claim_or_refuse(ledger, "", proposed_by=proposed_by))


def tell(study: str, trial: int, run_id: str) -> TrialView:
    """Finish a trial that was asked for with a run of its configuration. The values are the run's own."""
    ledger = open_study(study)
    record, base = ledger.trial(trial), ensure_base(ledger)
    if record.state is not State.ASKED:
        raise ConflictError(f"trial {trial} is {record.state}; only one that was asked for can be told")
    found = _load(ledger, run_id)
    wanted = trial_spec(ledger.experiment, record.point)
    differing = [key for key, value in wanted.params.items() if found.metadata.config.get(key) != value]
    if differing:
        key = differing[0]
        raise ConflictError(
            f"run {run_id} is not one of trial {trial}: it has {key}={found.metadata.config.get(key)}, "
            f"not {wanted.params[key]}"
        )
    if found.metadata.data_digest != base.data_digest:
        raise ConflictError(f"run {run_id} is not on the photos of the study, {base.data}")
    outcome = outcome_of(ledger.experiment, run_id, found)
    return _shown(ledger, ledger.tell(trial, outcome.values, outcome.violations, **outcome.notes()))


def try_point(
    study: str,
    hypothesis: str,
    params: Mapping[str, Value] | None = None,
    trial: int | None = None,
    proposed_by: str = "person",
) -> TrialView:
    """Evaluate a point of somebody's own, or a trial that was asked for. What the point leaves out stays as the base
    has it. A point that was tried before is answered from the ledger and costs nothing."""
    check_try(read_experiment(experiment_path(study)), hypothesis, params, trial)
    ledger = open_study(study, begun=False)
    ensure_base(ledger)
    with ledger.worker() as worker:
        if trial is not None:
            claimed = ledger.adopt(trial, worker, hypothesis)
        else:
            point = completed(ledger.experiment, params or {})
            claimed = claim_or_refuse(ledger, worker, point, proposed_by=proposed_by, hypothesis=hypothesis)
        if claimed.worker != worker:
            return _shown(ledger, claimed, duplicate=True)
        return _shown(ledger, conclude(ledger, claimed, lambda record: run_trial(ledger.experiment, record)))


def claim_or_refuse(ledger: Ledger, worker: str, point: Mapping[str, Value] | None = None, **notes: str) -> TrialRecord:
    """A trial for somebody who asks for one; raises BudgetError where there is none to have."""
    trial = ledger.claim(worker, point, **notes)
    if trial is None:
        raise BudgetError(f"study {ledger.experiment.study}: {ledger.closed()}")
    return trial


def cancel(study: str, trial: int | None = None, asked_by: str = "") -> BudgetView:
    """Give back a trial that was asked for; or without one, stop the search, which finishes what it has begun. With
    `asked_by`, only a trial that these have asked for."""
    ledger = open_study(study)
    if trial is not None:
        if asked_by and (found := ledger.trial(trial).proposed_by) != asked_by:
            raise ConflictError(
                f"trial {trial} is not one that an {asked_by} has asked for: it is of {found or 'a person'}"
            )
        ledger.give_back(trial, "cancelled")
    else:
        ledger.note("cancelled", True)
    return _budget(ledger)


def propose(study: str, trial: int | None = None, insist: bool = False) -> tuple[Path, TrialView]:
    """Write the best trial, or another one, as a preset file into the study's folder, after it was run cold.

    A trial is refused that does not beat the base, or not without the cache; or, unless somebody insists on it, of
    which nothing says that its gain is more than luck. Who insists may also have one that keeps to the constraints
    where the base does not.
    """
    ledger = open_study(study)
    chosen = ledger.trial(trial) if trial is not None else holdout.winner_of(ledger)
    if chosen.state is not State.COMPLETE:
        raise ConflictError(f"trial {chosen.number} is {chosen.state}; only a complete one can be proposed")
    beaten = (gain := gain_of(ledger, chosen)).gain > 0
    if not beaten and not (insist and known_base(ledger).broken and chosen.feasible):
        raise ConflictError(f"trial {chosen.number} does not beat the base: {gain.metric} {gain.gain:+.4f}")
    if not insist and not chosen.feasible:
        told = "; ".join(broken(ledger.experiment, chosen))
        raise ConflictError(f"trial {chosen.number} is not proposed: it breaks a constraint: {told}")
    stand = standings(ledger)
    if not insist and not stand.proposable(chosen.number):
        raise ConflictError(f"trial {chosen.number} is not proposed: {stand.words(chosen.number)}")
    verification = verify(ledger, chosen)
    if not verification.same:
        raise HarnessError(f"trial {chosen.number} does not stand without the cache: {verification.differences[0]}")
    return proposal.write_proposal(ledger, chosen), _shown(ledger, chosen)


def confirm(study: str) -> holdout.Confirmation:
    """Whether the gain of what was proposed, or else of the winner, holds up on photos that the search has not seen."""
    ledger = open_study(study)
    proposal.refuse_edited(ledger)
    return holdout.confirm(ledger)


def page(study: str) -> Path | None:
    """The page of a study, where a search has ended with it."""
    path = experiment_path(study)
    found = study_folder(path, read_experiment(path)) / STUDY_FILE
    return found if found.is_file() else None


def proposed(study: str) -> Path | None:
    """The preset that a study proposes, where it does."""
    path = experiment_path(study)
    found = study_folder(path, read_experiment(path)) / proposal.FILE
    return found if found.is_file() else None


def refuse_twin(experiment: Experiment, folder: Path) -> None:
    """Raise ConflictError where the same search, by what it varies and is after, has been begun under another name."""
    for name, definition in kept_definitions(folder.parent, experiment.study):
        if definition == experiment.definition():
            raise ConflictError(
                f"study {experiment.study} is the same search as {name}, which was begun before and has its own "
                f"budget; a person may begin it once more: harness search {experiment.study}"
            )


def check_try(
    experiment: Experiment, hypothesis: str, params: Mapping[str, Value] | None = None, trial: int | None = None
) -> None:
    """Refuse a trial that cannot be tried, by the text of the experiment alone. Raises ConfigError."""
    if not hypothesis.strip():
        raise ConfigError("hypothesis: say in a sentence what the trial is to find out")
    if (params is None) == (trial is None):
        raise ConfigError("give either params, or the number of a trial that was asked for")
    for key in params or ():
        if (root := key.split(".")[0]) not in GROUPS:
            raise ConfigError(f"{key}: not searchable: {REFUSED.get(root, 'it is no part of the pipeline')}")
    if params is not None and (found := wrong_values(experiment.space, params)):
        raise ConfigError(f"not a point of the space: {'; '.join(found)}")


def _budget(ledger: Ledger) -> BudgetView:
    return BudgetView.of(ledger.experiment.study, ledger.spending(), ledger.closed())


def _shown(ledger: Ledger, trial: TrialRecord, duplicate: bool = False) -> TrialView:
    view = TrialView.of(ledger.experiment, trial)
    return view.model_copy(update={"duplicate_of": trial.number}) if duplicate else view


def _load(ledger: Ledger, run_id: str) -> Any:
    return load_run(open_runs(ledger.experiment), run_id)


def plain(value: Any) -> Any:
    """A view as JSON values."""
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else asdict(value)

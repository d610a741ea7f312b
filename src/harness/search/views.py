"""What a search shows, as data: the same for `--json`, for agents and for the text on a terminal."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from harness.base.comments import meaning_of
from harness.scoring.selection import Selected
from harness.search.base import Base, Gain
from harness.search.experiment import Experiment
from harness.search.space import Value, describe, overrides, size
from harness.search.trials import Spending, TrialRecord, broken


class View(BaseModel):
    """Base of all views."""

    model_config = ConfigDict(frozen=True)


class BudgetView(View):
    """What a study has spent, and what it may spend where it has not `begun`; `closed_because` says why it takes no new
    trials, where it takes none, and `states` what became of the trials that count."""

    study: str
    trials: int
    trials_under_way: int
    trials_budget: int
    trials_left: int
    minutes: float
    minutes_budget: float
    minutes_left: float
    closed_because: str | None
    states: dict[str, int] = {}
    begun: bool = True

    @classmethod
    def of(cls, study: str, spending: Spending, closed: str | None, begun: bool = True) -> BudgetView:
        """From the ledger."""
        return cls(
            study=study,
            trials=spending.trials,
            trials_under_way=spending.under_way,
            trials_budget=spending.budget.trials,
            trials_left=spending.trials_left,
            minutes=round(spending.minutes, 2),
            minutes_budget=spending.budget.minutes,
            minutes_left=round(spending.minutes_left, 2),
            closed_because=closed,
            states=dict(spending.states),
            begun=begun,
        )


class TrialView(View):
    """One trial: its parameters, what came of it, and who proposed it. `broken` are the constraints that it breaks, in
    words, with their values and bounds."""

    trial: int
    state: str
    params: dict[str, Value]
    overrides: list[str]
    values: dict[str, float]
    metrics: dict[str, float]
    feasible: bool
    run_id: str
    reason: str
    proposed_by: str
    hypothesis: str
    seconds: float | None
    duplicate_of: int | None
    broken: list[str] = []

    @classmethod
    def of(cls, experiment: Experiment, trial: TrialRecord) -> TrialView:
        """From a record."""
        named = dict(zip(experiment.objectives, trial.values, strict=False)) if trial.state != "pruned" else {}
        return cls(
            trial=trial.number,
            state=str(trial.state),
            params=trial.point,
            overrides=overrides(trial.point),
            values=named,
            metrics=dict(trial.metrics),
            feasible=trial.feasible,
            run_id=trial.run_id,
            reason=trial.reason,
            proposed_by=trial.proposed_by,
            hypothesis=trial.hypothesis,
            seconds=None if trial.seconds is None else round(trial.seconds, 2),
            duplicate_of=trial.duplicate_of,
            broken=broken(experiment, trial),
        )


class ParameterView(View):
    """What one key may be set to, what that means by the config files' own words, and what the base has."""

    key: str
    allowed: str
    meaning: str
    base: Any
    when: dict[str, list[Value]]


class SpaceView(View):
    """An experiment: what it varies, what it is after, and what it may spend."""

    study: str
    description: str
    base: list[str]
    parameters: list[ParameterView]
    points: int | None
    objectives: dict[str, str]
    constraints: dict[str, dict[str, float]]
    sampler: str
    split: str
    budget: BudgetView

    @classmethod
    def of(cls, experiment: Experiment, values: dict[str, Any], budget: BudgetView) -> SpaceView:
        """From an experiment and the values that its base has."""
        return cls(
            study=experiment.study,
            description=experiment.description,
            base=list(experiment.base),
            parameters=[
                ParameterView(
                    key=key,
                    allowed=describe(parameter),
                    meaning=meaning_of(key),
                    base=values.get(key),
                    when={name: list(allowed) for name, allowed in parameter.when.items()},
                )
                for key, parameter in experiment.space.items()
            ],
            points=size(experiment.space),
            objectives={name: str(direction) for name, direction in experiment.objectives.items()},
            constraints={name: limit.model_dump(exclude_none=True) for name, limit in experiment.constraints.items()},
            sampler=experiment.sampler,
            split=experiment.split,
            budget=budget,
        )


class LeaderboardView(View):
    """How a study stands: the base, the constraints that it breaks itself, the best, and what else was tried.
    `selection` says what is left of the best one's gain once it is counted in how many were tried, `standing` the same
    in words; only a trial that is `worth_proposing` becomes a preset. `holdout_peeks` is never reset."""

    study: str
    description: str
    data: str
    photos: int
    base_run: str
    base: dict[str, float]
    base_broken: list[str] = []
    best: TrialView | None
    gain: Gain | None
    selection: Selected | None
    standing: str
    worth_proposing: bool
    summary: str
    trials: list[TrialView]
    pareto: list[TrialView]
    infeasible: list[TrialView] = []
    importances: dict[str, dict[str, float]]
    counts: dict[str, int]
    budget: BudgetView
    holdout_peeks: int
    holdout: str
    cold_rerun: str

    @staticmethod
    def base_values(experiment: Experiment, base: Base) -> dict[str, float]:
        """The base's values by objective."""
        return dict(zip(experiment.objectives, base.values, strict=True))

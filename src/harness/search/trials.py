"""The trials of a study as plain records, and what follows from them: the budget that is left, the best, the front."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from harness.search.experiment import Budget, Experiment
from harness.search.space import Point, rounded

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial


class State(StrEnum):
    """What has become of a trial."""

    RUNNING = "running"
    ASKED = "asked"
    COMPLETE = "complete"
    PRUNED = "pruned"
    FAILED = "failed"
    DUPLICATE = "duplicate"
    CANCELLED = "cancelled"


#: Numerators and denominators of a rate, item by item, in the order of the items' ids.
Sides = tuple[Sequence[float], Sequence[float]]

#: Those that are under way, and those that the budget does not count.
UNDER_WAY = (State.RUNNING, State.ASKED)
FREE = (State.DUPLICATE, State.CANCELLED)


@dataclass(frozen=True)
class TrialRecord:
    """One trial. `values` are those of the objectives, in their order; `started` is in seconds since the epoch.
    `sides` are those of the first objective where it is a rate of items; trials of an older harness have none."""

    number: int
    state: State
    point: Point
    values: tuple[float, ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    sides: Sides | None = field(default=None, repr=False)
    #: What constraints with a certainty are held against in place of their metric.
    bounds: Mapping[str, float] = field(default_factory=dict)
    feasible: bool = True
    run_id: str = ""
    reason: str = ""
    proposed_by: str = ""
    hypothesis: str = ""
    worker: str = ""
    attempts: int = 1
    #: The workers that died over it.
    left_by: tuple[str, ...] = ()
    started: float = 0.0
    seconds: float | None = None
    duplicate_of: int | None = None
    #: Whether it is the base itself, which the sampler learns from; it costs nothing and cannot win.
    is_base: bool = False
    #: What Optuna's storage knows it by.
    key: int = -1

    @property
    def counts(self) -> bool:
        """Whether the budget counts it: the base, duplicates and what was given back cost nothing."""
        return self.state not in FREE and not self.is_base


def record_of(trial: FrozenTrial) -> TrialRecord:
    """A trial of Optuna's as a record. What was noted at its claim and at its end are one attribute each, since each
    costs a write."""
    kept: Mapping[str, Any] = trial.user_attrs
    notes = {**kept, **kept.get("claim", {}), **kept.get("outcome", {})}
    return TrialRecord(
        number=trial.number,
        state=_state(trial, notes),
        point={key: rounded(value) for key, value in trial.params.items()},
        values=tuple(trial.values or ()),
        metrics=notes.get("metrics", {}),
        sides=notes.get("sides"),
        bounds=notes.get("bounds", {}),
        feasible=all(violation <= 0 for violation in trial.constraints.values()),
        run_id=notes.get("mlflow_run_id", ""),
        reason=notes.get("reason", ""),
        proposed_by=notes.get("proposed_by", ""),
        hypothesis=notes.get("hypothesis", ""),
        worker=notes.get("worker", ""),
        attempts=notes.get("attempts", 1),
        left_by=tuple(notes.get("left_by", ())),
        started=notes.get("started", 0.0),
        seconds=notes.get("seconds"),
        duplicate_of=notes.get("duplicate_of"),
        is_base=notes.get("is_base", False),
        key=trial._trial_id,
    )


def _state(trial: FrozenTrial, notes: Mapping[str, Any]) -> State:
    from optuna.trial import TrialState

    if "duplicate_of" in notes:
        return State.DUPLICATE
    if notes.get("cancelled"):
        return State.CANCELLED
    if trial.state in (TrialState.RUNNING, TrialState.WAITING):
        return State.ASKED if notes.get("worker") == "" else State.RUNNING
    return {TrialState.COMPLETE: State.COMPLETE, TrialState.PRUNED: State.PRUNED}.get(trial.state, State.FAILED)


@dataclass(frozen=True)
class Spending:
    """What a study has spent of its budget; minutes are those in which at least one trial was being evaluated."""

    budget: Budget
    trials: int
    under_way: int
    minutes: float
    #: How many of the trials that count are in each state.
    states: Mapping[str, int] = field(default_factory=dict)

    @property
    def trials_left(self) -> int:
        """How many more distinct points may be tried."""
        return max(self.budget.trials - self.trials, 0)

    @property
    def minutes_left(self) -> float:
        """How many more minutes may be spent."""
        return max(self.budget.minutes - self.minutes, 0.0)


def can_win(trial: TrialRecord) -> bool:
    """Whether a trial is complete and keeps to the constraints, and is not the base itself."""
    return trial.state is State.COMPLETE and trial.feasible and not trial.is_base


def broken(experiment: Experiment, trial: TrialRecord) -> list[str]:
    """The constraints that a complete trial breaks."""
    return breaches(experiment, trial.metrics, trial.bounds) if trial.state is State.COMPLETE else []


def breaches(experiment: Experiment, metrics: Mapping[str, float], bounds: Mapping[str, float]) -> list[str]:
    """The constraints that some metrics break, each with its value, its bound where that is what counts, and the
    limit."""
    found = []
    for name, limit in experiment.constraints.items():
        value, held = metrics.get(name), bounds.get(name, metrics.get(name))
        if held is not None and limit.violation(held) > 0:
            found.append(f"{name} {value:.4f}{limit.words(held)}")
    return found


def is_better(experiment: Experiment, trial: TrialRecord, other: TrialRecord) -> bool:
    """Whether a trial ranks before another: by the first objective; of equals, the earlier."""
    return _rank(experiment, trial) < _rank(experiment, other)


def _rank(experiment: Experiment, trial: TrialRecord) -> tuple[float, int]:
    return -experiment.sign * trial.values[0], trial.number


def ranked(experiment: Experiment, trials: Iterable[TrialRecord]) -> list[TrialRecord]:
    """Complete trials that keep to the constraints, best first objective first; of equals, the earlier."""
    return sorted(filter(can_win, trials), key=lambda trial: _rank(experiment, trial))


def pareto_front(experiment: Experiment, trials: Iterable[TrialRecord]) -> list[TrialRecord]:
    """Those that no other trial beats in one objective without losing in another; of equals, the earliest."""
    signs = [1 if direction == "maximize" else -1 for direction in experiment.objectives.values()]
    front: list[TrialRecord] = []
    for trial in ranked(experiment, trials):
        scores = _scores(trial, signs)
        if not any(all(a >= b for a, b in zip(_scores(other, signs), scores, strict=True)) for other in front):
            front = [other for other in front if not _dominates(scores, _scores(other, signs))]
            front.append(trial)
    return front


def _scores(trial: TrialRecord, signs: Sequence[int]) -> list[float]:
    return [sign * value for sign, value in zip(signs, trial.values, strict=True)]


def _dominates(scores: Sequence[float], others: Sequence[float]) -> bool:
    return all(a >= b for a, b in zip(scores, others, strict=True)) and list(scores) != list(others)

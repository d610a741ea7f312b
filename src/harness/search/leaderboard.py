"""How a study stands, as data and as text: the best beside the base, the front, and which parameters matter."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import optuna

from harness.search.base import Gain, known_base
from harness.search.experiment import Experiment
from harness.search.holdout import peeks_of
from harness.search.ledger import Ledger
from harness.search.selecting import gain_of, standings
from harness.search.trials import State, TrialRecord, pareto_front, ranked
from harness.search.verification import verified
from harness.search.views import BudgetView, LeaderboardView, TrialView

SHOWN = 10
#: Of the trials that break a constraint, the best few are shown.
_MOST_INFEASIBLE = 5
_FEWEST_FOR_IMPORTANCE = 5
#: What a state is called where its own name does not say it.
_STATES = {str(State.PRUNED): "given up early"}


def leaderboard(ledger: Ledger, limit: int = SHOWN) -> LeaderboardView:
    """The standing of a study, with its `limit` best trials."""
    experiment, base, trials = ledger.experiment, known_base(ledger), ledger.trials()
    order = ranked(experiment, trials)
    best = order[0] if order else None
    gain = gain_of(ledger, best) if best else None
    stand = standings(ledger) if best else None
    peeks = peeks_of(ledger)
    front = pareto_front(experiment, trials) if len(experiment.objectives) > 1 else []
    return LeaderboardView(
        study=experiment.study,
        description=experiment.description,
        data=base.data,
        photos=base.photos,
        base_run=base.run_id,
        base=LeaderboardView.base_values(experiment, base),
        base_broken=list(base.broken),
        best=TrialView.of(experiment, best) if best else None,
        gain=gain,
        selection=stand.found.get(best.number) if best and stand else None,
        standing=stand.words(best.number) if best and stand else "",
        worth_proposing=bool(best and gain and stand and gain.gain > 0 and stand.proposable(best.number)),
        summary=_summary(best, gain, trials, base.broken),
        trials=[TrialView.of(experiment, trial) for trial in order[:limit]],
        pareto=[TrialView.of(experiment, trial) for trial in front],
        infeasible=[TrialView.of(experiment, trial) for trial in infeasible(experiment, trials)[:_MOST_INFEASIBLE]],
        importances=importances(ledger),
        counts=dict(Counter(str(trial.state) for trial in trials)),
        budget=BudgetView.of(experiment.study, ledger.spending(), ledger.closed()),
        holdout_peeks=len(peeks),
        holdout="; ".join(f"trial {peek.trial}: {peek.told or 'not scored to the end'}" for peek in peeks),
        cold_rerun=_cold(ledger, best),
    )


def infeasible(experiment: Experiment, trials: Iterable[TrialRecord]) -> list[TrialRecord]:
    """The complete trials that break a constraint, best first objective first."""
    done = [trial for trial in trials if trial.state is State.COMPLETE and not trial.feasible]
    return sorted(done, key=lambda trial: (-experiment.sign * trial.values[0], trial.number))


def importances(ledger: Ledger) -> dict[str, dict[str, float]]:
    """Objective -> parameter -> its share in what tells good trials from bad (PED-ANOVA); none before there are enough
    trials, or where all came out the same."""
    done = [trial for trial in ledger.trials() if trial.state is State.COMPLETE]
    result = {}
    for position, (metric, direction) in enumerate(ledger.experiment.objectives.items()):
        values = [trial.values[position] for trial in done]
        if len(values) < _FEWEST_FOR_IMPORTANCE or max(values) == min(values):
            continue
        # The measure is after low values, and warns of it whenever it is given a target.
        sign = -1 if direction == "maximize" else 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found = optuna.importance.get_param_importances(ledger.study, target=_aim(position, sign))
        result[metric] = {name: round(share, 4) for name, share in found.items()}
    return result


def _aim(position: int, sign: int) -> Callable[[optuna.trial.FrozenTrial], float]:
    return lambda trial: sign * trial.values[position]


def _summary(
    best: TrialRecord | None, gain: Gain | None, trials: Iterable[TrialRecord], base_broken: Sequence[str]
) -> str:
    tried = sum(trial.counts for trial in trials)
    if best is None or gain is None:
        return f"none of {tried} trials is complete and keeps to the constraints"
    if gain.gain <= 0 and base_broken:
        return (
            f"trial {best.number} is the best that keeps to the constraints: {gain.metric} {gain.trial:.4f}; "
            f"the base, {gain.base:.4f}, does not"
        )
    if gain.gain <= 0:
        return f"none of {tried} trials beats the base: {gain.metric} {gain.base:.4f}, at best {gain.trial:.4f}"
    interval = "" if gain.low is None else f", 95 % interval {gain.low:+.4f} to {gain.high:+.4f}"
    return (
        f"trial {best.number} has {gain.metric} {gain.trial:.4f}, the base {gain.base:.4f}: {gain.gain:+.4f}{interval}"
        f", on the photos that it was chosen by"
    )


def _cold(ledger: Ledger, best: TrialRecord | None) -> str:
    found = verified(ledger, best) if best else None
    if found is None:
        return "not made"
    return "the same scorecards" if found.same else f"DIFFERS: {found.differences[0]}"


def text(view: LeaderboardView) -> str:
    """The standing for a terminal."""
    metrics = list(view.base)
    parts = [
        f"Study {view.study}: {view.photos} photos of {view.data}",
        _table(view, metrics),
        *([f"The base breaks a constraint: {'; '.join(view.base_broken)}."] if view.base_broken else []),
        f"Best: {view.summary}." + (f"\n{_selection(view)}" if view.standing else ""),
        f"Cold re-run of the best: {view.cold_rerun}.",
    ]
    if view.pareto:
        front = "\n".join(
            f"  trial {trial.trial:<4} " + "  ".join(f"{name} {trial.values[name]:.4f}" for name in metrics)
            for trial in view.pareto
        )
        parts.append(f"Pareto front:\n{front}")
    if view.infeasible:
        shown = "\n".join(f"  {_infeasible(trial, metrics[0])}" for trial in view.infeasible)
        parts.append(f"Break a constraint, the best of them:\n{shown}")
    for metric, shares in view.importances.items():
        listed = "\n".join(f"  {share:>6.1%}  {name}" for name, share in shares.items())
        parts.append(f"What matters for {metric}:\n{listed}")
    parts.append(f"{budget_text(view.budget)}\n{_peeks(view)}")
    return "\n\n".join(parts)


def _infeasible(trial: TrialView, metric: str) -> str:
    return f"trial {trial.trial:<4} {metric} {trial.values[metric]:.4f}: {'; '.join(trial.broken)}"


def _selection(view: LeaderboardView) -> str:
    tried = "" if view.selection is None else f" of {view.selection.among()}"
    left = view.counts.get(State.PRUNED, 0)
    pruned = f" {left} given up early take no part." if left and view.selection else ""
    return f"As the best{tried}: {view.standing}.{pruned}"


def budget_text(view: BudgetView) -> str:
    """What was spent, in a line, and what became of the trials where not all of them are complete."""
    if not view.begun:
        return f"Budget: {view.trials_budget} trials, {view.minutes_budget:g} minutes; nothing is spent yet."
    others = any(state != State.COMPLETE for state in view.states)
    became = ", ".join(f"{count} {_STATES.get(state, state)}" for state, count in sorted(view.states.items()))
    trials = f"{view.trials} of {view.trials_budget} trials" + (f" ({became})" if others else "")
    spent = f"{trials}, {view.minutes:.1f} of {view.minutes_budget:g} minutes"
    return f"Budget: {spent}" + (f"; {view.closed_because}." if view.closed_because else ".")


def _peeks(view: LeaderboardView) -> str:
    if not view.holdout_peeks:
        return "Holdout: not looked at."
    times = "once" if view.holdout_peeks == 1 else f"{view.holdout_peeks} times"
    return f"Holdout: looked at {times} for this study; {view.holdout}."


def _table(view: LeaderboardView, metrics: list[str]) -> str:
    rows = [["trial", *metrics, "parameters"], ["base", *(f"{view.base[name]:.4f}" for name in metrics), ""]]
    for trial in view.trials:
        values = [f"{trial.values[name]:.4f}" for name in metrics]
        rows.append([str(trial.trial), *values, " ".join(trial.overrides)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(f"  {line}" for line in lines)

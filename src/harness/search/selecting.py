"""How far the trials of a study are better than its base once it is counted in how many were tried.

Trials take part that are complete and keep to the constraints: those that can win. A trial that was given up early has
no more than a part of the photos, on which it was surely worse than the best of its time, and takes no part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.runs.selection import RateItems, comparable, rate_items, select_runs
from harness.scoring.pairing import paired_rates
from harness.scoring.selection import Finding, Selected
from harness.search.base import Gain, gain_between, gain_in
from harness.search.ledger import Ledger
from harness.search.replay import trial_run
from harness.search.trials import TrialRecord, ranked


@dataclass(frozen=True)
class Standings:
    """What can be said of each trial, by its number. `without_bounds` says why nothing can, where nothing can."""

    found: Mapping[int, Selected]
    without_bounds: str = ""

    def words(self, trial: int) -> str:
        """How a trial stands, in a sentence without its full stop."""
        if self.without_bounds:
            return self.without_bounds
        if trial not in self.found:
            return "no bounds: it breaks a constraint, or was not scored as the base was"
        return self.found[trial].words()

    def proposable(self, trial: int) -> bool:
        """Whether a trial that beats the base is worth proposing. A gain without bounds has to be taken as it is."""
        if self.without_bounds:
            return True
        return trial in self.found and self.found[trial].finding is not Finding.NOTHING


def gain_of(ledger: Ledger, trial: TrialRecord) -> Gain:
    """What a trial gains over the base in the first objective, on the photos of the search. A rate follows from what
    the ledger keeps of the trial; what is none is compared run by run."""
    experiment, base = ledger.experiment, trial_run(ledger, None)
    rate = rate_items(base, experiment.metric)
    if trial.sides is None or rate is None or len(trial.sides[0]) != len(rate.items):
        return gain_between(experiment, trial_run(ledger, trial.number), base)
    sides = {experiment.metric: rate.with_sides(*trial.sides).sides}
    paired = paired_rates({experiment.metric: rate.sides}, sides, rate.groups)
    return gain_in(experiment, base.metrics[experiment.metric], trial.values[0], paired.get(experiment.metric))


def standings(ledger: Ledger) -> Standings:
    """Hold all trials that can win against the base, in the first objective."""
    experiment = ledger.experiment
    base = rate_items(trial_run(ledger, None), experiment.metric)
    if base is None:
        return Standings({}, f"no bounds: {experiment.metric} is no rate of items")
    # In the order in which they were made: of equals, the earlier is the best.
    trials = sorted(ranked(experiment, ledger.trials()), key=lambda trial: trial.number)
    rates = {trial.number: _rate(ledger, base, trial) for trial in trials}
    known = {number: rate for number, rate in rates.items() if rate is not None}
    if not known:
        return Standings({})
    selection = select_runs(base, list(known.values()), experiment.sign, experiment.seed)
    return Standings({number: selection.of(place) for place, number in enumerate(known)})


def _rate(ledger: Ledger, base: RateItems, trial: TrialRecord) -> RateItems | None:
    """A trial's rate item by item: from the ledger or, for a trial of an older harness, from its run."""
    if trial.sides is not None and len(trial.sides[0]) == len(base.items):
        return base.with_sides(*trial.sides)
    found = rate_items(trial_run(ledger, trial.number), ledger.experiment.metric)
    return found if comparable(found, base) else None

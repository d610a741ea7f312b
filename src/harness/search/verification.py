"""Trials are answered from the stage cache; the winner has to give the same scorecards without it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

from harness.evaluate import evaluate
from harness.runs.archive import BenchmarkRun
from harness.search.ledger import Ledger
from harness.search.replay import trial_run
from harness.search.searchable import trial_spec
from harness.search.trials import TrialRecord

#: Nothing is read from the cache, and no finished run is taken for the answer.
COLD = {"cache.enabled": False, "force": True}


@dataclass(frozen=True)
class Verification:
    """A trial and its cold re-run; `differences` are empty where both came out the same."""

    trial: int
    run_id: str
    differences: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether the trial stands."""
        return not self.differences


def verify(ledger: Ledger, trial: TrialRecord) -> Verification:
    """Run a trial's point anew, cold, and compare; what was verified before is not run again."""
    if (known := verified(ledger, trial)) is not None:
        return known
    experiment = ledger.experiment
    spec = trial_spec(experiment, trial.point, COLD)
    result = evaluate(replace(spec, study=experiment.study, note=f"cold re-run of trial {trial.number}"))
    warm = trial_run(ledger, trial.number)
    found = Verification(trial.number, result.run_id, tuple(_differences(warm, result.run)))
    with ledger.place.exclusive():
        kept = [item for item in ledger.noted("verified", []) if item["trial"] != trial.number]
        ledger.note("verified", [*kept, asdict(found)])
    return found


def verified(ledger: Ledger, trial: TrialRecord) -> Verification | None:
    """The verification of a trial, where there is one."""
    for item in ledger.noted("verified", []):
        if item["trial"] == trial.number:
            return Verification(item["trial"], item["run_id"], tuple(item["differences"]))
    return None


def _differences(warm: BenchmarkRun, cold: BenchmarkRun) -> Iterator[str]:
    yield from cold.failures
    for name, card in warm.cards.items():
        counts, fresh = dict(card.counts), dict(cold.cards[name].counts) if name in cold.cards else None
        if fresh != counts:
            yield f"the {name} scorecard: {counts} from the cache, {fresh} without it"
    predictions = cold.predictions()
    for photo in warm.photos:
        if photo.photo and predictions.get(photo.id, photo.photo.prediction) != photo.photo.prediction:
            yield f"{photo.name}: other predictions"

"""The sealed holdout: photos that no trial has seen, asked once whether the gain of a winner is one on others, too.

A peek is recorded before the photos are scored and is never taken back. It costs the holdout a look, and tells the
verdict alone: no score. Asking again about the same winner gives the recorded answer.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from enum import StrEnum

from harness.base.errors import ConflictError, HarnessError
from harness.evaluate import evaluate
from harness.runs.gate import Judgement, RuleChange, Verdict
from harness.runs.judge import judge
from harness.runs.looks import LEVEL, UNPROTECTED, unseal
from harness.search.base import Gain
from harness.search.experiment import Experiment
from harness.search.ledger import Ledger
from harness.search.searchable import trial_spec
from harness.search.selecting import gain_of
from harness.search.space import Point
from harness.search.trials import TrialRecord, ranked
from harness.search.verification import verify
from harness.spec import RunSpec
from harness.tracking.catalog import Baseline

#: What the ledger notes about the preset that was proposed: its trial, and a digest of the file.
PROPOSED = "proposed"


class Standing(StrEnum):
    """Whether a gain on the photos of the search is one on others."""

    HOLDS = "HOLDS UP"
    FAILS = "DOES NOT HOLD UP"
    OPEN = "NOT SHOWN"


@dataclass(frozen=True)
class Peek:
    """One peek at the holdout. `standing` is empty for one that broke off; `look` says how often the holdout was looked
    at, by whatever command."""

    number: int
    trial: int
    at: str
    standing: str = ""
    verdict: str = ""
    words: str = ""
    look: str = ""
    searched: Gain | None = None
    base_run: str = ""
    trial_run: str = ""
    data: str = ""

    @property
    def told(self) -> str:
        """The standing as it is shown, with what it is worth."""
        mark = f", {UNPROTECTED}" if self.look.startswith(UNPROTECTED) else ""
        return f"{self.standing}{mark}" if self.standing else ""


@dataclass(frozen=True)
class Confirmation:
    """The answer of `confirm`: the peek at the winner, whether it was made before, and how many the study has made."""

    study: str
    peek: Peek
    repeated: bool
    peeks: int


def peeks_of(ledger: Ledger) -> list[Peek]:
    """Every peek at the holdout that a study has cost."""
    return [_peek(item) for item in ledger.noted("peeks", [])]


def confirm(ledger: Ledger) -> Confirmation:
    """Judge what was proposed, else the winner, beside the base on the holdout, once, and say whether the gain holds
    up."""
    proposed = ledger.noted(PROPOSED)
    winner = ledger.trial(proposed["trial"]) if proposed else winner_of(ledger)
    study = ledger.experiment.study
    for peek in peeks_of(ledger):
        if peek.trial == winner.number and peek.standing:
            return Confirmation(study, peek, repeated=True, peeks=len(peeks_of(ledger)))
    searched = gain_of(ledger, winner)
    if searched.gain <= 0:
        raise ConflictError(f"study {study}: no trial beats the base, so there is no gain to confirm")
    verification = verify(ledger, winner)
    if not verification.same:
        raise HarnessError(f"trial {winner.number} does not stand without the cache: {verification.differences[0]}")
    begun = _begin(ledger, winner)
    peek = _look(ledger, winner, begun, searched)
    _record(ledger, peek)
    return Confirmation(study, peek, repeated=False, peeks=len(peeks_of(ledger)))


def winner_of(ledger: Ledger) -> TrialRecord:
    """The best trial; raises where there is none."""
    best = next(iter(ranked(ledger.experiment, ledger.trials())), None)
    if best is None:
        raise ConflictError(
            f"study {ledger.experiment.study} has no trial that is complete and keeps to the constraints"
        )
    return best


def _begin(ledger: Ledger, winner: TrialRecord) -> Peek:
    with ledger.place.exclusive():
        before = ledger.noted("peeks", [])
        peek = Peek(len(before) + 1, winner.number, datetime.now(UTC).isoformat(timespec="seconds"))
        ledger.note("peeks", [*before, asdict(peek)])
    return peek


def _record(ledger: Ledger, peek: Peek) -> None:
    with ledger.place.exclusive():
        kept = [item for item in ledger.noted("peeks") if item["number"] != peek.number]
        ledger.note("peeks", sorted([*kept, asdict(peek)], key=lambda item: item["number"]))


def _look(ledger: Ledger, winner: TrialRecord, peek: Peek, searched: Gain) -> Peek:
    experiment, base_spec, spec = ledger.experiment, _spec(ledger, {}), _spec(ledger, winner.point)
    if base_spec.holdout is None:
        raise HarnessError(f"study {experiment.study}: its reference set has no photo in the holdout")
    root = base_spec.holdout.root
    base = evaluate(base_spec, Baseline())
    against = Baseline(base.run_id, unseal(root, base.run.metadata.key))
    result = evaluate(spec, against)
    for one in (base, result):
        if not one.run.complete:
            raise HarnessError(f"the holdout could not be scored: {one.run.failures[0]}")
    # The judgement that was just counted, once more, for what it says about the objective.
    scored = unseal(root, result.run.metadata.key)
    whole = judge(spec.gate, scored, against.run, spec.seed, level_better=LEVEL)
    standing, words = weigh(experiment, whole)
    return replace(
        peek,
        standing=str(standing),
        verdict=result.judgement.said,
        words=words,
        look=result.judgement.look,
        searched=searched,
        base_run=base.run_id,
        trial_run=result.run_id,
        data=result.run.described(),
    )


def _spec(ledger: Ledger, point: Point) -> RunSpec:
    """A run on the holdout. The objective is gated there, whatever the gate says of it otherwise."""
    spec = trial_spec(ledger.experiment, point, {"references.split": "holdout"})
    section, _, name = ledger.experiment.metric.partition("/")
    rules = {**spec.gate.metrics}
    before = rules.get(section, {}).get(name, RuleChange())
    gated = replace(before, better="higher" if ledger.experiment.sign > 0 else "lower", informational=False)
    rules[section] = {**rules.get(section, {}), name: gated}
    return replace(spec, study=ledger.experiment.study, gate=replace(spec.gate, metrics=rules))


def weigh(experiment: Experiment, judgement: Judgement) -> tuple[Standing, str]:
    """Whether a gain holds up, and why, without a score."""
    of_objective = next((each.verdict for each in judgement.metrics if each.metric == experiment.metric), None)
    if judgement.verdict is Verdict.REGRESSED:
        return Standing.FAILS, "a gated metric is worse there than with the base"
    if judgement.verdict is Verdict.INCOMPLETE:
        return Standing.OPEN, "a gated metric that the base has cannot be measured there"
    if of_objective is Verdict.IMPROVED:
        return Standing.HOLDS, f"{experiment.metric} is better there, too, by more than chance explains"
    return Standing.OPEN, f"that {experiment.metric} is better there, too, is not shown; more photos could tell"


def _peek(item: dict[str, object]) -> Peek:
    """A peek as it was noted; what an older harness noted beyond it, such as scores, is left out."""
    known = {each.name: item[each.name] for each in fields(Peek) if each.name in item}
    if isinstance(gain := known.get("searched"), dict):
        known["searched"] = Gain(**gain)
    return Peek(**known)  # type: ignore[arg-type]

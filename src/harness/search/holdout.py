"""The sealed holdout: photos that no trial has seen, opened once to judge the winner of a search beside its base.

A peek is recorded before the photos are scored and is never taken back. Asking again about the same winner gives the
recorded answer; a study that goes on and has another winner peeks again, and every peek makes the next verdict weaker.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

from harness.base.errors import ConflictError, HarnessError
from harness.config import RunSpec
from harness.evaluate import RunResult, evaluate
from harness.runs.gate import Verdict, judge
from harness.search.base import Gain, gain_between, gain_of, open_runs
from harness.search.ledger import Ledger
from harness.search.searchable import trial_spec
from harness.search.space import Point
from harness.search.trials import TrialRecord, ranked
from harness.search.verification import verify
from harness.tracking.catalog import find_tagged, join

#: On the runs that opened a holdout: which study and trial it was opened for.
PEEK_TAG = "peek"


class Standing(StrEnum):
    """Whether a gain on the photos of the search is one on others."""

    HOLDS = "HOLDS UP"
    FAILS = "DOES NOT HOLD UP"
    OPEN = "NOT SHOWN"


@dataclass(frozen=True)
class Peek:
    """One look at the holdout. `standing` is empty for a look that broke off. `all_peeks` counts those of every study
    on the same photos, this one included."""

    number: int
    trial: int
    at: str
    standing: str = ""
    verdict: str = ""
    words: str = ""
    searched: Gain | None = None
    held_out: Gain | None = None
    base_run: str = ""
    trial_run: str = ""
    data: str = ""
    all_peeks: int = 0


@dataclass(frozen=True)
class Confirmation:
    """The answer of `confirm`: the peek at the winner, whether it was made before, and how many the study has made."""

    study: str
    peek: Peek
    repeated: bool
    peeks: int


def peeks_of(ledger: Ledger) -> list[Peek]:
    """Every look at the holdout that a study has cost."""
    return [_peek(item) for item in ledger.noted("peeks", [])]


def confirm(ledger: Ledger) -> Confirmation:
    """Score base and winner on the holdout, once, and say whether the gain holds up."""
    winner = winner_of(ledger)
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
    base_spec, spec = _spec(ledger, {}), _spec(ledger, winner.point)
    base, result = evaluate(base_spec), evaluate(spec)
    for one in (base, result):
        if not one.run.complete:
            raise HarnessError(f"the holdout could not be scored: {one.run.failures[0]}")
    held_out = gain_between(ledger.experiment, result.run, base.run)
    judgement = judge(spec.gate, result.run, base.run, spec.seed)
    standing, words = weigh(searched, held_out, judgement.verdict)
    return replace(
        peek,
        standing=str(standing),
        verdict=str(judgement.verdict),
        words=words,
        searched=searched,
        held_out=held_out,
        base_run=base.run_id,
        trial_run=result.run_id,
        data=f"{result.run.metadata.data_name} ({result.run.metadata.data_split}), {len(result.run.photos)} photos",
        all_peeks=_count_peeks(ledger, winner, result),
    )


def _spec(ledger: Ledger, point: Point) -> RunSpec:
    spec = trial_spec(ledger.experiment, point, {"references.split": "holdout"})
    return replace(spec, study=ledger.experiment.study)


def _count_peeks(ledger: Ledger, winner: TrialRecord, result: RunResult) -> int:
    """Mark the winner's run, and count the peeks at the same photos by whatever study."""
    store = open_runs(ledger.experiment)
    join(store, result.run_id, PEEK_TAG, f"{ledger.experiment.study}/{winner.number}")
    peeks = find_tagged(store, PEEK_TAG, {"data.digest": result.run.metadata.data_digest})
    return len({peek for names in peeks.values() for peek in names.split()})


def weigh(searched: Gain, held_out: Gain, verdict: Verdict) -> tuple[Standing, str]:
    """Whether a gain holds up, and why."""
    there = f"{searched.metric}: {searched.gain:+.4f} on the photos of the search, {held_out.gain:+.4f} on the holdout"
    if verdict is Verdict.REGRESSED:
        return Standing.FAILS, f"{there}, where a gated metric REGRESSED"
    if held_out.gain <= 0:
        return Standing.FAILS, f"{there}: the search has fitted its own photos"
    if held_out.low is not None and held_out.low <= 0:
        interval = f"95 % interval {held_out.low:+.4f} to {held_out.high:+.4f}"
        return Standing.OPEN, f"{there}, which chance could explain ({interval}); more photos would tell"
    return Standing.HOLDS, there


def _peek(item: dict[str, object]) -> Peek:
    gains = {name: Gain(**value) for name in ("searched", "held_out") if isinstance(value := item[name], dict)}
    return Peek(**{**item, **gains})  # type: ignore[arg-type]

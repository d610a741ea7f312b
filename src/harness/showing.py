"""A run as whoever started it in a terminal sees it: evaluated, printed, and ended with the error that it deserves."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.base.conf import shadow_words
from harness.base.errors import GateError, IncompleteError
from harness.base.progress import warn
from harness.base.texts import COMMAND
from harness.config import chosen_keys
from harness.spec import RunSpec

if TYPE_CHECKING:
    from harness.remaking import RunResult
    from harness.runs.gate import Gate, Judgement

#: Overrides that stand in a run's tags and are no part of its name.
_NOT_IN_NAME = (
    *(
        "sweep_id=",
        "tracking",
        "references",
        "note=",
        "force=",
        "timing=",
        "report.",
        "holdout.",
        "cache.",
        "cache=",
        "executor",
        "gate",
        "hydra",
    ),
)


def run_and_show(spec: RunSpec, typed: Sequence[str]) -> RunResult:
    """Evaluate a run, print what came of it, and return it; `typed` are the overrides that it was started with. Raises
    where it is incomplete or a strict gate refuses it, so that every launcher reports it."""
    from harness.evaluate import audit, evaluate
    from harness.runs.gate import Verdict
    from harness.runs.items import found_words
    from harness.runs.records import run_name

    store = store_words(typed)
    for shadow in spec.shadowed:
        warn(shadow_words(shadow))
    print(f"\n{run_name(spec)}", flush=True)
    result = evaluate(spec, show=_show)
    run, judgement = result.run, result.judgement
    if run.complete and run.is_unlabelled:
        print(found_words(run.predictions().values()))
        print("Nothing is labelled, so that nothing can be scored. Label some photos, and run again:")
        print(f"  {COMMAND} ui{store_words(typed, 'references')}\n")
    elif judgement.verdict in (Verdict.NO_BASELINE, Verdict.INCOMPARABLE):
        print(f"To judge later runs against this one: {COMMAND} baseline {result.run_id[:8]}{store}\n")
    print(f"MLflow run {result.run_id}   see it with: {COMMAND} mlflow{store}", flush=True)
    if run.photos:
        print(f"Its photos, one by one: {COMMAND} ui{store_words(typed, 'references')}{store}", flush=True)
    warn_of_idle(spec, run.idle_steps)
    if not spec.sweep_id:
        for found in audit(spec, result):
            print(f"Audit {found.words()} answers from the cache, computed anew", flush=True)
    if not run.complete:
        raise IncompleteError(f"INCOMPLETE: {run.shortfall}; the verdict names each")
    enforce(spec.gate, judgement)
    return result


def _show(result: RunResult) -> None:
    """Print the numbers and the verdict."""
    from harness.base.screen import screen
    from harness.report.comparisons import shown_judgement
    from harness.runs.plan import REPAIRED
    from harness.scoring.speed import SECONDS

    run, data, shown = result.run, result.run.metadata, screen()
    scored = not (run.complete and run.is_unlabelled)
    took = f", pipeline {run.metrics[SECONDS]:.1f} s" if SECONDS in run.metrics else ""
    about = f"{run.described()}, data {data.data_digest[:12]}{took}"
    told = [shown.wrapped_text(text) for text in ([about, run.headline, run.text()] if scored else [about])]
    if scored:
        told.append("\n".join(shown_judgement(result.judgement, shown)))
    print("\n\n".join(filter(None, told)), end="\n\n")
    if (repaired := run.metrics.get(REPAIRED)) and not result.reused:
        print(f"cache: {repaired:.0f} damaged {'entry was' if repaired == 1 else 'entries were'} computed anew\n")
    if result.resumed:
        print(f"{result.resumed}\n")
    if result.reused:
        print(f"Nothing has changed since this run was made on {data.timestamp}; force=true runs it again.")
    sys.stdout.flush()  # what follows takes longer than all before


def enforce(gate: Gate, judgement: Judgement) -> None:
    """Raise where the gate does not let a run pass; where it does, warn of what it could not see."""
    if gate.fails(judgement):
        named = ", ".join(item.metric for item in judgement.open)
        raise GateError(
            f"gate={gate.name}: {judgement.verdict}" + (f" ({named} cannot be told)" if gate.proof and named else "")
        )
    if gate.strict and judgement.open:
        limits = ", ".join(f"{item.metric} {'any' if item.blind else f'{item.unseen:.4f}'}" for item in judgement.open)
        warn(f"gate={gate.name} passes, but losses below these could go unseen: {limits}")


def in_name(typed: Sequence[str]) -> list[str]:
    """The overrides that are part of a run's name."""
    return [item for item in typed if not item.startswith(_NOT_IN_NAME)]


def warn_of_idle(spec: RunSpec, steps: Sequence[str]) -> None:
    """Name the steps that did nothing though somebody asked for them. Those that a backend has on by itself are a
    safety net, and stand in the run's tag and report alone."""
    chosen = chosen_keys(spec) if steps else frozenset()
    asked_for = [step for step in steps if any(f"{step}.".startswith(f"{key}.") for key in chosen)]
    if asked_for:
        listed = ", ".join(asked_for)
        warn(f"switched on, but without effect on any photo: {listed}")


def store_words(typed: Sequence[str], what: str = "tracking") -> str:
    """What a suggested command needs in order to find the store, or the set, that this one was given."""
    words = [item for item in typed if item.startswith(what)]
    return f" {shlex.join(words)}" if words else ""

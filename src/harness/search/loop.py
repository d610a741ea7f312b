"""The loop of a search: claim a trial, evaluate it, tell the ledger. Any number of processes may run it at once."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable

from harness.base.errors import HarnessError
from harness.search.ledger import Ledger
from harness.search.outcomes import Evaluate, Outcome
from harness.search.trials import TrialRecord

#: Is called with each trial that is finished.
Watch = Callable[[TrialRecord], None]


def search(ledger: Ledger, evaluate: Evaluate, watch: Watch = lambda _: None) -> None:
    """Go on until the ledger has no more trials to give. A trial that fails does not end the search."""
    with ledger.worker() as worker:
        while trial := ledger.claim(worker):
            watch(conclude(ledger, trial, evaluate))


def conclude(ledger: Ledger, trial: TrialRecord, evaluate: Evaluate) -> TrialRecord:
    """Evaluate a trial that was claimed, and tell what came of it."""
    try:
        outcome = evaluate(trial)
    except HarnessError as error:
        return ledger.fail(trial.number, str(error))
    except Exception as error:  # noqa: BLE001 - whatever a backend raises fails this trial, loudly, and no other
        traceback.print_exc(file=sys.stderr)
        return ledger.fail(trial.number, f"{type(error).__name__}: {error}")
    if isinstance(outcome, Outcome):
        notes = {"mlflow_run_id": outcome.run_id, "metrics": dict(outcome.metrics)}
        return ledger.tell(trial.number, outcome.values, outcome.violations, **notes)
    glance = outcome.glance
    return ledger.prune(trial.number, glance.value, glance.photos, mlflow_run_id=outcome.run_id, reason=glance.words())

"""The line that shows how far a search is: the best, what is left of its gain, the budget, the rate, the time left."""

from __future__ import annotations

import sys
import time

from harness.search.base import known_base
from harness.search.ledger import Ledger
from harness.search.selecting import LeftOutGain
from harness.search.trials import Spending, TrialRecord

_SECONDS_BETWEEN_LINES = 10.0
#: On a terminal the line is written anew so often: a search from memory makes a hundred trials a second.
_SECONDS_BETWEEN_FRAMES = 0.2


class ProgressLine:
    """One line on standard error: rewritten on a terminal, printed now and then elsewhere."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._left_out = LeftOutGain(ledger)
        self._begun, self._before = time.monotonic(), ledger.spending().trials
        self._last = 0.0

    def __call__(self, trial: TrialRecord) -> None:
        """Show where the search stands after a trial."""
        terminal, now = sys.stderr.isatty(), time.monotonic()
        if now - self._last >= (_SECONDS_BETWEEN_FRAMES if terminal else _SECONDS_BETWEEN_LINES):
            self._last = now
            self._show(terminal)
        if trial.state == "failed":
            print(f"\nharness: trial {trial.number} failed: {trial.reason}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Show how it ended, and leave the line."""
        if self._ledger.spending().trials:
            self._show(sys.stderr.isatty())
        if sys.stderr.isatty():
            print(file=sys.stderr)

    def _show(self, terminal: bool) -> None:
        print(f"\r\x1b[K{self.line()}" if terminal else self.line(), end="" if terminal else "\n", file=sys.stderr)
        sys.stderr.flush()

    def line(self) -> str:
        """Best so far, its gain as observed and on left-out groups, the budget, the rate and how long it will take."""
        study, spending = self._ledger.experiment.study, self._ledger.spending()
        return f"{study}: {spending.trials} of {spending.budget.trials} trials, {self._found()}, {self._pace(spending)}"

    def _found(self) -> str:
        experiment, best = self._ledger.experiment, self._ledger.best()
        if best is None:
            return "nothing yet"
        gain = experiment.sign * (best.values[0] - known_base(self._ledger).values[0])
        left_out = self._left_out.value()
        corrected = "" if left_out is None else f", {left_out:+.4f} on left-out groups"
        return f"best {experiment.metric} {best.values[0]:.4f} (trial {best.number}, gain {gain:+.4f}{corrected})"

    def _pace(self, spending: Spending) -> str:
        made, seconds = spending.trials - self._before, time.monotonic() - self._begun
        if made < 1 or seconds <= 0:
            return f"{spending.minutes_left:.1f} minutes left"
        rate = made / seconds
        left = min(spending.trials_left / rate / 60, spending.minutes_left)
        return f"{60 * rate:.0f} a minute, about {left:.1f} minutes left"

"""The trials of a study, indexed in memory and brought up to date with what is new, so that what a claim costs does not
grow with the number of trials.

A trial that is finished never changes, so that only those that were not are read again, beside those that have come
since.
"""

from __future__ import annotations

import bisect
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import optuna
from optuna.trial import FrozenTrial

from harness.search.experiment import Budget, Experiment
from harness.search.space import Parameter, Point, point_key, points
from harness.search.trials import UNDER_WAY, Spending, State, TrialRecord, can_win, is_better, record_of


@dataclass
class Spans:
    """Spans of time, and how long their union is. Those that are added late in time are cheap to add."""

    _starts: list[float] = field(default_factory=list)
    _ends: list[float] = field(default_factory=list)
    total: float = 0.0

    def add(self, start: float, end: float) -> None:
        """Add one; those that it touches become one with it."""
        first = bisect.bisect_left(self._ends, start)
        last = bisect.bisect_right(self._starts, end)
        if first < last:
            start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
        gone = sum(e - s for s, e in zip(self._starts[first:last], self._ends[first:last], strict=True))
        self._starts[first:last], self._ends[first:last] = [start], [end]
        self.total += end - start - gone

    def with_others(self, others: Iterable[tuple[float, float]]) -> float:
        """How long the union is with some more, which are not kept."""
        more = list(others)
        if not more:
            return self.total
        since = bisect.bisect_left(self._ends, min(start for start, _ in more))
        late = list(zip(self._starts[since:], self._ends[since:], strict=True))
        both = Spans()
        for start, end in sorted([*late, *more]):
            both.add(start, end)
        return self.total - sum(end - start for start, end in late) + both.total


class TrialIndex:
    """The trials of a study as records, by number and by point, with what they have spent and the best of them."""

    def __init__(self, experiment: Experiment, study: optuna.Study) -> None:
        self._experiment, self._study = experiment, study
        self._lock = threading.RLock()
        self.records: list[TrialRecord] = []
        #: Where a point is that was tried and counts.
        self._points: dict[str, int] = {}
        self._unfinished: set[int] = set()
        self._states: Counter[str] = Counter()
        self._spans = Spans()
        self._untried: Iterator[Point] = iter(())
        #: Everybody who has ever worked on the study.
        self.workers: set[str] = set()
        self.best: TrialRecord | None = None

    def refresh(self) -> None:
        """Read what is new."""
        with self._lock:
            storage, study_id = self._study._storage, self._study._study_id
            if not self.records:
                for trial in storage.get_all_trials(study_id, deepcopy=False):
                    self._put(trial)
                return
            for number in sorted(self._unfinished):
                self._put(storage.get_trial(self.records[number].key))
            while True:
                try:
                    key = storage.get_trial_id_from_study_id_trial_number(study_id, len(self.records))
                except KeyError:
                    return
                self._put(storage.get_trial(key))

    def tried(self, point: Mapping[str, object]) -> TrialRecord | None:
        """The trial that counts and has tried a point."""
        number = self._points.get(point_key(point))  # type: ignore[arg-type]
        return None if number is None else self.records[number]

    @property
    def distinct(self) -> int:
        """How many points were tried."""
        return len(self._points)

    def unfinished(self) -> list[TrialRecord]:
        """Those that may still change, in the order in which they were begun."""
        return [self.records[number] for number in sorted(self._unfinished)]

    def spending(self, budget: Budget, now: float) -> Spending:
        """What was spent. Minutes are those in which at least one trial was being evaluated."""
        under_way = [trial for trial in self.unfinished() if trial.counts]
        running = [(trial.started, now) for trial in under_way if trial.started and trial.state is State.RUNNING]
        states = self._states + Counter(str(trial.state) for trial in under_way)
        return Spending(
            budget,
            sum(states.values()),
            sum(trial.state in UNDER_WAY for trial in under_way),
            self._spans.with_others(running) / 60,
            dict(states),
        )

    def next_untried(self, space: Mapping[str, Parameter]) -> Point | None:
        """The first point of a finite space that was not tried, from where the last one was on; None where there is
        none. One that was given back is found when the others are used up."""
        for _ in range(2):
            for point in self._untried:
                if point_key(point) not in self._points:
                    return point
            self._untried = points(space)
        return None

    def _put(self, trial: FrozenTrial) -> None:
        record = record_of(trial)
        if record.number < len(self.records):
            before = point_key(self.records[record.number].point)
            if self._points.get(before) == record.number:
                del self._points[before]
            self.records[record.number] = record
        else:
            self.records.append(record)
        self.workers.update(filter(None, (record.worker, *record.left_by)))
        if record.counts or record.is_base:
            self._points[point_key(record.point)] = record.number
        if not trial.state.is_finished():
            self._unfinished.add(record.number)
            return
        self._unfinished.discard(record.number)
        if record.counts:
            self._states[str(record.state)] += 1
            if record.started and record.seconds is not None:
                self._spans.add(record.started, record.started + record.seconds)
        if can_win(record) and (self.best is None or is_better(self._experiment, record, self.best)):
            self.best = record

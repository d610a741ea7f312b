"""The ledger of a study: which points were tried, by whom, and what came of them. It outlives every worker.

A point is claimed under a lock, so that no two workers try the same one and none goes past the budget. The trial of a
worker that died is taken over by the next one. A point that was tried before is answered from the ledger and costs
nothing.
"""

from __future__ import annotations

import copy
import logging
import os
import random
import secrets
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import optuna
from optuna.trial import Trial, TrialState

from harness.base.errors import ConflictError, HarnessError, NotBegunError
from harness.search.experiment import Budget, Experiment
from harness.search.index import TrialIndex
from harness.search.samplers import fixed_sampler, make_sampler
from harness.search.space import Point, Value, points, size, suggest_point
from harness.search.storage import Place, open_place
from harness.search.trials import UNDER_WAY, Spending, State, TrialRecord

#: How often a sampler may propose what was tried before, until a point is drawn from those that were not.
_MOST_DUPLICATES = 8
#: Spaces with more points than this are not listed.
_MOST_POINTS = 100_000
#: A trial that was asked for and not told within an hour is given up.
_ASK_SECONDS = 3600
#: A trial that has taken so many workers with it is not tried again.
_MOST_ATTEMPTS = 3

logging.getLogger("optuna").setLevel(logging.WARNING)


@dataclass(frozen=True)
class Ledger:
    """One study, opened."""

    experiment: Experiment
    folder: Path
    place: Place
    study: optuna.Study

    @cached_property
    def _index(self) -> TrialIndex:
        return TrialIndex(self.experiment, self.study)

    @classmethod
    def open(cls, experiment: Experiment, folder: Path, *, create: bool = True) -> Ledger:
        """Open the study, made now if it is new and may be. One that was begun with another definition is refused.
        Whoever only reads (`create=False`) waits for no lock."""
        place, sampler = open_place(folder, experiment.study), make_sampler(experiment, 0)
        with place.exclusive() if create else nullcontext():
            try:  # loading writes nothing, so that looking at a study leaves no trace
                study = optuna.load_study(study_name=experiment.study, storage=place.storage, sampler=sampler)
            except KeyError as error:
                if not create:
                    raise NotBegunError(f"study {experiment.study} has not been begun") from error
                directions = list(experiment.objectives.values())
                study = optuna.create_study(
                    storage=place.storage, study_name=experiment.study, directions=directions, sampler=sampler
                )
            ledger = cls(experiment, folder, place, study)
            if "definition" not in study.user_attrs:
                if not create:
                    raise NotBegunError(f"study {experiment.study} has not been begun")
                ledger.note("budget", experiment.budget.model_dump())
                ledger.note("definition", experiment.definition())
        ledger._check_definition()
        return ledger

    def _check_definition(self) -> None:
        before, now = self.study.user_attrs["definition"], self.experiment.definition()
        if changed := [key for key in now if now[key] != before.get(key)]:
            raise ConflictError(
                f"study {self.experiment.study}: its {' and '.join(changed)} changed since it was begun, so its trials "
                f"cannot be compared; set `study:` in the experiment file to a new name"
            )

    def note(self, name: str, value: Any) -> None:
        """Keep something about the study as a whole."""
        self.study.set_user_attr(name, value)

    def noted(self, name: str, default: Any = None) -> Any:
        """What was kept about the study."""
        return copy.deepcopy(self._notes().get(name, default))

    def _notes(self) -> Mapping[str, Any]:
        return self.place.storage.get_study_user_attrs(self.study._study_id)

    def trials(self) -> list[TrialRecord]:
        """All trials, in the order in which they were begun."""
        trials = list(self._refreshed().records)
        for number, run_id in self._logged().items():
            trials[number] = replace(trials[number], run_id=run_id)
        return trials

    def trial(self, number: int) -> TrialRecord:
        """One trial."""
        trials = self._refreshed().records
        if not 0 <= number < len(trials):
            raise ConflictError(f"study {self.experiment.study} has no trial {number}; it has {len(trials)}, from 0 on")
        return self._with_run(trials[number])

    def best(self) -> TrialRecord | None:
        """The trial that ranks first, where one is complete and keeps to the constraints."""
        best = self._refreshed().best
        return None if best is None else self._with_run(best)

    def _with_run(self, trial: TrialRecord) -> TrialRecord:
        logged = self._logged().get(trial.number)
        return replace(trial, run_id=logged) if logged else trial

    def note_run(self, number: int, run_id: str) -> None:
        """Keep which run a trial was logged as after it was finished."""
        with self.place.exclusive():
            self.note("runs", {**self.noted("runs", {}), str(number): run_id})

    def _logged(self) -> dict[int, str]:
        return {int(number): run_id for number, run_id in self._notes().get("runs", {}).items()}

    def _refreshed(self) -> TrialIndex:
        self._index.refresh()
        return self._index

    def spending(self) -> Spending:
        """What was spent of the budget."""
        return self._spent(self._refreshed())

    def _spent(self, index: TrialIndex) -> Spending:
        return index.spending(Budget.model_validate(self._notes()["budget"]), time.time())

    def closed(self) -> str | None:
        """Why no new trial may be begun, or None where one may."""
        return self._closed(self._refreshed())

    def _closed(self, index: TrialIndex) -> str | None:
        spending, notes = self._spent(index), self._notes()
        if notes.get("cancelled"):
            return "the search was cancelled; it goes on with --resume"
        if not spending.minutes_left:
            return f"the budget of {spending.budget.minutes:g} minutes is spent"
        if not spending.trials_left:
            return f"the budget of {spending.budget.trials} trials is spent"
        if notes.get("exhausted"):
            return "every point of the space was tried"
        return None

    @contextmanager
    def worker(self) -> Iterator[str]:
        """A name under which trials are claimed, alive for as long as the block runs."""
        name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"
        with self.place.lease(name):
            yield name

    def is_gone(self, worker: str) -> bool:
        """Whether a worker of this ledger lives no more. One that it has never seen may live elsewhere."""
        return worker in self._refreshed().workers and not self.place.is_alive(worker)

    def claim(
        self, worker: str, point: Mapping[str, Value] | None = None, proposed_by: str = "", hypothesis: str = ""
    ) -> TrialRecord | None:
        """A trial to evaluate, or None where the search is closed.

        Without a point it is one that a dead worker left, else the sampler's. A point that was tried before comes back
        as the trial that tried it, to be finished where its worker died over it. `worker` is empty for a trial that
        somebody outside asks for and will tell.
        """
        with self.place.exclusive():
            index = self._tidied()
            if point is not None and (known := index.tried(point)):
                left = worker and self._is_left(known) and not self._stopped(index)
                return self._take_over(known, worker) if left else self._with_run(known)
            if point is None and worker and not self._stopped(index):
                for record in filter(self._is_left, index.unfinished()):
                    return self._take_over(record, worker)
            if self._closed(index):
                return None
            notes = {"proposed_by": proposed_by or self.experiment.sampler, "hypothesis": hypothesis}
            if point is None and (first := self._first(index)):
                who, point = first
                notes["proposed_by"] = who
            trial = self._ask(fixed_sampler(point))[0] if point is not None else self._propose(index)
            return self._register(trial, worker, notes) if trial else None

    def tell_base(self, point: Point, values: Sequence[float], violations: Mapping[str, float], **notes: Any) -> None:
        """Let the sampler learn from the base, where it is a point of the space. Whoever calls it holds the lock."""
        trial, _ = self._ask(fixed_sampler(point))
        now = time.time()
        trial.set_user_attr("claim", {"proposed_by": "base", "started": now, "worker": "", "is_base": True})
        trial.set_user_attr("outcome", {**notes, "seconds": 0.0})
        for name, violation in violations.items():
            trial.set_constraint(name, violation)
        self.study.tell(trial, list(values))

    def _first(self, index: TrialIndex) -> tuple[str, Point] | None:
        """The first of the points that are tried before the sampler is asked, and nobody has tried."""
        return next(((who, point) for who, point in self._notes().get("first", ()) if not index.tried(point)), None)

    def adopt(self, number: int, worker: str, hypothesis: str) -> TrialRecord:
        """Let a worker evaluate a trial that was asked for."""
        with self.place.exclusive():
            record = self.trial(number)
            if record.state is not State.ASKED:
                raise ConflictError(f"trial {number} is {record.state}; only one that was asked for can be run")
            return self._take_over(replace(record, hypothesis=hypothesis), worker)

    def tell(self, number: int, values: Sequence[float], violations: Mapping[str, float], **notes: Any) -> TrialRecord:
        """Finish a trial with the values of its objectives. Constraints hold where their violation is at most 0."""
        with self._finishing(number, notes) as trial:
            for name, violation in violations.items():
                trial.set_constraint(name, violation)
            self.study.tell(number, list(values))
        return self.trial(number)

    def prune(self, number: int, value: float, photos: int, **notes: Any) -> TrialRecord:
        """Finish a trial early: `value` is that of the objective on its first photos."""
        with self._finishing(number, notes) as trial:
            trial.report(value, photos)
            self.study.tell(number, state=TrialState.PRUNED)
        return self.trial(number)

    def fail(self, number: int, reason: str, **notes: Any) -> TrialRecord:
        """Finish a trial that came to nothing."""
        with self._finishing(number, {**notes, "reason": reason}):
            self.study.tell(number, state=TrialState.FAIL)
        return self.trial(number)

    def give_back(self, number: int, reason: str) -> TrialRecord:
        """Cancel a trial that was asked for; the budget gets it back."""
        with self.place.exclusive():
            record = self.trial(number)
            if record.state is not State.ASKED:
                raise ConflictError(f"trial {number} is {record.state}; only one that was asked for can be cancelled")
            self._drop(record, reason)
            self.note("exhausted", False)
        return self.trial(number)

    @contextmanager
    def _finishing(self, number: int, notes: Mapping[str, Any]) -> Iterator[Trial]:
        with self.place.exclusive():
            record = self.trial(number)
            if record.state not in UNDER_WAY:
                raise ConflictError(f"trial {number} is {record.state} already")
            trial = self._handle(record)
            if run_id := notes.get("mlflow_run_id"):
                trial.set_user_attr("mlflow_run_id", run_id)
            trial.set_user_attr("outcome", {**notes, "seconds": time.time() - record.started})
            yield trial

    def _stopped(self, index: TrialIndex) -> bool:
        """Whether even what was begun must not go on."""
        return bool(self._notes().get("cancelled")) or not self._spent(index).minutes_left

    def _tidied(self) -> TrialIndex:
        """The trials, after those that nobody will finish are put away: asked for long ago, half made, or deadly."""
        index = self._refreshed()
        return self._refreshed() if sum(self._put_away(record) for record in index.unfinished()) else index

    def _put_away(self, record: TrialRecord) -> bool:
        if record.state is State.ASKED and time.time() - record.started > _ASK_SECONDS:
            self._drop(record, "asked for and not told within an hour")
        elif record.state is State.RUNNING and not record.worker:
            self._drop(record, "its worker died before the point was chosen")
        elif self._is_left(record) and record.attempts >= _MOST_ATTEMPTS:
            self._handle(record).set_user_attr("outcome", {"reason": f"{record.attempts} workers died over it"})
            self.study.tell(record.number, state=TrialState.FAIL)
        else:
            return False
        return True

    def _is_left(self, record: TrialRecord) -> bool:
        """Whether a trial's worker is dead."""
        return record.state is State.RUNNING and not self.place.is_alive(record.worker)

    def _take_over(self, record: TrialRecord, worker: str) -> TrialRecord:
        notes = {
            "proposed_by": record.proposed_by,
            "hypothesis": record.hypothesis,
            "attempts": record.attempts + 1,
            "left_by": [*record.left_by, *filter(None, [record.worker])],
        }
        return self._register(self._handle(record), worker, notes)

    def _propose(self, index: TrialIndex) -> Trial | None:
        """A new trial of Optuna's with a point that nobody has tried, or None where there is none left."""
        space = self.experiment.space
        count = size(space)
        if count is not None and index.distinct >= count:
            self.note("exhausted", True)
            return None
        if self.experiment.sampler != "grid":
            for attempt in range(_MOST_DUPLICATES):
                trial, proposed = self._ask(make_sampler(self.experiment, len(index.records) + attempt))
                if (twin := index.tried(proposed)) is None:
                    return trial
                self._settle(trial, twin)
        if count is None or count > _MOST_POINTS:
            raise HarnessError(f"study {self.experiment.study}: the sampler proposes only what was tried before")
        if self.experiment.sampler == "grid":
            untried = index.next_untried(space)
        else:
            others = [one for one in points(space) if index.tried(one) is None]
            untried = random.Random(index.distinct).choice(others) if others else None
        if untried is None:
            self.note("exhausted", True)
            return None
        return self._ask(fixed_sampler(untried))[0]

    def _ask(self, sampler: optuna.samplers.BaseSampler) -> tuple[Trial, Point]:
        self.study.sampler = sampler
        # As `study.ask` does, but for looking through all trials for one that waits: a ledger has none.
        self.study._thread_local.cached_all_trials = None
        trial = Trial(self.study, self.study._storage.create_new_trial(self.study._study_id))
        return trial, suggest_point(self.experiment.space, trial)

    def _settle(self, trial: Trial, twin: TrialRecord) -> None:
        """Answer a point that was tried before with what came of it then."""
        trial.set_user_attr("mlflow_run_id", twin.run_id)
        trial.set_user_attr("duplicate_of", twin.number)
        if twin.state is State.COMPLETE:
            self.study.tell(trial.number, list(twin.values))
        else:
            self.study.tell(trial.number, state=TrialState.FAIL)

    def _register(self, trial: Trial, worker: str, notes: Mapping[str, Any]) -> TrialRecord:
        """Note who has the trial. It comes after the choice of a point: a trial without it is known to be half made."""
        trial.set_user_attr("claim", {**notes, "started": time.time(), "worker": worker})
        return self.trial(trial.number)

    def _drop(self, record: TrialRecord, reason: str) -> None:
        self._handle(record).set_user_attr("outcome", {"reason": reason, "cancelled": True})
        self.study.tell(record.number, state=TrialState.FAIL)

    def _handle(self, record: TrialRecord) -> Trial:
        self.study.sampler = fixed_sampler({})  # a trial consults its sampler on being made, whatever it is for
        return Trial(self.study, record.key)

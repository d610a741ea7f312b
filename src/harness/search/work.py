"""What jobs do: one function a kind, each from what was asked to a result that is kept as JSON.

The process of a lane calls them. What it has read for one job, such as the observations of a study, is there for the
next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base.errors import BudgetError
from harness.base.progress import silent, watched
from harness.base.signals import EndedError
from harness.candidates.judge import Entry
from harness.search import inspection, verbs
from harness.search.base import ensure_base, known_base
from harness.search.changes import smallest_change, what_if
from harness.search.contest import judge_try
from harness.search.doubts import flag_label
from harness.search.experiment import FOLDER
from harness.search.failures import Wish
from harness.search.jobs import Job, Lane
from harness.search.lane import Progress
from harness.search.ledger import Ledger
from harness.search.replay import Replay
from harness.search.searchable import forget_composed
from harness.search.trials import State, TrialRecord, ranked
from harness.search.views import TrialView

Result = dict[str, Any]


class _EnoughError(Exception):
    """A search has made as many trials as it was asked for."""


@dataclass(frozen=True)
class Kind:
    """A kind of job: which lane works on it, and whether its result stands once it is done."""

    lane: Lane
    do: Callable[[Job, Progress], Result]
    lasting: bool = False


def do(job: Job, progress: Progress) -> Result:
    """Do a job, with the config files as they are now."""
    forget_composed()
    with watched(progress.tell):
        return KINDS[job.request.kind].do(job, progress)


def _begun(job: Job) -> Ledger:
    """The ledger of a study that has its base: whoever only looks begins none."""
    ledger = verbs.open_study(job.request.study)
    known_base(ledger)
    return ledger


def _begin(job: Job, _: Progress) -> Result:
    ledger = verbs.begin(job.request.study)
    base = known_base(ledger)
    values = dict(zip(ledger.experiment.objectives, base.values, strict=True))
    return {"base": values, "photos": base.photos, "data": base.data, "budget": _plain(verbs.status(job.request.study))}


def _ask(job: Job, progress: Progress) -> Result:
    ledger = verbs.begin(job.request.study)
    if progress.state.attempts > 1:  # the process before this one may have asked, and died before it could say so
        for trial in ledger.trials():
            if (trial.state, trial.proposed_by) == (State.ASKED, "agent") and trial.started >= job.request.created:
                return _plain(TrialView.of(ledger.experiment, trial))
    return _plain(verbs.ask(job.request.study, proposed_by="agent"))


def _try(job: Job, _: Progress) -> Result:
    asked = job.request.arguments
    ledger = verbs.begin(job.request.study)
    try:
        return _plain(verbs.try_point(job.request.study, **asked, proposed_by="agent"))
    except EndedError:
        _give_up(ledger, "cancelled by whoever asked for it")
        raise


def _search(job: Job, progress: Progress) -> Result:
    """Let the sampler work until the budget is spent, or as many trials were made as were asked for."""
    ledger = verbs.begin(job.request.study)
    if (closed := ledger.closed()) and progress.state.attempts == 1:  # one that was left is finished, though
        raise BudgetError(f"study {ledger.experiment.study}: {closed}")
    most, workers = job.request.arguments["trials"], job.request.arguments["workers"]
    # A trial that a dead worker left has its place in the budget already, and is finished first.
    left = ledger.spending().trials_left + len(_abandoned(ledger))
    watch = _Watch(ledger, progress, min(most or left, left), stops=bool(most))
    try:
        with silent():  # trials are told, not their photos
            return _plain(verbs.run(job.request.study, workers, watch))
    except _EnoughError:
        return _plain(verbs.board(job.request.study))
    except EndedError:
        _give_up(ledger, "its search was cancelled by whoever asked for it")
        raise


class _Watch:
    """Tells how far a search is, and its best so far; and ends it after so many trials."""

    def __init__(self, ledger: Ledger, progress: Progress, most: int, stops: bool) -> None:
        self._ledger, self._progress, self._most, self._stops = ledger, progress, most, stops
        self._done, self._best = 0, next(iter(ranked(ledger.experiment, ledger.trials())), None)
        progress.tell(0, most, "trials")

    def __call__(self, trial: TrialRecord) -> None:
        self._done += 1
        if trial.state is State.COMPLETE and trial.feasible and self._beats(trial):
            self._best = trial
        self._progress.tell(self._done, self._most, "trials")
        if self._best is not None:
            self._progress.partial(best=_plain(TrialView.of(self._ledger.experiment, self._best)))
        if self._stops and self._done >= self._most:
            raise _EnoughError

    def _beats(self, trial: TrialRecord) -> bool:
        sign = self._ledger.experiment.sign
        return self._best is None or sign * trial.values[0] > sign * self._best.values[0]


def _give_up(ledger: Ledger, reason: str) -> None:
    """Finish the trials that a worker has left that was ended on purpose: nobody is to take them over."""
    for trial in _abandoned(ledger):
        ledger.fail(trial.number, reason)


def _abandoned(ledger: Ledger) -> list[TrialRecord]:
    """The trials whose worker died over them."""
    return [trial for trial in ledger.trials() if trial.state is State.RUNNING and ledger.is_gone(trial.worker)]


def _propose(job: Job, _: Progress) -> Result:
    path, view = verbs.propose(job.request.study, job.request.arguments["trial"])
    return {"path": str(path), "text": path.read_text(), "trial": _plain(view)}


def _board(job: Job, _: Progress) -> Result:
    return _plain(verbs.board(job.request.study, job.request.arguments["limit"]))


def _baseline(job: Job, _: Progress) -> Result:
    return _plain(inspection.baseline(_begun(job)))


def _trial(job: Job, _: Progress) -> Result:
    ledger, number = _begun(job), job.request.arguments["trial"]
    view = _plain(TrialView.of(ledger.experiment, ledger.trial(number)))
    return {**view, "run": _plain(inspection.run_view(number, inspection.run_of(ledger, number)))}


def _compare(job: Job, _: Progress) -> Result:
    asked = job.request.arguments
    return _plain(inspection.comparison(_begun(job), asked["trial"], asked["other"]))


def _explain(job: Job, _: Progress) -> Result:
    return {"text": inspection.explanation(_begun(job), job.request.arguments["trial"])}


def _failures(job: Job, _: Progress) -> Result:
    asked = dict(job.request.arguments)
    wish = Wish(asked.pop("cause"), asked.pop("tag"), asked.pop("person"))
    found = inspection.failures(_begun(job), wish=wish, **asked)
    for name, content in found.pictures.items():
        job.keep_picture(name, content)
    return {**_plain(found.view), "pictures": list(found.pictures)}


def _flag(job: Job, _: Progress) -> Result:
    asked = job.request.arguments
    return flag_label(_begun(job), by=job.request.by, **asked)


def _what_if(job: Job, _: Progress) -> Result:
    asked, ledger = job.request.arguments, _begun(job)
    return _plain(what_if(ledger, _replay(ledger), asked["photo"], asked["params"], asked["objective"]))


def _smallest_change(job: Job, progress: Progress) -> Result:
    asked, ledger = job.request.arguments, _begun(job)

    def tell(done: int, total: int) -> None:
        progress.tell(done, total, "values")

    return _plain(smallest_change(ledger, _replay(ledger), asked["photo"], asked["objective"], tell))


def _judge(job: Job, _: Progress) -> Result:
    """Beside the base that a person has written into the study, or else HEAD of the repository that the server was
    started in; never on the holdout."""
    asked = job.request.arguments
    path = FOLDER / f"{job.request.study}.yaml"
    found, repeated = judge_try(path, Entry(asked["commit"], hypothesis=asked["hypothesis"]), Path.cwd())
    return {**found.shown(), "repeated": repeated}


#: What the stages have observed on the photos of the study that this process works for, by what it depends on.
_REPLAYS: dict[str, Replay] = {}


def _replay(ledger: Ledger) -> Replay:
    """The observations of a study, kept for as long as its photos, labels, code and config files are the same."""
    base = ensure_base(ledger)  # raises where something has changed since the study was begun
    key = f"{base.data_digest} {base.code} {base.config}"
    if key not in _REPLAYS:
        _REPLAYS.clear()
        _REPLAYS[key] = Replay.open(ledger.experiment)
    return _REPLAYS[key]


def _plain(view: Any) -> Result:
    found: Result = verbs.plain(view)
    return found


KINDS: Mapping[str, Kind] = {
    "begin_study": Kind("trials", _begin, lasting=True),
    "ask": Kind("trials", _ask),
    "run_trial": Kind("trials", _try, lasting=True),
    "propose_preset": Kind("trials", _propose),
    "start_search": Kind("search", _search),
    "judge": Kind("judge", _judge),
    "leaderboard": Kind("looks", _board),
    "get_baseline": Kind("looks", _baseline),
    "get_trial": Kind("looks", _trial),
    "compare_trials": Kind("looks", _compare),
    "explain_trial": Kind("looks", _explain),
    "list_failures": Kind("looks", _failures),
    "what_if": Kind("looks", _what_if),
    "smallest_change": Kind("looks", _smallest_change),
    "flag_label": Kind("looks", _flag),
}

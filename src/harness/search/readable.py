"""What the server reads by itself, without a job: experiments, by their text alone, and what studies have spent."""

from __future__ import annotations

import re
import threading

from pydantic import Field

from harness.base.errors import ConfigError, HarnessError
from harness.search import verbs
from harness.search.answers import jobs_of
from harness.search.experiment import FOLDER, Experiment, read_experiment
from harness.search.jobs import Job
from harness.search.ledger import Ledger
from harness.search.searchable import check_words
from harness.search.storage import JOURNAL
from harness.search.views import BudgetView, SpaceView, View

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*", re.ASCII)
#: The ledgers that were read before, by study, with what they were read as. A ledger that is kept open reads what is
#: new, and not everything again.
_OPENED: dict[str, tuple[object, Ledger]] = {}
_ONE_READER = threading.Lock()


class StudyView(View):
    """An experiment that an agent may work on; `problem` says why not, where it may not."""

    study: str
    description: str = ""
    objectives: dict[str, str] = Field(default_factory=dict)
    budget: BudgetView | None = None
    problem: str = ""


class Studies(View):
    """All of them."""

    studies: list[StudyView]


def named(study: str) -> Experiment:
    """The experiment of a name in `experiments/`, by its text alone; everything else is refused."""
    there = sorted(path.stem for path in FOLDER.glob("*.yaml"))
    if not _NAME.fullmatch(study) or study not in there:
        raise ConfigError(f"{study[:80]!r}: expected the name of an experiment: {', '.join(there) or 'there is none'}")
    experiment = read_experiment(FOLDER / f"{study}.yaml")
    if experiment.study != study:
        raise ConfigError(f"{study}: its file calls the study {experiment.study}; a person has to rename one of them")
    check_words(experiment)
    return experiment


def studies() -> Studies:
    """The experiments that there are."""
    return Studies(studies=[study_view(path.stem) for path in sorted(FOLDER.glob("*.yaml"))])


def study_view(name: str) -> StudyView:
    """One of them; what is wrong with it is told in its place."""
    try:
        experiment = named(name)
        budget = spending(name)
    except HarnessError as error:
        return StudyView(study=name, problem=str(error))
    objectives = {metric: str(direction) for metric, direction in experiment.objectives.items()}
    return StudyView(study=name, description=experiment.description, objectives=objectives, budget=budget)


def described(study: str) -> SpaceView:
    """What an experiment varies, and what it may spend."""
    return verbs.describe(study, spending(study))


def spending(study: str) -> BudgetView:
    """What a study has spent."""
    named(study)
    with _ONE_READER:
        return verbs.status(study, _opened)


def _opened(study: str) -> Ledger:
    experiment, journal = read_experiment(FOLDER / f"{study}.yaml"), FOLDER / study / JOURNAL
    read_as = experiment, journal.stat().st_ino if journal.exists() else 0
    if (known := _OPENED.get(study)) is None or known[0] != read_as:
        _OPENED[study] = known = read_as, verbs.open_study(study)
    return known[1]


def job_of(study: str, job: str) -> Job:
    """A job of a study."""
    named(study)
    return jobs_of(study).get(job)

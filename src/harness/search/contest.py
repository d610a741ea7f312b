"""A study whose candidates change code: what its experiment file says, for the judge."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.base.errors import ConfigError
from harness.candidates.judge import Contest, Entry, judge_candidate
from harness.candidates.page import write_page
from harness.candidates.rules import default_command, is_scoring
from harness.candidates.tries import Try
from harness.scoring import Interval
from harness.scoring.speed import RUNTIME
from harness.search.experiment import Experiment, read_experiment, study_folder
from harness.search.searchable import check_words
from harness.tasks.identity.scores import DECLARED


def judge_try(path: Path, entry: Entry, folder: Path) -> tuple[Try, bool]:
    """Judge a candidate by an experiment file, and write the page of all tries; says whether it was judged before."""
    contest = contest_of(path)
    found, repeated = judge_candidate(contest, entry, folder)
    write_page(contest.folder, contest.study)
    return found, repeated


def contest_of(path: Path) -> Contest:
    """What the candidates of an experiment are judged by. Raises ConfigError where they cannot be."""
    experiment = read_experiment(path)
    if experiment.judge is None:
        raise ConfigError(f"{path}: has no `judge` section; expected one, which may be empty: judge: {{}}")
    check_words(experiment)
    timed = [name for name in (*experiment.objectives, *experiment.constraints) if name.startswith(RUNTIME)]
    if timed:
        raise ConfigError(f"{path}: {timed[0]}: what a candidate says of its own time is not judged; set judge.seconds")
    definition = json.dumps(experiment.definition(), sort_keys=True)
    return Contest(
        study=experiment.study,
        folder=study_folder(path, experiment),
        overrides=tuple(filter(is_scoring, experiment.base)),
        metric=experiment.metric,
        sign=experiment.sign,
        seed=experiment.seed,
        rules=experiment.judge,
        command=experiment.judge.command or default_command(experiment.base, people=_asks_for_people(experiment)),
        definition=hashlib.sha256(definition.encode()).hexdigest(),
        broken=lambda values, intervals: broken(experiment, values, intervals),
    )


def _asks_for_people(experiment: Experiment) -> bool:
    """Whether an objective or a constraint is of the scorecards of identity."""
    people = {metric for card in DECLARED for metric in card.metrics}
    return not people.isdisjoint((*experiment.objectives, *experiment.constraints))


def broken(
    experiment: Experiment, values: Mapping[str, float], intervals: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """The constraints that the values of a candidate break, in words. One that cannot be measured is broken."""
    found = []
    for name, limit in experiment.constraints.items():
        if name not in values:
            found.append(f"{name} cannot be measured")
            continue
        sure = Interval(**intervals[name]) if name in intervals else None
        held = limit.held(name, values[name], sure)
        if limit.violation(held) > 0:
            found.append(f"{name} is {values[name]:.4f}{limit.words(held)}")
    return found

"""Racing: a trial that is surely worse than the best so far is not evaluated to the end.

The groups of photos are put into an order that the seed decides, the same for every trial. After an eighth of the
groups, a quarter and a half (never fewer than eight) the trial's photos are paired with those of the best trial. It is
given up when chance (flipped signs of the groups) makes it as much worse in at most one of 100 cases. What was seen up
to then is kept, so that a trial that goes on pays nothing twice.

A trial that costs no model is not raced: from memory the whole of it takes milliseconds. And only a search for one rate
of photos races: nothing can be said early about seconds, or about several objectives.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from harness.references.sets import ReferencePhoto
from harness.runs.records import run_name
from harness.runs.tags import STUDY_TAG, WORKER_TAG
from harness.scoring import ItemCounts
from harness.scoring.cards import Sides
from harness.scoring.pairing import PairedRate, flip_chances, paired_rates
from harness.search.experiment import Experiment
from harness.search.ledger import Ledger
from harness.search.loop import Glance
from harness.search.replay import Replay
from harness.search.searchable import trial_spec
from harness.search.trials import TrialRecord
from harness.tasks.photos.scores import declared
from harness.tracking.runs import RunRecord, tracked_run

SHARES = (0.125, 0.25, 0.5)
FEWEST_GROUPS = 8
CERTAINTY = 0.99


class Race:
    """Races trials against the best of their study."""

    def __init__(self, ledger: Ledger, replay: Replay) -> None:
        experiment = ledger.experiment
        self._ledger, self._experiment, self._replay = ledger, experiment, replay
        rates = {rate.metric for card in declared() for rate in card.rates.values()}
        self._enabled = experiment.pruning and len(experiment.objectives) == 1 and experiment.metric in rates
        self._rungs = rungs(in_order(replay.references.photos, experiment.seed))
        #: Where each photo stands in what a ledger keeps of a trial.
        self._rows = {photo: row for row, photo in enumerate(sorted(p.sha256 for p in replay.references.photos))}

    def glance(self, trial: TrialRecord) -> Glance | None:
        """Look at the first groups of photos; None where the trial has to be evaluated in full."""
        best = self._ledger.best() if self._enabled else None
        if best is None or best.sides is None or len(best.sides[0]) != len(self._rows):
            return None
        for photos in self._rungs:
            predicted = self._replay.predicted(trial.point, photos)
            if predicted.failed:
                return None  # the whole has to say so
            if not any(photo.misses for photo in predicted.photos):
                continue  # it has cost nothing so far
            rate = compare(
                self._experiment.metric, self._replay.cards(predicted.photos), self._sides(best, photos), photos
            )
            if rate is None:
                continue
            certainty = 1 - worse_by_chance(self._experiment, rate)
            if certainty >= CERTAINTY:
                return Glance(best.number, len(photos), rate.candidate, rate.baseline, certainty)
        return None

    def _sides(self, best: TrialRecord, photos: Sequence[ReferencePhoto]) -> Sides:
        assert best.sides is not None
        rows = [self._rows[photo.sha256] for photo in photos]
        above, below = (np.asarray(side, float)[rows] for side in best.sides)
        return above, below


def worse_by_chance(experiment: Experiment, rate: PairedRate) -> float:
    """How often chance alone makes the candidate as much worse as it is."""
    metric = experiment.metric
    return flip_chances({metric: rate}, {metric: experiment.sign})[metric][0]


def log_pruned(experiment: Experiment, trial: TrialRecord, glance: Glance) -> str:
    """Leave a run that says what was seen. It has no scorecard: a part of the photos is no result."""
    spec = trial_spec(experiment, trial.point)
    store = spec.tracking.open()
    metric = experiment.metric.replace("/", "_")
    tags = {STUDY_TAG: experiment.study, WORKER_TAG: trial.worker, "outcome": "PRUNED", "preset": spec.preset}
    name = run_name(replace(spec, study=experiment.study))
    with tracked_run(store, store.runs_experiment, name, tags) as run:
        metrics = {f"prefix/{metric}": glance.value, "prefix/photos": float(glance.photos)}
        run.log(RunRecord(spec.params, metrics, {}, f"Pruned: {glance.words()}.", failed=True))
    return run.run_id


def in_order(photos: Sequence[ReferencePhoto], seed: int) -> list[list[ReferencePhoto]]:
    """The groups of photos in the order in which they are looked at: by chance, and the same for every trial. A photo
    without a group is one of its own."""
    groups: dict[str, list[ReferencePhoto]] = {}
    for photo in photos:
        groups.setdefault(photo.group or photo.sha256, []).append(photo)
    order = sorted(groups, key=lambda name: hashlib.sha256(f"{seed}/{name}".encode()).digest())
    return [groups[name] for name in order]


def rungs(groups: Sequence[Sequence[ReferencePhoto]]) -> list[list[ReferencePhoto]]:
    """The photos that a trial is looked at on, each time more of them, and never all."""
    counts = {max(math.ceil(len(groups) * share), FEWEST_GROUPS) for share in SHARES}
    return [[photo for group in groups[:count] for photo in group] for count in sorted(counts) if count < len(groups)]


def compare(
    metric: str, cards: Mapping[str, ItemCounts], best: Sides, photos: Sequence[ReferencePhoto]
) -> PairedRate | None:
    """Pair the trial's photos with the best trial's."""
    ours = {name: sides for card in cards.values() for name, sides in card.sides().items()}
    groups = [photo.group for photo in photos]
    return paired_rates({metric: best}, {metric: ours[metric]}, groups).get(metric)

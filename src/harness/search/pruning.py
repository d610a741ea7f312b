"""Giving up early: a trial that is surely worse than the best so far is not evaluated to the end.

The photos are put into an order that the seed decides, the same for every trial. After a quarter of them, and again
after a half (never fewer than eight), the trial's photos are paired with those of the best trial. It is given up when
chance (flipped signs of the groups of photos) makes it as much worse in at most one of 100 cases. What was seen up to
then is in the stage cache, so that a trial that goes on pays nothing twice.

Only a search for one rate of photos prunes: nothing can be said early about seconds, or about several objectives.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.references.sets import ReferencePhoto
from harness.runs.archive import PHOTOS, BenchmarkRun, ItemRates
from harness.runs.records import run_name
from harness.runs.tags import STUDY_TAG, WORKER_TAG
from harness.scoring import ItemCounts
from harness.scoring.pairing import PairedRate, flip_chances, paired_rates
from harness.search.ledger import Ledger
from harness.search.loop import Glance
from harness.search.searchable import trial_spec
from harness.search.trials import TrialRecord, ranked
from harness.spec import RunSpec
from harness.tasks.photos.predicting import predict
from harness.tasks.photos.scores import declared, score_cards
from harness.tracking.catalog import load_run
from harness.tracking.runs import RunRecord, tracked_run

SHARES = (0.25, 0.5)
FEWEST_PHOTOS = 8
CERTAINTY = 0.99


class Pruner:
    """Compares trials with the best of their study; keeps the best one's run in memory while it stays the best."""

    def __init__(self, ledger: Ledger) -> None:
        experiment = ledger.experiment
        self._ledger, self._experiment = ledger, experiment
        rates = {rate.metric for card in declared() for rate in card.rates.values()}
        self._enabled = experiment.pruning and len(experiment.objectives) == 1 and experiment.metric in rates
        self._best: tuple[TrialRecord, BenchmarkRun] | None = None

    def glance(self, trial: TrialRecord) -> Glance | None:
        """Look at the first photos; None where the trial has to be evaluated in full."""
        if not self._enabled or not (best := next(iter(ranked(self._experiment, self._ledger.trials())), None)):
            return None
        spec = trial_spec(self._experiment, trial.point)
        references, run = spec.photos.references, self._run_of(spec, best)
        rates = run.tasks[PHOTOS].rates()
        known = [photo for photo in in_order(references.photos, self._experiment.seed) if photo.sha256 in rates.items]
        spec.photos.load()
        for count in checkpoints(len(known)):
            cards = scores_on(spec, known[:count])
            if cards is None:
                return None  # a photo failed: the full run has to say so
            rate = compare(self._experiment.metric, cards, rates, known[:count])
            if rate is None:
                continue
            metric = self._experiment.metric
            chance, _ = flip_chances({metric: rate}, {metric: self._experiment.sign})[metric]
            certainty = 1 - chance
            if certainty >= CERTAINTY:
                return Glance(best.number, count, rate.candidate, rate.baseline, certainty)
        return None

    def log(self, trial: TrialRecord, glance: Glance) -> str:
        """Leave a run that says what was seen. It has no scorecard: a part of the photos is no result."""
        spec = trial_spec(self._experiment, trial.point)
        store = spec.tracking.open()
        metric = self._experiment.metric.replace("/", "_")
        tags = {STUDY_TAG: self._experiment.study, WORKER_TAG: trial.worker, "outcome": "PRUNED", "preset": spec.preset}
        name = run_name(replace(spec, study=self._experiment.study))
        with tracked_run(store, store.runs_experiment, name, tags) as run:
            metrics = {f"prefix/{metric}": glance.value, "prefix/photos": float(glance.photos)}
            run.log(RunRecord(spec.params, metrics, {}, f"Pruned: {glance.words()}.", failed=True))
        return run.run_id

    def _run_of(self, spec: RunSpec, best: TrialRecord) -> BenchmarkRun:
        if self._best is None or self._best[0].number != best.number:
            self._best = best, load_run(spec.tracking.open(), best.run_id)
        return self._best[1]


def in_order(photos: Sequence[ReferencePhoto], seed: int) -> list[ReferencePhoto]:
    """The order in which photos are looked at: by chance, and the same for every trial."""
    return sorted(photos, key=lambda photo: hashlib.sha256(f"{seed}/{photo.sha256}".encode()).digest())


def checkpoints(photos: int) -> list[int]:
    """After how many photos a trial is looked at."""
    counts = (max(math.ceil(photos * share), FEWEST_PHOTOS) for share in SHARES)
    return sorted({count for count in counts if count < photos})


def scores_on(spec: RunSpec, photos: Sequence[ReferencePhoto]) -> dict[str, ItemCounts] | None:
    """The scorecards on some photos; None where one of them failed."""
    evaluated, failed = predict(spec.photos.pipeline, photos, spec.photos.cache.open(), quiet=True)
    return None if failed else score_cards(evaluated, spec.photos.scoring)


def compare(
    metric: str, cards: Mapping[str, ItemCounts], best: ItemRates, photos: Sequence[ReferencePhoto]
) -> PairedRate | None:
    """Pair the trial's photos with the best trial's."""
    ours = {name: sides for card in cards.values() for name, sides in card.sides().items()}
    rows = [best.items.index(photo.sha256) for photo in photos]
    above, below = (side[rows] for side in best.rates[metric])
    groups = [photo.group for photo in photos]
    return paired_rates({metric: (above, below)}, {metric: ours[metric]}, groups).get(metric)

"""Trials judged from memory: what the stages have observed on the photos of a study is held, and a point costs what is
made of it.

A point that changes links alone links the bibs and faces again that were found before, in milliseconds; one that
changes how bibs are read reads them again from what the models saw. Whatever is not known is computed by the models and
kept, in memory and in the stage cache. The scorecards are those of a run, and so are the numbers: `evaluate` comes to
the same for the same point. What no objective and no constraint needs (intervals, curves, pictures) is left out.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

from harness.base.errors import ConfigError, ConflictError, HarnessError, PhotoError
from harness.base.progress import told_only
from harness.pipeline import Pipeline
from harness.pipeline.cache import StageCache
from harness.pipeline.cache.memory import MemoryCache, remembered
from harness.references.sets import ReferencePhoto, ReferenceSet
from harness.runs.archive import BenchmarkRun
from harness.runs.items import Item
from harness.runs.plan import Task
from harness.runs.records import archive, plan_code, run_key, run_tags
from harness.runs.selection import listed
from harness.runs.tags import KEY_TAG
from harness.scoring import ItemCounts, intervals
from harness.search.base import check_unchanged, known_base, open_runs
from harness.search.experiment import Experiment
from harness.search.ledger import Ledger
from harness.search.loop import Outcome, make_outcome, outcome_of
from harness.search.observing import Observed, Stages
from harness.search.searchable import trial_spec
from harness.search.space import Point
from harness.search.trials import State
from harness.spec import RunSpec
from harness.tasks.identity.task import IdentityTask
from harness.tasks.photos.predicting import EvaluatedPhoto, FailedPhoto, Predictions, attempt
from harness.tasks.photos.scores import declared, score, score_cards
from harness.tasks.photos.task import PhotosTask, photos_result
from harness.tracking.catalog import load_run


@dataclass(frozen=True)
class ReplayedPhoto:
    """One photo under a point: what a run would keep of it (its prediction with the texts that were dropped, what each
    scorecard counts, each missed number with its cause), how long that took, and whether a model had to look."""

    item: Item
    milliseconds: float
    opened_model: bool


@dataclass(frozen=True)
class Replay:
    """What the stages have observed on the photos of a study, held in memory; judges points in milliseconds."""

    experiment: Experiment
    base: RunSpec
    references: ReferenceSet
    cache: MemoryCache
    stages: Stages

    @classmethod
    def open(cls, experiment: Experiment) -> Replay:
        """Read the photos and labels of a study. What was observed on them is read when a point asks for it."""
        base = trial_spec(experiment, {})
        references, cache = base.photos.references, remembered(base.photos.cache)
        return cls(experiment, base, references, cache, Stages(experiment, Observed(cache)))

    def outcome(self, point: Point, photos: Sequence[str] | None = None) -> Outcome:
        """What a trial of this point comes to, on all photos or on these. Raises HarnessError where it comes to
        nothing: a photo failed, or there is nothing that an objective could be made of."""
        if self._is_made_of_rates:
            return self._from_rates(point, self._chosen(photos))
        if photos is not None:
            raise ConfigError(f"{self.experiment.metric}: no rate of photos, so that it has no value on some of them")
        return self._from_tasks(point)

    def run(self, point: Point) -> BenchmarkRun:
        """The whole result of this point as a run would keep it, logged nowhere. It has no seconds."""
        spec = self._spec(point)
        code = plan_code(spec)
        return self._evaluated(spec, spec.tasks, run_tags(spec, run_key(spec, code), code))

    def photo(self, sha256: str, point: Point) -> ReplayedPhoto:
        """One photo of the study under this point. Raises PhotoError where it cannot be evaluated."""
        started = time.perf_counter()
        (photo,) = self._chosen([sha256])
        pipeline = self.stages.pipeline(point)
        found = self._look(pipeline, photo, embed=False)
        if isinstance(found, FailedPhoto):
            raise PhotoError(f"{photo.name}: {found.reason}")
        traced = self.stages.observed.tells_dropped(pipeline)
        scores = score([found], self.base.photos.scoring, traced=traced)
        (item,) = photos_result(self.base.photos.data(), [found], [], scores, None).kept.items
        return ReplayedPhoto(item, 1000 * (time.perf_counter() - started), bool(found.misses))

    def predicted(self, point: Point, photos: Sequence[ReferencePhoto]) -> Predictions:
        """What the pipeline of a point says about photos, without vectors of faces."""
        return self._look_at(self.stages.pipeline(point), photos, embed=False)

    @cached_property
    def _is_made_of_rates(self) -> bool:
        """Whether all that is asked for are rates of photos, which follow from counts alone."""
        return all(name in self._cards_of_rates for name in wanted(self.experiment))

    @cached_property
    def _cards_of_rates(self) -> Mapping[str, str]:
        """The scorecard of each rate of photos."""
        cards = declared(self.base.photos.scoring)
        return {rate.metric: card.name for card in cards for rate in card.rates.values()}

    @cached_property
    def _by_hash(self) -> Mapping[str, ReferencePhoto]:
        return {photo.sha256: photo for photo in self.references.photos}

    def _chosen(self, photos: Sequence[str] | None) -> Sequence[ReferencePhoto]:
        if photos is None:
            return self.references.photos
        if unknown := [sha256 for sha256 in photos if sha256 not in self._by_hash]:
            raise ConflictError(f"{unknown[0]}: no photo of this search, {self.references.name}")
        return [self._by_hash[sha256] for sha256 in photos]

    def _from_rates(self, point: Point, photos: Sequence[ReferencePhoto]) -> Outcome:
        pipeline = self.stages.pipeline(point)
        predicted = self._look_at(pipeline, photos, embed=False)
        _refuse_failed(predicted.failed, len(photos))
        return rated_outcome(self.experiment, self.cards(predicted.photos), predicted.photos)

    def cards(self, photos: Sequence[EvaluatedPhoto]) -> dict[str, ItemCounts]:
        """The scorecards that are asked for, photo by photo."""
        names = frozenset(self._cards_of_rates[name] for name in wanted(self.experiment))
        traced = any(photo.prediction.dropped for photo in photos)  # as in a run
        return score_cards(photos, self.base.photos.scoring, traced, names)

    def _from_tasks(self, point: Point) -> Outcome:
        """By the tasks that declare what is asked for, evaluated as in a run."""
        spec, asked = self._spec(point), set(wanted(self.experiment))
        needed = [task for task in spec.tasks if asked & {name for card in task.declares() for name in card.metrics}]
        _refuse_failed(spec.photos.predicted()[1], len(self.references.photos))
        run = self._evaluated(spec, needed, {"git.commit": "", KEY_TAG: ""})
        return outcome_of(self.experiment, "", run)

    def _evaluated(self, spec: RunSpec, tasks: Iterable[Task], tags: Mapping[str, str]) -> BenchmarkRun:
        plan = replace(spec, tasks=tuple(tasks))
        with tempfile.TemporaryDirectory() as folder:
            results = {task.name: task.evaluate(Path(folder), spec.seed, quiet=True) for task in plan.tasks}
        return archive(plan, results, tags)

    def _spec(self, point: Point) -> RunSpec:
        """The run of a point, whose photos are looked at from memory."""
        spec = trial_spec(self.experiment, point)
        if spec.photos.references.digest != self.references.digest:
            raise ConflictError(f"the photos or labels of {self.references.name} have changed; open the study again")
        photos = replace(spec.photos, executor=_FromMemory(self))
        vars(photos).update(references=self.references, opened_cache=self.cache)  # as if it had opened them itself
        return replace(spec, tasks=tuple(_on(task, photos) for task in spec.tasks))

    def _look_at(self, pipeline: Pipeline, photos: Sequence[ReferencePhoto], embed: bool) -> Predictions:
        found = [self._look(pipeline, photo, embed) for photo in told_only(photos)]
        if any(isinstance(each, EvaluatedPhoto) and each.misses for each in found):
            self.cache.prune()
        return Predictions(
            tuple(each for each in found if isinstance(each, EvaluatedPhoto)),
            tuple(each for each in found if isinstance(each, FailedPhoto)),
        )

    def _look(self, pipeline: Pipeline, photo: ReferencePhoto, embed: bool) -> EvaluatedPhoto | FailedPhoto:
        return attempt(photo, partial(self.stages.observed.look, pipeline, photo, embed))


@dataclass(frozen=True)
class _FromMemory:
    """Who runs the pipeline on the photos of a replayed run: nobody, where it was run before."""

    replay: Replay

    def predict(
        self, pipeline: Pipeline, photos: Sequence[ReferencePhoto], cache: StageCache | None, quiet: bool
    ) -> Predictions:
        """What the pipeline says about the photos."""
        assert cache is self.replay.cache, "the photos of a study have one cache"
        assert quiet, "a trial shows no progress"
        return self.replay._look_at(pipeline, photos, embed=True)


def _on(task: Task, photos: PhotosTask) -> Task:
    """A task on the photos of another; what is on neither stays as it is."""
    if isinstance(task, PhotosTask):
        return photos
    return IdentityTask(photos) if isinstance(task, IdentityTask) else task


def wanted(experiment: Experiment) -> list[str]:
    """The metrics that a trial is judged by: the objectives, then the constraints, each once."""
    return list(dict.fromkeys([*experiment.objectives, *experiment.constraints]))


def _refuse_failed(failed: Sequence[FailedPhoto], photos: int) -> None:
    if failed:
        first = failed[0]
        told = f"{len(failed)} of {photos} photo{'' if photos == 1 else 's'} could not be evaluated"
        raise HarnessError(f"{told}; {first.photo.name}: {first.reason}")


def rated_outcome(experiment: Experiment, cards: Mapping[str, ItemCounts], photos: Sequence[EvaluatedPhoto]) -> Outcome:
    """What rates of photos come to, from their counts photo by photo."""
    metrics: dict[str, float] = {}
    for card in cards.values():
        metrics |= card.total().metrics()
    sides = {metric: pair for card in cards.values() for metric, pair in card.sides().items()}
    names, groups = [photo.sha256 for photo in photos], [photo.photo.group for photo in photos]
    order = sorted(range(len(names)), key=names.__getitem__)
    above, below = sides[experiment.metric]
    rated = listed((above[order], below[order])) if below.sum() > 0 else None
    certain = any(limit.certainty is not None for limit in experiment.constraints.values())
    sure = {name: each for card in cards.values() for name, each in intervals(card, groups).items()} if certain else {}
    return make_outcome(experiment, "", metrics, sure, rated)


def trial_run(ledger: Ledger, trial: int | None) -> BenchmarkRun:
    """The result of a trial, or without one that of the base: its run in MLflow where it has one, else replayed from
    what was observed. Raises ConflictError for a trial that has no result, or where the study has changed since."""
    base = known_base(ledger)
    record = None if trial is None else ledger.trial(trial)
    if run_id := base.run_id if record is None else record.run_id:
        return load_run(open_runs(ledger.experiment), run_id)
    assert record is not None, "the base is a run of its own"
    if record.state is not State.COMPLETE:
        raise ConflictError(f"trial {record.number} is {record.state}; only a complete one has a result")
    replay = Replay.open(ledger.experiment)
    check_unchanged(ledger.experiment, base, replay.references.digest)
    run = replay.run(record.point)
    values = outcome_of(ledger.experiment, "", run).values
    if values != record.values:
        raise HarnessError(
            f"trial {record.number} comes out otherwise when it is replayed: {values}, and the ledger has "
            f"{record.values}; the stage cache or a backend does not give the same answer twice"
        )
    return run

"""What a sweep shows: which jobs are worth their time, do the presets keep their promise, what made no difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol, TypeVar

from harness.scoring.speed import PHOTOS_PER_SECOND, SECONDS

#: Each preset promises to be no worse than the one before it in the first headline, and no faster.
LADDER = ("fast", "balanced", "best")
#: Times that differ by less than this share are the same: a run repeated is no faster.
SAME_TIME = 0.05


class Measured(Protocol):
    """A run of which enough is known to rank it among others."""

    @property
    def run_id(self) -> str:
        """Its id."""

    @property
    def finished(self) -> bool:
        """Whether it was evaluated to its end."""

    @property
    def metrics(self) -> Mapping[str, float]:
        """What it came to."""

    @property
    def headlines(self) -> Mapping[str, str]:
        """The metrics that its scorecards declare as worth a column, and their titles."""


M = TypeVar("M", bound=Measured)


@dataclass(frozen=True)
class SweepJob:
    """One run of a sweep. `predictions` is a digest of all that it predicted; empty where it got to no end.
    `headlines` are the metrics that its scorecards declare as worth a column, and their titles."""

    run_id: str
    name: str
    status: str
    preset: str
    params: Mapping[str, str]
    metrics: Mapping[str, float]
    verdict: str = ""
    predictions: str = ""
    headlines: Mapping[str, str] = field(default_factory=dict)

    @property
    def finished(self) -> bool:
        """Whether it was evaluated to its end."""
        return self.status == "FINISHED"

    @property
    def beyond_preset(self) -> str:
        """What was overridden on top of the preset."""
        return self.name.removeprefix(self.preset).strip()


def varied(jobs: Sequence[SweepJob]) -> list[str]:
    """The parameters that are not the same in all jobs that have any: one that was killed may have none."""
    given = [job.params for job in jobs if job.params]
    return [
        key
        for key in sorted({key for params in given for key in params})
        if len({params.get(key) for params in given}) > 1
    ]


def headlines(jobs: Sequence[Measured]) -> dict[str, str]:
    """The metrics to show and their titles: what the jobs declare, and the time that they took."""
    declared = {metric: title for job in jobs for metric, title in job.headlines.items()}
    return declared | ({SECONDS: "seconds"} if any(SECONDS in job.metrics for job in jobs) else {})


def quality(jobs: Sequence[Measured]) -> str:
    """The metric by which the jobs are compared: the first headline."""
    return next((metric for metric in headlines(jobs) if metric != SECONDS), "")


def extremes(jobs: Sequence[M]) -> tuple[M, ...]:
    """The best and the worst of the finished jobs by the first headline; of equal ones those that were first."""
    metric = quality(jobs)
    done = _measured(jobs, metric)
    if not done:
        return ()
    best, worst = (choose(done, key=lambda job: job.metrics[metric]) for choose in (max, min))
    return (best,) if best.run_id == worst.run_id else (best, worst)


def pareto_front(jobs: Sequence[SweepJob], good: str = "", cost: str = SECONDS) -> tuple[SweepJob, ...]:
    """The finished jobs that no other beats, cheapest first.

    One beats another by being better in no more time, or as good in less. Times this close (`SAME_TIME`) are the same.
    """
    metric = good or quality(jobs)
    points = [(job.metrics[metric], job.metrics[cost], job) for job in _measured(jobs, metric, cost)]
    front = [(price, value, job) for value, price, job in points if not any(_beats(p, (value, price)) for p in points)]
    return tuple(job for _, _, job in sorted(front, key=lambda item: (item[0], item[1], item[2].name)))


def _beats(other: tuple[float, float, SweepJob], point: tuple[float, float]) -> bool:
    (better, cheaper, _), (good, price) = other, point
    if better > good:
        return cheaper <= price * (1 + SAME_TIME)
    return better == good and cheaper * (1 + SAME_TIME) < price


def ladder_inversions(jobs: Sequence[SweepJob]) -> tuple[str, ...]:
    """Where a preset breaks its promise beside the one below it, in words; jobs with the same overrides compared."""
    groups: dict[str, dict[str, SweepJob]] = {}
    metric = quality(jobs)
    for job in _measured(jobs, metric, PHOTOS_PER_SECOND):
        groups.setdefault(job.beyond_preset, {})[job.preset] = job
    return tuple(
        text
        for beyond, presets in groups.items()
        for lower, upper in pairwise([presets[name] for name in LADDER if name in presets])
        for text in _inversions(metric, lower, upper, f" (with {beyond})" if beyond else "")
    )


def _inversions(metric: str, lower: SweepJob, upper: SweepJob, where: str) -> Iterator[str]:
    before, after = lower.metrics[metric], upper.metrics[metric]
    if after < before:
        yield f"{upper.preset} has a lower {metric} than {lower.preset}: {after:.1%} against {before:.1%}{where}"
    before, after = lower.metrics[PHOTOS_PER_SECOND], upper.metrics[PHOTOS_PER_SECOND]
    if after > before:
        yield f"{upper.preset} is faster than {lower.preset}: {after:.2f} against {before:.2f} photos a second{where}"


def has_ladder(jobs: Sequence[SweepJob]) -> bool:
    """Whether the sweep has two presets of the ladder to compare."""
    return len({job.preset for job in _measured(jobs, quality(jobs), PHOTOS_PER_SECOND)} & set(LADDER)) > 1


def idle_params(jobs: Sequence[SweepJob]) -> tuple[str, ...]:
    """Swept parameters that changed nothing: there are jobs that differ in them alone, and they predict the same."""
    done = [job for job in jobs if job.predictions]
    names = varied(done)
    return tuple(name for name in names if _is_idle(name, names, done))


def _is_idle(name: str, names: Sequence[str], jobs: Sequence[SweepJob]) -> bool:
    groups: dict[tuple[str | None, ...], list[SweepJob]] = {}
    for job in jobs:
        groups.setdefault(tuple(job.params.get(other) for other in names if other != name), []).append(job)
    pairs = [group for group in groups.values() if len({job.params.get(name) for job in group}) > 1]
    return bool(pairs) and all(len({job.predictions for job in group}) == 1 for group in pairs)


def identical(jobs: Sequence[SweepJob]) -> tuple[tuple[SweepJob, ...], ...]:
    """Jobs that predicted the same everywhere: what differs in their configs changed nothing."""
    groups: dict[str, list[SweepJob]] = {}
    for job in jobs:
        if job.predictions:
            groups.setdefault(job.predictions, []).append(job)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def _measured(jobs: Sequence[M], *metrics: str) -> list[M]:
    return [job for job in jobs if job.finished and all(name in job.metrics for name in metrics)]

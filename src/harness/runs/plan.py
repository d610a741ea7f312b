"""What a run is to do, and the interface between a run and what it evaluates: tasks.

A task owns its data, its items, its scorecards and its pictures. `evaluate` asks each task of a run for the same few
things and knows nothing else about them, so that photos are a task like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol, get_args, runtime_checkable

from harness.runs.archive import BenchmarkRun, TaskData, TaskRun
from harness.runs.comparison import Comparison
from harness.runs.gate import Gate
from harness.runs.items import FailedItem, Item, item_rows
from harness.runs.looks import Holdout
from harness.scoring import Declaration
from harness.scoring.speed import RUNTIME

#: All that a task from outside needs.
__all__ = [
    "FailedItem",
    "Item",
    "Plan",
    "Show",
    "Showing",
    "Shown",
    "Table",
    "Task",
    "TaskData",
    "TaskResult",
    "TaskRun",
    "item_rows",
]

#: A table for MLflow's UI: its columns by name.
Table = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Shown:
    """A task's part of the report: a self-contained piece of HTML, and tags by which MLflow knows what to show."""

    html: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)


#: All their photos are in memory at once.
MOST_PICTURES = 100


@dataclass(frozen=True)
class Drawing:
    """How a report is drawn: with how many pictures of each kind, and with links to the pages of `harness ui` that is
    served at `explorer`, if it is."""

    pictures: int = 6
    explorer: str = ""


@dataclass(frozen=True)
class Showing:
    """What a task needs to make its part of the report: the folder for pictures, the comparison with the baseline
    where there is one that compares the same items, the last runs on the same data, how many pictures of each kind are
    asked for, and the address that the pages of its photos begin with, if they are served."""

    folder: Path
    comparison: Comparison | None = None
    recent: Sequence[BenchmarkRun] = ()
    pictures: int = 6
    photo_pages: str = ""


Show = Callable[[Showing], Shown]

#: When a run does what costs time: where something asks for it, always, never. That is to measure the pipeline where
#: answers came from the cache, and to make a report.
When = Literal["auto", "on", "off"]
WHENS: tuple[When, ...] = get_args(When)
#: On a run whose photos went to other processes: which, and how much each of them did.
WORKERS_TAG = "executor.workers"
#: How many damaged entries of the cache were computed anew; there only where it is not 0.
REPAIRED = "cache/repaired"
#: Of how many photos every answer came from the cache; there only where there is such a photo.
CACHED_PHOTOS = "cache/photos"


@dataclass(frozen=True)
class TimingPass:
    """How a result without seconds can have some. `key` is a digest of what is measured and of the machine."""

    key: str
    words: str
    measure: Callable[[], Mapping[str, float]]


@dataclass(frozen=True)
class Audit:
    """How many of the answers from the cache were computed anew, and which of them came out otherwise, in words."""

    checked: int
    answers: int
    differences: tuple[str, ...] = ()

    def words(self) -> str:
        """What it came to, in a line."""
        return f"FAILED: {self.differences[0]}" if self.differences else f"passed: {self.checked} of {self.answers}"


@dataclass(frozen=True)
class TaskResult:
    """What a task came to: what is kept of it, further metrics and tags, and how it is shown in the report.

    `predictions` is a digest of all that was predicted; runs that share it differ in nothing that is scored. `curves`
    are metrics with a value at each step, `tables` are shown as such by MLflow. Where answers came from a cache,
    `timing` can measure what they cost, and `audit` computes some of them anew.
    """

    kept: TaskRun
    predictions: str
    metrics: Mapping[str, float] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    curves: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    idle_steps: tuple[str, ...] = ()
    show: Show | None = None
    timing: TimingPass | None = None
    audit: Callable[[], Audit] | None = None

    def sealed(self) -> TaskResult:
        """The same with nothing to be shown or logged of what was scored."""
        return TaskResult(self.kept, self.predictions, audit=self.audit)

    def with_seconds(self, seconds: Mapping[str, float], tags: Mapping[str, str]) -> TaskResult:
        """The same with metrics that were measured apart; scorecards have those that they declare."""
        cards = {}
        for name, card in self.kept.cards.items():
            own = {metric: value for metric, value in seconds.items() if metric in card.declared.metrics}
            cards[name] = replace(card, figures={**card.figures, **own})
        kept = replace(self.kept, cards=cards)
        return replace(self, kept=kept, metrics={**self.metrics, **seconds}, tags={**self.tags, **tags})


class Task(Protocol):
    """Something that a run can evaluate: the class behind a choice such as `tables=sample`."""

    @property
    def name(self) -> str:
        """What its part of a run is called."""

    def declares(self) -> tuple[Declaration, ...]:
        """The scorecards that it fills."""

    def data(self) -> TaskData:
        """What it is evaluated on; reads it, and raises where it cannot be used."""

    def inputs(self) -> Sequence[str]:
        """Digests of what its result depends on beside the data and the config, such as models."""

    def thresholds(self) -> Mapping[str, float]:
        """The rules of scoring that are set in the config; runs in which one differs cannot be compared."""

    def tags(self) -> Mapping[str, str]:
        """What is known about it before it starts, such as the licences of its models."""

    def load(self) -> None:
        """Open models and check files, so that whatever is wrong is told before a run begins."""

    def evaluate(self, folder: Path, seed: int, quiet: bool) -> TaskResult:
        """Do it. Files to be kept with the run go into `folder`; an item that fails is named and fails alone."""


@runtime_checkable
class HasHoldout(Protocol):
    """A task whose data may have photos that nobody is to tune on."""

    def holdout(self) -> Holdout | None:
        """Those of them that it evaluates, if any."""


@dataclass(frozen=True)
class Plan:
    """Everything that one run does, but for where it is kept.

    `title` is what it is called where no preset names it, as a run on the predictions of a file.
    On a holdout only the verdict is shown, unless somebody asks to `show_holdout`.
    A run of a search belongs to its `study` and, as a trial, to a `worker`; a `light` one leaves out the report, and
    says nothing while it runs.
    """

    preset: str
    overrides: tuple[str, ...]
    seed: int
    note: str
    force: bool
    sweep_id: str | None
    tasks: tuple[Task, ...]
    gate: Gate
    params: Mapping[str, str]
    config_yaml: str
    #: The config files that replace others of the same name, each with a digest of its content.
    shadowed: tuple[str, ...] = field(default=(), kw_only=True)
    #: A digest of the secrets that `params` and `config_yaml` hide; "" where there are none.
    secrets: str = field(default="", kw_only=True)
    title: str = field(default="", kw_only=True)
    study: str | None = field(default=None, kw_only=True)
    worker: str = field(default="", kw_only=True)
    light: bool = field(default=False, kw_only=True)
    timing: When = field(default="auto", kw_only=True)
    reports: When = field(default="auto", kw_only=True)
    drawing: Drawing = field(default_factory=Drawing, kw_only=True)
    show_holdout: bool = field(default=False, kw_only=True)

    @cached_property
    def holdout(self) -> Holdout | None:
        """The photos of a holdout that the run evaluates, if any."""
        found = (task.holdout() for task in self.tasks if isinstance(task, HasHoldout))
        return next((holdout for holdout in found if holdout is not None), None)

    @property
    def sealed(self) -> bool:
        """Whether the scores of the run are not to be shown."""
        return self.holdout is not None and self.holdout.alone and not self.show_holdout

    @property
    def wants_report(self) -> bool:
        """Whether the report is made with the run: not in a sweep, which has those of its best and its worst run
        made."""
        if self.light or self.sealed or self.reports == "off":
            return False
        return self.reports == "on" or self.sweep_id is None

    @property
    def needs_seconds(self) -> bool:
        """Whether something asks for `runtime/*` of a run whose answers may come from the cache: a person, a gate that
        judges by it, or the overview of a sweep, with its front and its ladder of presets."""
        cards = [card for task in self.tasks for card in task.declares()]
        if (
            self.sealed
            or self.timing == "off"
            or not any(metric.startswith(RUNTIME) for card in cards for metric in card.metrics)
        ):
            return False
        return self.timing == "on" or self.sweep_id is not None or self.gate.judges(RUNTIME, cards)

"""What a run is to do, and the interface between a run and what it evaluates: tasks.

A task owns its data, its items, its scorecards and its pictures. `evaluate` asks each task of a run for the same few
things and knows nothing else about them, so that photos are a task like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from harness.runs.archive import BenchmarkRun, TaskData, TaskRun
from harness.runs.comparison import Comparison
from harness.runs.gate import Gate
from harness.scoring import Declaration

#: A table for MLflow's UI: its columns by name.
Table = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Shown:
    """A task's part of the report: a self-contained piece of HTML, and tags by which MLflow knows what to show."""

    html: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Showing:
    """What a task needs to make its part of the report: the folder for pictures, the comparison with the baseline
    where there is one that compares the same items, and the last runs on the same data."""

    folder: Path
    comparison: Comparison | None = None
    recent: Sequence[BenchmarkRun] = ()


Show = Callable[[Showing], Shown]


@dataclass(frozen=True)
class TaskResult:
    """What a task came to: what is kept of it, further metrics and tags, and how it is shown in the report.

    `predictions` is a digest of all that was predicted; runs that share it differ in nothing that is scored. `curves`
    are metrics with a value at each step, `tables` are shown as such by MLflow.
    """

    kept: TaskRun
    predictions: str
    metrics: Mapping[str, float] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    curves: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    idle_steps: tuple[str, ...] = ()
    show: Show | None = None


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


@dataclass(frozen=True)
class Plan:
    """Everything that one run does, but for where it is kept.

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
    study: str | None = field(default=None, kw_only=True)
    worker: str = field(default="", kw_only=True)
    light: bool = field(default=False, kw_only=True)

"""A run as it is kept: `run.json`, from which it can be shown, judged and compared again without its data. Of a task
with very many items, these are in a file beside it (`items.py`).

The file describes itself: each scorecard stands in it with its declaration, so that a run can be read where the code
that made one of its scorecards is not installed. `BenchmarkRun.to_dict` and `from_dict` are each other's inverse. Files
of the first format, which had photos and extras instead of tasks, are read by `first_format`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from pydantic import TypeAdapter, ValidationError

from harness.base.checks import first_error
from harness.base.errors import HarnessError
from harness.base.texts import plural
from harness.runs.items import MOST_INLINE, FailedItem, Item, file_of, read_items, write_items
from harness.scoring import (
    Counted,
    Interval,
    ItemCounts,
    Scorecard,
    Slice,
    markdown_sections,
    shown_sections,
    text_sections,
)
from harness.scoring.cards import Sides
from harness.scoring.format import BY_TAG, ShownSection
from harness.scoring.uncertainty import LeftOut
from harness.types import PhotoPrediction

RUN_FILE = "run.json"
#: In `run.json`: the file that has the items of a task.
_ITEMS_IN = "items_in"
#: What the task that evaluates photos is called.
PHOTOS = "photos"
#: And the one that evaluates who finds theirs.
IDENTITY = "identity"

S = TypeVar("S", bound=Scorecard)


@dataclass(frozen=True)
class RunMetadata:
    """What was run, on what, by which code, and how long it took. The data are those of all tasks together."""

    timestamp: str
    git_commit: str
    config: Mapping[str, Any]
    runtime: Mapping[str, float]
    note: str = ""
    name: str = ""
    data_name: str = ""
    data_split: str = ""
    data_digest: str = ""
    scorer_version: int = 0
    thresholds: Mapping[str, float] = field(default_factory=dict)
    key: str = ""


@dataclass(frozen=True)
class TaskData:
    """What a task was evaluated on. Runs of which a digest differs cannot be compared."""

    name: str = ""
    split: str = ""
    digest: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({self.split})" if self.split else self.name


@dataclass(frozen=True)
class ItemRates:
    """Every rate of a task item by item, so that two runs can be paired; `groups` has the group of each item."""

    items: tuple[str, ...]
    rates: Mapping[str, Sides]
    groups: tuple[str, ...]


@dataclass(frozen=True)
class TaskRun:
    """One task of a run: its data, its items, and its scorecards over all of them. `noun` is what one item is called;
    `text` is what the task tells in the terminal beyond its scorecards, and `absent` is what the predictions do not
    speak about, as `faces`. `stage_keys` has for each scorecard a digest of all that its predictions come from beside
    the data: code, config and models; runs of an older harness have none. `left_out` has what figures come to without
    each group of items, by metric. `notes` are what whoever reads a verdict has to know about items and labels; they
    tell no score, and are told also where the scores are sealed. `headline` is what it comes to in one sentence;
    `traced` says that the predictions for photos tell which texts were dropped."""

    data: TaskData
    noun: str
    items: tuple[Item, ...] = ()
    failed: tuple[FailedItem, ...] = ()
    cards: Mapping[str, Counted] = field(default_factory=dict)
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    slices: tuple[Slice, ...] = ()
    text: str = ""
    absent: tuple[str, ...] = ()
    stage_keys: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, LeftOut] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    headline: str = ""
    traced: bool = False

    @property
    def size(self) -> int:
        """How many items there are, evaluated or not."""
        return len(self.items) + len(self.failed)

    def counted(self) -> str:
        """How many items there are, in words, as in `16 photos`."""
        return f"{self.size} {self.noun if self.size == 1 else plural(self.noun)}"

    def tally(self, name: str) -> ItemCounts:
        """A scorecard item by item, in the order of the items."""
        card, counts = self.cards[name], [item.counts.get(name, {}) for item in self.items]
        columns = {count: np.array([each.get(count, 0) for each in counts]) for count in card.counts}
        return ItemCounts(card.declared, columns, len(counts), card.unknown)

    def rates(self) -> ItemRates:
        """Every rate item by item, to be paired with another run's."""
        sides = {metric: pair for name in self.cards for metric, pair in self.tally(name).sides().items()}
        return ItemRates(tuple(item.id for item in self.items), sides, tuple(item.group for item in self.items))

    def made_as(self, other: TaskRun) -> Iterator[str]:
        """The scorecards whose predictions come from the same stages in both runs, on whatever data. Equal predictions
        do not say so: code that has changed may have changed what these items do not show."""
        for card in self.cards:
            key = self.stage_keys.get(card)
            if key and key == other.stage_keys.get(card):
                yield card

    def sections(self) -> tuple[ShownSection, ...]:
        """The scorecards for whatever shows them."""
        return shown_sections(self.cards.values(), self.slices, self.intervals)

    def metrics(self) -> dict[str, float]:
        """The numbers of the scorecards, the slices and the intervals by their MLflow names."""
        metrics = {name: value for card in self.cards.values() for name, value in card.metrics().items()}
        metrics |= {slice.metric: slice.recall for slice in self.slices}
        sliced = {slice.metric: slice.interval for slice in self.slices if slice.interval}
        for name, interval in {**self.intervals, **sliced}.items():
            metrics |= interval.logged(name)
        return metrics


@dataclass(frozen=True)
class BenchmarkRun:
    """A finished run: metadata, metrics, and what each of its tasks came to, by the task's name. `idle_steps` were
    switched on and made no difference to any item."""

    metadata: RunMetadata
    metrics: Mapping[str, float]
    tasks: Mapping[str, TaskRun]
    idle_steps: tuple[str, ...] = ()

    @property
    def cards(self) -> dict[str, Counted]:
        """The scorecards of all tasks, by name."""
        return {name: card for task in self.tasks.values() for name, card in task.cards.items()}

    def card(self, kind: type[S]) -> S | None:
        """A scorecard of this kind, where the run has one."""
        found = self.cards.get(kind.DECLARED.name)
        names = {item.name for item in fields(kind)}
        return (
            kind(**{name: n for name, n in found.counts.items() if name in names}) if found and found.counts else None
        )

    @property
    def headlines(self) -> dict[str, str]:
        """The metrics that stand for the run in a line, and what they are called there."""
        return {metric: title for card in self.cards.values() for metric, title in card.declared.headlines.items()}

    @property
    def headline(self) -> str:
        """What the run comes to, in a sentence a task; "" where no task has one."""
        return " ".join(task.headline for task in self.tasks.values() if task.headline)

    @property
    def photos(self) -> tuple[Item, ...]:
        """The photos that were evaluated."""
        return self.tasks[PHOTOS].items if PHOTOS in self.tasks else ()

    @property
    def absent(self) -> tuple[str, ...]:
        """What the predictions for photos do not speak about, as `faces`."""
        return self.tasks[PHOTOS].absent if PHOTOS in self.tasks else ()

    @property
    def traced(self) -> bool:
        """Whether the predictions for photos tell which texts were dropped."""
        return PHOTOS in self.tasks and self.tasks[PHOTOS].traced

    def predictions(self) -> dict[str, PhotoPrediction]:
        """What was predicted for each photo, by its hash."""
        return {item.id: item.photo.prediction for item in self.photos if item.photo is not None}

    @property
    def complete(self) -> bool:
        """Whether every item was evaluated."""
        return not self.failures

    @property
    def failures(self) -> tuple[str, ...]:
        """What could not be evaluated, each with its reason."""
        return tuple(f"{item.name}: {item.reason}" for task in self.tasks.values() for item in task.failed)

    @property
    def shortfall(self) -> str:
        """How much could not be evaluated; "" where everything was."""
        counts = [f"{len(task.failed)} of {task.counted()}" for task in self.tasks.values() if task.failed]
        return f"{' and '.join(counts)} could not be evaluated" if counts else ""

    @property
    def is_unlabelled(self) -> bool:
        """Whether it is of photos, and no rate of any scorecard has anything to count: nothing is labelled."""
        rated = [section for task in self.tasks.values() for section in task.sections() if section.has_rates]
        return bool(self.photos and rated) and all(section.says_nothing for section in rated)

    def without_scores(self) -> BenchmarkRun:
        """The same without all that was scored and predicted: what may be shown of a run whose scores are sealed."""
        tasks = {
            name: TaskRun(
                data=task.data,
                noun=task.noun,
                items=tuple(Item(item.id, item.name) for item in task.items),
                failed=task.failed,
                text="\n".join(task.notes),
                notes=task.notes,
            )
            for name, task in self.tasks.items()
        }
        return BenchmarkRun(replace(self.metadata, runtime={}), {}, tasks)

    def described(self) -> str:
        """What was evaluated, in words: `16 photos of sample (iteration)`."""
        return " and ".join(f"{task.counted()} of {task.data}" for task in self.tasks.values())

    def text(self) -> str:
        """The scorecards for a terminal."""
        parts = [part for task in self.tasks.values() for part in (text_sections(task.sections()), task.text)]
        return "\n\n".join(filter(None, parts))

    def markdown(self, by_tag: bool = True) -> str:
        """The same for MLflow's description of a run, with or without recall by tag."""
        shown = [[each for each in task.sections() if by_tag or each.title != BY_TAG] for task in self.tasks.values()]
        texts = [f"```\n{task.text}\n```" for task in self.tasks.values() if task.text]
        return "\n\n".join([*(markdown_sections(sections) for sections in shown if sections), *texts])

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; each scorecard with its rates, for whoever reads the file."""
        data: dict[str, Any] = _adapter().dump_python(self, warnings=False)
        for name, task in self.tasks.items():
            for card, counted in task.cards.items():
                rates = {
                    rate.metric: counted.value(rate) if counted.knows(*rate.numerator, *rate.denominator) else None
                    for rate in counted.declared.rates.values()
                }
                data["tasks"][name]["cards"][card]["rates"] = rates
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> BenchmarkRun:
        """Read what `to_dict` wrote, here or in an older harness. Raises a ValueError that names the field."""
        if "tasks" not in data:
            from harness.runs.first_format import convert

            return convert(data)
        return _adapter().validate_python(data)


def combined_digest(tasks: Mapping[str, TaskData]) -> str:
    """One digest over the data of all tasks; that of the photos where all of them are on these."""
    digests = {name: data.digest for name, data in tasks.items()}
    if set(digests.values()) == {digests.get(PHOTOS)}:
        return digests[PHOTOS]
    return hashlib.sha256(json.dumps(sorted(digests.items())).encode()).hexdigest()


@cache
def _adapter() -> TypeAdapter[BenchmarkRun]:
    return TypeAdapter(BenchmarkRun)


def write_run(folder: Path, run: BenchmarkRun) -> None:
    """Put `run.json` into a folder. The items of a task that has very many go into columns beside it."""
    large = {name: task for name, task in run.tasks.items() if len(task.items) > MOST_INLINE}
    for name, task in large.items():
        write_items(folder / file_of(name), task.items)
    small = {name: replace(task, items=()) if name in large else task for name, task in run.tasks.items()}
    data = replace(run, tasks=small).to_dict()
    for name in large:
        data["tasks"][name][_ITEMS_IN] = file_of(name)
    (folder / RUN_FILE).write_bytes(_as_json(data))


def run_bytes(run: BenchmarkRun) -> bytes:
    """A whole run as one file."""
    return _as_json(run.to_dict())


def _as_json(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, separators=(",", ":")).encode()


def read_run(path: Path, fetch: Callable[[str], Path] | None = None, predictions_alone: bool = False) -> BenchmarkRun:
    """Read a `run.json`. `fetch` says where a file beside it is, which it has put there. With `predictions_alone` only
    what was predicted for photos is read, without counts, scorecards and other tasks: in a fraction of the time."""
    try:
        data = json.loads(path.read_bytes())
        if not isinstance(data, dict):
            raise HarnessError(f"{path}: expected an object with the fields of a run")
        data = _predictions_of(data) if predictions_alone and "tasks" in data else data
        run = BenchmarkRun.from_dict(data)
    except OSError as error:
        raise HarnessError(f"{path}: cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise HarnessError(first_error(error, str(path))) from error
    except ValueError as error:
        raise HarnessError(f"{path}: not JSON: {error}") from error
    elsewhere = {name: file for name, task in data.get("tasks", {}).items() if (file := task.get(_ITEMS_IN))}
    find = fetch or (lambda name: path.parent / name)
    items = {name: read_items(find(file), counts=not predictions_alone) for name, file in elsewhere.items()}
    tasks = {name: replace(run.tasks[name], items=own) for name, own in items.items()}
    return replace(run, tasks={**run.tasks, **tasks})


def _predictions_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a `run.json` that tell what was predicted for photos."""
    if (photos := data["tasks"].get(PHOTOS)) is None:
        return {**data, "tasks": {}}
    told = {name: photos[name] for name in ("data", "noun", "absent", "traced", _ITEMS_IN) if name in photos}
    kept = ("id", "name", "group", "photo")
    items = [{name: item[name] for name in kept if name in item} for item in photos.get("items", ())]
    return {**data, "tasks": {PHOTOS: {**told, "items": items}}}

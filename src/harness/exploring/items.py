"""The items of a run's other tasks, such as tables and samples: worst first, each beside the other run.

An item is as bad as the rate that stands for its task says. It has changed where a scorecard with a ledger counts it
otherwise or, in a task without one, where that rate has moved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from harness.exploring.item_files import CONFIDENCE
from harness.exploring.rows import changed_items
from harness.exploring.selection import BesideRun, Chosen
from harness.runs.archive import IDENTITY, PHOTOS, BenchmarkRun, TaskRun
from harness.runs.comparison import Change, Comparison, ledgers
from harness.runs.gate import Verdict
from harness.scoring.cards import Rate
from harness.tasks.confidence.boxes import BoxTable

#: At most so many rates are shown of each item.
MOST_RATES = 6


@dataclass(frozen=True, slots=True)
class ItemRow:
    """One item: its rates by metric, None where there is nothing to count, those of the other run, and how it has
    changed. `errors` are how much is wrong with it, where its task counts that; `failed` says why it could not be
    evaluated."""

    id: str
    name: str
    rates: Mapping[str, float | None] = field(default_factory=dict)
    was: Mapping[str, float | None] = field(default_factory=dict)
    change: Change | None = None
    words: str = ""
    errors: int | None = None
    failed: str = ""


@dataclass(frozen=True)
class ItemTable:
    """The items of a task. The first of the `rates` stands for it; `in_ledger` says that a scorecard counts what is
    newly broken, as reports and comparisons do."""

    task: str
    noun: str
    rates: tuple[Rate, ...]
    rows: tuple[ItemRow, ...]
    in_ledger: bool = False

    @cached_property
    def changes(self) -> dict[Change, int]:
        """How many items are newly broken, or worse, and newly fixed, or better."""
        counts = {change: sum(row.change is change for row in self.rows) for change in Comparison.ORDER}
        return {change: count for change, count in counts.items() if count}

    @cached_property
    def by_id(self) -> dict[str, ItemRow]:
        """The items by their ids."""
        return {row.id: row for row in self.rows}

    def worst(self, rows: Iterable[ItemRow]) -> list[ItemRow]:
        """Those that failed, then those with most errors, then the worst by rate; those without one come last."""
        return sorted(rows, key=self._badness)

    def _badness(self, row: ItemRow) -> tuple[Any, ...]:
        value = row.rates.get(self.rates[0].metric) if self.rates else None
        down = self.rates and self.rates[0].better == "lower"
        rank = (-value if down else value) if value is not None else 0
        return not row.failed, -(row.errors or 0), value is None, rank, row.name


def item_tables(run: BenchmarkRun, comparison: Comparison | None, boxes: BoxTable | None) -> dict[str, ItemTable]:
    """The items of every task that has no pages of its own. `boxes` say how much is wrong with each sample."""
    errors = {}
    if boxes is not None:
        wrong = boxes.counts["wrong"] + boxes.counts["missed"] + boxes.counts["dropped"]
        errors[CONFIDENCE] = {str(place): count for place, count in enumerate(wrong.tolist())}
    tasks = [name for name in run.tasks if name not in (PHOTOS, IDENTITY)]
    return {task: item_table(run, comparison, task, errors.get(task)) for task in tasks}


def item_table(
    run: BenchmarkRun, comparison: Comparison | None, task: str, errors: Mapping[str, int] | None = None
) -> ItemTable:
    """The items of a task, beside those of the other run where both can be compared; `errors` by item, if known."""
    kept = run.tasks[task]
    rates = tuple(_shown(kept))
    compared = comparison is not None and comparison.judgement.verdict is not Verdict.INCOMPARABLE
    base = comparison.base.tasks.get(task) if comparison and compared else None
    before = _values(base, rates) if base else {}
    told = dict(_told(comparison, task)) if comparison and compared else {}
    in_ledger = bool(kept.cards.keys() & ledgers(run).keys())
    rows = []
    for id, (name, values) in _values(kept, rates).items():
        was = before.get(id, ("", {}))[1]
        change, words = told.get(id, (None, "")) if in_ledger else (_moved(rates, values, was), "")
        rows.append(ItemRow(id, name, values, was, change, words, (errors or {}).get(id)))
    failed = [ItemRow(item.id, item.name, failed=item.reason) for item in kept.failed]
    return ItemTable(task, kept.noun, rates, (*rows, *failed), in_ledger)


def _shown(task: TaskRun) -> Iterator[Rate]:
    """The rates to show: those with a headline first, then those with a label. Of a label that several have, such as
    each method of tables, it is the first."""
    rates = [rate for card in task.cards.values() for rate in card.declared.rates.values() if rate.label]
    first: dict[str, Rate] = {}
    for rate in sorted(rates, key=lambda rate: not rate.headline):
        first.setdefault(rate.label, rate)
    yield from list(first.values())[:MOST_RATES]


def _values(task: TaskRun, rates: Iterable[Rate]) -> dict[str, tuple[str, dict[str, float | None]]]:
    """By item its name and its rates."""
    sides, names = task.rates().rates, [(item.id, item.name) for item in task.items]
    columns = {}
    for rate in rates:
        above, below = sides.get(rate.metric, ((), ()))
        columns[rate.metric] = [a / b if b else None for a, b in zip(list(above), list(below), strict=True)]
    return {
        id: (name, {metric: column[row] for metric, column in columns.items() if column})
        for row, (id, name) in enumerate(names)
    }


def _told(comparison: Comparison, task: str) -> Iterator[tuple[str, tuple[Change, str]]]:
    for change, items in changed_items(comparison, task).items():
        for changes in items:
            yield changes[0].id, (change, "; ".join(each.words() for each in changes))


def _moved(rates: tuple[Rate, ...], now: Mapping[str, Any], was: Mapping[str, Any]) -> Change | None:
    """Whether the rate that stands for the task has moved."""
    if not rates:
        return None
    first = rates[0]
    after, before = now.get(first.metric), was.get(first.metric)
    if after is None or before is None or after == before:
        return None
    return Change.FIXED if (after > before) == (first.better == "higher") else Change.BROKEN


Sort = Literal["worst", "change", "name"]


class ItemSelection(BesideRun):
    """Which items of a task to see, and in which order."""

    task: Chosen[str] = None
    name: Chosen[str] = None
    change: Chosen[Literal["any", "broken", "fixed"]] = None
    sort: Sort = "worst"

    def among(self, table: ItemTable, names: Callable[[ItemRow], str]) -> list[ItemRow]:
        """The items that fit, in order; `names` says what an item is called."""
        text = (self.name or "").strip().lower()
        rows = [
            row
            for row in table.rows
            if text in names(row).lower()
            and (self.change is None or (row.change is not None and self.change in ("any", row.change)))
        ]
        if self.sort == "name":
            return sorted(
                rows, key=lambda row: (len(names(row)), names(row)) if names(row).isdigit() else (0, names(row))
            )
        ranked = table.worst(rows)
        return sorted(ranked, key=lambda row: _gain(table, row)) if self.sort == "change" else ranked


def _gain(table: ItemTable, row: ItemRow) -> float:
    """How much better it is than before by the rate that stands for the task."""
    if not table.rates:
        return 0.0
    metric, sign = table.rates[0].metric, 1 if table.rates[0].better == "higher" else -1
    now, was = row.rates.get(metric), row.was.get(metric)
    return 0.0 if now is None or was is None else sign * (now - was)

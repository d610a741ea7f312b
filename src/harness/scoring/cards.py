"""What a scorecard is: counts that add up over items, and a declaration of everything that is made of them.

A scorecard is one dataclass whose fields are counts, whole or fractional, with a `Declaration` as its `DECLARED`. The
declaration says which rates the counts make, which way each is better and whether it is gated, under which title and in
which rows the card is shown, and which counts are its ledger of found, invented and missed things. The archive, the
terminal, the report, MLflow, the gate, comparisons and searches follow from it; none of them has a list of scorecards.

A rate with an empty denominator reads 0.0 as a property, but is left out of everything that is logged or shown: an
empty scorecard never looks like a 0 % or a 100 %.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields, replace
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from harness.scoring.boxes import Bools, Floats, Ints

#: Changes whenever a rule changes, so that runs scored by different rules are never compared. 2: a number that was read
#: in part, such as `33?`, is not a number that was read.
SCORER_VERSION = 2

Count = int | float
#: Whole counts in one of integers, fractional ones in one of floats.
Column = NDArray[Any]
Better = Literal["higher", "lower"]
#: Whether a number takes part in the verdict, is shown beside it for information, or neither.
Gating = Literal["judged", "shown", "no"]
#: A rate item by item: what is summed above the line, and what below it.
Sides = tuple[Floats, Floats]

UNLABELED = "unlabeled_photos"


@dataclass(frozen=True, slots=True)
class Rate:
    """A weighted sum of counts over another, by the name under which it is logged.

    A rate with a `label` has a row of that name; one with a `headline` is a column of that name in lists of runs and
    sweeps. A change of at most `tolerance` is no change.
    """

    metric: str
    numerator: Mapping[str, Count]
    denominator: Mapping[str, Count]
    label: str = ""
    headline: str = ""
    better: Better = "higher"
    gate: Gating = "no"
    tolerance: float = 0.005

    @classmethod
    def share(cls, metric: str, part: str, *rest: str, **more: Any) -> Rate:
        """part / (part + rest)."""
        return cls(metric, {part: 1}, dict.fromkeys((part, *rest), 1), **more)

    @classmethod
    def of(cls, metric: str, part: str, whole: str, **more: Any) -> Rate:
        """part / whole; with a sum of values as its part, their mean."""
        return cls(metric, {part: 1}, {whole: 1}, **more)

    @classmethod
    def f1(cls, metric: str, tp: str, *errors: str, **more: Any) -> Rate:
        """2 tp / (2 tp + errors), which is the harmonic mean of precision and recall."""
        return cls(metric, {tp: 2}, {tp: 2, **dict.fromkeys(errors, 1)}, **more)

    @property
    def is_f1(self) -> bool:
        """Whether it counts what is right twice, as an F1 does."""
        return all(weight == 2 for weight in self.numerator.values())


@dataclass(frozen=True, slots=True)
class Figure:
    """A number that belongs to a scorecard and is no ratio of sums over items, such as average precision or seconds.

    Where its task tells what it comes to without each group (`LeftOut`), it has an interval and is judged as a rate is.
    Otherwise a gate judges it by its tolerance alone, the larger of `tolerance` and `relative` times the baseline.
    Beside it stands what it rests on: the sum of the counts of `basis`, as in `87 targets`.
    """

    metric: str
    label: str = ""
    basis: tuple[str, ...] = ()
    words: str = ""
    better: Better = "higher"
    gate: Gating = "no"
    tolerance: float = 0.005
    relative: float = 0.0


@dataclass(frozen=True, slots=True)
class Note:
    """A count that is told beside a section's title, as in `3 ignored`; a count of 0 only where it is told `always`."""

    count: str
    words: str
    always: bool = False


@dataclass(frozen=True, slots=True)
class CountRow:
    """A row of counts: their sum, and a text such as `{missed} outright` in which each count can stand by its name.

    A row that is not shown `always` is left out where its sum is 0.
    """

    label: str
    counts: tuple[str, ...]
    text: str
    always: bool = True


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a scorecard as it is shown: the rates with a label and the figures, by their metrics, and rows of
    counts. Sections of one title are shown as one."""

    title: str
    metrics: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    rows: tuple[CountRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Ledger:
    """What a scorecard looks for on an item, and its counts of what was found, invented and missed there."""

    noun: str
    found: str
    invented: str
    missed: str


@dataclass(frozen=True)
class Declaration:
    """All that the rest of the harness has to know about a scorecard.

    `counts` maps the counts that are logged to their metric names. `mistakes` are the kinds of mistakes of which
    pictures are shown one by one.
    """

    name: str
    rates: Mapping[str, Rate] = field(default_factory=dict)
    counts: Mapping[str, str] = field(default_factory=dict)
    figures: tuple[Figure, ...] = ()
    sections: tuple[Section, ...] = ()
    ledger: Ledger | None = None
    mistakes: tuple[str, ...] = ()

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of its rates and figures."""
        return (*(rate.metric for rate in self.rates.values()), *(figure.metric for figure in self.figures))

    @property
    def headlines(self) -> dict[str, str]:
        """The metrics that stand for it in a line, and what they are called there."""
        return {rate.metric: rate.headline for rate in self.rates.values() if rate.headline}


@dataclass(frozen=True)
class Counted:
    """A scorecard as it is kept and shown: its declaration, its counts, and its figures by their metric names.

    `unknown` are the counts about which the predictions say nothing, as those of faces where a program finds only bibs.
    Whatever is made of them is n/a.
    """

    declared: Declaration
    counts: Mapping[str, Count]
    figures: Mapping[str, float] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()

    def knows(self, *counts: str) -> bool:
        """Whether the predictions say something about all of these counts."""
        return not set(counts) & set(self.unknown)

    def numerator(self, rate: Rate) -> Count:
        """What a rate has above the line."""
        return self._sum(rate.numerator)

    def denominator(self, rate: Rate) -> Count:
        """The n of a rate: what its denominator counts (an F1's is the number of targets and predictions)."""
        return self._sum(rate.denominator)

    def value(self, rate: Rate) -> float:
        """A rate; 0.0 where its denominator is empty."""
        below = self.denominator(rate)
        return self.numerator(rate) / below if below else 0.0

    def metrics(self) -> dict[str, float]:
        """What is logged: every rate that has a denominator, the figures and the counts."""
        rates = {r.metric: self.value(r) for r in self.declared.rates.values() if self.denominator(r)}
        known = {name: metric for name, metric in self.declared.counts.items() if name not in self.unknown}
        return {**rates, **self.figures, **{metric: float(self.counts.get(name, 0)) for name, metric in known.items()}}

    def _sum(self, weights: Mapping[str, Count]) -> Count:
        return sum(weight * self.counts.get(name, 0) for name, weight in weights.items())


@dataclass(frozen=True)
class Scorecard:
    """Base of all scorecards. Fields are counts; `DECLARED` says what is made of them."""

    DECLARED: ClassVar[Declaration] = Declaration("scorecard")

    def counted(self, figures: Mapping[str, float] | None = None) -> Counted:
        """The card as it is kept and shown."""
        return Counted(self.DECLARED, {item.name: getattr(self, item.name) for item in fields(self)}, figures or {})

    def rate(self, name: str) -> float:
        """A rate by its name; 0.0 where its denominator is empty."""
        return self.counted().value(self.DECLARED.rates[name])

    def denominator(self, name: str) -> Count:
        """The n of a rate."""
        return self.counted().denominator(self.DECLARED.rates[name])

    def metrics(self) -> dict[str, float]:
        """What is logged: every rate that has a denominator, and the counts."""
        return self.counted().metrics()

    def to_dict(self) -> dict[str, Any]:
        """Counts and rates; the rates are there to be read, `from_dict` makes them anew."""
        rates = {name: self.rate(name) for name in self.DECLARED.rates}
        return {**self.counted().counts, **rates, "scorer_version": SCORER_VERSION}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote; counts that an older file lacks keep their default."""
        return cls(**{field.name: data[field.name] for field in fields(cls) if field.name in data})


C = TypeVar("C", bound=Scorecard)


@dataclass(frozen=True)
class ItemCounts:
    """The counts of a scorecard item by item: one column for each count, but for those that are unknown."""

    declared: Declaration
    columns: Mapping[str, Column]
    items: int
    unknown: tuple[str, ...] = ()

    def without(self, counts: Iterable[str]) -> ItemCounts:
        """The same where the predictions say nothing about these counts."""
        unknown = tuple(name for name in self.columns if name in set(counts))
        known = {name: column for name, column in self.columns.items() if name not in unknown}
        return replace(self, columns=known, unknown=(*self.unknown, *unknown))

    def weights(self, part: Mapping[str, Count]) -> Floats:
        """The weighted sum that one side of a rate takes, item by item."""
        total = np.zeros(self.items)
        for name, weight in part.items():
            if name in self.columns:
                total += weight * self.columns[name]
        return total

    def sides(self, rows: Bools | slice = slice(None)) -> dict[str, Sides]:
        """The rates item by item, by metric name; `rows` selects items. Those of an F1 are in targets: TP above the
        line, TP + (FP + FN) / 2 below it."""
        return {rate.metric: self._sides(rate, rows) for rate in self.declared.rates.values()}

    def _sides(self, rate: Rate, rows: Bools | slice) -> Sides:
        above, below = self.weights(rate.numerator)[rows], self.weights(rate.denominator)[rows]
        return (above / 2, below / 2) if rate.is_f1 else (above, below)

    def scored(self) -> Bools:
        """Which items were scored: a photo that nobody labelled is none."""
        if UNLABELED not in self.columns:
            return np.ones(self.items, dtype=bool)
        return np.equal(self.columns[UNLABELED], 0)

    def by_item(self) -> list[Mapping[str, Count]]:
        """Every count by name, item by item. Items that count the same, as most do, share one mapping."""
        if not self.columns:
            return [{}] * self.items
        rows = list(zip(*(column.tolist() for column in self.columns.values()), strict=True))
        known = {row: dict(zip(self.columns, row, strict=True)) for row in set(rows)}
        return [known[row] for row in rows]

    def total(self, figures: Mapping[str, float] | None = None) -> Counted:
        """The card of all items together."""
        sums = {name: column.sum().item() for name, column in self.columns.items()}
        return Counted(self.declared, sums, figures or {}, self.unknown)


@dataclass(frozen=True)
class Tally(Generic[C]):
    """A scorecard item by item: one row an item, one column a field of the card."""

    card: type[C]
    counts: Column

    @classmethod
    def of(cls, card: type[C], columns: Mapping[str, Ints | Floats], items: int) -> Tally[C]:
        """Put named columns into the order of the card's fields; a field without a column counts nothing."""
        empty = np.zeros(items, dtype=np.int64)
        return cls(card, np.stack([columns.get(item.name, empty) for item in fields(card)], axis=1))

    @classmethod
    def of_cards(cls, card: type[C], items: Sequence[C]) -> Tally[C]:
        """One row from each item's own card."""
        rows = np.array([astuple(item) for item in items], dtype=np.float64 if any(_fractional(card)) else np.int64)
        return cls(card, rows.reshape(-1, len(fields(card))))

    def column(self, name: str) -> Column:
        """One count, item by item; a whole count as integers, also where others of the card are fractions."""
        place = [item.name for item in fields(self.card)].index(name)
        column = self.counts[:, place]
        return column if _fractional(self.card)[place] else column.astype(np.int64)

    def items(self, declared: Declaration | None = None) -> ItemCounts:
        """The same by columns. One card serves several times, as once for each method, by a declaration of its own."""
        columns = {item.name: self.column(item.name) for item in fields(self.card)}
        return ItemCounts(declared or self.card.DECLARED, columns, len(self.counts))

    def scorecard(self) -> C:
        """The card of all items together."""
        return self.card(**self.items().total().counts)


def by_items(counts: Tally[Any] | ItemCounts) -> ItemCounts:
    """Counts by columns, in whichever form they come."""
    return counts.items() if isinstance(counts, Tally) else counts


def _fractional(card: type[Scorecard]) -> list[bool]:
    return [item.type in (float, "float") for item in fields(card)]

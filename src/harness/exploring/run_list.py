"""The stored runs as a table to look through: by the data that they are on, the baseline on top, sweeps and studies as
one row each. What is listed, and in which order, lives in the address of a page."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from harness.base.errors import QueryError
from harness.exploring.selection import Chosen, InAddress
from harness.runs.gate import Verdict
from harness.runs.sweeps import extremes, quality
from harness.tracking.entries import RunEntry, headlines_of

ROWS_PER_PAGE = 50
#: So many runs of a sweep are listed below it; the others have a page of their own.
RUNS_IN_FOLD = 12
SORTS = {"newest": "newest first", "oldest": "oldest first", "verdict": "worst verdict first", "name": "by name"}
#: The worst first; what an older harness said, and runs without a verdict, come last.
_VERDICTS = (
    Verdict.REGRESSED,
    Verdict.INCOMPLETE,
    Verdict.INCOMPARABLE,
    Verdict.CANNOT_TELL,
    Verdict.NO_WORSE,
    Verdict.IMPROVED,
    Verdict.NO_BASELINE,
    Verdict.BASELINE,
)


def verdict_of(run: RunEntry) -> str:
    """What a run is found by: its verdict without further marks or, where it has none, how it ended."""
    return run.verdict.partition(", ")[0] or run.status


class RunQuery(InAddress):
    """Which runs are listed, all of it, and how. `sort` may also be `high:METRIC` or `low:METRIC`. `sweep` and `study`
    list the runs of one, unfolded."""

    data: Chosen[str] = None
    preset: Chosen[str] = None
    verdict: Chosen[str] = None
    text: Chosen[str] = None
    sweep: Chosen[str] = None
    study: Chosen[str] = None
    sort: str = "newest"
    page: Annotated[int, Field(ge=1, le=1_000_000)] = 1

    @property
    def filtered(self) -> bool:
        """Whether any run is left out."""
        return any((self.data, self.preset, self.verdict, self.text, self.sweep, self.study))

    def fits(self, run: RunEntry) -> bool:
        """Whether a run is listed."""
        return (
            self.data in (None, run.data_name, run.data_column)
            and self.preset in (None, run.preset)
            and self.verdict in (None, verdict_of(run))
            and (self.sweep is None or self.sweep in run.sweep_ids)
            and (self.study is None or self.study in run.study.split())
            and (self.text is None or _has(run, self.text.strip().casefold()))
        )


def _has(run: RunEntry, text: str) -> bool:
    return any(text in part.casefold() for part in (run.name, run.note, run.run_id))


@dataclass(frozen=True)
class Choices:
    """What the runs of a store can be chosen by."""

    data: tuple[str, ...]
    names: tuple[str, ...]
    presets: tuple[str, ...]
    verdicts: tuple[str, ...]
    metrics: Mapping[str, str]
    sweeps: frozenset[str]
    studies: frozenset[str]

    @classmethod
    def of(cls, runs: Sequence[RunEntry]) -> Choices:
        """Data as they were last used, presets by name, verdicts that were given."""
        given = {verdict_of(run) for run in runs}
        known = [str(verdict) for verdict in _VERDICTS if verdict in given]
        return cls(
            data=tuple(dict.fromkeys(run.data_column for run in runs if run.data_column)),
            names=tuple(dict.fromkeys(run.data_name for run in runs if run.data_name)),
            presets=tuple(sorted({run.preset for run in runs if run.preset})),
            verdicts=(*known, *sorted(given - set(known))),
            metrics=headlines_of(runs),
            sweeps=frozenset(each for run in runs for each in run.sweep_ids),
            studies=frozenset(each for run in runs for each in run.study.split()),
        )

    def check(self, query: RunQuery) -> None:
        """Refuse what no run has: a mistyped address is no empty list."""
        sorts = (*SORTS, *(f"{end}:{metric}" for metric in self.metrics for end in ("high", "low")))
        known: tuple[tuple[str, str | None, Collection[str], Iterable[str]], ...] = (
            ("data", query.data, {*self.data, *self.names}, self.names),
            ("preset", query.preset, self.presets, self.presets),
            ("verdict", query.verdict, {*self.verdicts, *_VERDICTS}, self.verdicts),
            ("sweep", query.sweep, self.sweeps, ()),
            ("study", query.study, self.studies, sorted(self.studies)),
            ("sort", query.sort, sorts, sorts),
        )
        for name, chosen, there, told in known:
            if chosen is not None and chosen not in there:
                listed = f"; there: {', '.join(told)}" if told else ""
                raise QueryError(f"{name}={chosen}: no run that is listed has it{listed}")


@dataclass(frozen=True)
class Fold:
    """The runs of a sweep or a study on the same data, newest first; `best` and `worst` by `metric`, the first
    headline, where two of them differ in it."""

    kind: str
    name: str
    runs: tuple[RunEntry, ...]

    @property
    def shown(self) -> tuple[RunEntry, ...]:
        """Those that are listed below it: the best and the worst first, and then the newest."""
        first = self.extremes
        there = {run.run_id for run in first}
        return (*first, *(run for run in self.runs if run.run_id not in there))[:RUNS_IN_FOLD]

    @property
    def extremes(self) -> tuple[RunEntry, ...]:
        """The best and the worst of them."""
        return extremes(self.runs[::-1])

    @property
    def metric(self) -> str:
        """What they are ranked by."""
        return quality(self.runs)

    def values(self, metric: str) -> list[float]:
        """What those that have a metric came to in it."""
        found = (run.metrics.get(metric, float("nan")) for run in self.runs)
        return [value for value in found if value == value]

    @property
    def verdicts(self) -> dict[str, int]:
        """How many runs have which verdict, the worst first."""
        said = sorted((verdict_of(run) for run in self.runs), key=_rank)
        return {verdict: said.count(verdict) for verdict in dict.fromkeys(said)}


Row = RunEntry | Fold


@dataclass(frozen=True)
class Group:
    """The runs on the same data: their baseline, then a row for each run, sweep and study. `columns` are headlines."""

    data: RunEntry
    baseline: RunEntry | None
    rows: tuple[Row, ...]
    columns: Mapping[str, str]
    #: How many runs and rows it has on all pages.
    runs: int
    of: int


@dataclass(frozen=True)
class RunTable:
    """A page of the list."""

    groups: tuple[Group, ...]
    page: int
    pages: int
    #: How many runs fit the query.
    total: int


def run_table(runs: Sequence[RunEntry], query: RunQuery) -> RunTable:
    """The page of the list that a query asks for; `runs` are all there are, newest first."""
    fitting = [run for run in runs if query.fits(run)]
    groups = list(_groups(runs, fitting, query))
    pages = max(1, -(-sum(_size(group) for group in groups) // ROWS_PER_PAGE))
    page = min(query.page, pages)
    shown = tuple(_cut(groups, (page - 1) * ROWS_PER_PAGE, page * ROWS_PER_PAGE))
    return RunTable(shown, page, pages, len(fitting))


def _groups(runs: Sequence[RunEntry], fitting: Sequence[RunEntry], query: RunQuery) -> Iterator[Group]:
    """The data of the newest run first. A baseline that does not fit the query stands there for comparison."""
    by_data: dict[tuple[str, str, str], list[RunEntry]] = {}
    for run in fitting:
        by_data.setdefault(_data(run), []).append(run)
    pinned: dict[tuple[str, str, str], RunEntry] = {}
    for run in sorted((run for run in runs if run.pinned), key=lambda run: run.pinned):
        pinned[_data(run)] = run
    for data, own in by_data.items():
        baseline = pinned.get(data)
        rows = _rows([run for run in own if baseline is None or run.run_id != baseline.run_id], query)
        columns = headlines_of([*own, *([baseline] if baseline else [])])
        yield Group(own[0], baseline, rows, columns, len(own), len(rows))


def _data(run: RunEntry) -> tuple[str, str, str]:
    return run.data_name, run.data_split, run.data_digest


def _rows(runs: Sequence[RunEntry], query: RunQuery) -> tuple[Row, ...]:
    """Sweeps and studies folded, unless one of them is asked for. A run that belongs to several is in each."""
    folds: dict[tuple[str, str], list[RunEntry]] = {}
    alone: list[Row] = []
    for run in runs:
        of = [*(("sweep", each) for each in run.sweep_ids), *(("study", each) for each in run.study.split())]
        if query.sweep or query.study or not of:
            alone.append(run)
        else:
            for each in of:
                folds.setdefault(each, []).append(run)
    folded = [Fold(kind, name, tuple(own)) for (kind, name), own in folds.items()]
    return tuple(_sorted([*alone, *folded], query.sort))


def _sorted(rows: list[Row], sort: str) -> list[Row]:
    """In order; of equal rows the newest first."""
    rows = sorted(rows, key=lambda row: max(run.started for run in _runs(row)), reverse=True)
    end, _, metric = sort.partition(":")
    if metric:
        # A run that does not have the metric, or has no number for it, is neither high nor low.
        measured = [row for row in rows if _values(row, metric)]
        choose: Callable[[Iterable[float]], float] = max if end == "high" else min
        measured.sort(key=lambda row: choose(_values(row, metric)), reverse=end == "high")
        return [*measured, *(row for row in rows if not _values(row, metric))]
    if sort == "oldest":
        return rows[::-1]
    if sort == "name":
        return sorted(rows, key=lambda row: row.name.casefold())
    if sort == "verdict":
        return sorted(rows, key=lambda row: min(_rank(verdict_of(run)) for run in _runs(row)))
    return rows


def _runs(row: Row) -> tuple[RunEntry, ...]:
    return row.runs if isinstance(row, Fold) else (row,)


def _values(row: Row, metric: str) -> list[float]:
    return Fold("", "", _runs(row)).values(metric)


def _rank(verdict: str) -> int:
    return next((rank for rank, each in enumerate(_VERDICTS) if each == verdict), len(_VERDICTS))


def _cut(groups: Iterable[Group], start: int, end: int) -> Iterator[Group]:
    """The rows of one page."""
    at = 0
    for group in groups:
        if at < end and at + _size(group) > start:
            yield replace(group, rows=group.rows[max(start - at, 0) : end - at])
        at += _size(group)


def _size(group: Group) -> int:
    """How many rows of a page it takes: one where there is nothing but the baseline."""
    return max(len(group.rows), 1)

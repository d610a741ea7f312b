"""Every method on every table: compared with the ground truth and with each other, and which one to take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from harness.scoring.fuzzy_tables import CellAssignment, assign_cells
from harness.scoring.grids import Grid
from harness.scoring.grits import grits_content
from harness.scoring.table_structure import ComparisonResult, compare_extraction
from harness.scoring.teds import table_tree, teds
from harness.tasks.tables.files import Extraction, GroundTruthTable

#: TEDS and GriTS compare each cell with each: tables with more cells than this, empty ones included, have neither.
MAX_CELLS = 3_000

#: How much empty cells count against an extraction; chosen on real tables, by leaving out each source in turn:
#: `scripts/tables_truth` shows what other powers give.
FILL_POWER = 3


@dataclass(frozen=True)
class Similarity:
    """How alike an extraction and its ground truth are by the measures of the literature, between 0 and 1."""

    teds: float
    teds_struct: float
    grits_content: float


@dataclass(frozen=True)
class Attempt:
    """One method on one table. A method that extracted nothing is compared as an empty table and scores 0; so is one
    that failed, and `failure` says why."""

    table: GroundTruthTable
    method: str
    extraction: Extraction | None
    comparison: ComparisonResult
    failure: str = ""

    @property
    def quality_score(self) -> float:
        """Fuzzy accuracy in per cent: what methods are ranked by."""
        return self.comparison.fuzzy_accuracy_pct

    @cached_property
    def similarity(self) -> Similarity | None:
        """TEDS and GriTS; 0 where nothing was extracted, None where a table is too large."""
        gt, ext = self.table.grid, (self.extraction or nothing(self.method)).grid
        if max(_places(gt), _places(ext)) > MAX_CELLS:
            return None
        if not ext.cells():
            return Similarity(0.0, 0.0, 0.0)
        trees = table_tree(gt), table_tree(ext)
        return Similarity(teds(*trees), teds(*trees, structure_only=True), grits_content(gt, ext))

    def assignment(self) -> CellAssignment:
        """Which cell stands for which: matched, partial, missing and extra."""
        item = self.extraction or nothing(self.method)
        return assign_cells(self.table.grid, item.grid)


@dataclass(frozen=True)
class ScoredTable:
    """A table with what each method made of it, in the order of the methods, and the one that `choose` takes."""

    table: GroundTruthTable
    attempts: tuple[Attempt, ...]
    chosen: Attempt

    @property
    def wins(self) -> tuple[float, ...]:
        """Each method's part in the win."""
        return win_shares([attempt.quality_score for attempt in self.attempts])

    @property
    def best_score(self) -> float:
        """What always knowing the best method would give."""
        return max(attempt.quality_score for attempt in self.attempts)


@dataclass(frozen=True)
class FailedTable:
    """A table that no method could be evaluated on, and why; it is in no rate."""

    table: GroundTruthTable
    reason: str


@dataclass(frozen=True)
class TableEvaluation:
    """All tables under all methods; `unmatched` counts each method's extractions that stand for no table."""

    methods: tuple[str, ...]
    tables: tuple[ScoredTable, ...]
    unmatched: Mapping[str, int]
    failed: tuple[FailedTable, ...] = ()

    def failures(self, method: str) -> list[Attempt]:
        """Where the method failed and others did not."""
        attempts = (attempt for scored in self.tables for attempt in scored.attempts)
        return [attempt for attempt in attempts if attempt.method == method and attempt.failure]


def evaluate_tables(
    tables: Sequence[GroundTruthTable],
    extractions: Sequence[Extraction],
    methods: Sequence[str],
    failed: Sequence[FailedTable] = (),
    failures: Mapping[tuple[str, str], str] | None = None,
) -> TableEvaluation:
    """Score the extractions of each table by each method; `failures` has a reason by table and method."""
    by_key = {(item.table_id, item.method): item for item in extractions if item.table_id is not None}
    lost = Counter(item.method for item in extractions if item.table_id is None)
    reasons = failures or {}
    attempts = [
        [
            _attempt(table, method, by_key.get((table.id, method)), reasons.get((table.id, method), ""))
            for method in methods
        ]
        for table in tables
    ]
    scored = tuple(_score(table, tuple(of_table)) for table, of_table in zip(tables, attempts, strict=True))
    return TableEvaluation(tuple(methods), scored, {method: lost[method] for method in methods}, tuple(failed))


def nothing(method: str) -> Extraction:
    """What a method that found no table has extracted."""
    return Extraction(method=method, headers=(), rows=())


def win_shares(scores: Sequence[float]) -> tuple[float, ...]:
    """The part that each method gets in the win of one table, which is 1.

    Methods that share the best score share the win in equal parts. A table on which no method scores anything has no
    winner.
    """
    best = max(scores, default=0.0)
    if best <= 0:
        return (0.0,) * len(scores)
    winners = [score == best for score in scores]
    return tuple(won / sum(winners) for won in winners)


def tidiness(grid: Grid) -> float:
    """How many characters came out, spaces aside, times the share of cells that have text to the power `FILL_POWER`.

    A method that loses a column or a row has fewer characters. One that cuts columns in two, makes a row of each line
    of a wrapped cell, or takes a caption along, leaves empty cells. Characters are counted and not cells, because
    cutting cells makes more of them.
    """
    cells = grid.cells()
    rows, columns = _size(grid)
    characters = sum(len(cell.text) - cell.text.count(" ") for cell in cells)
    return float(characters * (len(cells) / (rows * columns)) ** FILL_POWER) if cells else 0.0


def choose(extractions: Sequence[Grid | None], score: Callable[[Grid], float] = tidiness) -> int | None:
    """The position of the extraction to take, without looking at the ground truth; None where there is none with text.

    Methods that extracted nothing are out. Of the rest, the one with the highest score is taken; ties fall to the
    method that is configured first. An extraction in one row or one column is taken only if there is nothing else.
    """
    ranks = [(False, 0.0) if grid is None else (_is_table(grid), score(grid)) for grid in extractions]
    best = max(ranks, default=(False, 0.0))
    return ranks.index(best) if best[1] else None


def _score(table: GroundTruthTable, attempts: tuple[Attempt, ...]) -> ScoredTable:
    chosen = choose([attempt.extraction.grid if attempt.extraction else None for attempt in attempts])
    return ScoredTable(table, attempts, attempts[chosen or 0])


def _attempt(table: GroundTruthTable, method: str, item: Extraction | None, failure: str) -> Attempt:
    given = item or nothing(method)
    compared = compare_extraction(table.id, table.headers, table.rows, given.headers, given.rows)
    return Attempt(table, method, item, compared, failure)


def _is_table(grid: Grid) -> bool:
    return min(_size(grid)) > 1


def _places(grid: Grid) -> int:
    rows, columns = _size(grid)
    return rows * columns


def _size(grid: Grid) -> tuple[int, int]:
    """Rows, the header among them if it has text, and columns."""
    return len(grid.rows) + any(grid.headers), len(grid.headers)

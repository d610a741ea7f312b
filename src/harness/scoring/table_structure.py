"""Structural table comparison: is each cell in its place? The fuzzy accuracy of the same two tables stands beside it.

Which lines are the header, and which columns and rows are which, is settled as in `table_readings`. A cell is
comparable where a matched row (or the header) meets a matched column and either table has text there; it is correct if
the normalised texts are equal. In rows and columns that were cut or ran together, a cell is comparable where it was
not itself cut, nor ran into another: where there is at most one text on either side. The others cost coverage, not
accuracy. A header that is broken over several lines is joined and compared.

`cell_accuracy_pct` is correct over comparable cells, `structural_coverage_pct` comparable GT cells over all GT cells;
both are 0.0, and not 100, where there is nothing to divide by. Their counts are kept, so that such a rate can be left
out of what is shown. A cell is one with text, here as everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from harness.scoring.cards import SCORER_VERSION
from harness.scoring.fuzzy_tables import assign_cells
from harness.scoring.grids import Grid, Row
from harness.scoring.table_alignment import AlignedBy, Match, Merge, Split
from harness.scoring.table_readings import CellDiff, best_reading
from harness.scoring.table_rows import is_spanning


@dataclass(frozen=True)
class ComparisonResult:
    """One extracted table against its ground truth (GT). Shapes are rows, without the header, by columns.

    Rows are counted from 0; `HEADER_ROW` is the header. `header_rows` are the extracted lines that stand for the GT
    header, none where it was not found; `spanning_rows` are those of the extra rows that have one cell of text, such as
    captions and names of groups.
    """

    table_id: str
    gt_shape: tuple[int, int]
    ext_shape: tuple[int, int]
    gt_cells: int
    ext_cells: int
    matched_columns: tuple[Match, ...] = ()
    column_splits: tuple[Split, ...] = ()
    column_merges: tuple[Merge, ...] = ()
    missing_columns: tuple[int, ...] = ()
    extra_columns: tuple[int, ...] = ()
    matched_rows: tuple[Match, ...] = ()
    row_splits: tuple[Split, ...] = ()
    row_merges: tuple[Merge, ...] = ()
    missing_rows: tuple[int, ...] = ()
    extra_rows: tuple[int, ...] = ()
    header_rows: tuple[int, ...] = ()
    spanning_rows: tuple[int, ...] = ()
    gt_ragged_rows: int = 0
    ext_ragged_rows: int = 0
    comparable_cells: int = 0
    comparable_gt_cells: int = 0
    cell_diffs: tuple[CellDiff, ...] = ()
    fuzzy_accuracy_pct: float = 0.0
    fuzzy_precision_pct: float = 0.0
    fuzzy_recall_pct: float = 0.0

    @property
    def ragged_rows(self) -> int:
        """Rows of both tables that were shorter than their table and were padded with empty cells."""
        return self.gt_ragged_rows + self.ext_ragged_rows

    @property
    def correct_cells(self) -> int:
        """Comparable cells that are right."""
        return self.comparable_cells - len(self.cell_diffs)

    @property
    def cell_accuracy_pct(self) -> float:
        """Correct over comparable cells; 0.0 if none is comparable."""
        return _percent(self.correct_cells, self.comparable_cells)

    @property
    def structural_coverage_pct(self) -> float:
        """GT cells in a matched row and column, over all GT cells; 0.0 if there is none."""
        return _percent(self.comparable_gt_cells, self.gt_cells)

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain data, and the rates made of them; `from_dict` makes those anew."""
        made = ("ragged_rows", "correct_cells", "cell_accuracy_pct", "structural_coverage_pct")
        return asdict(self) | {name: getattr(self, name) for name in made} | {"scorer_version": SCORER_VERSION}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote, also through JSON; fields that an older file lacks keep their default."""
        return cls(**{f.name: _restored(f.name, data[f.name]) for f in fields(cls) if f.name in data})


def compare_extraction(
    table_id: str, gt_headers: Row, gt_rows: Sequence[Row], headers: Row, rows: Sequence[Row]
) -> ComparisonResult:
    """Compare an extracted table with its ground truth, cell by cell in place and as bags of cells."""
    gt = Grid.of(f"table {table_id!r}, GT", gt_headers, gt_rows)
    ext = Grid.of(f"table {table_id!r}, extraction", headers, rows)
    fuzzy = assign_cells(gt, ext)
    reading = best_reading(gt, ext, common=len(fuzzy.matched))
    by_column, by_row, compared = reading.columns, reading.rows, reading.compared
    return ComparisonResult(
        table_id=table_id,
        gt_shape=gt.shape,
        ext_shape=ext.shape,
        gt_cells=len(fuzzy.gt_cells),
        ext_cells=len(fuzzy.ext_cells),
        matched_columns=by_column.matched,
        column_splits=by_column.splits,
        column_merges=by_column.merges,
        missing_columns=by_column.missing,
        extra_columns=by_column.extra,
        matched_rows=by_row.matched,
        row_splits=by_row.splits,
        row_merges=by_row.merges,
        missing_rows=by_row.missing,
        extra_rows=by_row.extra,
        header_rows=reading.header,
        spanning_rows=tuple(row for row in by_row.extra if is_spanning(ext, row)),
        gt_ragged_rows=gt.ragged_rows,
        ext_ragged_rows=ext.ragged_rows,
        comparable_cells=len(compared),
        comparable_gt_cells=sum(bool(cell.expected) for cell in compared),
        cell_diffs=tuple(cell for cell in compared if cell.expected != cell.actual),
        fuzzy_accuracy_pct=100.0 * fuzzy.f1,
        fuzzy_precision_pct=100.0 * fuzzy.precision,
        fuzzy_recall_pct=100.0 * fuzzy.recall,
    )


def _percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 0.0


def _restored(name: str, value: Any) -> Any:
    """A field from plain data: lists become tuples, and mappings in them what the field holds."""
    if name.startswith("matched_"):
        return tuple(Match(**item | {"by": AlignedBy(item["by"])}) for item in value)
    if name.endswith("_splits"):
        return tuple(Split(item["gt_index"], tuple(item["ext_indices"])) for item in value)
    if name.endswith("_merges"):
        return tuple(Merge(tuple(item["gt_indices"]), item["ext_index"]) for item in value)
    if name == "cell_diffs":
        return tuple(CellDiff(**item) for item in value)
    return tuple(value) if isinstance(value, list) else value

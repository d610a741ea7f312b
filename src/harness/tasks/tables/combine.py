"""Which method's extraction of a table to take, without looking at the ground truth.

Methods that extracted nothing are out. Of the rest, the one with the highest `tidiness` is taken; ties fall to the
method that is configured first. Tidiness is the share of the grid's cells that hold text, times the number of those
cells: a method that cuts columns or rows in two, or takes a caption along, leaves empty cells; one that loses rows or
runs cells together has fewer. An extraction in one row or one column is taken only if there is nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.scoring.grids import Grid


def choose(extractions: Sequence[Grid | None]) -> int | None:
    """The position of the extraction to take; None where there is none with text."""
    ranks = [(False, 0.0) if grid is None else (_is_table(grid), tidiness(grid)) for grid in extractions]
    best = max(ranks, default=(False, 0.0))
    return ranks.index(best) if best[1] else None


def tidiness(grid: Grid) -> float:
    """Cells with text, times their share of all cells."""
    cells = len(grid.cells())
    rows, columns = _size(grid)
    return cells * cells / (rows * columns) if cells else 0.0


def _is_table(grid: Grid) -> bool:
    return min(_size(grid)) > 1


def _size(grid: Grid) -> tuple[int, int]:
    """Rows, the header among them if it has text, and columns."""
    return len(grid.rows) + any(grid.headers), len(grid.headers)

"""A table as a rectangle of normalised text, checked once on the way in.

A table is a header and rows of cells; None is an empty cell. It is as wide as its widest row; a shorter row is padded
with empty cells and counted as ragged. A table without any header cell has an empty header, which is not ragged. A cell
that is empty once it is normalised is empty: it is no cell of any metric.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from harness.scoring.cells import normalize_cell

Row: TypeAlias = Sequence[str | None]

#: The row of a header cell.
HEADER_ROW = -1


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell with text: its row (`HEADER_ROW` for the header), its column and its normalised text."""

    row: int
    column: int
    text: str


@dataclass(frozen=True, slots=True)
class Grid:
    """A table's normalised text; the header and all rows have the same length."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    ragged_rows: int = 0

    @classmethod
    def of(cls, what: str, headers: Row, rows: Sequence[Row]) -> Grid:
        """Check, normalise and pad. Raises ValueError naming the table (`what`), the row and the column."""
        if not _is_sequence(rows):
            raise ValueError(f"{what}: expected a sequence of rows, got {_described(rows)}")
        lines = [_read(f"{what}, header", headers), *(_read(f"{what}, row {i}", row) for i, row in enumerate(rows))]
        width = max(map(len, lines))
        ragged = sum(len(line) < width for line in (lines if lines[0] else lines[1:]))
        header, *body = (tuple(line + [""] * (width - len(line))) for line in lines)
        return cls(header, tuple(body), ragged)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, without the header, and columns."""
        return len(self.rows), len(self.headers)

    def line(self, row: int) -> tuple[str, ...]:
        """A row by its number; `HEADER_ROW` is the header."""
        return self.headers if row == HEADER_ROW else self.rows[row]

    def cells(self) -> list[Cell]:
        """Every cell with text, in reading order, the header first."""
        lines = enumerate((self.headers, *self.rows), start=HEADER_ROW)
        return [Cell(row, column, text) for row, line in lines for column, text in enumerate(line) if text]


def _read(where: str, row: Row) -> list[str]:
    if not _is_sequence(row):
        raise ValueError(f"{where}: expected a sequence of cells, got {_described(row)}")
    for column, cell in enumerate(row):
        if cell is not None and not isinstance(cell, str):
            raise ValueError(f"{where}, column {column}: expected a string or None, got {_described(cell)}")
    return [normalize_cell(cell) if cell else "" for cell in row]


def _is_sequence(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _described(value: object) -> str:
    return f"{type(value).__name__} {value!r:.60}"

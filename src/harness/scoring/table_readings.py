"""How an extracted table lies over its ground truth (GT): which lines are the header, which columns and rows are which.

Extracted tables rarely begin where their ground truth does: a caption came along as the first row, the header stands
in a later row, is broken over several, or is lost. A table is therefore read in up to three ways:

1. by header: the extracted header is the header. Columns as in `table_columns`, rows as in `table_rows`.
2. by a header elsewhere: the lines, up to `MAX_DEPTH` of them joined column by column, that begin at one of the first
   `MAX_OFFSET` rows and have more headers of the GT in them than the extracted header. They are tried where they have
   at least half of all; what stands before them is extra.
3. by content: the header is a row like the others. Rows are paired by the texts that they share, wherever they stand
   in the row; columns are aligned by what stands in paired rows; then rows are aligned anew on these columns.

The reading with the most cells in their place that are right is taken, the first of equals. The other two never
replace the first on thin evidence, or tables that have little to do with each other would be laid over each other: at
least `MIN_EVIDENCE` cells have to be right, at least half of those that are compared, and at least half of the texts
that both tables have, wherever they stand. The third is tried only where the others put less than `GOOD_ENOUGH` of
these in their place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from harness.scoring.boxes import Floats
from harness.scoring.grids import HEADER_ROW, Grid
from harness.scoring.table_alignment import (
    Alignment,
    Match,
    align_by_content,
    best_alignment,
    match_leftovers,
    squeeze,
)
from harness.scoring.table_columns import align_columns
from harness.scoring.table_rows import align_rows, rows_with_text

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MAX_DEPTH = 4
MAX_OFFSET = 4
MIN_EVIDENCE = 3
GOOD_ENOUGH = 0.95
#: Rows are paired, for the time being, from this share of common texts on.
MIN_SHARED = 0.3
#: A header that stands in a column beside its cells, or a few cells that spill over, do not make a column cut in two.
JOIN_COST = 0.25


@dataclass(frozen=True, slots=True)
class CellDiff:
    """What stands in the same place of both tables, by its place in the GT table (`HEADER_ROW` for the header)."""

    row: int
    column: int
    expected: str
    actual: str


@dataclass(frozen=True)
class Reading:
    """One way to lay an extracted table over its GT. `header` are the extracted lines that stand for the GT header."""

    columns: Alignment
    rows: Alignment
    header: tuple[int, ...]
    compared: tuple[CellDiff, ...]

    @classmethod
    def of(cls, gt: Grid, ext: Grid, columns: Alignment, rows: Alignment, header: tuple[int, ...]) -> Reading:
        """Compare all cells with text that have one place in both tables, in reading order."""
        joined = join_lines([ext.line(row) for row in header]) if header else ()
        lines = [_Lines((HEADER_ROW,), (gt.headers,), (joined,))] if header else []
        lines += [_Lines.of(gt, ext, (match.gt_index,), (match.ext_index,)) for match in rows.matched]
        broken = len(header) > 1
        compared = [
            _compared(number, match.gt_index, expected[match.gt_index], actual[match.ext_index], broken)
            for (number,), (expected,), (actual,) in lines
            for match in columns.matched
            if expected[match.gt_index] or actual[match.ext_index]
        ]
        uncut = [_compared(*cell, broken) for cell in _uncut(gt, ext, lines, columns, rows)]
        if uncut:
            compared = sorted([*compared, *uncut], key=lambda cell: (cell.row, cell.column))
        return cls(columns, rows, header, tuple(compared))

    @property
    def right(self) -> int:
        """Cells in their place with the right text."""
        return sum(cell.expected == cell.actual for cell in self.compared)


def best_reading(gt: Grid, ext: Grid, common: int) -> Reading:
    """The reading with the most right cells; `common` is how many texts the two tables have in common."""
    best = _by_header(gt, ext)
    if elsewhere := _header_elsewhere(gt, ext):
        best = _better(best, _by_header(gt, ext, elsewhere), common)
    if best.right < GOOD_ENOUGH * common:
        best = _better(best, _by_content(gt, ext), common)
    return best


def join_lines(lines: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Lines as one, column by column."""
    return tuple(" ".join(filter(None, cell)) for cell in zip(*lines, strict=True))


def _better(first: Reading, other: Reading, common: int) -> Reading:
    """The other reading where it has more right cells, and enough of them."""
    proven = other.right >= MIN_EVIDENCE and 2 * other.right >= max(len(other.compared), common)
    return other if proven and other.right > first.right else first


def _by_header(gt: Grid, ext: Grid, block: range = range(HEADER_ROW, HEADER_ROW + 1)) -> Reading:
    """Read the extracted lines of `block` as the header, and what follows as rows."""
    columns = align_columns(gt.headers, join_lines([ext.line(row) for row in block]))
    rows = align_rows(gt, ext, columns.matched, ext_first=block.stop)
    before = [row for row in rows_with_text(ext, HEADER_ROW) if row < block.start]
    return Reading.of(gt, ext, columns, replace(rows, extra=(*before, *rows.extra)), tuple(block))


def _header_elsewhere(gt: Grid, ext: Grid) -> range | None:
    """The lines with more of the GT's headers than the extracted header has, and at least half of them."""
    wanted = Counter(squeeze(text) for text in gt.headers if text)
    last = len(ext.rows)
    starts = range(HEADER_ROW, min(MAX_OFFSET, last))
    blocks = [
        range(start, start + depth) for depth in range(1, MAX_DEPTH + 1) for start in starts if start + depth <= last
    ]
    found = [_headers_in(wanted, ext, block) for block in blocks]
    most = max(found, default=0)
    return blocks[found.index(most)] if found and found[0] < most and 2 * most >= wanted.total() else None


def _headers_in(wanted: Counter[str], ext: Grid, block: range) -> int:
    joined = join_lines([ext.line(row) for row in block])
    return (wanted & Counter(squeeze(text) for text in joined)).total()


def _by_content(gt: Grid, ext: Grid) -> Reading:
    columns = _columns_by_content(gt, ext)
    rows = align_rows(gt, ext, columns.matched, HEADER_ROW, HEADER_ROW)
    header: list[tuple[int, ...]] = [(match.ext_index,) for match in rows.matched if match.gt_index == HEADER_ROW]
    header += [split.ext_indices for split in rows.splits if split.gt_index == HEADER_ROW]
    body = replace(
        rows,
        matched=tuple(match for match in rows.matched if match.gt_index != HEADER_ROW),
        splits=tuple(split for split in rows.splits if split.gt_index != HEADER_ROW),
    )
    return Reading.of(gt, ext, columns, body, header[0] if header else ())


def _columns_by_content(gt: Grid, ext: Grid) -> Alignment:
    """Align columns by what stands in rows that share texts."""
    pairs = _alike_rows(gt, ext)
    width, ext_width = gt.shape[1], ext.shape[1]
    gt_texts = [[gt.line(match.gt_index)[column] for match in pairs] for column in range(width)]
    ext_texts = [[ext.line(match.ext_index)[column] for match in pairs] for column in range(ext_width)]
    blocks = align_by_content(gt_texts, ext_texts, JOIN_COST)
    if blocks:
        blocks += match_leftovers(blocks, width, ext_width)
    return Alignment.of(blocks, range(width), range(ext_width))


def _alike_rows(gt: Grid, ext: Grid) -> tuple[Match, ...]:
    """Pair rows in order, the header among them, by the texts that they share wherever they stand."""
    gt_rows, ext_rows = rows_with_text(gt, HEADER_ROW), rows_with_text(ext, HEADER_ROW)
    if not gt_rows or not ext_rows:
        return ()
    gt_texts = [{squeeze(text) for text in gt.line(row) if text} for row in gt_rows]
    ext_texts = [{squeeze(text) for text in ext.line(row) if text} for row in ext_rows]
    numbers = {text: number for number, text in enumerate(set().union(*gt_texts) & set().union(*ext_texts))}
    shared = (_presence(gt_texts, numbers) @ _presence(ext_texts, numbers).T).toarray()
    sizes = np.maximum.outer([len(texts) for texts in gt_texts], [len(texts) for texts in ext_texts])
    share: Floats = np.where(shared >= MIN_SHARED * sizes, shared / sizes, -np.inf)
    blocks = best_alignment(len(gt_rows), len(ext_rows), lambda _a, _b, i: share[i - 1], ((1, 1),))
    return Alignment.of(blocks, gt_rows, ext_rows).matched


def _presence(lines: Sequence[set[str]], numbers: dict[str, int]) -> csr_array:
    """Which text is in which line."""
    from scipy.sparse import csr_array  # slow to load, and not needed to read a run

    known = [[numbers[text] for text in texts if text in numbers] for texts in lines]
    ends = np.cumsum([0, *map(len, known)])
    columns = np.array([number for line in known for number in line], dtype=np.int64)
    return csr_array((np.ones(len(columns)), columns, ends), shape=(len(lines), len(numbers)))


class _Lines(NamedTuple):
    """Rows that belong together: their numbers in the GT, their cells there, and the cells of the extracted ones."""

    numbers: tuple[int, ...]
    expected: tuple[Sequence[str], ...]
    actual: tuple[Sequence[str], ...]

    @classmethod
    def of(cls, gt: Grid, ext: Grid, gt_rows: tuple[int, ...], ext_rows: tuple[int, ...]) -> _Lines:
        return cls(gt_rows, tuple(map(gt.line, gt_rows)), tuple(map(ext.line, ext_rows)))


def _uncut(
    gt: Grid, ext: Grid, whole: Sequence[_Lines], columns: Alignment, rows: Alignment
) -> Iterator[tuple[int, int, str, str]]:
    """The cells of rows and columns that were cut or ran together, where they themselves did not.

    These have one text on either side at the most: the numbers beside a label whose lines became rows, for example.
    """
    cut = [_Lines.of(gt, ext, *block) for block in rows.cut]
    for lines, blocks in ((whole, columns.cut), (cut, columns.whole + columns.cut)):
        for numbers, expected, actual in lines:
            for gt_columns, ext_columns in blocks:
                wanted = [
                    (number, column, line[column])
                    for number, line in zip(numbers, expected, strict=True)
                    for column in gt_columns
                    if line[column]
                ]
                found = [line[column] for line in actual for column in ext_columns if line[column]]
                if len(wanted) <= 1 and len(found) <= 1 and (wanted or found):
                    number, column, text = wanted[0] if wanted else (numbers[0], gt_columns[0], "")
                    yield number, column, text, found[0] if found else ""


def _compared(row: int, column: int, wanted: str, found: str, broken: bool) -> CellDiff:
    """One cell; where a header was broken over lines, nobody knows whether there was a space."""
    same = broken and row == HEADER_ROW and squeeze(wanted) == squeeze(found)
    return CellDiff(row, column, wanted, wanted if same else found)

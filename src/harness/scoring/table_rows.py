"""Row alignment: which extracted row is which row of the ground truth (GT)?

Rows are compared on the matched columns, by content and then by position, as `table_alignment` says; the header, where
it is no row itself, and the end of the table count as aligned. Rows without text take no part: they are neither
missing nor extra. Without a matched column, no row is matched.

Rows are counted from 0, and the header is `HEADER_ROW`, -1: a row like the others, for whoever asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.scoring.grids import Grid
from harness.scoring.table_alignment import Alignment, Match, align_by_content, match_leftovers


def align_rows(gt: Grid, ext: Grid, columns: Sequence[Match], gt_first: int = 0, ext_first: int = 0) -> Alignment:
    """Align the rows from `gt_first` and `ext_first` on by the text in the matched columns."""
    gt_rows, ext_rows = rows_with_text(gt, gt_first), rows_with_text(ext, ext_first)
    if not columns or not gt_rows or not ext_rows:
        return Alignment.of([], gt_rows, ext_rows)
    gt_texts = [[gt.line(row)[match.gt_index] for match in columns] for row in gt_rows]
    ext_texts = [[ext.line(row)[match.ext_index] for match in columns] for row in ext_rows]
    blocks = align_by_content(gt_texts, ext_texts)
    less_gt = {i for i, row in enumerate(gt_rows) if is_spanning(gt, row)}
    less_ext = {i for i, row in enumerate(ext_rows) if is_spanning(ext, row)}
    blocks += match_leftovers(blocks, len(gt_rows), len(ext_rows), less_gt, less_ext)
    return Alignment.of(blocks, gt_rows, ext_rows)


def rows_with_text(grid: Grid, first: int) -> list[int]:
    """The rows from `first` on that have any text."""
    return [row for row in range(first, len(grid.rows)) if any(grid.line(row))]


def is_spanning(grid: Grid, row: int) -> bool:
    """Whether a row of a table of several columns has one cell of text: a caption, the name of a group, a footnote."""
    line = grid.line(row)
    return len(line) > 1 and sum(map(bool, line)) == 1

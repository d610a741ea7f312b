"""Row alignment: which extracted row is which row of the ground truth (GT)?

Rows are compared on the matched columns, white space ignored. Two rows agree by the share of equal cells among the
columns where either has text; below one half they have nothing to do with each other. Up to three neighbours may be
joined, cell by cell, on one side: a row that was split or merged. Of all alignments that keep the order of the rows the
one with the greatest total agreement is taken; among equals, fewer parts and earlier rows. What is left over is matched
by position between the rows aligned so far; the header and the end of the table count as such.

Rows without text take no part: they are neither missing nor extra. Without a matched column, no row is matched.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from harness.scoring.boxes import Floats, Ints
from harness.scoring.grids import Grid
from harness.scoring.table_alignment import MAX_PARTS, AlignedBy, Alignment, Block, Match, match_leftovers
from harness.scoring.table_columns import squeeze

MIN_AGREEMENT = 0.5
#: How many GT rows and how many extracted rows a block takes; on equal agreement the first wins.
STEPS = ((1, 1), *((1, k) for k in range(2, MAX_PARTS + 1)), *((k, 1) for k in range(2, MAX_PARTS + 1)))
SKIP_GT, SKIP_EXT = -1, -2


def align_rows(gt: Grid, ext: Grid, columns: Sequence[Match]) -> Alignment:
    """Align rows by the text in the matched columns."""
    gt_lines, ext_lines = _lines_with_text(gt), _lines_with_text(ext)
    if not columns or not gt_lines or not ext_lines:
        return Alignment.of([], gt_lines, ext_lines)
    numbers: dict[str, int] = {"": 0}
    gt_texts = [[squeeze(gt.rows[line][match.gt_index]) for match in columns] for line in gt_lines]
    ext_texts = [[squeeze(ext.rows[line][match.ext_index]) for match in columns] for line in ext_lines]
    gt_joined = [_joined(gt_texts, parts, numbers) for parts in range(1, MAX_PARTS + 1)]
    ext_joined = [_joined(ext_texts, parts, numbers) for parts in range(1, MAX_PARTS + 1)]
    blocks = _trace(_best_steps(gt_joined, ext_joined))
    blocks += match_leftovers(blocks, len(gt_lines), len(ext_lines))
    return Alignment.of(blocks, gt_lines, ext_lines)


def _lines_with_text(grid: Grid) -> list[int]:
    return [line for line, row in enumerate(grid.rows) if any(row)]


def _joined(texts: Sequence[Sequence[str]], parts: int, numbers: dict[str, int]) -> Ints:
    """Every run of so many rows as one row, each distinct text replaced by its number; 0 is no text."""
    windows = (zip(*texts[start : start + parts], strict=True) for start in range(len(texts) - parts + 1))
    rows = [[numbers.setdefault("".join(cell), len(numbers)) for cell in window] for window in windows]
    return np.array(rows, dtype=np.int64)


def _agreement(row: Ints, rows: Ints) -> Floats:
    """Share of equal cells of one row with each of many; minus infinity where it is too little."""
    filled = ((rows != 0) | (row != 0)).sum(axis=1)
    equal = ((rows == row) & (row != 0)).sum(axis=1)
    share = equal / np.maximum(filled, 1)
    return np.where(share >= MIN_AGREEMENT, share, -np.inf)


def _best_steps(gt: Sequence[Ints], ext: Sequence[Ints]) -> NDArray[np.int8]:
    """The last step of the best alignment of the first i GT rows with the first j extracted rows."""
    n_gt, n_ext = len(gt[0]), len(ext[0])
    steps = np.full((n_gt + 1, n_ext + 1), SKIP_GT, dtype=np.int8)
    totals = deque([np.zeros(n_ext + 1)], maxlen=MAX_PARTS)
    for i in range(1, n_gt + 1):
        total = totals[-1].copy()
        for number, (a, b) in enumerate(STEPS):
            if a > i or b > n_ext:
                continue
            value = totals[-a][: n_ext + 1 - b] + _agreement(gt[a - 1][i - a], ext[b - 1])
            better = np.flatnonzero(value > total[b:])
            total[b:][better] = value[better]
            steps[i, b:][better] = number
        best = np.maximum.accumulate(total)
        steps[i, 1:][best[:-1] >= total[1:]] = SKIP_EXT
        totals.append(best)
    return steps


def _trace(steps: NDArray[np.int8]) -> list[Block]:
    """Walk back from the last rows."""
    blocks = []
    i, j = steps.shape[0] - 1, steps.shape[1] - 1
    while i and j:
        step = int(steps[i, j])
        a, b = (1, 0) if step == SKIP_GT else (0, 1) if step == SKIP_EXT else STEPS[step]
        if a and b:
            blocks.append(Block(range(i - a, i), range(j - b, j), AlignedBy.CONTENT))
        i, j = i - a, j - b
    return blocks

"""GriTS: how alike are two tables as grids?

Grid table similarity by Brandon Smock, Rohith Pesala and Robin Abraham, "GriTS: Grid table similarity metric for table
structure recognition", ICDAR 2023. Of all ways to pick rows and columns of both tables, in order and equally many, the
one is sought in which cells in the same place are most alike; the score is twice their total likeness over the number
of cells of both tables, empty ones included. As in the paper, rows and columns are aligned apart from each other, which
is close to the best and fast: two rows are worth the best alignment of their cells, and rows are aligned for the
greatest total worth; columns likewise.

Likeness here is that of the paper's GriTS_Con: twice the length of the longest common subsequence of the two texts over
the sum of their lengths; two empty cells are alike. The paper's GriTS_Top compares spans, which extractions do not
have. There may be small differences to the authors' program, which approximates the subsequence.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from rapidfuzz.distance import Indel
from rapidfuzz.process import cdist

from harness.scoring.boxes import Floats
from harness.scoring.grids import Grid
from harness.scoring.table_alignment import Block, best_alignment


def grits_content(gt: Grid, ext: Grid) -> float:
    """Twice the likeness of the cells in aligned rows and columns, over all cells of both; 0.0 if either has none."""
    gt_lines, ext_lines = _lines(gt), _lines(ext)
    cells = sum(len(line) for line in (*gt_lines, *ext_lines))
    if not gt_lines or not ext_lines or not cells:
        return 0.0
    alike = _likeness(gt_lines, ext_lines)
    rows = _aligned(_sequence_worth(alike))
    columns = _aligned(_sequence_worth(alike.transpose(2, 3, 0, 1)))
    total = sum(
        alike[row.gt.start, row.ext.start, column.gt.start, column.ext.start] for row, column in product(rows, columns)
    )
    return float(2.0 * total / cells)


def _lines(grid: Grid) -> list[tuple[str, ...]]:
    return [grid.headers, *grid.rows] if any(grid.headers) else list(grid.rows)


def _likeness(gt: list[tuple[str, ...]], ext: list[tuple[str, ...]]) -> Floats:
    """How alike the cells are, by GT row, extracted row, GT column and extracted column."""
    gt_texts, ext_texts = sorted({*sum(gt, ())}), sorted({*sum(ext, ())})
    of_gt, of_ext = ({text: number for number, text in enumerate(texts)} for texts in (gt_texts, ext_texts))
    alike: Floats = cdist(gt_texts, ext_texts, scorer=Indel.normalized_similarity, dtype=np.float64)
    gt_numbers = np.array([[of_gt[text] for text in line] for line in gt])
    ext_numbers = np.array([[of_ext[text] for text in line] for line in ext])
    placed: Floats = alike[gt_numbers[:, None, :, None], ext_numbers[None, :, None, :]]
    return placed


def _sequence_worth(alike: Floats) -> Floats:
    """The greatest total likeness of any alignment in order, along the last two axes, for each pair of the first."""
    lines_gt, lines_ext, n_gt, n_ext = alike.shape
    best = np.zeros((lines_gt, lines_ext, n_ext + 1))
    for i in range(n_gt):
        taken = best[..., :-1] + alike[:, :, i, :]
        np.maximum(best[..., 1:], taken, out=taken)
        best[..., 1:] = np.maximum.accumulate(taken, axis=-1)
    return best[..., -1]


def _aligned(worth: Floats) -> list[Block]:
    return best_alignment(len(worth), worth.shape[1], lambda _a, _b, i: worth[i - 1], ((1, 1),))

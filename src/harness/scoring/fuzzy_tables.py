"""Fuzzy table accuracy: how much of a table's text came out, wherever it landed?

The cells of both tables, headers included, are two bags of text; empty cells are left out. All pairs of a ground-truth
(GT) cell and an extracted cell are scored as in `cells`, and taken best score first; ties fall to the lower extraction
index, then to the lower GT index; one to one. Pairs that score nothing are never taken. Precision is the sum of the
taken scores over the extracted cells, recall over the GT cells, F1 their harmonic mean. Both bags empty: all 1.0.
Exactly one empty: all 0.0.

A score of 1.0 means equal text, so equal cells are taken first, through a dictionary; of the rest, numbers can match
nothing and texts go to `substrings`.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from harness.scoring.cells import is_numeric_cell
from harness.scoring.grids import Cell, Grid, Row
from harness.scoring.substrings import match_by_substring


@dataclass(frozen=True, slots=True)
class CellPair:
    """A GT cell and the extracted cell that stands for it, as indices into the bags, and what the pair is worth."""

    gt: int
    ext: int
    score: float


@dataclass(frozen=True, slots=True)
class CellAssignment:
    """Which extracted cell stands for which GT cell; `pairs` in the order in which they were taken."""

    gt_cells: tuple[Cell, ...]
    ext_cells: tuple[Cell, ...]
    pairs: tuple[CellPair, ...]

    @property
    def matched(self) -> tuple[CellPair, ...]:
        """Pairs of equal cells."""
        return tuple(pair for pair in self.pairs if pair.score == 1.0)

    @property
    def partial(self) -> tuple[CellPair, ...]:
        """Pairs that share only a part of their text."""
        return tuple(pair for pair in self.pairs if pair.score < 1.0)

    @property
    def missing(self) -> tuple[Cell, ...]:
        """GT cells that nothing stands for."""
        found = {pair.gt for pair in self.pairs}
        return tuple(cell for index, cell in enumerate(self.gt_cells) if index not in found)

    @property
    def extra(self) -> tuple[Cell, ...]:
        """Extracted cells that stand for nothing."""
        used = {pair.ext for pair in self.pairs}
        return tuple(cell for index, cell in enumerate(self.ext_cells) if index not in used)

    @property
    def precision(self) -> float:
        """Sum of scores over extracted cells."""
        return self._rate(len(self.ext_cells))

    @property
    def recall(self) -> float:
        """Sum of scores over GT cells."""
        return self._rate(len(self.gt_cells))

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall: the sum of scores over the mean number of cells."""
        return self._rate((len(self.gt_cells) + len(self.ext_cells)) / 2)

    def _rate(self, cells: float) -> float:
        if not self.gt_cells and not self.ext_cells:
            return 1.0
        return fsum(pair.score for pair in self.pairs) / cells if self.pairs else 0.0


def compute_fuzzy_accuracy(
    gt_headers: Row, gt_rows: Sequence[Row], ext_headers: Row, ext_rows: Sequence[Row]
) -> tuple[float, float, float]:
    """Precision, recall and F1 of the extracted cells, as fractions."""
    cells = assign_cells(Grid.of("GT table", gt_headers, gt_rows), Grid.of("extracted table", ext_headers, ext_rows))
    return cells.precision, cells.recall, cells.f1


def assign_cells(gt: Grid, ext: Grid) -> CellAssignment:
    """Pair the cells of two tables."""
    gt_cells, ext_cells = tuple(gt.cells()), tuple(ext.cells())
    pairs = assign_texts([cell.text for cell in gt_cells], [cell.text for cell in ext_cells])
    return CellAssignment(gt_cells, ext_cells, tuple(pairs))


def assign_texts(gt: Sequence[str], ext: Sequence[str]) -> list[CellPair]:
    """Pair normalised, non-empty texts; the pairs come in the order in which they were taken."""
    pairs = _equal_pairs(gt, ext)
    gt_left = _texts_left(gt, {pair.gt for pair in pairs})
    ext_left = _texts_left(ext, {pair.ext for pair in pairs})
    similar = match_by_substring([ext[i] for i in ext_left], [gt[i] for i in gt_left])
    return pairs + [CellPair(gt_left[g], ext_left[e], score) for e, g, score in similar]


def _equal_pairs(gt: Sequence[str], ext: Sequence[str]) -> list[CellPair]:
    places = defaultdict[str, deque[int]](deque)
    for index, text in enumerate(gt):
        places[text].append(index)
    return [CellPair(places[text].popleft(), index, 1.0) for index, text in enumerate(ext) if places.get(text)]


def _texts_left(texts: Sequence[str], used: set[int]) -> list[int]:
    return [index for index, text in enumerate(texts) if index not in used and not is_numeric_cell(text)]

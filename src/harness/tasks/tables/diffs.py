"""Cell by cell: what was matched, what came out in part, what is missing and what is extra."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from harness.scoring.fuzzy_tables import CellAssignment
from harness.scoring.grids import Cell


class Status(StrEnum):
    """What became of a cell."""

    MATCHED = "matched"
    PARTIAL = "partial"
    MISSING = "missing"
    EXTRA = "extra"


@dataclass(frozen=True, slots=True)
class Diff:
    """A ground-truth cell, the extracted cell that stands for it, or both; and what the pair is worth."""

    status: Status
    score: float
    gt: Cell | None = None
    ext: Cell | None = None


def cell_diffs(cells: CellAssignment) -> list[Diff]:
    """Every cell of both tables once: pairs in the order of the ground truth, then what is missing and extra."""
    pairs = sorted(cells.pairs, key=lambda pair: pair.gt)
    diffs = [
        Diff(
            Status.MATCHED if pair.score == 1.0 else Status.PARTIAL,
            pair.score,
            cells.gt_cells[pair.gt],
            cells.ext_cells[pair.ext],
        )
        for pair in pairs
    ]
    diffs += [Diff(Status.MISSING, 0.0, gt=cell) for cell in cells.missing]
    return diffs + [Diff(Status.EXTRA, 0.0, ext=cell) for cell in cells.extra]


def count(diffs: list[Diff]) -> dict[Status, int]:
    """How many there are of each, none left out."""
    found = Counter(diff.status for diff in diffs)
    return {status: found[status] for status in Status}

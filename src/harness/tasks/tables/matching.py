"""Which extracted table stands for which table of the ground truth, page by page and method by method.

A table with a box takes an extraction that overlaps it with an IoU of at least `min_iou`, best overlap first. A table
without a box then takes, of what is left on its page, the extraction with the best fuzzy F1, if it is above 0. Ties
fall to the earlier extraction, then to the earlier table; one to one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.scoring.boxes import Boxes
from harness.scoring.fuzzy_tables import assign_cells
from harness.scoring.matching import UNMATCHED, match_greedy
from harness.tasks.tables.files import Bbox, Extraction, GroundTruthTable
from harness.types import Box


def match_tables(
    tables: Sequence[GroundTruthTable], extractions: Sequence[Extraction], min_iou: float
) -> list[Extraction]:
    """One method's extractions of one PDF, each with the id of the table that it stands for, or without."""
    owners: dict[int, str] = {}
    for page in sorted({table.page for table in tables}):
        wanted = [table for table in tables if table.page == page]
        offered = [number for number, item in enumerate(extractions) if item.page == page]
        found = [extractions[number] for number in offered]
        pairs = _by_box(wanted, found, min_iou)
        pairs |= _by_score(wanted, found, pairs)
        owners |= {offered[number]: wanted[target].id for number, target in pairs.items()}
    return [replace(item, table_id=owners.get(number)) for number, item in enumerate(extractions)]


def _by_box(tables: Sequence[GroundTruthTable], found: Sequence[Extraction], min_iou: float) -> dict[int, int]:
    """Extraction -> table. What has no box gets one without area, which overlaps nothing."""
    predictions = Boxes.of([[_box(item.bbox) for item in found]])
    targets = Boxes.of([[_box(table.bbox) for table in tables]])
    matches = match_greedy(predictions, targets, min_iou)
    return {number: int(target) for number, target in enumerate(matches.target_of) if target != UNMATCHED}


def _by_score(tables: Sequence[GroundTruthTable], found: Sequence[Extraction], taken: dict[int, int]) -> dict[int, int]:
    """Extraction -> table, for tables without a box and extractions that no box has claimed."""
    scored = [
        (assign_cells(table.grid, item.grid).f1, number, target)
        for number, item in enumerate(found)
        if number not in taken
        for target, table in enumerate(tables)
        if table.bbox is None
    ]
    pairs: dict[int, int] = {}
    for f1, number, target in sorted(scored, key=lambda entry: (-entry[0], *entry[1:])):
        if f1 > 0 and number not in pairs and target not in pairs.values():
            pairs[number] = target
    return pairs


def _box(bbox: Bbox | None) -> Box:
    left, top, right, bottom = bbox or (0.0, 0.0, 0.0, 0.0)
    return Box(x=left, y=top, w=right - left, h=bottom - top)

"""TEDS beside the program on PyPI, and the comparison of cells in their place against a limit.

Tables of numbers under a column of labels, of which the extraction garbles one cell in five. The peer of TEDS,
table-recognition-metric, is on apted; both must give the same score, or the measurement fails.
"""

from __future__ import annotations

import random
from html import escape
from typing import Any

from table_recognition_metric import TEDS

from bench.measure import best_of, row, show
from harness.scoring.grids import Grid
from harness.scoring.table_structure import compare_extraction
from harness.scoring.teds import Node, table_tree, teds

Lines = list[list[str]]
#: Seconds for 100 x 100 cells, where the header is in its place and where it is not.
LIMIT = 0.2


def make_tables(rows: int, columns: int, seed: int = 0) -> tuple[Lines, Lines]:
    """A table and what was extracted of it; the first line is the header."""
    rng = random.Random(seed)
    body = [[f"label {i} of row", *[f"{rng.uniform(0, 1000):.2f}" for _ in range(columns - 1)]] for i in range(rows)]
    garbled = [[cell if rng.random() > 0.2 else f"{cell}q" for cell in line] for line in body]
    header = [f"column {number} head" for number in range(columns)]
    return [header, *body], [header, *garbled]


def measure() -> list[dict[str, Any]]:
    """TEDS of small tables beside the peer; large tables against the limit."""
    return [*(_teds(rows, columns) for rows, columns in ((8, 4), (20, 6), (40, 8))), *_in_place()]


def _teds(rows: int, columns: int) -> dict[str, Any]:
    gt, ext = (table_tree(Grid.of("t", lines[0], lines[1:])) for lines in make_tables(rows, columns))
    pages = [f"<html><body>{_html(tree)}</body></html>" for tree in (ext, gt)]
    if abs(teds(gt, ext) - TEDS()(*pages)) > 1e-6:
        raise AssertionError(f"{rows} x {columns}: {teds(gt, ext)} differs from the peer's {TEDS()(*pages)}")
    ours, peer = best_of(lambda: teds(gt, ext)), best_of(lambda: TEDS()(*pages), 2)
    return row(f"TEDS, {rows} rows of {columns} cells", ours, "table-recognition-metric", peer, 3)


def _in_place() -> list[dict[str, Any]]:
    gt, ext = make_tables(100, 100)
    cases = {"": ext, ", below a caption": [["Table 1", *[""] * 99], *ext], ", other headers": [["x"] * 100, *ext[1:]]}
    seconds = {name: _compare(gt, lines) for name, lines in cases.items()}
    limit = f"limit of {LIMIT:g} s"
    return [row(f"cells in their place, 100 x 100{name}", ours, limit, LIMIT, 1) for name, ours in seconds.items()]


def _compare(gt: Lines, ext: Lines) -> float:
    return best_of(lambda: compare_extraction("t", gt[0], gt[1:], ext[0], ext[1:]))


def _html(node: Node) -> str:
    return f"<{node.tag}>{escape(node.text)}{''.join(map(_html, node.children))}</{node.tag}>"


if __name__ == "__main__":
    show(measure())

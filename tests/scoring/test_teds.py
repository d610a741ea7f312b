"""TEDS against the reference implementation, table-recognition-metric from PyPI."""

from __future__ import annotations

import random
from html import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_recognition_metric import TEDS

from harness.scoring.grids import Grid
from harness.scoring.teds import Node, table_tree, teds, text_distances

texts = st.text("ab 1é", max_size=4).map(str.strip)
cells = st.builds(Node, st.just("td"), st.just(()), texts, st.integers(1, 2), st.integers(1, 2))
rows = st.lists(cells, max_size=4).map(lambda found: Node("tr", tuple(found)))
parts = st.builds(
    lambda tag, found: Node(tag, tuple(found)), st.sampled_from(["thead", "tbody"]), st.lists(rows, max_size=4)
)
trees = st.one_of(
    st.lists(parts, max_size=3).map(lambda found: Node("table", tuple(found))),
    st.lists(rows, max_size=4).map(lambda found: Node("table", tuple(found))),
)


def html(node: Node) -> str:
    spans = f' colspan="{node.colspan}" rowspan="{node.rowspan}"' if node.tag == "td" else ""
    return f"<{node.tag}{spans}>{escape(node.text)}{''.join(map(html, node.children))}</{node.tag}>"


def reference(gt: Node, ext: Node, structure_only: bool = False) -> float:
    pages = (f"<html><body>{html(node)}</body></html>" for node in (ext, gt))
    return float(TEDS(structure_only=structure_only)(*pages))


def tree(*lines: list[str]) -> Node:
    return table_tree(Grid.of("t", lines[0], lines[1:]))


GT = tree(["name", "time"], ["Ada", "41"], ["Bo", "43"])


@pytest.mark.parametrize(
    ("ext", "expected"),
    [
        (GT, 1.0),
        # table, thead, tbody, 3 rows and 6 cells are 12 nodes; "43" and "48" differ by half.
        (tree(["name", "time"], ["Ada", "41"], ["Bo", "48"]), 1 - 0.5 / 12),
        (tree(["name", "time"], ["Ada", "41"]), 1 - 3 / 12),
        (tree(["name", "time", ""], ["Ada", "41", ""], ["Bo", "43", ""]), 1 - 3 / 15),
        # Both parts are taken away and one is put around all rows.
        (tree([], ["name", "time"], ["Ada", "41"], ["Bo", "43"]), 1 - 3 / 12),
        (Node("table", (Node("tbody"),)), 1 - 10 / 12),
    ],
    ids=["itself", "one digit", "no last row", "empty column", "no thead", "nothing"],
)
def test_worked_by_hand(ext: Node, expected: float) -> None:
    assert teds(GT, ext) == pytest.approx(expected, abs=1e-12)
    assert reference(GT, ext) == pytest.approx(expected, abs=1e-12)


def test_structure_leaves_the_texts_out() -> None:
    other = tree(["x", "y"], ["1", "2"], ["3", "4"])
    assert teds(GT, other, structure_only=True) == 1.0
    assert teds(GT, other) < 0.6


@settings(max_examples=300, deadline=None)
@given(trees, trees)
def test_equals_the_reference_on_all_kinds_of_trees(gt: Node, ext: Node) -> None:
    for structure_only in (False, True):
        expected = reference(gt, ext, structure_only)
        assert teds(gt, ext, structure_only) == pytest.approx(expected, abs=1e-9)
        assert teds(ext, gt, structure_only) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_equals_the_reference_on_tables_and_their_garbled_extractions(seed: int) -> None:
    rng = random.Random(seed)
    width = rng.randint(2, 5)
    lines = [[f"{rng.choice(['mean', 'total', 'n'])} {rng.randrange(30)}" for _ in range(width)] for _ in range(8)]
    ext = [[cell if rng.random() < 0.8 else cell[::-1] for cell in line] for line in lines if rng.random() < 0.9]
    if seed % 2:
        ext.insert(0, ["Table 1", *[""] * (width - 1)])
    if seed % 3 == 0:
        ext = [[*line[:1], "", *line[1:]] for line in ext]
    assert teds(tree(*lines), tree(*ext)) == pytest.approx(reference(tree(*lines), tree(*ext)), abs=1e-9)


def test_two_empty_texts_are_equal() -> None:
    assert text_distances(["", "ab", "ab"], ["", "ax"]).tolist() == [[0.0, 1.0], [1.0, 0.5], [1.0, 0.5]]

"""TEDS: how alike are two tables as trees?

Tree-edit-distance-based similarity by Xu Zhong, Elaheh ShafieiBavani and Antonio Jimeno Yepes, "Image-based table
recognition: data, model, and evaluation", ECCV 2020. A table is the tree of its HTML: a `table` of `thead` and `tbody`,
of rows, of cells. To insert or delete a node costs 1. To turn one into another costs 0 if both have the same tag and
spans, and 1 otherwise; two cells with the same spans cost the Levenshtein distance of their texts over the longer
length. The score is 1 - distance / nodes of the larger tree. TEDS-Struct leaves the texts out.

The distance is that of Kaizhong Zhang and Dennis Shasha, "Simple fast algorithms for the editing distance between trees
and related problems", SIAM Journal on Computing, 1989, with two shortcuts that change nothing: the distance of a leaf
to a tree has a closed form, and all rows of a table are compared with a subtree at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from harness.scoring.boxes import Bools, Floats, Ints
from harness.scoring.grids import Grid


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a table's tree. Only cells (`td`) have spans and text."""

    tag: str
    children: tuple[Node, ...] = ()
    text: str = ""
    colspan: int = 1
    rowspan: int = 1


def table_tree(grid: Grid) -> Node:
    """The tree of a table: a header with any text is its `thead`, the rows are its `tbody`; there are no spans."""
    head = (Node("thead", (_row(grid.headers),)),) if any(grid.headers) else ()
    return Node("table", (*head, Node("tbody", tuple(map(_row, grid.rows)))))


def teds(gt: Node, ext: Node, structure_only: bool = False) -> float:
    """1 - tree edit distance over the number of nodes of the larger tree."""
    a, b = _Tree.of(gt), _Tree.of(ext)
    return 1.0 - _distance(a, b, _rename_costs(a, b, structure_only)) / max(len(a.nodes), len(b.nodes))


def _row(texts: Sequence[str]) -> Node:
    return Node("tr", tuple(Node("td", text=text) for text in texts))


@dataclass(frozen=True)
class _Tree:
    """A tree in postorder: its nodes, the first node below each, and the keyroots that are no leaves, by height.

    A keyroot is a node that is not the first child of its parent. Those of height 1 have leaves for children.
    """

    nodes: tuple[Node, ...]
    first: Ints
    rows: tuple[int, ...]
    higher: tuple[int, ...]

    @classmethod
    def of(cls, root: Node) -> _Tree:
        nodes, first, height, is_first = [], [], [], []

        def visit(node: Node, leads: bool) -> tuple[int, int]:
            below = [visit(child, number == 0) for number, child in enumerate(node.children)]
            nodes.append(node)
            first.append(below[0][0] if below else len(nodes) - 1)
            height.append(1 + max((high for _, high in below), default=-1))
            is_first.append(leads)
            return first[-1], height[-1]

        visit(root, False)
        keyroots = [number for number, leads in enumerate(is_first) if not leads and height[number]]
        rows = tuple(number for number in keyroots if height[number] == 1)
        higher = tuple(number for number in keyroots if height[number] > 1)
        return cls(tuple(nodes), np.array(first), rows, higher)

    @property
    def sizes(self) -> Ints:
        """How many nodes each subtree has."""
        return np.arange(len(self.nodes)) - self.first + 1


def _rename_costs(a: _Tree, b: _Tree, structure_only: bool) -> Floats:
    """What it costs to turn each node into each."""
    kinds: dict[tuple[str, int, int], int] = {}
    kinds_a, kinds_b = (
        np.array([kinds.setdefault((node.tag, node.colspan, node.rowspan), len(kinds)) for node in tree.nodes])
        for tree in (a, b)
    )
    same = kinds_a[:, None] == kinds_b
    if structure_only:
        return np.where(same, 0.0, 1.0)
    return np.where(same, text_distances([node.text for node in a.nodes], [node.text for node in b.nodes]), 1.0)


def text_distances(a: Sequence[str], b: Sequence[str]) -> Floats:
    """Levenshtein distance over the longer length, of each text to each; two empty texts are equal."""
    (texts_a, of_a), (texts_b, of_b) = _distinct(a), _distinct(b)
    edits = cdist(texts_a, texts_b, scorer=Levenshtein.distance, dtype=np.int32)
    longer = np.maximum.outer([len(text) for text in texts_a], [len(text) for text in texts_b])
    distances: Floats = edits / np.maximum(longer, 1)
    return distances[np.ix_(of_a, of_b)]


def _distinct(texts: Sequence[str]) -> tuple[list[str], list[int]]:
    """Each text once, and where each of the given ones is among them."""
    numbers: dict[str, int] = {}
    places = [numbers.setdefault(text, len(numbers)) for text in texts]
    return list(numbers), places


def _distance(a: _Tree, b: _Tree, rename: Floats) -> float:
    """Zhang and Shasha: the distances of all pairs of subtrees, pairs of keyroots from the leaves up."""
    trees = _leaf_distances(a, b, rename)
    batches = [_Subtrees.of(b, b.rows)] if b.rows else []
    batches += [_Subtrees.of(b, [keyroot]) for keyroot in b.higher]
    for keyroot in sorted((*a.rows, *a.higher)):
        for batch in batches:
            _compare_subtrees(a, keyroot, batch, rename, trees)
    return float(trees[-1, -1])


def _leaf_distances(a: _Tree, b: _Tree, rename: Floats) -> Floats:
    """Distances of all subtrees of which one is a leaf, which becomes the node of the other that costs least."""
    trees = rename.copy()
    leaves_a, leaves_b = a.sizes == 1, b.sizes == 1
    for i in np.flatnonzero(~leaves_a):
        trees[i, leaves_b] = a.sizes[i] - 1 + rename[a.first[i] : i + 1, leaves_b].min(axis=0)
    for j in np.flatnonzero(~leaves_b):
        trees[leaves_a, j] = b.sizes[j] - 1 + rename[leaves_a, b.first[j] : j + 1].min(axis=1)
    return trees


@dataclass(frozen=True)
class _Subtrees:
    """Subtrees side by side, one a line, padded to the same width: the number of each node, how many nodes of its
    subtree stand before the first one below it, and whether that is the first of the whole subtree."""

    nodes: Ints
    before: Ints
    leads: Bools

    @classmethod
    def of(cls, tree: _Tree, roots: Sequence[int]) -> _Subtrees:
        starts, ends = tree.first[list(roots), None], np.array(roots)[:, None]
        nodes = starts + np.arange((ends - starts).max() + 1)
        inside = nodes <= ends
        nodes = np.minimum(nodes, ends)
        before = tree.first[nodes] - starts
        return cls(nodes, before, (before == 0) & inside)


def _compare_subtrees(a: _Tree, root: int, batch: _Subtrees, rename: Floats, trees: Floats) -> None:
    """Distances of the subtree of `root`, node by node, to all subtrees of the batch; fills in those of `trees`."""
    start = a.first[root]
    lines, width = batch.nodes.shape
    line = np.arange(lines)[:, None]
    inserted = np.arange(width + 1.0)
    forests = np.empty((root - start + 2, lines, width + 1))
    forests[0] = inserted
    for step, node in enumerate(range(start, root + 1), start=1):
        before = a.first[node] - start
        turned = forests[before][line, batch.before] + trees[node, batch.nodes]
        if before == 0:
            turned = np.where(batch.leads, forests[step - 1][:, :-1] + rename[node, batch.nodes], turned)
        best = forests[step]
        best[:, 0] = step
        np.minimum(forests[step - 1][:, 1:] + 1.0, turned, out=best[:, 1:])
        best -= inserted
        np.minimum.accumulate(best, axis=1, out=best)
        best += inserted
        if before == 0:
            trees[node, batch.nodes[batch.leads]] = best[:, 1:][batch.leads]

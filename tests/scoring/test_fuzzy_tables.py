"""Fuzzy table accuracy: the seed's cases, and equality with the rules written out plainly."""

from __future__ import annotations

import random
from math import fsum

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from harness.scoring.cells import fuzzy_cell_score, normalize_cell
from harness.scoring.fuzzy_tables import CellPair, assign_cells, assign_texts, compute_fuzzy_accuracy
from harness.scoring.grids import HEADER_ROW, Cell, Grid
from harness.scoring.substrings import match_by_substring

Table = tuple[list[str | None], list[list[str | None]]]

# Few letters make many ties, duplicates and overlaps.
cells = st.one_of(
    st.none(),
    st.text("ab", max_size=6),
    st.text("abc ", max_size=9),
    st.sampled_from(["0.5", ".5", "50%", "nan", "ﬁn", "fin", "10^{3}", "103", "a–b", "a-b", "É", "𝛼β", "\0", " "]),
    st.text(max_size=5),
)
tables = st.tuples(st.lists(cells, max_size=4), st.lists(st.lists(cells, max_size=4), max_size=4))


def plain_pairs(gt: list[str], ext: list[str]) -> list[CellPair]:
    """The rules word by word: score all pairs, sort, take what is free."""
    scored = [(-fuzzy_cell_score(a, b), e, g) for e, a in enumerate(ext) for g, b in enumerate(gt)]
    pairs: list[CellPair] = []
    for score, e, g in sorted(scored):
        if score < 0 and all(pair.ext != e and pair.gt != g for pair in pairs):
            pairs.append(CellPair(g, e, -score))
    return pairs


def plain_cells(table: Table) -> list[str]:
    headers, rows = table
    texts = [normalize_cell(cell or "") for line in [headers, *rows] for cell in line]
    return [text for text in texts if text]


def plain_accuracy(gt: Table, ext: Table) -> tuple[float, float, float]:
    gt_cells, ext_cells = plain_cells(gt), plain_cells(ext)
    if not gt_cells and not ext_cells:
        return 1.0, 1.0, 1.0
    if not gt_cells or not ext_cells:
        return 0.0, 0.0, 0.0
    total = fsum(pair.score for pair in plain_pairs(gt_cells, ext_cells))
    precision, recall = total / len(ext_cells), total / len(gt_cells)
    return precision, recall, 2 * precision * recall / (precision + recall) if total else 0.0


class TestFuzzyAccuracy:
    def test_identical_tables(self) -> None:
        headers, rows = ["Group", "n"], [["control", "12"], ["treated", "13"]]
        assert compute_fuzzy_accuracy(headers, rows, headers, rows) == (1.0, 1.0, 1.0)

    def test_both_empty(self) -> None:
        assert compute_fuzzy_accuracy([], [], [], []) == (1.0, 1.0, 1.0)

    def test_completely_different(self) -> None:
        assert compute_fuzzy_accuracy(["a", "b"], [], ["x", "y"], []) == (0.0, 0.0, 0.0)

    def test_extra_ext_cells(self) -> None:
        precision, recall, f1 = compute_fuzzy_accuracy(["A", "B"], [["c", "d"]], ["A", "B"], [["c", "d"], ["zz", "yy"]])
        assert (precision, recall) == (4 / 6, 1.0)
        assert f1 == pytest.approx(0.8)

    def test_missing_cells(self) -> None:
        precision, recall, _ = compute_fuzzy_accuracy(["A", "B"], [["c", "d"], ["e", "f"]], ["A", "B"], [["c", "d"]])
        assert (precision, recall) == (1.0, 4 / 6)

    def test_headers_included(self) -> None:
        gt_rows, ext_rows = [["same", "lost"]], [["same", "1.5"]]
        with_headers = compute_fuzzy_accuracy(["Col A"], gt_rows, ["Col A"], ext_rows)
        without = compute_fuzzy_accuracy([], gt_rows, [], ext_rows)
        assert with_headers == (2 / 3, 2 / 3, 2 / 3)
        assert without == (1 / 2, 1 / 2, 1 / 2)

    def test_numeric_mismatch_tanks_score(self) -> None:
        assert compute_fuzzy_accuracy([], [["0.047", "text"]], [], [["0.47", "text"]]) == (0.5, 0.5, 0.5)

    def test_one_side_empty(self) -> None:
        assert compute_fuzzy_accuracy(["a"], [], [], []) == (0.0, 0.0, 0.0)
        assert compute_fuzzy_accuracy([], [], [], [["a"]]) == (0.0, 0.0, 0.0)

    def test_cells_without_text_are_no_cells(self) -> None:
        assert compute_fuzzy_accuracy(["a", None], [[" ", "^{}"]], [], [["a", "\u00a0"], []]) == (1.0, 1.0, 1.0)
        assert compute_fuzzy_accuracy([None], [[" "]], [], []) == (1.0, 1.0, 1.0)

    def test_best_pairs_are_taken_first(self) -> None:
        # "abcd" would do for both, but "abcx" is nearer to it, and what is left shares nothing with "abyy".
        assert compute_fuzzy_accuracy(["abcd", "zz"], [], ["abyy", "abcx"], []) == (0.375, 0.375, 0.375)


class TestAgainstThePlainRules:
    @settings(max_examples=400)
    @given(tables, tables)
    def test_accuracy(self, gt: Table, ext: Table) -> None:
        result = compute_fuzzy_accuracy(*gt, *ext)
        expected = plain_accuracy(gt, ext)
        assert result[:2] == expected[:2]
        assert result[2] == pytest.approx(expected[2], rel=1e-12)
        assert all(0.0 <= rate <= 1.0 for rate in result)

    @settings(max_examples=400)
    @given(tables, tables)
    def test_assignment_pair_by_pair(self, gt: Table, ext: Table) -> None:
        gt_cells, ext_cells = plain_cells(gt), plain_cells(ext)
        assert assign_texts(gt_cells, ext_cells) == plain_pairs(gt_cells, ext_cells)

    @pytest.mark.parametrize("alphabet", ["ab", "abcdefgh ", "0123456789.-%"])
    @pytest.mark.parametrize("seed", range(3))
    def test_larger_tables(self, alphabet: str, seed: int) -> None:
        rng = random.Random(seed)
        bags = [["".join(rng.choices(alphabet, k=rng.randint(1, 14))) for _ in range(60)] for _ in range(2)]
        gt, ext = ([text for text in map(normalize_cell, bag) if text] for bag in bags)
        assert assign_texts(gt, ext) == plain_pairs(gt, ext)


class TestProperties:
    @given(tables)
    def test_a_table_equals_itself(self, table: Table) -> None:
        assert compute_fuzzy_accuracy(*table, *table) == (1.0, 1.0, 1.0)

    @given(tables, tables)
    def test_rates_agree_with_each_other(self, gt: Table, ext: Table) -> None:
        precision, recall, f1 = compute_fuzzy_accuracy(*gt, *ext)
        n_gt, n_ext = len(plain_cells(gt)), len(plain_cells(ext))
        assert precision * n_ext == pytest.approx(recall * n_gt)
        assert min(precision, recall) <= f1 + 1e-12
        assert f1 <= max(precision, recall) + 1e-12

    @given(tables, tables)
    def test_swapping_the_tables_swaps_precision_and_recall(self, gt: Table, ext: Table) -> None:
        # True even with ties: among pairs of one score, every cell prefers the lowest partner, so "lowest extraction
        # cell first" and "lowest GT cell first" settle on the same pairs.
        precision, recall, f1 = compute_fuzzy_accuracy(*gt, *ext)
        assert compute_fuzzy_accuracy(*ext, *gt) == (recall, precision, f1)
        pairs = {(pair.gt, pair.ext) for pair in assign_texts(plain_cells(gt), plain_cells(ext))}
        assert {(pair.ext, pair.gt) for pair in assign_texts(plain_cells(ext), plain_cells(gt))} == pairs

    @given(tables, tables, st.randoms(use_true_random=False))
    def test_without_ties_the_order_of_rows_does_not_matter(self, gt: Table, ext: Table, rng: random.Random) -> None:
        scores = [fuzzy_cell_score(a, b) for a in set(plain_cells(gt)) for b in set(plain_cells(ext))]
        partial = [score for score in scores if 0.0 < score < 1.0]
        assume(len(partial) == len(set(partial)))
        headers, rows = gt
        expected = compute_fuzzy_accuracy(*gt, *ext)
        assert compute_fuzzy_accuracy(headers, rng.sample(rows, len(rows)), *ext) == expected

    def test_with_ties_the_order_of_cells_does_matter(self) -> None:
        # "b" is worth 1/2 to "ab" and to "bc", "a" only to "ab"; if "b" goes first and takes "ab", "a" goes without.
        assert compute_fuzzy_accuracy(["ab", "bc"], [], ["b", "a"], []) == (0.25, 0.25, 0.25)
        assert compute_fuzzy_accuracy(["ab", "bc"], [], ["a", "b"], []) == (0.5, 0.5, 0.5)


class TestAssignment:
    def test_matched_partial_missing_extra(self) -> None:
        gt = Grid.of("GT", ["Name", "Dosis"], [["control", "0.5"], ["treated", None]])
        ext = Grid.of("ext", ["Name"], [["0.7", "contro1"], ["Name", ""]])
        result = assign_cells(gt, ext)
        assert [(result.gt_cells[p.gt], result.ext_cells[p.ext]) for p in result.matched] == [
            (Cell(HEADER_ROW, 0, "Name"), Cell(HEADER_ROW, 0, "Name"))
        ]
        assert [(result.gt_cells[p.gt].text, result.ext_cells[p.ext].text, p.score) for p in result.partial] == [
            ("control", "contro1", 6 / 7),
            ("treated", "Name", 1 / 7),
        ]
        assert result.missing == (Cell(HEADER_ROW, 1, "Dosis"), Cell(0, 1, "0.5"))
        assert result.extra == (Cell(0, 0, "0.7"),)

    def test_duplicates_pair_in_order(self) -> None:
        assert assign_texts(["x", "y", "x"], ["x", "x", "x", "y"]) == [
            CellPair(0, 0, 1.0),
            CellPair(2, 1, 1.0),
            CellPair(1, 3, 1.0),
        ]

    def test_ties_fall_to_the_lower_extraction_index_then_the_lower_gt_index(self) -> None:
        assert assign_texts(["ab", "ac"], ["ax", "ay"]) == [CellPair(0, 0, 0.5), CellPair(1, 1, 0.5)]

    def test_lone_surrogates_nul_and_astral_characters(self) -> None:
        assert assign_texts(["\ud800ab", "\0x"], ["y\0", "ab\U0001f600"]) == [
            CellPair(0, 1, 2 / 3),
            CellPair(1, 0, 1 / 2),
        ]

    def test_long_repetitive_texts(self) -> None:
        assert assign_texts(["a" * 900 + "b", "ab" * 300], ["ba" * 300 + "c", "a" * 1000]) == [
            CellPair(1, 0, 599 / 601),
            CellPair(0, 1, 900 / 1000),
        ]

    def test_of_nothing(self) -> None:
        assert list(match_by_substring([], ["a"])) == []
        assert list(match_by_substring(["a"], ["b"])) == []
        assert list(match_by_substring(["", "ab"], ["ab", ""])) == [(1, 0, 1.0)]


class TestBadInput:
    @pytest.mark.parametrize(
        ("headers", "rows", "message"),
        [
            (["a", 5], [], r"GT table, header, column 1: expected a string or None, got int 5"),
            (["a"], [["x"], ["y", 2.5]], r"GT table, row 1, column 1: expected a string or None, got float 2.5"),
            (["a"], [["x"], "xy"], r"GT table, row 1: expected a sequence of cells, got str 'xy'"),
            (["a"], [None], r"GT table, row 0: expected a sequence of cells, got NoneType None"),
            ("ab", [], r"GT table, header: expected a sequence of cells, got str 'ab'"),
            (["a"], 7, r"GT table: expected a sequence of rows, got int 7"),
        ],
    )
    def test_names_the_place(self, headers: list[str], rows: list[list[str]], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            compute_fuzzy_accuracy(headers, rows, [], [])

    def test_names_the_side(self) -> None:
        with pytest.raises(ValueError, match="extracted table, header, column 0"):
            compute_fuzzy_accuracy([], [], [b"a"], [])  # type: ignore[list-item]

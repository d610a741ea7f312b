"""Structural table comparison: alignment of columns and rows, cells in place, and the fuzzy fields beside them."""

from __future__ import annotations

import json
from dataclasses import fields
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scoring.cards import SCORER_VERSION
from harness.scoring.fuzzy_tables import compute_fuzzy_accuracy
from harness.scoring.grids import HEADER_ROW, Grid
from harness.scoring.table_alignment import AlignedBy, Match, Merge, Split
from harness.scoring.table_readings import CellDiff
from harness.scoring.table_structure import ComparisonResult, compare_extraction

Line = list[str | None]
Table = tuple[Line, list[Line]]

EXACT, SIMILAR, CONTENT, POSITION = AlignedBy.EXACT, AlignedBy.SIMILAR, AlignedBy.CONTENT, AlignedBy.POSITION

cells = st.one_of(st.none(), st.text("ab", max_size=3), st.sampled_from(["", " ", "1", "2.5", "total", "tota1"]))
tables = st.tuples(st.lists(cells, max_size=4), st.lists(st.lists(cells, max_size=4), max_size=5))


def compare_headers(gt: Line, ext: Line) -> ComparisonResult:
    return compare_extraction("t", gt, [], ext, [])


class TestComparisonFuzzyFields:
    def test_fields_exist(self) -> None:
        defaults = {field.name: field.default for field in fields(ComparisonResult)}
        for name in ("fuzzy_accuracy_pct", "fuzzy_precision_pct", "fuzzy_recall_pct"):
            assert defaults[name] == 0.0

    def test_compare_extraction_populates_fuzzy(self) -> None:
        result = compare_extraction("t", ["A", "B"], [["1", "2"]], ["A", "B"], [["1", "2"], ["3", "4"]])
        assert result.fuzzy_precision_pct == pytest.approx(100 * 4 / 6)
        assert result.fuzzy_recall_pct == 100.0
        assert result.fuzzy_accuracy_pct == pytest.approx(80.0)

    def test_fuzzy_not_vacuous_when_structural_fails(self) -> None:
        result = compare_extraction("t", ["Alpha", "Beta"], [["val1", "val2"]], ["Gamma", "Delta"], [["val1", "val2"]])
        assert result.comparable_cells == 0
        assert result.cell_accuracy_pct == 0.0
        assert result.structural_coverage_pct == 0.0
        assert result.fuzzy_accuracy_pct == 65.0  # 1 + 1 + "ta" 2/5 + "a" 1/5, of 4


class TestColumns:
    def test_exact_headers_in_any_order(self) -> None:
        result = compare_extraction("t", ["Name", "Age"], [["Ann", "30"]], ["Age", "Name"], [["30", "Ann"]])
        assert result.matched_columns == (Match(0, 1, EXACT), Match(1, 0, EXACT))
        assert result.cell_accuracy_pct == result.structural_coverage_pct == 100.0

    def test_equal_headers_pair_from_left_to_right(self) -> None:
        result = compare_headers(["SD", "Mean", "SD"], ["Mean", "SD", "SD"])
        assert result.matched_columns == (Match(0, 1, EXACT), Match(1, 0, EXACT), Match(2, 2, EXACT))

    def test_similar_headers(self) -> None:
        result = compare_headers(["Concentration", "n"], ["n", "Concentrations"])
        assert result.matched_columns == (Match(0, 1, SIMILAR), Match(1, 0, EXACT))
        assert result.cell_diffs == (CellDiff(HEADER_ROW, 0, "Concentration", "Concentrations"),)
        assert result.cell_accuracy_pct == 50.0

    def test_similar_from_0_8_on(self) -> None:
        assert compare_headers(["abcde"], ["abcdX"]).matched_columns == (Match(0, 0, SIMILAR),)
        assert compare_headers(["abcd"], ["abcX"]).matched_columns == ()

    def test_numbers_are_similar_to_nothing(self) -> None:
        assert compare_headers(["20190"], ["20191"]).matched_columns == ()

    def test_split(self) -> None:
        result = compare_extraction("t", ["BMI", "Score"], [["25", "A"]], ["BM", "I", "Score"], [["2", "5", "A"]])
        assert result.column_splits == (Split(0, (0, 1)),)
        assert result.matched_columns == (Match(1, 2, EXACT),)
        assert (result.missing_columns, result.extra_columns) == ((), ())
        assert result.comparable_cells == 2

    def test_cells_of_a_split_column_that_were_not_cut_are_comparable(self) -> None:
        gt = [["25 %", "A"], ["31", "B"], ["", "C"]]
        ext = [["25", "%", "A"], ["", "31", "B"], ["", "9", "C"]]
        result = compare_extraction("t", ["BMI", "Score"], gt, ["BM", "I", "Score"], ext)
        assert result.column_splits == (Split(0, (0, 1)),)
        assert result.comparable_cells == 6  # the second column, the 31, and the 9 that should not be there
        assert result.cell_diffs == (CellDiff(2, 0, "", "9"),)

    def test_merge_of_three(self) -> None:
        result = compare_headers(["n", "First", "Middle", "Name"], ["FirstMiddle Name", "n"])
        assert result.column_merges == (Merge((1, 2, 3), 0),)
        assert result.matched_columns == (Match(0, 1, EXACT),)

    def test_only_neighbours_merge(self) -> None:
        result = compare_headers(["A", "X", "B"], ["AB", "X"])
        assert result.column_merges == ()
        assert result.missing_columns == (2,)
        assert result.matched_columns == (Match(0, 0, POSITION), Match(1, 1, EXACT))

    def test_position_between_the_same_neighbours(self) -> None:
        result = compare_headers(["A", "garbled", "C", "last"], ["A", "###", "C", "?", "!"])
        assert result.matched_columns == (Match(0, 0, EXACT), Match(1, 1, POSITION), Match(2, 2, EXACT))
        assert result.missing_columns == (3,)
        assert result.extra_columns == (3, 4)
        assert result.cell_diffs == (CellDiff(HEADER_ROW, 1, "garbled", "###"),)

    def test_position_follows_columns_that_moved(self) -> None:
        result = compare_headers(["A", "", "B", "C"], ["C", "A", None, "B"])
        assert Match(1, 2, POSITION) in result.matched_columns

    def test_a_table_without_headers_is_aligned_by_number(self) -> None:
        result = compare_extraction("t", ["A", "B"], [["1", "2"]], [], [["1", "2", "3"]])
        assert result.matched_columns == (Match(0, 0, POSITION), Match(1, 1, POSITION))
        assert result.extra_columns == (2,)
        assert result.comparable_cells == 4
        assert result.cell_accuracy_pct == 50.0


class TestRows:
    def compare(self, gt: list[Line], ext: list[Line]) -> ComparisonResult:
        width = max((len(row) for row in [*gt, *ext]), default=0)
        headers: Line = [f"column {chr(97 + i)}" for i in range(width)]
        return compare_extraction("t", headers, gt, headers, ext)

    def test_missing_and_extra(self) -> None:
        result = self.compare([["a", "1"], ["b", "2"], ["c", "3"]], [["a", "1"], ["c", "3"], ["d", "4"]])
        assert result.matched_rows == (Match(0, 0, CONTENT), Match(2, 1, CONTENT))
        assert (result.missing_rows, result.extra_rows) == ((1,), (2,))
        assert result.cell_accuracy_pct == 100.0
        assert result.structural_coverage_pct == pytest.approx(100 * 6 / 8)

    def test_half_the_cells_are_enough(self) -> None:
        result = self.compare([["a", "1"], ["b", "2"]], [["zz", "yy"], ["a", "9"], ["b", "2"]])
        assert result.matched_rows == (Match(0, 1, CONTENT), Match(1, 2, CONTENT))
        assert result.cell_diffs == (CellDiff(0, 1, "1", "9"),)

    def test_less_is_not_except_by_position(self) -> None:
        result = self.compare([["a", "1", "x"], ["b", "2", "y"]], [["a", "8", "z"], ["b", "2", "y"]])
        assert result.matched_rows == (Match(0, 0, POSITION), Match(1, 1, CONTENT))
        assert result.cell_accuracy_pct == pytest.approx(100 * 7 / 9)

    def test_equal_rows_pair_in_order(self) -> None:
        result = self.compare([["a"], ["a"]], [["a"], ["a"], ["a"]])
        assert [(row.gt_index, row.ext_index) for row in result.matched_rows] == [(0, 0), (1, 1)]
        result = self.compare([["a"], ["a"], ["a"]], [["a"]])
        assert [(row.gt_index, row.ext_index) for row in result.matched_rows] == [(0, 0)]

    def test_order_is_kept(self) -> None:
        result = self.compare([["a"], ["b"], ["c"]], [["c"], ["a"], ["b"]])
        assert result.matched_rows == (Match(0, 1, CONTENT), Match(1, 2, CONTENT))
        assert (result.missing_rows, result.extra_rows) == ((2,), (0,))

    def test_split(self) -> None:
        result = self.compare(
            [["long label", "1", "2"], ["b", "3", "4"]], [["long", "1", "2"], ["label", "", ""], ["b", "3", "4"]]
        )
        assert result.row_splits == (Split(0, (0, 1)),)
        assert result.matched_rows == (Match(1, 2, CONTENT),)
        assert (result.missing_rows, result.extra_rows) == ((), ())
        # Of the split row, only the label was cut and costs coverage; the numbers beside it have their place.
        assert result.comparable_cells == 8
        assert result.cell_accuracy_pct == 100.0
        assert result.structural_coverage_pct == pytest.approx(100 * 8 / 9)

    def test_numbers_beside_the_second_line_of_a_label_have_their_place_and_may_be_wrong(self) -> None:
        result = self.compare(
            [["long label", "1", "2"], ["b", "3", "4"]], [["long", "", ""], ["label", "1", "7"], ["b", "3", "4"]]
        )
        assert result.row_splits == (Split(0, (0, 1)),)
        assert result.cell_diffs == (CellDiff(0, 2, "2", "7"),)
        assert result.structural_coverage_pct == pytest.approx(100 * 8 / 9)

    def test_merge(self) -> None:
        result = self.compare([["x", "1"], ["y", "2"], ["z", "3"]], [["x y", "1 2"], ["z", "3"]])
        assert result.row_merges == (Merge((0, 1), 0),)
        assert result.matched_rows == (Match(2, 1, CONTENT),)
        assert result.comparable_cells == 4

    def test_a_row_that_adds_nothing_is_no_part_of_a_split(self) -> None:
        result = self.compare([["a", "b", "c", "d"]], [["a", "b", "c", ""], ["", "", "", "junk"]])
        assert result.row_splits == ()
        assert result.matched_rows == (Match(0, 0, CONTENT),)
        assert result.extra_rows == (1,)

    def test_rows_without_text_take_no_part(self) -> None:
        result = self.compare([["a", "1"], ["zz", "9"]], [["", " "], ["a", "1"], [None, ""], ["yy", "8"]])
        assert result.matched_rows == (Match(0, 1, CONTENT), Match(1, 3, POSITION))
        assert (result.missing_rows, result.extra_rows) == ((), ())


def plain_agreement(gt: list[list[str]], ext: list[list[str]]) -> float:
    """Share of equal cells of two rows, each made of one or more parts; 0 below one half."""
    joined = [("".join(a), "".join(b)) for a, b in zip(zip(*gt, strict=True), zip(*ext, strict=True), strict=True)]
    filled = [a == b for a, b in joined if a or b]
    share = sum(filled) / len(filled) if filled else 0.0
    return share if share >= 0.5 else 0.0


class TestRowsAgainstThePlainRule:
    @settings(max_examples=200)
    @given(*[st.lists(st.lists(st.text("ab", max_size=2), min_size=2, max_size=2).filter(any), max_size=5)] * 2)
    def test_no_alignment_that_keeps_the_order_agrees_more(self, gt: list[list[str]], ext: list[list[str]]) -> None:
        steps = [(1, 1), (1, 2), (1, 3), (2, 1), (3, 1)]

        @cache
        def best(i: int, j: int) -> float:
            options = [best(i - 1, j)] if i else [0.0]
            options += [best(i, j - 1)] if j else [0.0]
            for a, b in steps:
                if a <= i and b <= j:
                    options.append(best(i - a, j - b) + plain_agreement(gt[i - a : i], ext[j - b : j]))
            return max(options)

        result = compare_extraction("t", ["col a", "col b"], [*gt], ["col a", "col b"], [*ext])
        blocks: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
        blocks += [((m.gt_index,), (m.ext_index,)) for m in result.matched_rows if m.by is CONTENT]
        blocks += [((split.gt_index,), split.ext_indices) for split in result.row_splits]
        blocks += [(merge.gt_indices, (merge.ext_index,)) for merge in result.row_merges]
        total = sum(plain_agreement([gt[i] for i in a], [ext[i] for i in b]) for a, b in blocks)
        assert total == pytest.approx(best(len(gt), len(ext)))
        matches = [(m.gt_index, m.ext_index) for m in result.matched_rows]
        assert [ext_index for _, ext_index in sorted(matches)] == sorted(ext_index for _, ext_index in matches)


class TestRagged:
    def test_short_rows_are_padded_and_counted(self) -> None:
        result = compare_extraction("t", ["A", "B"], [["1", "2"], ["3"]], ["A"], [["1", "2"], []])
        assert (result.gt_shape, result.ext_shape) == ((2, 2), (2, 2))
        assert (result.gt_ragged_rows, result.ext_ragged_rows, result.ragged_rows) == (1, 2, 3)
        assert result.matched_columns == (Match(0, 0, EXACT), Match(1, 1, POSITION))

    def test_a_table_without_header_is_not_ragged(self) -> None:
        assert compare_extraction("t", [], [["1", "2"]], [], [["1", "2"]]).ragged_rows == 0


class TestNothingVacuous:
    def test_two_empty_tables(self) -> None:
        result = compare_extraction("t", [], [], [], [])
        assert (result.gt_cells, result.ext_cells, result.comparable_cells) == (0, 0, 0)
        assert result.cell_accuracy_pct == result.structural_coverage_pct == 0.0
        assert result.fuzzy_accuracy_pct == 100.0

    def test_nothing_extracted(self) -> None:
        result = compare_extraction("t", ["A"], [["1"]], [], [])
        assert (result.missing_columns, result.missing_rows) == ((0,), (0,))
        assert result.cell_accuracy_pct == result.fuzzy_accuracy_pct == 0.0

    def test_without_a_matched_column_no_row_is_matched_not_even_by_position(self) -> None:
        result = compare_extraction("t", ["Alpha"], [["x"], ["y"]], ["Gamma"], [["x"], ["y"]])
        assert (result.matched_columns, result.matched_rows) == ((), ())
        assert (result.missing_rows, result.extra_rows) == ((0, 1), (0, 1))

    def test_cells_empty_on_both_sides_do_not_count(self) -> None:
        result = compare_extraction("t", ["A", "B"], [["1", ""]], ["A", "B"], [["1", None]])
        assert result.comparable_cells == 3

    def test_text_where_there_should_be_none_is_wrong(self) -> None:
        result = compare_extraction("t", ["A", "B"], [["1", ""]], ["A", "B"], [["1", "x"]])
        assert result.cell_diffs == (CellDiff(0, 1, "", "x"),)
        assert result.cell_accuracy_pct == 75.0
        assert result.structural_coverage_pct == 100.0


def plain_comparable(result: ComparisonResult, gt: Grid, ext: Grid) -> list[tuple[str, str]]:
    """Both texts of every comparable cell, by the written rule, from the lines that stand for each other."""

    def blocks(matched: Any, splits: Any, merges: Any) -> list[tuple[list[int], list[int]]]:
        found = [([match.gt_index], [match.ext_index]) for match in matched]
        found += [([split.gt_index], [*split.ext_indices]) for split in splits]
        return found + [([*merge.gt_indices], [merge.ext_index]) for merge in merges]

    columns = blocks(result.matched_columns, result.column_splits, result.column_merges)
    rows = blocks(result.matched_rows, result.row_splits, result.row_merges)
    lines = [([gt.line(i) for i in a], [ext.line(i) for i in b]) for a, b in rows]
    if result.header_rows:
        joined = zip(*(ext.line(row) for row in result.header_rows), strict=True)
        lines.append(([gt.headers], [tuple(" ".join(filter(None, cell)) for cell in joined)]))
    cells = []
    for gt_lines, ext_lines in lines:
        for gt_columns, ext_columns in columns:
            expected = [line[i] for line in gt_lines for i in gt_columns if line[i]]
            actual = [line[i] for line in ext_lines for i in ext_columns if line[i]]
            if max(len(expected), len(actual)) == 1:
                cells.append(("".join(expected), "".join(actual)))
    return cells


class TestProperties:
    @settings(max_examples=300)
    @given(tables, tables)
    def test_what_is_comparable_is_what_the_rule_says(self, first: Table, second: Table) -> None:
        result = compare_extraction("t", *first, *second)
        cells = plain_comparable(result, Grid.of("gt", *first), Grid.of("ext", *second))
        assert result.comparable_cells == len(cells)
        assert result.comparable_gt_cells == sum(bool(expected) for expected, _ in cells)
        if len(result.header_rows) < 2:  # a header over several lines is compared without spaces
            wrong = sorted((expected, actual) for expected, actual in cells if expected != actual)
            assert sorted((diff.expected, diff.actual) for diff in result.cell_diffs) == wrong

    @given(tables)
    def test_a_table_equals_itself(self, table: Table) -> None:
        result = compare_extraction("t", *table, *table)
        expected = 100.0 if result.gt_cells else 0.0
        assert result.cell_accuracy_pct == result.structural_coverage_pct == expected
        assert result.fuzzy_accuracy_pct == 100.0
        assert all(match.gt_index == match.ext_index for match in (*result.matched_columns, *result.matched_rows))

    @settings(max_examples=200)
    @given(tables, tables)
    def test_every_line_is_accounted_for_once(self, gt: Table, ext: Table) -> None:
        r = compare_extraction("t", *gt, *ext)
        columns = [m.gt_index for m in r.matched_columns] + [s.gt_index for s in r.column_splits]
        columns += [i for merge in r.column_merges for i in merge.gt_indices]
        assert sorted([*columns, *r.missing_columns]) == list(range(r.gt_shape[1]))
        columns = [m.ext_index for m in r.matched_columns] + [m.ext_index for m in r.column_merges]
        columns += [i for split in r.column_splits for i in split.ext_indices]
        assert sorted([*columns, *r.extra_columns]) == list(range(r.ext_shape[1]))
        rows = [m.ext_index for m in r.matched_rows] + [m.ext_index for m in r.row_merges]
        rows += [i for split in r.row_splits for i in split.ext_indices]
        rows += [*r.header_rows, *r.extra_rows]
        with_text = [i for i, row in enumerate(ext[1]) if any(cell and cell.strip() for cell in row)]
        assert sorted(row for row in rows if row != HEADER_ROW) == with_text
        assert rows.count(HEADER_ROW) <= 1

    @settings(max_examples=200)
    @given(tables, tables)
    def test_rates_and_round_trip(self, gt: Table, ext: Table) -> None:
        result = compare_extraction("t", *gt, *ext)
        precision, recall, f1 = compute_fuzzy_accuracy(*gt, *ext)
        assert result.fuzzy_precision_pct == 100 * precision
        assert result.fuzzy_recall_pct == 100 * recall
        assert result.fuzzy_accuracy_pct == 100 * f1
        assert 0.0 <= result.cell_accuracy_pct <= 100.0
        assert 0.0 <= result.structural_coverage_pct <= 100.0
        assert ComparisonResult.from_dict(result.to_dict()) == result
        assert ComparisonResult.from_dict(json.loads(json.dumps(result.to_dict()))) == result


class TestDict:
    def test_rates_and_version_are_there_to_be_read(self) -> None:
        data = compare_extraction("t7", ["A", "B"], [["1"]], ["A", "B"], [["2"]]).to_dict()
        assert data["table_id"] == "t7"
        assert data["scorer_version"] == SCORER_VERSION
        assert data["ragged_rows"] == 2
        assert data["correct_cells"] == 2
        assert data["cell_accuracy_pct"] == pytest.approx(100 * 2 / 3)
        assert data["structural_coverage_pct"] == 100.0
        assert data["matched_columns"][0] == {"gt_index": 0, "ext_index": 0, "by": "exact"}

    def test_fields_that_an_older_file_lacks_keep_their_default(self) -> None:
        data = {"table_id": "t", "gt_shape": [1, 2], "ext_shape": [0, 0], "gt_cells": 4, "ext_cells": 0}
        assert ComparisonResult.from_dict(data) == ComparisonResult("t", (1, 2), (0, 0), 4, 0)

    def test_what_is_not_given_is_nothing(self) -> None:
        bare = ComparisonResult("t", (1, 2), (0, 0), 4, 0)
        given = {"table_id", "gt_shape", "ext_shape", "gt_cells", "ext_cells"}
        assert {getattr(bare, field.name) for field in fields(bare) if field.name not in given} == {(), 0}


class TestBadInput:
    @pytest.mark.parametrize(
        ("gt_rows", "rows", "message"),
        [
            ([["x", 3]], [], r"table 't1', GT, row 0, column 1: expected a string or None, got int 3"),
            ([], [["x"], {"a": 1}], r"table 't1', extraction, row 1: expected a sequence of cells, got dict"),
            ([], None, r"table 't1', extraction: expected a sequence of rows, got NoneType None"),
        ],
    )
    def test_names_table_row_and_column(self, gt_rows: list[Line], rows: list[Line], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            compare_extraction("t1", ["A"], gt_rows, ["A"], rows)

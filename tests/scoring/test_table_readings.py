"""Extracted tables that do not begin where their ground truth does: headers that moved, broke or got lost."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scoring.grids import HEADER_ROW, Grid
from harness.scoring.table_alignment import AlignedBy, Match, Merge, Split
from harness.scoring.table_readings import CellDiff, join_lines
from harness.scoring.table_rows import is_spanning
from harness.scoring.table_structure import ComparisonResult, compare_extraction

Lines = list[list[str]]

GT: Lines = [
    ["Runner", "Mean time", "Distance (km)"],
    ["Ada", "41:07", "10.0"],
    ["Bo", "43:30", "10.2"],
    ["Cyn", "90:15", "21.1"],
    ["Dee", "95:41", "21.3"],
]
HEADER, BODY = GT[0], GT[1:]
NAMELESS = ["", "", ""]


def compare(gt: Lines, ext: Lines) -> ComparisonResult:
    return compare_extraction("t", gt[0], gt[1:], ext[0], ext[1:])


def row_pairs(result: ComparisonResult) -> list[tuple[int, int]]:
    return [(match.gt_index, match.ext_index) for match in result.matched_rows]


class TestWhereTheHeaderIs:
    @pytest.mark.parametrize(
        ("ext", "header_rows", "extra_rows"),
        [
            (GT, (-1,), ()),
            ([NAMELESS, *GT], (0,), ()),
            ([["0", "1", "2"], *GT], (0,), (-1,)),
            ([["Table 1: Results", "", ""], *GT], (0,), (-1,)),
            ([["Table 1:", "", ""], ["", "Results of May", ""], *GT], (1,), (-1, 0)),
            ([["Runner", "Mean", "Distance"], ["", "time", "(km)"], *BODY], (-1, 0), ()),
            ([["Results", "", ""], ["Runner", "Mean", "Distance"], ["", "time", "(km)"], *BODY], (0, 1), (-1,)),
            ([["", "", "Dist"], ["", "Mean", "ance"], ["Runner", "time", "(km)"], *BODY], (-1, 0, 1), ()),
        ],
        ids=["there", "in row 0", "numbered", "caption", "long caption", "broken", "caption and broken", "in three"],
    )
    def test_every_cell_is_found(self, ext: Lines, header_rows: tuple[int, ...], extra_rows: tuple[int, ...]) -> None:
        result = compare(GT, ext)
        assert result.header_rows == header_rows
        assert result.extra_rows == extra_rows
        assert result.structural_coverage_pct == result.cell_accuracy_pct == 100.0

    def test_a_lost_header_costs_its_cells_and_no_others(self) -> None:
        result = compare(GT, BODY)
        assert result.header_rows == ()
        assert row_pairs(result) == [(0, HEADER_ROW), (1, 0), (2, 1), (3, 2)]
        assert result.missing_rows == (HEADER_ROW,)
        assert result.structural_coverage_pct == pytest.approx(100 * 12 / 15)
        assert result.cell_accuracy_pct == 100.0

    def test_a_header_of_other_words_is_found_by_what_stands_below_it(self) -> None:
        result = compare(GT, [["Läufer", "Zeit", "Strecke"], *BODY])
        assert [match.by for match in result.matched_columns] == [AlignedBy.CONTENT] * 3
        assert result.header_rows == (HEADER_ROW,)
        assert result.structural_coverage_pct == 100.0
        assert result.correct_cells == 12
        assert result.cell_diffs[0] == CellDiff(HEADER_ROW, 0, "Runner", "Läufer")

    def test_two_lines_of_a_header_that_became_one_are_merged_and_cost_coverage(self) -> None:
        gt = [["", "Mean", "Distance"], ["Runner", "time", "(km)"], *BODY]
        result = compare(gt, GT)
        assert result.row_merges == (Merge((HEADER_ROW, 0), HEADER_ROW),)
        # "Runner" has only one line, and its place; the texts of the other two columns ran together.
        assert result.structural_coverage_pct == pytest.approx(100 * 13 / 17)
        assert result.cell_accuracy_pct == 100.0


class TestSpanningRows:
    def test_group_rows_that_came_along_are_extra(self) -> None:
        result = compare(GT, [HEADER, ["Short", "", ""], *BODY[:2], ["Long", "", ""], *BODY[2:]])
        assert (result.extra_rows, result.spanning_rows) == ((0, 3), (0, 3))
        assert result.structural_coverage_pct == result.cell_accuracy_pct == 100.0

    def test_group_rows_that_got_lost_cost_their_cells(self) -> None:
        result = compare([HEADER, ["Short", "", ""], *BODY[:2], ["Long", "", ""], *BODY[2:]], GT)
        assert result.missing_rows == (0, 3)
        assert result.structural_coverage_pct == pytest.approx(100 * 15 / 17)

    def test_they_do_not_stand_between_a_garbled_row_and_its_place(self) -> None:
        garbled = ["B0", "4330", "1O.2"]
        result = compare(GT, [HEADER, BODY[0], ["Short", "", ""], garbled, *BODY[2:]])
        assert Match(1, 2, AlignedBy.POSITION) in result.matched_rows
        assert result.spanning_rows == (1,)

    def test_one_cell_of_several(self) -> None:
        grid = Grid.of("t", ["", "Results"], [["a", "b"], ["", ""]])
        assert [is_spanning(grid, row) for row in (HEADER_ROW, 0, 1)] == [True, False, False]
        assert not is_spanning(Grid.of("t", ["only column"], []), HEADER_ROW)


class TestColumnsByContent:
    def test_a_column_that_was_cut_in_two(self) -> None:
        cut = [[name, *time.split(":"), km] for name, time, km in (line for line in BODY)]
        ext = [["A", "B", "C", "D"], *[[name, f"{a}:", b, km] for name, a, b, km in cut]]
        result = compare(GT, ext)
        assert result.column_splits == (Split(1, (1, 2)),)
        assert [(m.gt_index, m.ext_index) for m in result.matched_columns] == [(0, 0), (2, 3)]
        assert result.structural_coverage_pct == pytest.approx(100 * 10 / 15)

    def test_two_columns_that_ran_together(self) -> None:
        result = compare(GT, [["A", "B"], *[[name, f"{time} {km}"] for name, time, km in BODY]])
        assert result.column_merges == (Merge((1, 2), 1),)

    def test_a_header_beside_its_column_is_lost_and_the_column_is_not_cut(self) -> None:
        apart = [[HEADER[0], "", HEADER[1], "", HEADER[2], ""], *[["", a, "", b, "", c] for a, b, c in BODY]]
        result = compare(GT, apart)
        assert [(m.gt_index, m.ext_index) for m in result.matched_columns] == [(0, 1), (1, 3), (2, 5)]
        assert result.column_splits == ()
        assert (result.structural_coverage_pct, result.correct_cells) == (100.0, 12)
        assert result.cell_diffs[0] == CellDiff(HEADER_ROW, 0, "Runner", "")

    def test_an_empty_column_between_the_others_is_extra(self) -> None:
        result = compare(GT, [["", "", "", ""], *[[a, "", b, c] for a, b, c in GT]])
        assert result.extra_columns == (1,)
        assert result.structural_coverage_pct == result.cell_accuracy_pct == 100.0

    def test_the_header_that_fits_one_column_only_does_not_pull_the_others_along(self) -> None:
        moved = [["", *line[:2]] for line in BODY]
        result = compare(GT, [HEADER, *moved])
        assert [(m.gt_index, m.ext_index) for m in result.matched_columns if m.by is AlignedBy.CONTENT] == [
            (0, 1),
            (1, 2),
        ]

    def test_a_column_of_garbled_cells_between_two_that_are_right(self) -> None:
        result = compare(GT, [["A", "B", "C"], *[[a, b[::-1], c] for a, b, c in BODY]])
        assert result.matched_columns[1] == Match(1, 1, AlignedBy.POSITION)
        assert result.structural_coverage_pct == 100.0
        assert result.correct_cells == 8


class TestNoReadingFlatters:
    def test_two_equal_cells_are_no_evidence(self) -> None:
        assert compare([["Alpha", "Beta"], ["1", "2"]], [["Gamma", "Delta"], ["1", "2"]]).comparable_cells == 0

    def test_less_than_half_right_is_no_evidence(self) -> None:
        gt = [["a", "b", "c", "d"], *[[f"{i}", f"x{i}", f"y{i}", f"z{i}"] for i in range(6)]]
        ext = [["e", "f", "g", "h"], *[[f"{i}", f"u{i}", f"v{i}", f"w{i}"] for i in range(6)]]
        assert compare(gt, ext).comparable_cells == 0

    @pytest.mark.parametrize("kind", ["numbers", "digits", "words"])
    def test_another_table_is_not_covered(self, kind: str) -> None:
        rng = random.Random(7)
        covered = [compare(_random_table(rng, kind), _random_table(rng, kind)) for _ in range(300)]
        shares = [result.structural_coverage_pct for result in covered]
        assert sum(share > 20.0 for share in shares) <= 3
        assert sum(shares) / len(shares) <= 1.0
        assert kind != "numbers" or max(shares) == 0.0

    def test_its_own_table_in_another_order_of_rows_is_another_table(self) -> None:
        assert compare(GT, [["A", "B", "C"], *BODY[::-1]]).structural_coverage_pct == 0.0

    @given(st.integers(0, 10_000))
    def test_a_table_with_a_caption_is_covered_and_nothing_that_is_missing_is(self, seed: int) -> None:
        rng = random.Random(seed)
        gt = _random_table(rng, "numbers")
        caption = ["Table 1", *[""] * (len(gt[0]) - 1)]
        assert compare(gt, [caption, *gt]).structural_coverage_pct == 100.0
        kept = rng.randrange(2, len(gt))
        cells = len(gt[0]) * kept
        assert compare(gt, [caption, *gt[:kept]]).structural_coverage_pct <= 100 * cells / (len(gt[0]) * len(gt))


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 100_000))
def test_whatever_came_along_every_cell_is_found(seed: int) -> None:
    rng = random.Random(seed)
    gt = _random_table(rng, rng.choice(["numbers", "words"]))
    width = len(gt[0])
    header, body = [list(gt[0])], [list(line) for line in gt[1:]]
    if rng.random() < 0.5:
        header = [[text[:4] for text in gt[0]], [text[4:] for text in gt[0]]]
    if rng.random() < 0.5:
        body.insert(rng.randrange(len(body)), ["Group A", *[""] * (width - 1)])
    captions = [["", "Table 1: what came out", *[""] * (width - 2)], ["in May", *[""] * (width - 1)]]
    lines = [*captions[: rng.randrange(3)], *header, *body]
    if rng.random() < 0.5:
        lines = [[*line[:1], "", *line[1:]] for line in lines]
    result = compare(gt, lines)
    assert result.structural_coverage_pct == result.cell_accuracy_pct == 100.0


def _random_table(rng: random.Random, kind: str) -> Lines:
    """Headers of ten letters over cells of one kind; 4 to 15 rows and 3 to 7 columns."""
    makers: dict[str, Callable[[], str]] = {
        "numbers": lambda: f"{rng.uniform(0, 100):.1f}",
        "digits": lambda: str(rng.randrange(10)),
        "words": lambda: rng.choice(["yes", "no", "n/a", "mean", "total", "control", "group", "week", "dose", "rate"]),
    }
    make = makers[kind]
    rows, columns = rng.randint(4, 15), rng.randint(3, 7)
    header = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=10)) for _ in range(columns)]
    return [header, *[[make() for _ in range(columns)] for _ in range(rows)]]


def test_lines_are_joined_column_by_column() -> None:
    assert join_lines([("a", "", "c"), ("1", "2", "")]) == ("a 1", "2", "c")

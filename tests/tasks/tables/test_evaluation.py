"""Methods on tables: matching, choosing, winning, and rates that are never vacuous."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scoring.grids import Grid
from harness.tasks.tables.evaluation import TableEvaluation, choose, evaluate_tables, win_shares
from harness.tasks.tables.matching import match_tables
from harness.tasks.tables.rates import Means, mean_rates, metrics, score_cards, table_groups, table_intervals
from harness.tasks.tables.summary import format_tables, method_lines, percent, to_dict
from tests.tasks.tables.builders import extracted, table

LINES = [["name", "time"], ["Ada", "41:07"], ["Bo", "43:30"]]
SHORT = LINES[:2]
WIDE = [["name", "time", "km"], ["Ada", "41:07", "10"]]
OTHER = [["lap", "m"], ["7", "400"]]
WRAPPED = [["who", "what to do"], ["Ada", "start the clock and then wave the flag"]]
OPEN_FRAME = [["", "cyl", "disp", "gear"], ["Mazda RX4", "6", "160.0", "4"], ["Duster 360", "8", "360.0", "3"]]
GT = [table("one", LINES), table("two", OTHER)]


def evaluated(*extractions: tuple[str, str | None, list[list[str]]], methods: tuple[str, ...] = ()) -> TableEvaluation:
    items = [extracted(*item) for item in extractions]
    return evaluate_tables(GT, items, methods or tuple(dict.fromkeys(item.method for item in items)))


def means(evaluation: TableEvaluation) -> Means:
    return mean_rates(score_cards(evaluation))


def sides(evaluation: TableEvaluation, card: str, metric: str) -> list[list[float]]:
    """The numerators and denominators of a rate, table by table."""
    return [side.tolist() for side in score_cards(evaluation)[card].sides()[metric]]


class TestWinRates:
    def test_the_best_method_wins(self) -> None:
        assert win_shares([0.2, 0.9, 0.5]) == (0, 1, 0)

    def test_ties_share_the_win(self) -> None:
        assert win_shares([0.9, 0.9, 0.5]) == (0.5, 0.5, 0)

    def test_nothing_right_has_no_winner(self) -> None:
        assert win_shares([0.0, 0.0]) == (0, 0)

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=5))
    def test_a_win_is_handed_out_once_and_in_no_order(self, scores: list[float]) -> None:
        shares = win_shares(scores)
        assert sum(shares) == pytest.approx(1 if max(scores) > 0 else 0)
        assert win_shares(scores[::-1]) == shares[::-1]

    def test_rates_are_by_fuzzy_accuracy_over_tables_that_somebody_wins(self) -> None:
        evaluation = evaluated(("a", "one", LINES), ("b", "one", SHORT))
        assert sides(evaluation, "table_a", "table/win_rate_a") == [[1.0, 0.0], [1.0, 0.0]]
        assert means(evaluation)["table/win_rate_a"] == 1
        assert means(evaluation)["table/win_rate_b"] == 0

    def test_a_method_alone_wins_nothing(self) -> None:
        assert not [name for name in means(evaluated(("a", "one", LINES))) if "win" in name]


class TestRates:
    def test_every_table_counts_the_same(self) -> None:
        evaluation = evaluated(("a", "one", LINES), ("a", "two", [["lap", "m"]]))
        assert sides(evaluation, "table", "table/fuzzy_recall") == [[1.0, 0.5], [1.0, 1.0]]
        assert means(evaluation)["table/fuzzy_recall"] == 0.75

    def test_what_was_not_extracted_scores_nothing_and_stays_in_the_mean(self) -> None:
        found = means(evaluated(("a", "one", LINES)))
        assert found["table/fuzzy_f1"] == 0.5
        assert found["table/fuzzy_precision"] == 0.5
        assert found["table/coverage"] == 0.5

    def test_cells_in_place_count_only_where_some_are_comparable(self) -> None:
        evaluation = evaluated(("a", "one", LINES))
        assert sides(evaluation, "table", "table/cell_accuracy") == [[1.0, 0.0], [1.0, 0.0]]

    def test_a_table_without_comparable_cells_has_a_meaningful_score_and_no_vacuous_one(self) -> None:
        upside_down = [["runner", "result"], *LINES[:0:-1]]
        evaluation = evaluate_tables(GT[:1], [extracted("a", "one", upside_down)], ["a"])
        (scored,) = evaluation.tables
        assert scored.chosen.comparison.comparable_cells == 0
        assert scored.chosen.comparison.cell_accuracy_pct == 0.0
        assert 60 < scored.chosen.quality_score < 100
        assert "table/cell_accuracy" not in means(evaluation)
        assert "n/a" in method_lines(evaluation, means(evaluation))[1]

    def test_similarity_by_the_measures_of_the_literature(self) -> None:
        found = means(evaluated(("a", "one", LINES), ("a", "two", [["lap", "m"]])))
        # Of table "two", a row and its two cells of nine nodes are missing, and two of four cells.
        assert found["table/teds"] == found["table/teds_struct"] == pytest.approx((1 + 6 / 9) / 2)
        assert found["table/grits_content"] == pytest.approx((1 + 2 * 2 / 6) / 2)

    def test_what_was_not_extracted_is_similar_to_nothing(self) -> None:
        found = means(evaluated(("a", "one", LINES), ("a", "two", [["", ""], [""]])))
        assert found["table/teds"] == found["table/teds_struct"] == found["table/grits_content"] == 0.5

    def test_a_table_that_is_too_large_for_it_is_in_no_mean(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("harness.tasks.tables.evaluation.MAX_CELLS", 4)
        evaluation = evaluated(("a", "one", LINES), ("a", "two", OTHER))
        assert evaluation.tables[0].chosen.similarity is None
        assert sides(evaluation, "table", "table/teds") == [[0.0, 1.0], [0.0, 1.0]]

    def test_the_mean_lies_in_its_interval(self) -> None:
        evaluation = evaluated(("a", "one", SHORT), ("a", "two", OTHER))
        interval = table_intervals(score_cards(evaluation), ["", ""])["table/fuzzy_f1"]
        assert interval.low < means(evaluation)["table/fuzzy_f1"] < interval.high
        assert (interval.groups, interval.few_groups) == (2, True)

    def test_tables_of_one_pdf_are_one_group(self) -> None:
        evaluation = evaluated(("a", "one", SHORT), ("a", "two", OTHER))
        tables = tuple(replace(scored, table=replace(scored.table, pdf="a.pdf")) for scored in evaluation.tables)
        of_one_file = replace(evaluation, tables=tables)
        assert (table_groups(evaluation), table_groups(of_one_file)) == (["", ""], ["a.pdf", "a.pdf"])
        assert table_intervals(score_cards(of_one_file), table_groups(of_one_file))["table/fuzzy_f1"].groups == 1

    def test_no_table_at_all_logs_no_rate(self) -> None:
        evaluation = evaluate_tables([], [], ["a", "b"])
        assert not means(evaluation)
        assert not [name for name in metrics(evaluation, {}) if name.startswith("table/")]
        assert "n/a" in format_tables(evaluation, score_cards(evaluation), {})


class TestCombine:
    def test_the_value_of_combining_is_measured_against_the_best_single_method(self) -> None:
        evaluation = evaluated(("a", "one", LINES), ("b", "one", SHORT), ("b", "two", OTHER))
        logged = {**means(evaluation), **metrics(evaluation, means(evaluation))}
        assert [table.chosen.method for table in evaluation.tables] == ["a", "b"]
        assert logged["table/fuzzy_f1"] == logged["table/oracle_f1"] == 1
        assert logged["table/combine_gain"] == logged["table/oracle_gain"] == 1 - logged["table/fuzzy_f1_b"] > 0

    def test_a_choice_can_lose(self) -> None:
        tidy = [["a paragraph", "that is no"], ["table but", "in two columns"]]
        evaluation = evaluated(("a", "one", tidy), ("b", "one", LINES), ("b", "two", OTHER))
        assert metrics(evaluation, means(evaluation))["table/combine_gain"] < 0

    @pytest.mark.parametrize(
        ("first", "second", "taken"),
        [
            ([], LINES, 1),
            (LINES, LINES, 0),
            (SHORT, LINES, 1),
            ([["results", "", ""], *WIDE], WIDE, 1),
            ([["name time Ada 41:07 Bo 43:30"]], LINES, 1),
            ([["name", "", "time"], ["Ada", "", "41:07"], ["Bo", "", "43:30"]], LINES, 1),
            ([["a", "b", "c", "d", "e", "f", "g"]], SHORT, 1),
            # Each line of a wrapped cell as a row makes more cells and no more text.
            ([["who", "what to do"], ["Ada", "start the clock"], ["", "and then wave"], ["", "the flag"]], WRAPPED, 1),
            # The outer columns are lost where the frame is open; what is left is tidy.
            ([["cyl", "disp"], ["6", "160.0"], ["8", "360.0"]], OPEN_FRAME, 1),
        ],
    )
    def test_the_tidier_table_is_taken(self, first: list[list[str]], second: list[list[str]], taken: int) -> None:
        grids = [Grid.of("t", lines[0] if lines else [], lines[1:]) for lines in (first, second)]
        assert choose(grids) == taken

    def test_nothing_to_take(self) -> None:
        assert choose([None, Grid.of("t", [], [])]) is None
        assert choose([]) is None


class TestMatching:
    def test_boxes_first_then_scores(self) -> None:
        tables = [table("boxed", LINES, bbox=(0, 0, 10, 10)), table("free", OTHER)]
        items = [
            extracted("m", None, OTHER, page=1, bbox=(100, 0, 110, 10)),
            extracted("m", None, SHORT, page=1, bbox=(0, 0, 10, 8)),
            extracted("m", None, LINES, page=1, bbox=(0, 9, 10, 12)),
        ]
        assert [item.table_id for item in match_tables(tables, items, 0.1)] == ["free", "boxed", None]

    def test_a_page_keeps_to_itself(self) -> None:
        items = [extracted("m", None, LINES, page=2)]
        assert match_tables([table("one", LINES, page=1)], items, 0.1)[0].table_id is None

    def test_nothing_in_common_is_no_match(self) -> None:
        items = [extracted("m", None, [["1", "2"]], page=1)]
        assert match_tables([table("one", [["a", "b"]])], items, 0.1)[0].table_id is None

    def test_ties_fall_to_the_earlier_extraction(self) -> None:
        items = [extracted("m", None, LINES, page=1), extracted("m", None, LINES, page=1)]
        matched = match_tables([table("one", LINES)], items, 0.1)
        assert [item.table_id for item in matched] == ["one", None]


def test_rows_of_unequal_length_are_scored_and_counted() -> None:
    ragged = [["name", "time"], ["Ada", "41:07", "extra"], ["Bo"]]
    (scored,) = evaluate_tables(GT[:1], [extracted("a", "one", ragged)], ["a"]).tables
    assert scored.chosen.comparison.ext_ragged_rows == 2
    assert 0 < scored.chosen.quality_score < 100


def test_json_has_every_comparison() -> None:
    evaluation = evaluated(("a", "one", LINES), ("b", None, OTHER))
    shown = to_dict(evaluation, score_cards(evaluation))
    assert shown["metrics"]["count/tables_unmatched_b"] == 1
    assert shown["tables"][0]["methods"]["a"]["comparison"]["fuzzy_accuracy_pct"] == 100
    assert shown["tables"][1]["taken"] is None


def test_nearly_all_does_not_read_as_all() -> None:
    assert [percent(value) for value in (100.0, 99.99, 99.94, 0.0)] == ["100.0%", "99.9%", "99.9%", "0.0%"]

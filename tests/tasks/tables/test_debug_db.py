"""The debug database: its columns are a promise, and its scores are the fuzzy ones."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from harness.tasks.tables.debug_db import create_schema, write_debug_db
from harness.tasks.tables.evaluation import FailedTable, evaluate_tables
from tests.tasks.tables.builders import extracted, table

LINES = [["name", "time"], ["Ada", "41:07"]]


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute(query).fetchall()


def write(path: Path) -> Path:
    items = [extracted("a", "one", [["results", None], *LINES]), extracted("b", None, [["x"]], page=3)]
    failed = [FailedTable(table("two", LINES), "x.pdf: encrypted")]
    write_debug_db(path, evaluate_tables([table("one", LINES)], items, ["a", "b"], failed), items[1:])
    return path


class TestExtendedSchema:
    def test_ground_truth_diffs_has_fuzzy_columns(self) -> None:
        with closing(sqlite3.connect(":memory:")) as database:
            create_schema(database)
            columns = {row[1] for row in database.execute("PRAGMA table_info(ground_truth_diffs)")}
        assert {"fuzzy_accuracy_pct", "fuzzy_precision_pct", "fuzzy_recall_pct"} <= columns

    def test_quality_score_is_the_fuzzy_accuracy_and_never_vacuous(self, tmp_path: Path) -> None:
        path = write(tmp_path / "debug.sqlite")
        found = rows(
            path,
            "SELECT method, quality_score, fuzzy_accuracy_pct, cell_accuracy_pct, comparable_cells, extracted, chosen"
            " FROM method_results JOIN ground_truth_diffs USING (table_id, method) ORDER BY method",
        )
        score = 100 * 8 / 9
        assert found == [("a", score, score, 100.0, 4, 1, 1), ("b", 0.0, 0.0, None, 0, 0, 0)]

    def test_every_cell_is_there_once(self, tmp_path: Path) -> None:
        path = write(tmp_path / "debug.sqlite")
        query = "SELECT status, count(*) FROM cell_diffs WHERE method = 'a' GROUP BY status ORDER BY status"
        assert rows(path, query) == [("extra", 1), ("matched", 4)]
        assert rows(path, "SELECT ext_row, actual FROM cell_diffs WHERE status = 'extra'") == [(-1, "results")]
        assert rows(path, "SELECT count(*) FROM cell_diffs WHERE method = 'b' AND status = 'missing'") == [(4,)]

    def test_failed_tables_and_unmatched_extractions_are_kept(self, tmp_path: Path) -> None:
        path = write(tmp_path / "debug.sqlite")
        assert rows(path, "SELECT table_id, failed FROM ground_truth_tables ORDER BY table_id") == [
            ("one", None),
            ("two", "x.pdf: encrypted"),
        ]
        assert rows(path, "SELECT method, page FROM unmatched_extractions") == [("b", 3)]

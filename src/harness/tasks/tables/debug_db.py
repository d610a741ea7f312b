"""`tables_debug.sqlite`: every comparison of a run, to be asked with SQL.

Rates are in per cent; TEDS and GriTS are between 0 and 1. `cell_accuracy_pct` is NULL where nothing was comparable;
`quality_score` is the fuzzy accuracy. Rows and columns are counted from 0, the header is row -1.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.base.errors import TableError
from harness.scoring.grids import Cell, Grid
from harness.scoring.table_structure import ComparisonResult
from harness.tasks.tables.diffs import Diff, Status, cell_diffs
from harness.tasks.tables.evaluation import Attempt, TableEvaluation
from harness.tasks.tables.files import Extraction, GroundTruthTable

SCHEMA = """
CREATE TABLE ground_truth_tables (
    table_id TEXT PRIMARY KEY, caption TEXT, pdf TEXT, page INTEGER, headers_json TEXT, rows_json TEXT,
    failed TEXT -- why it could not be evaluated; NULL if it was
);
CREATE TABLE method_results (
    table_id TEXT, method TEXT, extracted INTEGER,
    failed TEXT, -- why the method failed; NULL if it did not
    quality_score REAL,
    win_share REAL, -- 1 for the best method, shared by equals
    chosen INTEGER, -- 1 where combine takes this method
    teds REAL, teds_struct REAL, grits_content REAL, -- NULL for tables that are too large for them
    headers_json TEXT, rows_json TEXT,
    PRIMARY KEY (table_id, method)
);
CREATE TABLE ground_truth_diffs (
    table_id TEXT, method TEXT, gt_rows INTEGER, gt_columns INTEGER, ext_rows INTEGER, ext_columns INTEGER,
    matched_rows INTEGER, matched_columns INTEGER, row_splits INTEGER, row_merges INTEGER,
    column_splits INTEGER, column_merges INTEGER, ragged_rows INTEGER,
    comparable_cells INTEGER, correct_cells INTEGER, cell_accuracy_pct REAL, structural_coverage_pct REAL,
    fuzzy_accuracy_pct REAL, fuzzy_precision_pct REAL, fuzzy_recall_pct REAL, comparison_json TEXT,
    PRIMARY KEY (table_id, method)
);
CREATE TABLE cell_diffs (
    table_id TEXT, method TEXT, status TEXT, -- matched, partial, missing or extra
    score REAL, gt_row INTEGER, gt_column INTEGER, expected TEXT, ext_row INTEGER, ext_column INTEGER, actual TEXT
);
CREATE TABLE unmatched_extractions (method TEXT, page INTEGER, headers_json TEXT, rows_json TEXT);
"""


def write_debug_db(path: Path, evaluation: TableEvaluation, unmatched: Iterable[Extraction] = ()) -> None:
    """Write everything into a new database."""
    with closing(sqlite3.connect(path)) as database:
        create_schema(database)
        for scored in evaluation.tables:
            _insert(database, "ground_truth_tables", _ground_truth(scored.table, None))
            for attempt, share in zip(scored.attempts, scored.wins, strict=True):
                _insert(database, "method_results", _method_result(attempt, share, attempt is scored.chosen))
                write_ground_truth_diff(database, attempt.method, attempt.comparison)
                for diff in _cell_diffs(attempt):
                    _insert(database, "cell_diffs", diff)
        for failure in evaluation.failed:
            _insert(database, "ground_truth_tables", _ground_truth(failure.table, failure.reason))
        for item in unmatched:
            _insert(database, "unmatched_extractions", {"method": item.method, "page": item.page, **_texts(item)})
        database.commit()


@dataclass(frozen=True)
class KeptAttempt:
    """What a method made of a table, as a run keeps it. `score` is the fuzzy F1 in per cent; `extracted` is None where
    nothing was extracted, or where the method `failed`, which says why."""

    method: str
    score: float
    chosen: bool
    failed: str
    truth: Grid
    extracted: Grid | None
    diffs: tuple[Diff, ...]


@dataclass(frozen=True)
class KeptTable:
    """A table of a run with every method's attempt. `failed` says why it could not be evaluated."""

    id: str
    caption: str
    place: str
    failed: str
    attempts: tuple[KeptAttempt, ...]


def read_table(path: Path, table_id: str) -> KeptTable | None:
    """One table from the database of a run; None where it has no such table. Raises a TableError that names the
    file."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            database.row_factory = sqlite3.Row
            row = database.execute("SELECT * FROM ground_truth_tables WHERE table_id = ?", (table_id,)).fetchone()
            if row is None:
                return None
            found = database.execute("SELECT * FROM method_results WHERE table_id = ? ORDER BY rowid", (table_id,))
            truth = _grid(row)
            attempts = tuple(_kept(database, table_id, truth, each) for each in found.fetchall())
    except (sqlite3.Error, ValueError, KeyError, IndexError) as error:
        raise TableError(f"{path}: cannot be read as the tables of a run: {error}") from error
    place = ", ".join(filter(None, (row["pdf"], f"page {row['page']}" if row["page"] is not None else "")))
    return KeptTable(table_id, row["caption"] or "", place, row["failed"] or "", attempts)


def _kept(database: sqlite3.Connection, table_id: str, truth: Grid, row: sqlite3.Row) -> KeptAttempt:
    kept = database.execute(
        "SELECT * FROM cell_diffs WHERE table_id = ? AND method = ? ORDER BY rowid", (table_id, row["method"])
    )
    return KeptAttempt(
        method=row["method"],
        score=row["quality_score"],
        chosen=bool(row["chosen"]),
        failed=row["failed"] or "",
        truth=truth,
        extracted=_grid(row) if row["extracted"] else None,
        diffs=tuple(_diff(each) for each in kept.fetchall()),
    )


def _grid(row: sqlite3.Row) -> Grid:
    return Grid.of(row["table_id"], json.loads(row["headers_json"]), json.loads(row["rows_json"]))


def _diff(row: sqlite3.Row) -> Diff:
    truth = None if row["gt_row"] is None else Cell(row["gt_row"], row["gt_column"], row["expected"])
    found = None if row["ext_row"] is None else Cell(row["ext_row"], row["ext_column"], row["actual"])
    return Diff(Status(row["status"]), row["score"], truth, found)


def create_schema(database: sqlite3.Connection) -> None:
    """Make the tables of the database."""
    database.executescript(SCHEMA)


def write_ground_truth_diff(database: sqlite3.Connection, method: str, result: ComparisonResult) -> None:
    """One comparison, structural and fuzzy."""
    values = {
        "table_id": result.table_id,
        "method": method,
        "gt_rows": result.gt_shape[0],
        "gt_columns": result.gt_shape[1],
        "ext_rows": result.ext_shape[0],
        "ext_columns": result.ext_shape[1],
        "matched_rows": len(result.matched_rows),
        "matched_columns": len(result.matched_columns),
        "row_splits": len(result.row_splits),
        "row_merges": len(result.row_merges),
        "column_splits": len(result.column_splits),
        "column_merges": len(result.column_merges),
        "ragged_rows": result.ragged_rows,
        "comparable_cells": result.comparable_cells,
        "correct_cells": result.correct_cells,
        "cell_accuracy_pct": result.cell_accuracy_pct if result.comparable_cells else None,
        "structural_coverage_pct": result.structural_coverage_pct,
        "fuzzy_accuracy_pct": result.fuzzy_accuracy_pct,
        "fuzzy_precision_pct": result.fuzzy_precision_pct,
        "fuzzy_recall_pct": result.fuzzy_recall_pct,
        "comparison_json": json.dumps(result.to_dict()),
    }
    _insert(database, "ground_truth_diffs", values)


def _ground_truth(table: GroundTruthTable, failed: str | None) -> dict[str, Any]:
    named = {"table_id": table.id, "caption": table.caption, "pdf": table.pdf, "page": table.page}
    return {**named, **_texts(table), "failed": failed}


def _method_result(attempt: Attempt, share: float, chosen: bool) -> dict[str, Any]:
    item = attempt.extraction
    return {
        "table_id": attempt.table.id,
        "method": attempt.method,
        "extracted": int(item is not None),
        "failed": attempt.failure or None,
        "quality_score": attempt.quality_score,
        "win_share": share,
        "chosen": int(chosen),
        **(asdict(attempt.similarity) if attempt.similarity else {}),
        **(_texts(item) if item else {}),
    }


def _cell_diffs(attempt: Attempt) -> Iterator[dict[str, Any]]:
    for diff in cell_diffs(attempt.assignment()):
        values: dict[str, Any] = {"table_id": attempt.table.id, "method": attempt.method, "status": str(diff.status)}
        values["score"] = diff.score
        if diff.gt:
            values |= {"gt_row": diff.gt.row, "gt_column": diff.gt.column, "expected": diff.gt.text}
        if diff.ext:
            values |= {"ext_row": diff.ext.row, "ext_column": diff.ext.column, "actual": diff.ext.text}
        yield values


def _texts(table: GroundTruthTable | Extraction) -> dict[str, str]:
    return {"headers_json": json.dumps(table.headers), "rows_json": json.dumps(table.rows)}


def _insert(database: sqlite3.Connection, table: str, values: dict[str, Any]) -> None:
    columns, places = ", ".join(values), ", ".join("?" * len(values))
    database.execute(f"INSERT INTO {table} ({columns}) VALUES ({places})", list(values.values()))

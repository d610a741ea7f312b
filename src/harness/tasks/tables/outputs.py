"""The files that an evaluation of tables leaves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.base.errors import TableError
from harness.tasks.tables.debug_db import write_debug_db
from harness.tasks.tables.evaluation import TableEvaluation
from harness.tasks.tables.files import Extraction
from harness.tasks.tables.html import page
from harness.tasks.tables.rates import Means

DEBUG_FILE = "tables_debug.sqlite"
PAGE_FILE = "tables.html"


def write_outputs(folder: Path, evaluation: TableEvaluation, extractions: Sequence[Extraction], means: Means) -> None:
    """Write the page and the database into a folder; those of an earlier call are replaced."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / DEBUG_FILE).unlink(missing_ok=True)
        write_debug_db(folder / DEBUG_FILE, evaluation, [item for item in extractions if item.table_id is None])
        (folder / PAGE_FILE).write_text(page(evaluation, means))
    except OSError as error:
        raise TableError(f"{folder}: cannot be written: {error.strerror}") from error

"""One item of a run from the files that the run left: the cells of a table, the boxes of a sample by their scores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.runs.archive import BenchmarkRun
from harness.tasks.confidence.boxes import BoxTable, Sample, box_table, samples
from harness.tasks.confidence.postop import CONFIDENCE_FILE, SCORED_FILE
from harness.tasks.tables.debug_db import KeptTable, read_table
from harness.tasks.tables.html import DEBUG_FILE
from harness.tracking.catalog import at_hand, has_artifact
from harness.tracking.store import OpenStore

TABLES, CONFIDENCE = "tables", "confidence"


def table_of(store: OpenStore, run_id: str, table_id: str) -> KeptTable | None:
    """A table with its cells; None where the run left none."""
    if not has_artifact(store, run_id, DEBUG_FILE):
        return None
    with at_hand(store, run_id, DEBUG_FILE) as path:
        return read_table(path, table_id)


def boxes_of(store: OpenStore, run_id: str, run: BenchmarkRun) -> BoxTable | None:
    """All boxes of a run by their scores; None where it has none."""
    with _files(store, run_id, run) as files:
        return box_table(*files, _class_agnostic(run)) if files else None


def sample_of(store: OpenStore, run_id: str, run: BenchmarkRun, place: int) -> Sample | None:
    """A sample with its boxes; None where the run left none."""
    with _files(store, run_id, run) as files:
        return next(samples(*files, _class_agnostic(run), only=place), None) if files else None


@contextmanager
def _files(store: OpenStore, run_id: str, run: BenchmarkRun) -> Iterator[tuple[Path, Path] | None]:
    if CONFIDENCE not in run.tasks or not has_artifact(store, run_id, SCORED_FILE):
        yield None
        return
    with at_hand(store, run_id, CONFIDENCE_FILE) as confidence, at_hand(store, run_id, SCORED_FILE) as scored:
        yield confidence, scored


def _class_agnostic(run: BenchmarkRun) -> bool:
    return str(run.metadata.config.get("confidence.class_agnostic", "")).lower() == "true"

"""Table extraction as part of a run: the classes behind `tables=sample` and `tables=files`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import ConfigError
from harness.results import Extra, Overlap
from harness.tasks.tables.camelot import Camelot
from harness.tasks.tables.evaluation import evaluate_tables
from harness.tasks.tables.extracting import digests, extract_tables, read_pdfs
from harness.tasks.tables.files import GroundTruthTable, read_ground_truth, write_extractions
from harness.tasks.tables.html import section
from harness.tasks.tables.methods import Method
from harness.tasks.tables.outputs import write_outputs
from harness.tasks.tables.pdfplumber import Pdfplumber
from harness.tasks.tables.rates import intervals, item_rates, metrics
from harness.tasks.tables.summary import format_tables

EXTRACTIONS_FILE = "tables_extractions.jsonl"


@dataclass(frozen=True)
class TableFiles:
    """Extract the tables that a ground truth describes from the PDF files beside it, and judge each method."""

    gt: str
    min_iou: Overlap
    pdfplumber: Pdfplumber
    camelot: Camelot

    def inputs(self) -> str:
        """The ground truth and the PDF files."""
        gt = Path(self.gt).expanduser()
        tables = read_ground_truth(gt)
        return data_digest(tables, digests(read_pdfs(tables, _folder(gt))))

    def run(self, folder: Path, seed: int) -> Extra:
        """Put the outputs into `folder`, and what they come to into an Extra."""
        methods = enabled(self.pdfplumber, self.camelot)
        return evaluate_extraction(Path(self.gt).expanduser(), methods, self.min_iou, folder, seed)


@dataclass(frozen=True)
class TableSample:
    """The same on a small PDF that the harness draws. Its contents are made up."""

    min_iou: Overlap
    pdfplumber: Pdfplumber
    camelot: Camelot

    def inputs(self) -> str:
        """None: the sample is drawn by the harness itself."""
        return ""

    def run(self, folder: Path, seed: int) -> Extra:
        """As for files."""
        from harness.tasks.tables.sample.store import ensure_sample

        methods = enabled(self.pdfplumber, self.camelot)
        return evaluate_extraction(ensure_sample(), methods, self.min_iou, folder, seed, note="made-up sample")


def enabled(*methods: Pdfplumber | Camelot) -> list[Method]:
    """Those that are switched on, in their order."""
    chosen: list[Method] = [method for method in methods if method.enabled]
    if not chosen:
        raise ConfigError(f"tables: no method is enabled; expected one of {', '.join(item.name for item in methods)}")
    return chosen


def evaluate_extraction(
    gt: Path, methods: list[Method], min_iou: float, folder: Path, seed: int, note: str = ""
) -> Extra:
    """Extract, match, score and word it."""
    tables = read_ground_truth(gt)
    found = extract_tables(tables, _folder(gt), methods, min_iou)
    names = [method.name for method in methods]
    evaluation = evaluate_tables(found.tables, found.extractions, names, found.failed)
    rates, digest = item_rates(evaluation), data_digest(tables, found.digests)
    spread = intervals(rates, seed)
    write_extractions(folder / EXTRACTIONS_FILE, found.extractions)
    write_outputs(folder, evaluation, found.extractions, rates)
    return Extra(
        name="tables",
        metrics=metrics(evaluation, rates, spread),
        tags={"tables.digest": digest},
        text="\n".join(format_tables(evaluation, rates, spread, note)),
        paired=rates,
        data_digest=digest,
        html=section(evaluation, rates),
        failures=tuple(f"table {item.table.id}: {item.reason}" for item in evaluation.failed),
    )


def data_digest(tables: Iterable[GroundTruthTable], pdfs: Mapping[str, str]) -> str:
    """Over the ground truth and the PDF files: runs that share it were judged on the same tables."""
    total = hashlib.sha256(repr(sorted(pdfs.items())).encode())
    for table in sorted(tables, key=lambda table: table.id):
        total.update(repr((table.id, table.headers, table.rows, table.page, table.bbox, table.pdf)).encode())
    return total.hexdigest()


def _folder(gt: Path) -> Path:
    """Where the PDF files lie: beside the ground truth."""
    return gt if gt.is_dir() else gt.parent

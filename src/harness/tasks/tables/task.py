"""Table extraction as a task of a run: the classes behind `tables=sample` and `tables=files`."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from harness.base.errors import ConfigError
from harness.base.extras import need
from harness.runs.archive import TaskData, TaskRun
from harness.runs.items import FailedItem, Item, item_rows
from harness.runs.plan import Shown, TaskResult
from harness.scoring import Declaration, ItemCounts
from harness.tasks import Overlap
from harness.tasks.tables.camelot import Camelot
from harness.tasks.tables.evaluation import TableEvaluation, evaluate_tables
from harness.tasks.tables.extracting import digests, extract_tables, read_pdfs
from harness.tasks.tables.files import GroundTruthTable, read_ground_truth, write_extractions
from harness.tasks.tables.html import section, write_outputs
from harness.tasks.tables.methods import Method
from harness.tasks.tables.pdfplumber import Pdfplumber
from harness.tasks.tables.rates import declared, mean_rates, metrics, score_cards, table_groups, table_intervals
from harness.tasks.tables.summary import method_text

EXTRACTIONS_FILE = "tables_extractions.jsonl"


@dataclass(frozen=True)
class TableTask(ABC):
    """Extract the tables that a ground truth describes from the PDF files beside it, and judge each method."""

    name: ClassVar[str] = "tables"

    min_iou: Overlap
    pdfplumber: Pdfplumber
    camelot: Camelot

    @property
    @abstractmethod
    def gt_path(self) -> Path:
        """The ground truth: a JSON file, or a folder of them."""

    @property
    def note(self) -> str:
        """What has to be said about the data."""
        return ""

    @property
    def methods(self) -> list[Method]:
        """Those that are switched on, in their order."""
        both: tuple[Pdfplumber | Camelot, ...] = (self.pdfplumber, self.camelot)
        chosen: list[Method] = [method for method in both if method.enabled]
        if not chosen:
            names = ", ".join(method.name for method in both)
            raise ConfigError(f"tables: no method is enabled; expected one of {names}")
        return chosen

    @cached_property
    def tables(self) -> tuple[GroundTruthTable, ...]:
        """The tables as they should be."""
        return tuple(read_ground_truth(self.gt_path))

    @cached_property
    def _data(self) -> TaskData:
        digest = data_digest(self.tables, digests(read_pdfs(self.tables, self._folder)))
        return TaskData("sample" if self.note else self.gt_path.stem, "", digest)

    @property
    def _folder(self) -> Path:
        """Where the PDF files lie: beside the ground truth."""
        return self.gt_path if self.gt_path.is_dir() else self.gt_path.parent

    def declares(self) -> tuple[Declaration, ...]:
        """The combined result and, where there are several methods, each of them."""
        return declared([method.name for method in self.methods])

    def data(self) -> TaskData:
        """The ground truth and the PDF files."""
        return self._data

    def inputs(self) -> list[str]:
        """Nothing beside the data."""
        return []

    def thresholds(self) -> Mapping[str, float]:
        """None that makes runs incomparable: how an extraction is matched is part of the method."""
        return {}

    def tags(self) -> Mapping[str, str]:
        """The digest of the data."""
        return {"tables.digest": self._data.digest}

    def load(self) -> None:
        """Find the packages of the methods; there are no models to open."""
        need("tables", "pypdfium2", *(method.name for method in self.methods))

    def evaluate(self, folder: Path, seed: int, quiet: bool) -> TaskResult:  # noqa: ARG002 - a task's interface
        """Extract, match and score. A method that fails scores 0; tables that all methods fail on are not evaluated."""
        methods = self.methods
        found = extract_tables(self.tables, self._folder, methods, self.min_iou, quiet)
        names = [method.name for method in methods]
        evaluation = evaluate_tables(found.tables, found.extractions, names, found.failed, found.failures)
        cards = score_cards(evaluation)
        means = mean_rates(cards)
        write_extractions(folder / EXTRACTIONS_FILE, found.extractions)
        write_outputs(folder, evaluation, found.extractions, means)
        kept = TaskRun(
            data=self._data,
            noun="table",
            items=_items(evaluation, cards),
            failed=tuple(
                FailedItem(item.table.id, f"table {item.table.id}", item.reason) for item in evaluation.failed
            ),
            cards={name: card.total() for name, card in cards.items()},
            intervals=table_intervals(cards, table_groups(evaluation)),
            text=method_text(evaluation, means, self.note),
        )
        predictions = hashlib.sha256((folder / EXTRACTIONS_FILE).read_bytes()).hexdigest()
        shown = Shown(section(evaluation, means))
        return TaskResult(kept, predictions, metrics(evaluation, means), show=lambda _: shown)


@dataclass(frozen=True)
class TableFiles(TableTask):
    """Tables of your own PDF files."""

    gt: str

    @property
    def gt_path(self) -> Path:
        """The file or folder that the config names."""
        return Path(self.gt).expanduser()


@dataclass(frozen=True)
class TableSample(TableTask):
    """The same on a small PDF that the harness draws. Its contents are made up."""

    @cached_property
    def gt_path(self) -> Path:
        """Drawn on first use, and kept in the cache folder."""
        from harness.tasks.tables.sample.draw import ensure_sample

        return ensure_sample()

    @property
    def note(self) -> str:
        """That nobody takes it for real tables."""
        return "made-up sample"


def _items(evaluation: TableEvaluation, cards: Mapping[str, ItemCounts]) -> tuple[Item, ...]:
    ids = [scored.table.id for scored in evaluation.tables]
    counts = item_rows({name: card.by_item() for name, card in cards.items()}, len(ids))
    groups = table_groups(evaluation)
    return tuple(Item(one, one, own, group) for one, own, group in zip(ids, counts, groups, strict=True))


def data_digest(tables: Iterable[GroundTruthTable], pdfs: Mapping[str, str]) -> str:
    """Over the ground truth and the PDF files: runs that share it were judged on the same tables."""
    total = hashlib.sha256(repr(sorted(pdfs.items())).encode())
    for table in sorted(tables, key=lambda table: table.id):
        total.update(repr((table.id, table.headers, table.rows, table.page, table.bbox, table.pdf)).encode())
    return total.hexdigest()

"""A task: numbers that some program read, in a CSV file, beside those that it should have read. A start to build on.

A run asks a task for its data, evaluates it, and judges, logs and reports what its scorecards declare.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from harness import HarnessError
from harness.runs.plan import Item, TaskData, TaskResult, TaskRun, item_rows
from harness.scoring import Declaration, Rate, Scorecard, Section, Tally, intervals

COLUMNS = ["id", "expected", "predicted"]


@dataclass(frozen=True)
class NumberCard(Scorecard):
    """Numbers that were read right, read wrong and not read. Fields are counts, and add up over items."""

    right: int = 0
    wrong: int = 0
    missing: int = 0

    DECLARED: ClassVar = Declaration(
        name="my_task",
        rates={
            "accuracy": Rate.share(
                "my_task/accuracy",
                "right",
                "wrong",
                "missing",
                label="accuracy",
                headline="numbers",
                gate="judged",
            ),
            "precision": Rate.share("my_task/precision", "right", "wrong", label="precision"),
        },
        sections=(Section("Numbers", ("my_task/accuracy", "my_task/precision")),),
    )


@dataclass(frozen=True)
class MyTask:
    """Numbers of a CSV file with the columns id, expected and predicted. The fields are the keys of the YAML."""

    name: ClassVar[str] = "my_task"

    file: str

    def declares(self) -> tuple[Declaration, ...]:
        """The scorecards that it fills."""
        return (NumberCard.DECLARED,)

    def data(self) -> TaskData:
        """What it is evaluated on. Runs are compared where the digest is the same: it covers what is expected."""
        expected = sorted((row["id"], row["expected"]) for row in self._rows)
        return TaskData(Path(self.file).stem, "", hashlib.sha256(repr(expected).encode()).hexdigest())

    def inputs(self) -> Sequence[str]:
        """Digests of what its result depends on beside the data: the predictions."""
        return [self._predictions]

    def thresholds(self) -> Mapping[str, float]:
        """Rules of scoring that are set in the config: none."""
        return {}

    def tags(self) -> Mapping[str, str]:
        """What MLflow is to know of it, as tags of the run."""
        return {"my_task.file": self.file}

    def load(self) -> None:
        """Read the file, so that what is wrong with it is told before a run begins."""
        self._rows  # noqa: B018 - read here, used by `evaluate`

    def evaluate(self, folder: Path, seed: int, quiet: bool) -> TaskResult:  # noqa: ARG002 - a task's interface
        """Count, item by item. Files that are to be kept with the run would go into `folder`."""
        counts = Tally.of_cards(NumberCard, [_card(row) for row in self._rows]).items()
        name = counts.declared.name
        rows = item_rows({name: counts.by_item()}, len(self._rows))
        kept = TaskRun(
            data=self.data(),
            noun="number",
            items=tuple(Item(row["id"], row["id"], own) for row, own in zip(self._rows, rows, strict=True)),
            cards={name: counts.total()},
            intervals=intervals(counts),
        )
        return TaskResult(kept, self._predictions)

    @cached_property
    def _rows(self) -> list[dict[str, str]]:
        path = Path(self.file).expanduser()
        try:
            with path.open(newline="", encoding="utf-8") as lines:
                reader = csv.DictReader(lines, restval="")
                rows = list(reader)
        except (OSError, UnicodeDecodeError, csv.Error) as cause:
            raise HarnessError(f"{path}: cannot be read: {cause}") from cause
        if reader.fieldnames != COLUMNS:
            raise HarnessError(f"{path}: line 1: expected {','.join(COLUMNS)}, got {','.join(reader.fieldnames or ())}")
        if len({row["id"] for row in rows}) < len(rows):
            raise HarnessError(f"{path}: expected every id once")
        return rows

    @property
    def _predictions(self) -> str:
        predicted = sorted((row["id"], row["predicted"]) for row in self._rows)
        return hashlib.sha256(repr(predicted).encode()).hexdigest()


def _card(row: Mapping[str, str]) -> NumberCard:
    if not row["predicted"]:
        return NumberCard(missing=1)
    right = row["predicted"] == row["expected"]
    return NumberCard(right=int(right), wrong=int(not right))

"""The contract that every task keeps, on what the YAML makes; tests of your own go below it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness import HarnessError
from harness.testing import TaskContract

HERE = Path(__file__).parent


class TestMyTask(TaskContract):
    choice = "my_task"
    conf = HERE / "conf"

    def make(self) -> Any:
        return replace(super().make(), file=str(HERE / "my_task.csv"))

    def test_counts_what_is_right_wrong_and_missing(self, tmp_path: Path) -> None:
        (card,) = self.evaluated(tmp_path / "files").kept.cards.values()
        assert card.counts == {"right": 4, "wrong": 1, "missing": 1}

    def test_a_file_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(HarnessError, match=r"none\.csv"):
            replace(self.make(), file=str(tmp_path / "none.csv")).load()

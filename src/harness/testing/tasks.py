"""The contract of tasks: what a run asks of whatever it evaluates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.runs.plan import Task, TaskResult
from harness.testing.backends import ChoiceContract


class TaskContract(ChoiceContract):
    """What a task promises. A subclass names its `choice`, and overrides `make` where the data needs a path."""

    group = "task"

    def evaluated(self, folder: Path, seed: int = 0) -> TaskResult:
        """The result of a new task, with its files in a new folder."""
        folder.mkdir(parents=True)
        task: Task = self.make()
        task.load()
        return task.evaluate(folder, seed=seed, quiet=True)

    def test_it_says_what_it_is_before_it_starts(self) -> None:
        task: Task = self.make()
        assert task.name, "a task without a name"
        assert task.declares(), f"{task.name}: declares no scorecard"
        assert all(isinstance(value, str) for value in task.inputs()), "inputs are digests, as texts"
        assert all(isinstance(value, str) for value in task.tags().values()), "tags are texts"
        assert all(isinstance(value, int | float) for value in task.thresholds().values()), "thresholds are numbers"

    def test_its_data_has_a_name_and_a_digest_that_stays(self) -> None:
        first, again = self.make(), self.make()
        assert first.data().name, "data without a name"
        assert first.data().digest, "data without a digest: runs on other data would be compared"
        assert (first.data(), list(first.inputs())) == (again.data(), list(again.inputs()))

    def test_it_fills_the_scorecards_that_it_declares(self, tmp_path: Path) -> None:
        task: Task = self.make()
        result = self.evaluated(tmp_path / "files")
        assert result.kept.data == task.data()
        declared = {card.name: card for card in task.declares()}
        assert {name: card.declared for name, card in result.kept.cards.items()} == declared
        headlines = {metric for card in declared.values() for metric in card.headlines}
        missing = headlines - {*result.kept.metrics(), *result.metrics}
        assert not missing, f"{sorted(missing)} stands in lists of runs, and there is no such number"

    def test_its_items_are_told_apart_and_add_up_and_are_the_same_again(self, tmp_path: Path) -> None:
        first, again = self.evaluated(tmp_path / "first"), self.evaluated(tmp_path / "again")
        kept = first.kept
        assert kept.noun, "what is one item called?"
        assert kept.items, "nothing was evaluated"
        assert len({item.id for item in kept.items}) == len(kept.items), "two items of one id"
        for name, card in kept.cards.items():
            if card.counts:
                total: Any = kept.tally(name).total().counts
                assert total == pytest.approx(dict(card.counts)), f"{name}: its items do not add up to it"
        assert first.predictions, "no digest of what was predicted"
        assert first.predictions == again.predictions, "the same task predicts otherwise the second time"
        counts = [[(item.id, item.counts) for item in result.kept.items] for result in (first, again)]
        assert counts[0] == counts[1], "the same task counts otherwise the second time"

"""Two runs side by side: the judgement, the items that came out otherwise, and what differs in the configs.

Items, such as photos, are compared by each scorecard that declares a ledger: by what was found, invented and missed on
them. Runs that are INCOMPARABLE have no ledger: their counts do not mean the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, ClassVar, Literal

from harness.runs.archive import BenchmarkRun
from harness.runs.gate import Gate, Judgement, Verdict
from harness.runs.items import Item
from harness.runs.judge import judge
from harness.scoring.cards import Count, Ledger
from harness.scoring.pairing import ALPHA

#: What `code.json` of a run holds: `sources`, a hash for each module, and `distributions`, a version for each.
CodeRecord = Mapping[str, Mapping[str, str]]


class Change(StrEnum):
    """What became of an item: fewer errors, more of them, or fewer of one kind and more of the other."""

    FIXED = "fixed"
    BROKEN = "broken"
    MIXED = "mixed"


@dataclass(frozen=True)
class Outcome:
    """What one scorecard counted on one item."""

    found: Count
    invented: Count
    missed: Count


@dataclass(frozen=True)
class ItemChange:
    """One item that one scorecard counts otherwise than before; `noun` is what the scorecard looks for. `gone` and
    `come` are the numbers that are no longer read and those that are read now; only the number scorecard has them.
    `why` has the causes of those numbers that are missed now."""

    task: str
    name: str
    id: str
    scorecard: str
    noun: str
    before: Outcome
    after: Outcome
    gone: tuple[str, ...] = ()
    come: tuple[str, ...] = ()
    why: Mapping[str, str] = field(default_factory=dict)

    @property
    def lost(self) -> Count:
        """How many more are missed than before; below zero where fewer are."""
        return self.after.missed - self.before.missed

    @property
    def invented(self) -> Count:
        """How many more are invented than before; below zero where fewer are."""
        return self.after.invented - self.before.invented

    @property
    def change(self) -> Change:
        """Better, worse or both."""
        better, worse = min(self.lost, self.invented) < 0, max(self.lost, self.invented) > 0
        return Change.MIXED if better and worse else Change.BROKEN if worse else Change.FIXED

    @property
    def breaks(self) -> bool:
        """Whether more is missed or invented than before, whatever else got better."""
        return self.change is not Change.FIXED

    def words(self) -> str:
        """What happened, as in `2 faces lost, 1 face invented` or `1 number lost (-417: not seen)`."""
        told = self.counts()
        gone = [f"-{number}: {self.why[number]}" if number in self.why else f"-{number}" for number in self.gone]
        numbers = (", " if self.why else " ").join([*gone, *(f"+{number}" for number in self.come)])
        return f"{told} ({numbers})" if numbers else told

    def counts(self) -> str:
        """The same without the numbers, for a line."""
        parts = [(abs(self.lost), "lost" if self.lost > 0 else "found")]
        parts.append((abs(self.invented), "invented" if self.invented > 0 else "no longer invented"))
        return ", ".join(f"{n} {self.noun if n == 1 else f'{self.noun}s'} {verb}" for n, verb in parts if n)


#: All that changed on one item.
Changed = tuple[ItemChange, ...]


@dataclass(frozen=True)
class ConfigChange:
    """A key that has another value in the run than in the base; None where one of them lacks it."""

    key: str
    before: str | None
    after: str | None

    @property
    def group(self) -> str:
        """The part of the config that it is in."""
        return self.key.partition(".")[0]


@dataclass(frozen=True)
class CodeChange:
    """A module (`kind` is `module`, its values are hashes) or an installed distribution (`distribution`, versions) that
    is not the same in both runs; None where one of them does without it."""

    kind: Literal["module", "distribution"]
    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class Comparison:
    """A run beside a base. `code` is None where it is not known of both which code they ran."""

    run: BenchmarkRun
    base: BenchmarkRun
    judgement: Judgement
    items: tuple[ItemChange, ...]
    config: tuple[ConfigChange, ...]
    code: tuple[CodeChange, ...] | None = None

    ORDER: ClassVar = (Change.BROKEN, Change.MIXED, Change.FIXED)

    def without_scores(self) -> Comparison:
        """The verdict and what differs in the configs: what may be shown where the scores of a run are sealed."""
        judgement = replace(self.judgement, metrics=())
        return replace(
            self, run=self.run.without_scores(), base=self.base.without_scores(), judgement=judgement, items=()
        )

    def ledger(self) -> dict[Change, tuple[ItemChange, ...]]:
        """The items by what became of them, the worst kind first; kinds without items are left out."""
        kinds = {kind: tuple(item for item in self.items if item.change is kind) for kind in self.ORDER}
        return {kind: items for kind, items in kinds.items() if items}

    def newly_broken(self, task: str | None = None) -> tuple[Changed, ...]:
        """The items on which anything is newly broken, whatever else got better there; those with most new errors
        first. Of one task, or of all. Every page and command counts newly broken items by this function."""
        return tuple(changes for changes in self._by_item(task) if any(each.breaks for each in changes))

    def newly_fixed(self, task: str | None = None) -> tuple[Changed, ...]:
        """The items on which something is fixed and nothing is newly broken; those with most errors less first."""
        fixed = [changes for changes in self._by_item(task) if not any(each.breaks for each in changes)]
        return tuple(reversed(fixed))

    def _by_item(self, task: str | None) -> list[Changed]:
        """The changes of one item together, and the items with most new errors first."""
        grouped: dict[tuple[str, str], list[ItemChange]] = {}
        for item in self.items:
            if task in (None, item.task):
                grouped.setdefault((item.task, item.id), []).append(item)
        together = [tuple(changes) for changes in grouped.values()]
        return sorted(together, key=lambda changes: -sum(each.lost + each.invented for each in changes))

    def totals(self) -> dict[str, tuple[str, Count, Count]]:
        """Scorecard -> what it looks for, and how many of them were lost and how many found, over all items."""
        return {
            card: (
                ledger.noun,
                sum(max(item.lost, 0) for item in self.items if item.scorecard == card),
                sum(max(-item.lost, 0) for item in self.items if item.scorecard == card),
            )
            for card, ledger in ledgers(self.run).items()
        }


def ledgers(run: BenchmarkRun) -> dict[str, Ledger]:
    """The scorecards of a run that have a ledger, with it; without those that its predictions say nothing about."""
    kept = {name: (card, card.declared.ledger) for name, card in run.cards.items()}
    return {
        name: ledger
        for name, (card, ledger) in kept.items()
        if ledger is not None and card.knows(ledger.found, ledger.invented, ledger.missed)
    }


def compare(
    gate: Gate,
    run: BenchmarkRun,
    base: BenchmarkRun,
    seed: int = 0,
    *,
    level_better: float = ALPHA,
    level_worse: float = ALPHA,
) -> Comparison:
    """Judge a run against a base and list what differs between them."""
    judgement = judge(gate, run, base, seed, level_better=level_better, level_worse=level_worse)
    items = () if judgement.verdict is Verdict.INCOMPARABLE else tuple(item_changes(run, base))
    return Comparison(run, base, judgement, items, config_diff(run.metadata.config, base.metadata.config))


def item_changes(run: BenchmarkRun, base: BenchmarkRun) -> Iterator[ItemChange]:
    """The items of both runs that a scorecard of both counts otherwise, by scorecard and then by name."""
    kept = ledgers(run)
    for task in (name for name in run.tasks if name in base.tasks):
        before = {item.id: item for item in base.tasks[task].items}
        shared = sorted((item for item in run.tasks[task].items if item.id in before), key=lambda item: item.name)
        for card in (name for name in run.tasks[task].cards if name in kept):
            for item in shared:
                was, now = outcome(before[item.id], card, kept[card]), outcome(item, card, kept[card])
                if was is None or now is None or (was.missed, was.invented) == (now.missed, now.invented):
                    continue
                told = _read(before[item.id], item) if card == "number" else ((), (), {})
                yield ItemChange(task, item.name, item.id, card, kept[card].noun, was, now, *told)


def config_diff(run: Mapping[str, Any], base: Mapping[str, Any]) -> tuple[ConfigChange, ...]:
    """Only what differs, by key."""
    keys = sorted(run.keys() | base.keys())
    return tuple(ConfigChange(key, base.get(key), run.get(key)) for key in keys if base.get(key) != run.get(key))


def code_diff(run: CodeRecord | None, base: CodeRecord | None) -> tuple[CodeChange, ...] | None:
    """What differs between the records of two runs' code: modules by name, then distributions; None where a run has no
    record. Python, which older records do not have, is told only where both have it."""
    if run is None or base is None:
        return None
    kinds: dict[str, Literal["module", "distribution"]] = {"sources": "module", "distributions": "distribution"}
    changes = [
        CodeChange(kind, each.key, each.before, each.after)
        for part, kind in kinds.items()
        for each in config_diff(run.get(part, {}), base.get(part, {}))
    ]
    return tuple(each for each in changes if each.name != "python" or (each.before and each.after))


def outcome(item: Item, scorecard: str, ledger: Ledger) -> Outcome | None:
    """What a scorecard found, invented and missed on an item; None where it did not count there."""
    counts = item.counts.get(scorecard)
    if counts is None:
        return None
    return Outcome(*(counts.get(name, 0) for name in (ledger.found, ledger.invented, ledger.missed)))


def _read(before: Item, after: Item) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, str]]:
    """The numbers that are gone, those that have come, and why those that are gone are missed."""
    was, now = (set(item.photo.read) if item.photo else set() for item in (before, after))
    why = {missed.number: missed.words() for missed in after.photo.missed} if after.photo else {}
    gone = tuple(sorted(was - now))
    return gone, tuple(sorted(now - was)), {number: why[number] for number in gone if number in why}

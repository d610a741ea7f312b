"""Who finds how much in a run: its runners by what they want and get, worst first, as the find scorecard counts them.

The counts of each runner are in `run.json`, so that every run has them. Which photo came back for whom is in a file
beside it, which runs of an older harness do not have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

from harness.base.errors import HarnessError, QueryError
from harness.exploring.rows import LostRunners
from harness.exploring.selection import BesideRun, Chosen
from harness.runs.archive import IDENTITY, BenchmarkRun
from harness.runs.comparison import Comparison
from harness.runs.gate import Verdict
from harness.runs.returns import RETURNS_FILE, Returns, read_returns
from harness.scoring.asking import WAYS
from harness.scoring.cards import Count
from harness.scoring.finding import CAUSES, FindScorecard
from harness.tracking.catalog import has_artifact, read_artifact
from harness.tracking.entries import RunEntry
from harness.tracking.store import OpenStore

FIND = FindScorecard.DECLARED.name
NOT_KEPT = (
    "This run does not say which photo came back for whom: it was made by an older harness. The same command makes it "
    "anew with force=true."
)


@dataclass(frozen=True, slots=True)
class Runner:
    """A runner by their counts. `was` has those of the other run, where both can be compared."""

    name: str
    counts: Mapping[str, Count]
    numbers: tuple[str, ...] = ()
    was: Mapping[str, Count] | None = None

    @property
    def missed(self) -> float:
        """How many photos they miss by both, as shares of their searches."""
        return self._missed(self.counts)

    @property
    def change(self) -> float:
        """How many more of their photos come back by both than in the other run; below zero where fewer do."""
        return 0.0 if self.was is None else round(self._missed(self.was) - self.missed, 9)

    @property
    def causes(self) -> dict[str, float]:
        """Why photos do not come back, with how many each, in the order in which causes are looked for."""
        return {cause: self.counts.get(cause, 0) for cause in CAUSES if self.counts.get(cause, 0)}

    @staticmethod
    def _missed(counts: Mapping[str, Count]) -> float:
        return round(counts.get("both_asked", 0) - counts.get("both_found", 0), 9)


@dataclass(frozen=True)
class People:
    """The runners of a run, and which photo came back for whom, here and in the other run, as far as that is kept."""

    runners: tuple[Runner, ...]
    totals: Mapping[str, Count]
    headline: str
    operating: str = ""
    returns: Returns | None = None
    #: Why there are no `returns`, in a sentence.
    unknown: str = ""
    base: Returns | None = None
    base_unknown: str = ""
    #: Whether the counts of the other run mean the same.
    compared: bool = False

    @cached_property
    def by_name(self) -> dict[str, Runner]:
        """The runners by their names."""
        return {runner.name: runner for runner in self.runners}

    @cached_property
    def causes(self) -> dict[str, int]:
        """How many runners miss a photo for each cause, the most frequent first."""
        return dict(Counter(cause for runner in self.runners for cause in runner.causes).most_common())

    @cached_property
    def changed(self) -> dict[str, int]:
        """How many runners find less than in the other run, and how many more."""
        changes = [runner.change for runner in self.runners]
        return {"less": sum(change < 0 for change in changes), "more": sum(change > 0 for change in changes)}

    def lost(self) -> LostRunners:
        """By photo the runners who do not always get it, each with the cause."""
        found: dict[str, dict[str, str]] = {}
        for photo, person, cause in self.returns.missed() if self.returns else ():
            found.setdefault(photo, {})[person] = cause
        return found


def people_of(
    store: OpenStore, entry: RunEntry, run: BenchmarkRun, base: RunEntry | None, comparison: Comparison | None
) -> People | None:
    """The runners of a run; None where it was not about who finds their photos."""
    task = run.tasks.get(IDENTITY)
    if task is None or FIND not in task.cards:
        return None
    compared = comparison is not None and comparison.judgement.verdict is not Verdict.INCOMPARABLE
    before = _counts(comparison.base) if comparison and compared else {}
    returns, unknown = _returns(store, entry)
    other, other_unknown = _returns(store, base) if base and compared else (None, "")
    return People(
        runners=tuple(_runners(_counts(run), before, returns)),
        totals=task.cards[FIND].counts,
        headline=task.headline,
        operating=task.text,
        returns=returns,
        unknown=unknown,
        base=other,
        base_unknown=other_unknown,
        compared=bool(before),
    )


def _returns(store: OpenStore, entry: RunEntry) -> tuple[Returns | None, str]:
    """What came back in a run or, where that is not known, why: a damaged file costs no more than a missing one."""
    if not has_artifact(store, entry.run_id, RETURNS_FILE):
        return None, NOT_KEPT
    content = read_artifact(store, entry.run_id, RETURNS_FILE)
    try:
        return read_returns(content, f"run {entry.short_id}: {RETURNS_FILE}"), ""
    except HarnessError as error:
        return None, f"Which photo came back for whom cannot be read. {error}"


def _counts(run: BenchmarkRun) -> dict[str, Mapping[str, Count]]:
    """What the find scorecard counted for each person."""
    task = run.tasks.get(IDENTITY)
    return {item.name: item.counts[FIND] for item in task.items if FIND in item.counts} if task else {}


def _runners(
    counts: Mapping[str, Mapping[str, Count]], before: Mapping[str, Mapping[str, Count]], returns: Returns | None
) -> Iterator[Runner]:
    """Whoever wants a photo or was shown one of somebody else; bystanders want none and search for none."""
    for name, own in counts.items():
        if own.get("wanted") or any(own.get(f"{way}_{what}") for way in WAYS for what in ("wrong", "unknown")):
            place = returns.places.get(name) if returns else None
            yield Runner(name, own, returns.numbers[place] if returns and place is not None else (), before.get(name))


Sort = Literal["worst", "change", "name"]
SORTS: tuple[Sort, ...] = get_args(Sort)


class PeopleSelection(BesideRun):
    """Which runners to see: by a part of the name or number, by a cause, by what has changed; and in which order."""

    text: Chosen[str] = None
    cause: Chosen[str] = None
    change: Chosen[Literal["less", "more"]] = None
    strangers: bool = False
    sort: Sort = "worst"

    def among(self, runners: Iterable[Runner]) -> list[Runner]:
        """Those who fit, in order."""
        return sorted((runner for runner in runners if self.fits(runner)), key=_ORDERS[self.sort])

    def fits(self, runner: Runner) -> bool:
        """Whether a runner has all that is asked for."""
        text = (self.text or "").strip().lower()
        return (
            (not text or any(text in each.lower() for each in (runner.name, *runner.numbers)))
            and (self.cause is None or self.cause in runner.causes)
            and (self.change is None or (runner.change < 0 if self.change == "less" else runner.change > 0))
            and (not self.strangers or bool(runner.counts.get("both_wrong")))
        )

    def check(self) -> None:
        """Refuse a cause that there is not: a mistyped address is no empty answer."""
        if self.cause is not None and self.cause not in CAUSES:
            raise QueryError(f"cause={self.cause}: no such cause; expected one of {', '.join(CAUSES)}")


_ORDERS: Mapping[str, Callable[[Runner], tuple[Any, ...]]] = {
    "worst": lambda runner: (-runner.missed, -runner.counts.get("both_wrong", 0), runner.name),
    "change": lambda runner: (runner.change, -runner.missed, runner.name),
    "name": lambda runner: (runner.name,),
}

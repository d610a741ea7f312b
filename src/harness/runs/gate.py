"""The rules that runs are judged by, the verdicts that there are, and the judgement that they add up to.

Each scorecard declares which of its metrics are gated, and how; a gate changes that or adds to it. `runs/judge.py`
applies the rules to two runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from harness.base.texts import nearest

if TYPE_CHECKING:
    from harness.runs.archive import BenchmarkRun
    from harness.scoring.cards import Declaration

#: What stands before the slash in metrics that no scorecard can declare: they depend on stages, tags and scores.
_OPEN_SECTIONS = ("runtime", "cache", "slice", "calibration")

Tolerance = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Verdict(StrEnum):
    """What a run comes to beside its baseline."""

    IMPROVED = "IMPROVED"
    NO_WORSE = "NO WORSE"
    CANNOT_TELL = "CANNOT TELL"
    REGRESSED = "REGRESSED"
    INCOMPARABLE = "INCOMPARABLE"
    INCOMPLETE = "INCOMPLETE"
    NO_BASELINE = "NO BASELINE"
    BASELINE = "BASELINE"


#: What `gate=strict` lets pass, and what a metric needs for `gate=proof`.
_PASSING = (Verdict.IMPROVED, Verdict.NO_WORSE, Verdict.CANNOT_TELL, Verdict.BASELINE)
_PROVEN = frozenset({Verdict.IMPROVED, Verdict.NO_WORSE})
#: What is said of a metric that needs no proof.
UNCHANGED = "unchanged: both runs have the same stages behind it"
#: What can only be said of two runs whose scores were compared.
CLAIMS = frozenset({Verdict.IMPROVED, Verdict.NO_WORSE, Verdict.CANNOT_TELL, Verdict.REGRESSED})


@dataclass(frozen=True)
class Rule:
    """How one metric is judged: which way is better, and how far it may move without having moved.

    The tolerance is the larger of `absolute` and `relative` times the baseline. A loss of the `margin` or more has to
    be excluded before the metric is called NO WORSE. One that is `informational` is shown and has no part in the
    verdict.
    """

    better: Literal["higher", "lower"] = "higher"
    absolute: Tolerance = 0.0
    relative: Tolerance = 0.0
    informational: bool = False
    margin: Tolerance = 0.05

    @property
    def sign(self) -> int:
        """1 where higher is better, -1 where lower is."""
        return 1 if self.better == "higher" else -1

    def tolerance(self, baseline: float) -> float:
        """How far the metric may move without having moved."""
        return max(self.absolute, self.relative * abs(baseline))


@dataclass(frozen=True)
class RuleChange:
    """What a gate says otherwise than the scorecard that declares the metric; None leaves it as declared."""

    better: Literal["higher", "lower"] | None = None
    absolute: Tolerance | None = None
    relative: Tolerance | None = None
    informational: bool | None = None
    margin: Tolerance | None = None

    def applied_to(self, rule: Rule) -> Rule:
        """The rule after the change."""
        return replace(rule, **{name: value for name, value in asdict(self).items() if value is not None})


@dataclass(frozen=True)
class Gate:
    """The rules by which runs are judged. Each scorecard declares which of its metrics are gated, and how; `metrics`
    (section -> metric -> change, as in `number: {f1: ...}`) changes that or adds to it, and without `declared` it is
    all there is. A strict gate fails the command where the run REGRESSED or was not judged; one that asks for `proof`
    fails it unless every gated metric is IMPROVED or NO WORSE."""

    strict: bool
    metrics: Mapping[str, Mapping[str, RuleChange]] = field(default_factory=dict)
    declared: bool = True
    proof: bool = False

    def rules(self, run: BenchmarkRun) -> dict[str, Rule]:
        """The rules for a run by metric name: those of its scorecards as changed here, then those only said here."""
        return self._rules(card.declared for card in run.cards.values())

    def judges(self, section: str, declared: Iterable[Declaration]) -> bool:
        """Whether a metric of a section, such as `runtime/`, has a part in the verdict."""
        return any(name.startswith(section) for name in self.judged(declared))

    def judged(self, declared: Iterable[Declaration]) -> dict[str, Rule]:
        """The rules that have a part in the verdict, for a run with these scorecards."""
        return {name: rule for name, rule in self._rules(declared).items() if not rule.informational}

    def _rules(self, declared: Iterable[Declaration]) -> dict[str, Rule]:
        rules = declared_rules(declared) if self.declared else {}
        for section, changes in self.metrics.items():
            for name, change in changes.items():
                metric = f"{section}/{name}"
                rules[metric] = change.applied_to(rules.get(metric, Rule()))
        return rules

    def unknown(self, declared: Iterable[Declaration]) -> str | None:
        """The first metric of these rules that none of the scorecards has; metrics that depend on the data aside."""
        known = [metric for card in declared for metric in (*card.metrics, *card.counts.values())]
        for section, changes in self.metrics.items():
            for name in changes:
                if section not in _OPEN_SECTIONS and f"{section}/{name}" not in known:
                    near = nearest(f"{section}/{name}", known)
                    hint = f"did you mean {near}?" if near else f"there are: {', '.join(known)}"
                    return f"gate.metrics.{section}.{name}: the run has no such metric; {hint}"
        return None

    @property
    def name(self) -> str:
        """What it is called on the command line."""
        return "proof" if self.proof else "strict" if self.strict else "advisory"

    def fails(self, judgement: Judgement) -> bool:
        """Whether a run with this judgement must not pass."""
        if judgement.verdict not in _PASSING:
            return self.strict or self.proof
        return self.proof and not judgement.proven and judgement.verdict is not Verdict.BASELINE


@dataclass(frozen=True)
class MetricVerdict:
    """One metric of both runs. `gain`, `low` and `high` are sign-normalised: plus is better. A metric that is not made
    of items, such as seconds, has no interval and is judged by its tolerance alone; an informational one has no
    verdict.

    Of the `groups`, `moved` have moved it.
    `unseen` is the smallest loss that would have been seen in four of five cases, a rough figure below 20 `groups`;
    `needed` is how many items it takes until that is the `margin`. `note` says what the verdict does not.
    """

    metric: str
    baseline: float
    candidate: float
    gain: float
    low: float | None
    high: float | None
    items: int | None
    verdict: Verdict | None
    groups: int | None = None
    moved: int | None = None
    unseen: float | None = None
    margin: float | None = None
    needed: int | None = None
    note: str = ""
    noun: str = "item"

    @property
    def blind(self) -> bool:
        """Whether there are so few groups that no loss at all would surely have been seen."""
        return self.items is not None and self.unseen is not None and self.unseen >= 1

    @property
    def rough(self) -> bool:
        """Whether `unseen` rests on too few groups to be exact."""
        from harness.scoring.pairing import ROUGH_GROUPS  # with numpy, which a list of verdicts does not need

        return self.groups is not None and self.groups < ROUGH_GROUPS


def delta_name(metric: str) -> str:
    """The metric of MLflow that has the gain in a metric."""
    return f"delta/{metric.replace('/', '_')}"


@dataclass(frozen=True)
class Judgement:
    """The verdict over all, why there is no better one, and what each metric did. On a holdout, `look` says which of
    its looks this is; where they are used up, or its scores were shown, what the verdict claims is `unprotected`.
    `proven` says that every gated metric is IMPROVED or NO WORSE."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()
    metrics: tuple[MetricVerdict, ...] = ()
    proven: bool = False
    look: str = ""
    unprotected: bool = False

    @property
    def said(self) -> str:
        """The verdict as it is shown."""
        return f"{self.verdict}, UNPROTECTED" if self.unprotected else str(self.verdict)

    @property
    def open(self) -> tuple[MetricVerdict, ...]:
        """The gated metrics of which a loss can be neither shown nor excluded."""
        return tuple(item for item in self.metrics if item.verdict is Verdict.CANNOT_TELL)

    def deltas(self) -> dict[str, float]:
        """Metrics for MLflow in which plus always means better, with the four decimals that are shown elsewhere: its
        tables show each number in full."""
        return {delta_name(item.metric): round(item.gain, 4) for item in self.metrics}


#: What the run is told that others are judged against.
THE_BASELINE = Judgement(Verdict.BASELINE, ("other runs on these data are judged against this one",))


def declared_rules(cards: Iterable[Declaration]) -> dict[str, Rule]:
    """The rules that scorecards declare."""
    rules = {}
    for card in cards:
        for rate in card.rates.values():
            if rate.gate != "no":
                rules[rate.metric] = Rule(rate.better, rate.tolerance, informational=rate.gate == "shown")
        for figure in card.figures:
            if figure.gate != "no":
                rules[figure.metric] = Rule(
                    figure.better, figure.tolerance, figure.relative, informational=figure.gate == "shown"
                )
    return rules


def all_proven(metrics: Iterable[MetricVerdict]) -> bool:
    """Whether every gated metric, and there is one, is IMPROVED or NO WORSE."""
    gated = {item.verdict for item in metrics} - {None}
    return bool(gated) and gated <= _PROVEN

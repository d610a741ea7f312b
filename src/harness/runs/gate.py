"""Is this run better than the baseline? One verdict for each gated metric, and one over all: a regression wins.

Runs are compared item by item on the same resamples, and all gated metrics are judged together, so that REGRESSED is a
false alarm at most one time in twenty, however many metrics are gated. A metric that moved by no more than its
tolerance has not moved. Runs that cannot be compared are not: the difference is named instead.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from harness.runs.archive import PHOTOS, BenchmarkRun, ItemRates
from harness.scoring.cards import Declaration, Sides
from harness.scoring.pairing import PairedRate, judge_together, paired_rates

#: What stands before the slash in metrics that no scorecard can declare: they depend on stages, tags and scores.
_OPEN_SECTIONS = ("runtime", "cache", "slice", "calibration")

Tolerance = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Verdict(StrEnum):
    """What a run comes to beside its baseline."""

    IMPROVED = "IMPROVED"
    WITHIN_NOISE = "WITHIN NOISE"
    REGRESSED = "REGRESSED"
    INCOMPARABLE = "INCOMPARABLE"
    INCOMPLETE = "INCOMPLETE"
    NO_BASELINE = "NO BASELINE"


@dataclass(frozen=True)
class Rule:
    """How one metric is judged: which way is better, and how far it may move without having moved.

    The tolerance is the larger of `absolute` and `relative` times the baseline. One that is `informational` is shown
    and has no part in the verdict.
    """

    better: Literal["higher", "lower"] = "higher"
    absolute: Tolerance = 0.0
    relative: Tolerance = 0.0
    informational: bool = False

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

    def applied_to(self, rule: Rule) -> Rule:
        """The rule after the change."""
        return replace(rule, **{name: value for name, value in asdict(self).items() if value is not None})


@dataclass(frozen=True)
class Gate:
    """The rules by which runs are judged. Each scorecard declares which of its metrics are gated, and how; `metrics`
    (section -> metric -> change, as in `number: {f1: ...}`) changes that or adds to it, and without `declared` it is
    all there is. A strict gate turns everything but IMPROVED and WITHIN NOISE into a failure of the command."""

    strict: bool
    metrics: Mapping[str, Mapping[str, RuleChange]] = field(default_factory=dict)
    declared: bool = True

    def rules(self, run: BenchmarkRun) -> dict[str, Rule]:
        """The rules for a run by metric name: those of its scorecards as changed here, then those only said here."""
        rules = declared_rules(run) if self.declared else {}
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
                    near = difflib.get_close_matches(f"{section}/{name}", known, n=1)
                    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}"
                    return f"gate.metrics.{section}.{name}: the run has no such metric; {hint}"
        return None

    def fails(self, verdict: Verdict) -> bool:
        """Whether a run with this verdict must not pass."""
        return self.strict and verdict not in (Verdict.IMPROVED, Verdict.WITHIN_NOISE)


@dataclass(frozen=True)
class MetricVerdict:
    """One metric of both runs. `gain`, `low` and `high` are sign-normalised: plus is better. A metric that is not made
    of items, such as seconds, has no interval and is judged by its tolerance alone; an informational one has no
    verdict."""

    metric: str
    baseline: float
    candidate: float
    gain: float
    low: float | None
    high: float | None
    items: int | None
    verdict: Verdict | None


@dataclass(frozen=True)
class Judgement:
    """The verdict over all, why there is no better one, and what each metric did."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()
    metrics: tuple[MetricVerdict, ...] = ()

    def deltas(self) -> dict[str, float]:
        """Metrics for MLflow in which plus always means better."""
        return {f"delta/{item.metric.replace('/', '_')}": item.gain for item in self.metrics}


def declared_rules(run: BenchmarkRun) -> dict[str, Rule]:
    """The rules that the scorecards of a run declare."""
    rules = {}
    for card in run.cards.values():
        for rate in card.declared.rates.values():
            if rate.gate != "no":
                rules[rate.metric] = Rule(rate.better, rate.tolerance, informational=rate.gate == "shown")
        for figure in card.declared.figures:
            if figure.gate != "no":
                rules[figure.metric] = Rule(
                    figure.better, figure.tolerance, figure.relative, informational=figure.gate == "shown"
                )
    return rules


def judge(gate: Gate, candidate: BenchmarkRun, baseline: BenchmarkRun | None, seed: int = 0) -> Judgement:
    """Judge a run against the baseline."""
    if not candidate.complete:
        return Judgement(Verdict.INCOMPLETE, (candidate.shortfall, *candidate.failures))
    if baseline is None:
        return Judgement(Verdict.NO_BASELINE, ("no run is pinned as the baseline yet",))
    if not candidate.tasks.keys() & baseline.tasks.keys():
        theirs, ours = ", ".join(baseline.tasks), ", ".join(candidate.tasks)
        return Judgement(Verdict.INCOMPARABLE, (f"the baseline evaluates {theirs}, this run {ours}",))
    if missing := tuple(_missing(candidate, baseline)):
        return Judgement(Verdict.INCOMPLETE, missing)
    if differences := tuple(_differences(candidate, baseline)):
        return Judgement(Verdict.INCOMPARABLE, differences)
    rules = gate.rules(candidate)
    metrics = tuple(_judge_metrics(rules, candidate, baseline, seed))
    unmeasured = tuple(_unmeasured(rules, candidate, baseline))
    verdicts = {metric.verdict for metric in metrics} | ({Verdict.INCOMPLETE} if unmeasured else set())
    order = (Verdict.REGRESSED, Verdict.INCOMPLETE, Verdict.IMPROVED)
    return Judgement(next((v for v in order if v in verdicts), Verdict.WITHIN_NOISE), unmeasured, metrics)


def paired(candidate: BenchmarkRun, baseline: BenchmarkRun, seed: int = 0) -> dict[str, PairedRate]:
    """Every rate that both runs have, compared over the items that both have."""
    result: dict[str, PairedRate] = {}
    for name in baseline.tasks.keys() & candidate.tasks.keys():
        ours, theirs = candidate.tasks[name].rates(), baseline.tasks[name].rates()
        shared = sorted(set(ours.items) & set(theirs.items))
        result |= paired_rates(_sides(theirs, shared), _sides(ours, shared), seed)
    return result


def _judge_metrics(
    rules: Mapping[str, Rule], candidate: BenchmarkRun, baseline: BenchmarkRun, seed: int
) -> Iterator[MetricVerdict]:
    rates = paired(candidate, baseline, seed)
    gated = {name: rates[name] for name, rule in rules.items() if name in rates and not rule.informational}
    moved = judge_together(gated, {name: rules[name].sign for name in gated})
    for name, rule in rules.items():
        if name in rates:
            yield _paired_verdict(name, rule, rates[name], moved.get(name))
        elif name in candidate.metrics and name in baseline.metrics:
            before, after = baseline.metrics[name], candidate.metrics[name]
            gain = rule.sign * (after - before)
            verdict = None if rule.informational else _verdict(int(np.sign(gain)), gain, rule, before)
            yield MetricVerdict(name, before, after, gain, None, None, None, verdict)


def _paired_verdict(name: str, rule: Rule, rate: PairedRate, moved: int | None) -> MetricVerdict:
    difference = rate.difference()
    low, high = sorted(rule.sign * end for end in (difference.low, difference.high)) if difference else (None, None)
    gain = rule.sign * rate.delta
    verdict = None if moved is None else _verdict(moved, gain, rule, rate.baseline)
    return MetricVerdict(name, rate.baseline, rate.candidate, gain, low, high, rate.items, verdict)


def _verdict(moved: int, gain: float, rule: Rule, baseline: float) -> Verdict:
    """Which way a metric moved, if it moved by more than its tolerance."""
    felt = moved if abs(gain) > rule.tolerance(baseline) else 0
    return {-1: Verdict.REGRESSED, 0: Verdict.WITHIN_NOISE, 1: Verdict.IMPROVED}[felt]


def _unmeasured(rules: Mapping[str, Rule], candidate: BenchmarkRun, baseline: BenchmarkRun) -> Iterator[str]:
    """Gated metrics that the baseline has and the run has not, as the precision of a run that finds nothing."""
    for name, rule in rules.items():
        if not rule.informational and name in baseline.metrics and name not in candidate.metrics:
            yield f"{name}: nothing to measure it on in this run; the baseline has {baseline.metrics[name]:.4f}"


def _missing(candidate: BenchmarkRun, baseline: BenchmarkRun) -> Iterator[str]:
    """The tasks that the baseline has and the candidate has not, and likewise the scorecards that are shown. One that
    is only logged, such as that of a single method of tables, may come and go."""
    for name in sorted(baseline.tasks.keys() - candidate.tasks.keys()):
        yield f"no {name} scorecard, which the baseline has"
    for name in sorted(baseline.tasks.keys() & candidate.tasks.keys()):
        for card, counted in sorted(baseline.tasks[name].cards.items()):
            if counted.declared.sections and card not in candidate.cards:
                yield f"no {card} scorecard, which the baseline has"


def _differences(candidate: BenchmarkRun, baseline: BenchmarkRun) -> Iterator[str]:
    """What makes two runs incomparable, in words."""
    ours, theirs = candidate.metadata, baseline.metadata
    shared = sorted(candidate.tasks.keys() & baseline.tasks.keys())
    for name in shared:
        before, after = baseline.tasks[name].data, candidate.tasks[name].data
        if before.digest != after.digest:
            what = "data" if name == PHOTOS else name
            told = [f"{data} {data.digest[:12]}" for data in (before, after)]
            yield f"{what}: the baseline is on {told[0]}, this run on {told[1]}"
    if ours.scorer_version != theirs.scorer_version:
        yield f"scorer version: the baseline has {theirs.scorer_version}, this run {ours.scorer_version}"
    for name in sorted(ours.thresholds.keys() | theirs.thresholds.keys()):
        was, now = theirs.thresholds.get(name), ours.thresholds.get(name)
        if was != now:
            yield f"scoring.{name}: the baseline has {was}, this run {now}"
    for name in shared:
        here, there = ({item.id for item in run.tasks[name].items} for run in (candidate, baseline))
        if here != there and baseline.tasks[name].cards:
            yield f"{name}: {len(there - here)} only in the baseline, {len(here - there)} only in this run"


def _sides(rates: ItemRates, items: list[str]) -> dict[str, Sides]:
    """The rates over the given items, in their order."""
    position = {item: row for row, item in enumerate(rates.items)}
    rows = [position[item] for item in items]
    return {name: (above[rows], below[rows]) for name, (above, below) in rates.rates.items()}

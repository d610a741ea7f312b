"""Is this run better than the baseline? One verdict for each gated metric, and one over all: a regression wins.

Runs are compared item by item on the same resamples, and all gated metrics are judged together, so that REGRESSED is a
false alarm at most one time in twenty, however many metrics are gated. A metric that moved by no more than its
tolerance has not moved. Runs that cannot be compared are not: the difference is named instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from harness.results import ItemRates
from harness.runs.archive import BenchmarkRun
from harness.scoring.pairing import PairedRate, judge_together, paired_rates
from harness.scoring.uncertainty import Sides

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
class Gate:
    """The rules by which runs are judged: section -> metric -> rule, as in `number: {f1: ...}`. A strict gate turns
    everything but IMPROVED and WITHIN NOISE into a failure of the command."""

    strict: bool
    metrics: Mapping[str, Mapping[str, Rule]]

    @property
    def rules(self) -> dict[str, Rule]:
        """The rules by metric name."""
        return {f"{section}/{name}": rule for section, rules in self.metrics.items() for name, rule in rules.items()}

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


def judge(gate: Gate, candidate: BenchmarkRun, baseline: BenchmarkRun | None, seed: int = 0) -> Judgement:
    """Judge a run against the baseline."""
    if not candidate.complete:
        return Judgement(Verdict.INCOMPLETE, (candidate.shortfall, *candidate.failures))
    if baseline is None:
        return Judgement(Verdict.NO_BASELINE, ("no run is pinned as the baseline yet",))
    if missing := tuple(_missing(candidate, baseline)):
        return Judgement(Verdict.INCOMPLETE, missing)
    if differences := tuple(_differences(candidate, baseline)):
        return Judgement(Verdict.INCOMPARABLE, differences)
    metrics = tuple(_judge_metrics(gate, candidate, baseline, seed))
    unmeasured = tuple(_unmeasured(gate, candidate, baseline))
    verdicts = {metric.verdict for metric in metrics} | ({Verdict.INCOMPLETE} if unmeasured else set())
    order = (Verdict.REGRESSED, Verdict.INCOMPLETE, Verdict.IMPROVED)
    return Judgement(next((v for v in order if v in verdicts), Verdict.WITHIN_NOISE), unmeasured, metrics)


def paired(candidate: BenchmarkRun, baseline: BenchmarkRun, seed: int = 0) -> dict[str, PairedRate]:
    """Every rate that both runs have, compared over the items that both have."""
    result: dict[str, PairedRate] = {}
    ours, theirs = candidate.rates(), baseline.rates()
    for group in theirs.keys() & ours.keys():
        shared = sorted(set(ours[group].items) & set(theirs[group].items))
        result |= paired_rates(_sides(theirs[group], shared), _sides(ours[group], shared), seed)
    return result


def _judge_metrics(gate: Gate, candidate: BenchmarkRun, baseline: BenchmarkRun, seed: int) -> Iterator[MetricVerdict]:
    rates = paired(candidate, baseline, seed)
    gated = {name: rates[name] for name, rule in gate.rules.items() if name in rates and not rule.informational}
    moved = judge_together(gated, {name: gate.rules[name].sign for name in gated})
    for name, rule in gate.rules.items():
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


def _unmeasured(gate: Gate, candidate: BenchmarkRun, baseline: BenchmarkRun) -> Iterator[str]:
    """Gated metrics that the baseline has and the run has not, as the precision of a run that finds nothing."""
    for name, rule in gate.rules.items():
        if not rule.informational and name in baseline.metrics and name not in candidate.metrics:
            yield f"{name}: nothing to measure it on in this run; the baseline has {baseline.metrics[name]:.4f}"


def _missing(candidate: BenchmarkRun, baseline: BenchmarkRun) -> Iterator[str]:
    """The scorecards that the baseline has and the candidate has not."""
    ours, theirs = ({*run.cards, *(extra.name for extra in run.extras)} for run in (candidate, baseline))
    for name in sorted(theirs - ours):
        yield f"no {name} scorecard, which the baseline has"


def _differences(candidate: BenchmarkRun, baseline: BenchmarkRun) -> Iterator[str]:
    """What makes two runs incomparable, in words."""
    ours, theirs = candidate.metadata, baseline.metadata
    if ours.data_digest != theirs.data_digest:
        sides = [f"{run.data_name} ({run.data_split}) {run.data_digest[:12]}" for run in (theirs, ours)]
        yield f"data: the baseline is on {sides[0]}, this run on {sides[1]}"
    if ours.scorer_version != theirs.scorer_version:
        yield f"scorer version: the baseline has {theirs.scorer_version}, this run {ours.scorer_version}"
    for name in sorted(ours.thresholds.keys() | theirs.thresholds.keys()):
        before, after = theirs.thresholds.get(name), ours.thresholds.get(name)
        if before != after:
            yield f"scoring.{name}: the baseline has {before}, this run {after}"
    data = {extra.name: extra.data_digest for extra in baseline.extras}
    for extra in candidate.extras:
        if data.get(extra.name, extra.data_digest) != extra.data_digest:
            yield f"{extra.name}: the baseline is on {data[extra.name][:12]}, this run on {extra.data_digest[:12]}"
    after_rates, before_rates = candidate.rates(), baseline.rates()
    for group in sorted(after_rates.keys() & before_rates.keys()):
        here, there = set(after_rates[group].items), set(before_rates[group].items)
        if here != there:
            yield f"{group}: {len(there - here)} only in the baseline, {len(here - there)} only in this run"


def _sides(rates: ItemRates, items: list[str]) -> dict[str, Sides]:
    """The rates over the given items, in their order."""
    position = {item: row for row, item in enumerate(rates.items)}
    rows = [position[item] for item in items]
    return {name: (np.array(above)[rows], np.array(below)[rows]) for name, (above, below) in rates.rates.items()}

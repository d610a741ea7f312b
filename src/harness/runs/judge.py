"""Is this run better than the baseline? One verdict for each gated metric, and one over all: a regression wins.

Runs are compared group by group of the same items, and all gated metrics are judged together, so that REGRESSED is a
false alarm about one time in twenty, however many metrics are gated. A metric that moved by no more than its tolerance
has not moved. One that was not shown to move is NO WORSE where a loss of the gate's margin can be excluded, and CANNOT
TELL otherwise. Runs that cannot be compared are not: the difference is named instead. docs/statistics.md has the rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from harness.runs.archive import IDENTITY, PHOTOS, BenchmarkRun, ItemRates, TaskRun
from harness.runs.gate import UNCHANGED, Gate, Judgement, MetricVerdict, Rule, Verdict, all_proven
from harness.scoring.cards import Sides
from harness.scoring.pairing import ALPHA, PairedRate, groups_wanted, judge_together, paired_left_out, paired_rates


def judge(
    gate: Gate,
    candidate: BenchmarkRun,
    baseline: BenchmarkRun | None,
    seed: int = 0,
    *,
    level_better: float = ALPHA,
    level_worse: float = ALPHA,
) -> Judgement:
    """Judge a run against the baseline: IMPROVED and NO WORSE err at `level_better`, REGRESSED at `level_worse`."""
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
    metrics = tuple(_judge_metrics(rules, candidate, baseline, seed, level_better, level_worse))
    unmeasured, new = tuple(_unmeasured(rules, candidate, baseline)), tuple(_new(rules, candidate, baseline))
    verdicts = {metric.verdict for metric in metrics} | ({Verdict.INCOMPLETE} if unmeasured else set())
    verdicts |= {Verdict.CANNOT_TELL} if new else set()
    order = (Verdict.REGRESSED, Verdict.INCOMPLETE, Verdict.IMPROVED, Verdict.CANNOT_TELL, Verdict.NO_WORSE)
    verdict = next((v for v in order if v in verdicts), Verdict.CANNOT_TELL)
    nothing = () if verdicts - {None} else ("no metric is gated",)
    proven = not unmeasured and not new and all_proven(metrics)
    left_out = _not_judged(candidate, baseline)
    return Judgement(verdict, (*unmeasured, *new, *nothing, *left_out), metrics, proven=proven)


def paired(candidate: BenchmarkRun, baseline: BenchmarkRun) -> dict[str, PairedRate]:
    """Every rate that both runs have, compared over the items that both have, and every figure of which both tell what
    it comes to without each group. Their groups are the candidate's; each rate has a place for the groups of every
    task, and the parts of figures have places of their own."""
    tasks: list[dict[str, PairedRate]] = []
    for name in sorted(baseline.tasks.keys() & candidate.tasks.keys()):
        ours, theirs = candidate.tasks[name].rates(), baseline.tasks[name].rates()
        shared = sorted(set(ours.items) & set(theirs.items))
        group = dict(zip(ours.items, ours.groups, strict=True))
        tasks.append(paired_rates(_sides(theirs, shared), _sides(ours, shared), [group[item] for item in shared]))
        tasks.append(_paired_figures(candidate, baseline, name))
    sizes = [len(next(iter(rates.values())).moves) if rates else 0 for rates in tasks]
    return {
        name: rate.placed(sum(sizes[:place]), sum(sizes[place + 1 :]))
        for place, rates in enumerate(tasks)
        for name, rate in rates.items()
    }


def _paired_figures(candidate: BenchmarkRun, baseline: BenchmarkRun, task: str) -> dict[str, PairedRate]:
    ours, theirs = candidate.tasks[task], baseline.tasks[task]
    found = {}
    for name in sorted(ours.left_out.keys() & theirs.left_out.keys()):
        values = (baseline.metrics[name], candidate.metrics[name])
        pair = paired_left_out(values, theirs.left_out[name], ours.left_out[name], len(ours.items))
        if pair is not None:
            found[name] = pair
    return found


def _judge_metrics(
    rules: Mapping[str, Rule],
    candidate: BenchmarkRun,
    baseline: BenchmarkRun,
    seed: int,
    level_better: float,
    level_worse: float,
) -> Iterator[MetricVerdict]:
    rates = paired(candidate, baseline)
    gated = {name: rates[name] for name, rule in rules.items() if name in rates and not rule.informational}
    moved = judge_together(gated, {name: rules[name].sign for name in gated}, level_better, level_worse, seed)
    same = set(_unchanged(candidate, baseline))
    nouns = {
        name: task.noun
        for task in candidate.tasks.values()
        for card in task.cards.values()
        for name in card.declared.metrics
    }
    for name, rule in rules.items():
        if name in rates:
            judged = _Judged(rates[name], rule, len(gated), level_better, level_worse)
            yield replace(judged.verdict(name, moved.get(name), name in same), noun=nouns[name])
        elif name in candidate.metrics and name in baseline.metrics:
            told = _by_tolerance(name, rule, baseline.metrics[name], candidate.metrics[name])
            scattered = next((task for task in candidate.tasks.values() if name in task.intervals), None)
            settled = rule.informational or (name in same and not told.gain)
            yield told if scattered is None or settled else _unpaired(told, rule, scattered)


def _unchanged(candidate: BenchmarkRun, baseline: BenchmarkRun) -> Iterator[str]:
    """The metrics whose predictions come from the same stages in both runs. One key for both covers all stages."""
    again = bool(candidate.metadata.key) and candidate.metadata.key == baseline.metadata.key
    for name in candidate.tasks.keys() & baseline.tasks.keys():
        ours = candidate.tasks[name]
        for card in ours.cards if again else ours.made_as(baseline.tasks[name]):
            yield from ours.cards[card].declared.metrics


def _by_tolerance(name: str, rule: Rule, before: float, after: float) -> MetricVerdict:
    """A metric that is not made of items: what moved by more than the tolerance has moved."""
    gain = rule.sign * (after - before)
    if rule.informational:
        verdict = None
    elif abs(gain) <= rule.tolerance(before):
        verdict = Verdict.NO_WORSE
    else:
        verdict = Verdict.IMPROVED if gain > 0 else Verdict.REGRESSED
    return MetricVerdict(name, before, after, gain, None, None, None, verdict)


def _unpaired(told: MetricVerdict, rule: Rule, task: TaskRun) -> MetricVerdict:
    """A figure over items that is not known without each group in both runs, as average precision where all targets
    are in one group: that it moved by more than its tolerance shows nothing."""
    note = "it is not known without the same groups in both runs"
    return replace(
        told,
        verdict=Verdict.CANNOT_TELL,
        items=len(task.items),
        noun=task.noun,
        unseen=1.0,
        margin=rule.margin,
        note=note,
    )


@dataclass(frozen=True)
class _Judged:
    """A rate with the rule that it is judged by, one of so many that are judged `together`."""

    rate: PairedRate
    rule: Rule
    together: int
    level_better: float
    level_worse: float

    def verdict(self, name: str, moved: int | None, same: bool) -> MetricVerdict:
        """What it did. `moved` is which way it was shown to move, None where that was not asked; `same` says that the
        stages behind it are the same in both runs."""
        rate, sign = self.rate, self.rule.sign
        low, high = sorted(sign * end for end in ends) if (ends := rate.interval()) else (None, None)
        told = MetricVerdict(
            name, rate.baseline, rate.candidate, sign * rate.delta, low, high, rate.items, None, rate.groups
        )
        if moved is None:
            return told
        verdict, note = self._decided(moved, told.gain, same and not rate.moved)
        return replace(
            told,
            verdict=verdict,
            moved=rate.moved,
            unseen=rate.smallest_loss(self.together, self.level_worse),
            margin=self.rule.margin,
            needed=rate.items_needed(self.rule.margin, self.together, self.level_worse),
            note=note,
        )

    def _decided(self, moved: int, gain: float, unchanged: bool) -> tuple[Verdict, str]:
        if unchanged:
            return Verdict.NO_WORSE, UNCHANGED
        within = abs(gain) <= self.rule.tolerance(self.rate.baseline)
        if moved and not within:
            return (Verdict.IMPROVED if moved > 0 else Verdict.REGRESSED), self._by_signs(moved)
        proven = self.rate.no_worse(self.rule.margin, self.rule.sign, self.level_better)
        return (Verdict.NO_WORSE if proven else Verdict.CANNOT_TELL), self._note(moved, gain)

    def _by_signs(self, moved: int) -> str:
        """Why a change is shown whose interval does not say so."""
        low, high = self.rate.interval() or (1.0, 1.0)
        if not low < 0 < high:
            return ""
        same = int(np.count_nonzero(self.rule.sign * moved * self.rate.moves > 0))
        way = "better" if moved > 0 else "worse"
        told = f"{same} of the {self.rate.moved} groups that moved did so for the {way}, which is more than chance does"
        return f"{told}; most of them moved it by little, so that the interval does not show it"

    def _note(self, moved: int, gain: float) -> str:
        if moved < 0:
            tolerance = self.rule.tolerance(self.rate.baseline)
            return f"a loss of {-gain:.4f} is shown; it is within the tolerance of {tolerance:.4f}"
        moves = self.rate.moves[self.rate.moves != 0]
        wanted = groups_wanted(self.level_better if gain > 0 else self.level_worse)
        if 0 < len(moves) < wanted and abs(np.sign(moves).sum()) == len(moves):
            way = "better" if gain > 0 else "worse"
            few = f"{len(moves)} group{'' if len(moves) == 1 else 's'} moved, all for the {way}"
            return f"{few}; fewer than {wanted} are no proof"
        return ""


def _unmeasured(rules: Mapping[str, Rule], candidate: BenchmarkRun, baseline: BenchmarkRun) -> Iterator[str]:
    """Gated metrics that the baseline has and the run has not, as the precision of a run that finds nothing."""
    for name, rule in rules.items():
        if not rule.informational and name in baseline.metrics and name not in candidate.metrics:
            yield f"{name}: nothing to measure it on in this run, while the baseline has it"


def _new(rules: Mapping[str, Rule], candidate: BenchmarkRun, baseline: BenchmarkRun) -> Iterator[str]:
    """Gated metrics that the run has and the baseline has not: whoever found nothing had no precision, and whoever
    finds nothing but what is not there has a bad one."""
    for name, rule in rules.items():
        if not rule.informational and name in candidate.metrics and name not in baseline.metrics:
            yield f"{name}: the baseline has nothing to measure it on, so that it is not judged"


def _missing(candidate: BenchmarkRun, baseline: BenchmarkRun) -> Iterator[str]:
    """The tasks that the baseline has and the candidate has not, and likewise the scorecards that are shown. One that
    is only logged, such as that of a single method of tables, may come and go."""
    for name in sorted(baseline.tasks.keys() - candidate.tasks.keys() - _not_predicted(candidate)):
        yield f"no {name} scorecard, which the baseline has"
    for name in sorted(baseline.tasks.keys() & candidate.tasks.keys()):
        for card, counted in sorted(baseline.tasks[name].cards.items()):
            if counted.declared.sections and card not in candidate.cards:
                yield f"no {card} scorecard, which the baseline has"


def _not_predicted(candidate: BenchmarkRun) -> set[str]:
    """The tasks that a run cannot have: predictions from a file say where faces are, and not whose."""
    return {IDENTITY} if candidate.metadata.config.get("pipeline") == "file" else set()


def _not_judged(candidate: BenchmarkRun, baseline: BenchmarkRun) -> Iterator[str]:
    """What the baseline has and the run cannot have."""
    for name in sorted((baseline.tasks.keys() - candidate.tasks.keys()) & _not_predicted(candidate)):
        yield f"{name} is not judged: predictions from a file recognise nobody"


def _differences(candidate: BenchmarkRun, baseline: BenchmarkRun) -> Iterator[str]:
    """What makes two runs incomparable, in words."""
    ours, theirs = candidate.metadata, baseline.metadata
    shared = sorted(candidate.tasks.keys() & baseline.tasks.keys())
    known: set[tuple[str, str]] = set()
    for name in sorted(shared, key=lambda name: (name != PHOTOS, name)):  # others may be on the same photos
        before, after = baseline.tasks[name].data, candidate.tasks[name].data
        if before.digest != after.digest and (before.digest, after.digest) not in known:
            known.add((before.digest, after.digest))
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

"""What a list can tell of a judged run without reading it: gains beside the baseline, and what decided the verdict.

Gains are those that the run was logged with. They are told only while the run that they are about is a baseline.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from math import isnan

from harness.runs.gate import CLAIMS, Verdict
from harness.scoring.speed import RUNTIME
from harness.tracking.entries import RunEntry

#: Where the next metric begins in what was told of several.
_NEXT_METRIC = re.compile(r"; (?=[\w.]+/[\w.]+: )")


@dataclass(frozen=True)
class Delta:
    """How far a metric moved: above zero is better. `mark` says what the colour of `tone` says, and `words` both."""

    text: str
    tone: str
    mark: str
    words: str
    #: The metric that it is about, where it is not the one that it stands beside.
    name: str = ""


def is_compared(run: RunEntry, baselines: Collection[str]) -> bool:
    """Whether the gains of a run are about a present baseline, which it is not itself."""
    return not run.pinned and run.judged_against in baselines and run.verdict.partition(", ")[0] in CLAIMS


def delta_of(run: RunEntry, metric: str, baseline: RunEntry | None, baselines: Collection[str]) -> Delta | None:
    """The gain of a rate; None where there is none to tell. Only what the gate calls moved has a colour. For a headline
    that the gate does not look at it is the worst of those beside it that moved, as `recall` beside an F1; or else the
    plain difference to the baseline, without a mark: nobody said which way is better."""
    if not is_compared(run, baselines):
        return None
    gain = _gain(run, metric)
    if gain is None:
        beside = _moved_beside(run, metric)
        return _judged(run, beside, beside.rpartition("/")[2]) if beside else _difference(run, metric, baseline)
    return _judged(run, metric)


def _judged(run: RunEntry, metric: str, name: str = "") -> Delta:
    gain = _gain(run, metric)
    assert gain is not None
    points = round(100 * gain, 1)
    if not points:
        return Delta("0.0", "even", "=", f"{metric} is unchanged", name)
    said, better = run.metric_verdicts.get(metric), points > 0
    text, way = f"{'+' if better else '−'}{abs(points):.1f}", "better" if better else "worse"
    if said in (Verdict.REGRESSED, Verdict.IMPROVED):
        told = f"{metric} is {way}, by more than chance"
        return Delta(text, "good" if better else "bad", "▲" if better else "▼", told, name)
    return Delta(text, "even", "△" if better else "▽", f"{metric} is {way}, which may be chance", name)


def _moved_beside(run: RunEntry, metric: str) -> str | None:
    """The metric of the same section, and no headline itself, that moved most to the worse."""
    section = metric.partition("/")[0]
    moved = [name for name in _decisive(run) if name.partition("/")[0] == section and name not in run.headlines]
    return next((name for name in moved if _gain(run, name) is not None), None)


def _difference(run: RunEntry, metric: str, baseline: RunEntry | None) -> Delta | None:
    if baseline is None or run.judged_against != baseline.run_id:
        return None
    points = 100 * (run.metrics.get(metric, float("nan")) - baseline.metrics.get(metric, float("nan")))
    if isnan(points):
        return None
    points = round(points, 1)
    text = f"{'+' if points > 0 else '−' if points < 0 else ''}{abs(points):.1f}"
    return Delta(text, "even", "", "beside the baseline; not judged")


def _gain(run: RunEntry, metric: str) -> float | None:
    gain = run.metrics.get(f"delta/{metric.replace('/', '_')}")
    return None if gain is None or isnan(gain) else gain


def moves(run: RunEntry) -> tuple[str, ...]:
    """The metrics that decided the verdict, in words, those that got worse first."""
    return tuple(_move(run, name) for name in _decisive(run))


def _decisive(run: RunEntry) -> list[str]:
    decisive = [name for name, said in run.metric_verdicts.items() if said in (Verdict.REGRESSED, Verdict.IMPROVED)]
    return sorted(decisive, key=lambda name: (run.metric_verdicts[name] == Verdict.IMPROVED, _gain(run, name) or 0.0))


def _move(run: RunEntry, metric: str) -> str:
    gain = _gain(run, metric)
    way = "worse" if run.metric_verdicts[metric] == Verdict.REGRESSED else "better"
    if gain is None:
        return f"{metric} is {way}"
    by = f"{abs(gain):.2f}" if metric.startswith(RUNTIME) else f"{100 * abs(gain):.1f} points"
    return f"{metric} is {way} by {by}"


def undecided(run: RunEntry) -> tuple[str, ...]:
    """The gated metrics of which a loss can be neither shown nor excluded."""
    return tuple(name for name, said in run.metric_verdicts.items() if said == Verdict.CANNOT_TELL)


def unseen_of(run: RunEntry) -> list[str]:
    """What could not be seen, metric by metric."""
    return _NEXT_METRIC.split(run.unseen) if run.unseen else []

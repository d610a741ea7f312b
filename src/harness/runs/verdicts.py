"""A judgement in words: for a terminal, and as Markdown for MLflow and for a pull request."""

from __future__ import annotations

from harness.base.texts import aligned
from harness.runs.gate import Judgement, MetricVerdict, Verdict

NAMES = ("metric", "baseline", "this run", "gain", "95 % interval", "verdict")

MEANINGS = {
    Verdict.IMPROVED: "Better than the baseline by more than tolerance and chance, and worse in no gated metric.",
    Verdict.REGRESSED: "Worse than the baseline in a gated metric, by more than tolerance and chance explain.",
    Verdict.WITHIN_NOISE: "No gated metric moved by more than tolerance and chance explain.",
    Verdict.INCOMPARABLE: "The run and the baseline do not measure the same, so their numbers are not compared.",
    Verdict.INCOMPLETE: "Something is missing, so the run is not judged.",
    Verdict.NO_BASELINE: "The run is not judged: there is nothing to judge it against.",
}
#: How a page shows a verdict: its tone, and the sign that says the same without colour.
TONES = {
    Verdict.IMPROVED: ("good", "▲"),
    Verdict.REGRESSED: ("bad", "▼"),
    Verdict.WITHIN_NOISE: ("even", "≈"),
    Verdict.INCOMPARABLE: ("warn", "≠"),
    Verdict.INCOMPLETE: ("warn", "!"),
    Verdict.NO_BASELINE: ("even", "–"),
}


def moved(judgement: Judgement) -> list[str]:
    """The metrics that moved, in words, as in `face/recall fell from 95.0% to 61.2%`; those that got worse first."""
    rows = [item for item in judgement.metrics if item.verdict in (Verdict.REGRESSED, Verdict.IMPROVED)]
    rows.sort(key=lambda item: item.verdict is Verdict.IMPROVED)
    return [
        f"{item.metric} {'rose' if item.candidate > item.baseline else 'fell'} "
        f"from {item.baseline:.1%} to {item.candidate:.1%}"
        for item in rows
    ]


def text_judgement(judgement: Judgement) -> str:
    """For a terminal."""
    lines = [f"Verdict: {judgement.verdict}", *(f"  {reason}" for reason in judgement.reasons)]
    if judgement.metrics:
        lines += ["", *aligned([NAMES, *(_cells(item) for item in judgement.metrics)])]
    return "\n".join(lines)


def markdown_judgement(judgement: Judgement) -> str:
    """For MLflow's description of a run, or a comment on a pull request."""
    lines = [f"**Verdict: {judgement.verdict}**", *(f"- {reason}" for reason in judgement.reasons)]
    if judgement.metrics:
        rows = [NAMES, ("---", "---:", "---:", "---:", "---", "---"), *(_cells(item) for item in judgement.metrics)]
        lines += ["", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines)


def _cells(item: MetricVerdict) -> tuple[str, ...]:
    known = item.low is not None and item.high is not None
    interval = f"[{item.low:+.4f}, {item.high:+.4f}]" if known else ""
    verdict = str(item.verdict or "for information")
    return (item.metric, f"{item.baseline:.4f}", f"{item.candidate:.4f}", f"{item.gain:+.4f}", interval, verdict)

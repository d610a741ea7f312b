"""A judgement in words: for a terminal, and as Markdown for MLflow and for a pull request."""

from __future__ import annotations

from harness.gate import Judgement, MetricVerdict
from harness.text_tables import aligned

NAMES = ("metric", "baseline", "this run", "gain", "95 % interval", "verdict")


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

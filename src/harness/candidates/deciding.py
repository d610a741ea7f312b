"""KEEP, DISCARD or CANNOT TELL, and why: pure rules on what was measured."""

from __future__ import annotations

from collections.abc import Sequence

from harness.base.texts import one_line
from harness.candidates.scorer import Scored
from harness.candidates.tries import Answer
from harness.runs.gate import Verdict
from harness.scoring.selection import Finding

Decision = tuple[Answer, str]


def failed(limit: str, wrong: str) -> Decision | None:
    """A candidate that came to no predictions."""
    if limit or wrong:
        return Answer.DISCARD, limit or wrong
    return None


def decide(metric: str, scored: Scored, broken: Sequence[str]) -> Decision:
    """What is said of a candidate whose predictions were scored; `broken` are the constraints that it breaks."""
    if scored.bad:
        return Answer.DISCARD, f"its predictions cannot be scored: {one_line(scored.bad)}"
    if scored.verdict == Verdict.INCOMPLETE:
        return Answer.DISCARD, f"incomplete: {'; '.join(map(one_line, scored.reasons))}"
    if scored.verdict == Verdict.REGRESSED:
        worse = [item["metric"] for item in scored.metrics if item["verdict"] == Verdict.REGRESSED]
        return Answer.DISCARD, f"worse than the base: {', '.join(worse) or 'a gated metric'}"
    if broken:
        return Answer.DISCARD, f"breaks a constraint: {'; '.join(broken)}"
    among = f"as try {scored.tries} beside this base it has to be shown at {scored.level:.2%}"
    if scored.objective == Verdict.IMPROVED and scored.finding != Finding.NOTHING:
        return Answer.KEEP, f"{metric} is better by more than chance explains"
    if scored.objective == Verdict.IMPROVED:
        return Answer.CANNOT_TELL, f"{metric} is no longer shown to be better once all tries are counted"
    told = f"that {metric} is better is not shown"
    if scored.tries:
        told += f"; {among}"
    seen = [text for text in scored.unseen if text.startswith(f"{metric}:")]
    return Answer.CANNOT_TELL, "; ".join([told, *seen])

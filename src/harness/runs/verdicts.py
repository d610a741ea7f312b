"""A judgement in words: for a terminal, and as Markdown for MLflow and for a pull request."""

from __future__ import annotations

from harness.base.texts import aligned, counted
from harness.runs.gate import Judgement, MetricVerdict, Verdict

#: A loss below the figure of the last but one column would have been missed in more than one of five cases.
NAMES = ("metric", "baseline", "this run", "gain", "95 % interval", "unseen below", "verdict")

MEANINGS = {
    Verdict.IMPROVED: "Better than the baseline by more than tolerance and chance, and worse in no gated metric.",
    Verdict.REGRESSED: "Worse than the baseline in a gated metric, by more than tolerance and chance explain.",
    Verdict.NO_WORSE: "Nothing moved by more than tolerance and chance explain, and a loss of the margin is excluded.",
    Verdict.CANNOT_TELL: "No change was shown, and in at least one gated metric a loss of the margin is not excluded.",
    Verdict.INCOMPARABLE: "The run and the baseline do not measure the same, so their numbers are not compared.",
    Verdict.INCOMPLETE: "Something is missing, so the run is not judged.",
    Verdict.NO_BASELINE: "The run is not judged: there is nothing to judge it against.",
    Verdict.BASELINE: "The run is the one that others on these data are judged against.",
}
#: How a page shows a verdict: its tone, and the sign that says the same without colour.
TONES = {
    Verdict.IMPROVED: ("good", "▲"),
    Verdict.REGRESSED: ("bad", "▼"),
    Verdict.NO_WORSE: ("even", "≈"),
    Verdict.CANNOT_TELL: ("warn", "?"),
    Verdict.INCOMPARABLE: ("warn", "≠"),
    Verdict.INCOMPLETE: ("warn", "!"),
    Verdict.NO_BASELINE: ("even", "–"),
    Verdict.BASELINE: ("even", "◆"),
}


def ranked(judgement: Judgement) -> list[MetricVerdict]:
    """The metrics in the order in which a reader looks for them: those that got worse, the worst first, those that got
    better, those of which it cannot be told, the others; what is shown for information comes last."""
    return sorted(judgement.metrics, key=lambda item: (_RANKS.index(item.verdict), item.gain))


_RANKS = (Verdict.REGRESSED, Verdict.IMPROVED, Verdict.CANNOT_TELL, Verdict.NO_WORSE, None)


def _moved(judgement: Judgement) -> list[MetricVerdict]:
    return [item for item in ranked(judgement) if item.verdict in (Verdict.REGRESSED, Verdict.IMPROVED)]


def moved(judgement: Judgement) -> list[str]:
    """The metrics that moved, in words, as in `face/recall fell from 95.0% to 61.2%`; those that got worse first."""
    return [
        f"{item.metric} {'rose' if item.candidate > item.baseline else 'fell'} "
        f"from {item.baseline:.1%} to {item.candidate:.1%}"
        for item in _moved(judgement)
    ]


def moved_points(judgement: Judgement) -> str:
    """The same for a column: `▼ face/recall -33.8, ▲ number/f1 +2.1`, in points and plus is better."""
    rows = [(TONES[item.verdict][1], item) for item in _moved(judgement) if item.verdict]
    return ", ".join(f"{sign} {item.metric} {_points(item)}" for sign, item in rows)


def _points(item: MetricVerdict) -> str:
    return f"{100 * item.gain:+.1f}" if item.items else f"{item.gain:+.2f}"


def verdict_line(judgement: Judgement, against: str = "") -> str:
    """The verdict in one line of Markdown: `against` what, the two metrics that moved most, or why none is shown to
    have moved."""
    return f"**{TONES[judgement.verdict][1]} {judgement.said}** {against}".rstrip() + f": {_in_short(judgement)}"


def _in_short(judgement: Judgement) -> str:
    rows = [f"{item.metric} {item.baseline:.1%} → {item.candidate:.1%}" for item in _moved(judgement)]
    if rows:
        return ", ".join(rows[:2]) + (f" and {len(rows) - 2} more" if len(rows) > 2 else "")
    if judgement.open:
        named = [item.metric for item in judgement.open]
        return (
            f"no change was shown; a loss could go unseen in {named[0] if len(named) == 1 else f'{len(named)} metrics'}"
        )
    return next(iter(reasons(judgement)), MEANINGS[judgement.verdict])


def notes(judgement: Judgement) -> list[str]:
    """What the table does not say: why a metric was called so, and what could not be seen. Metrics of which the same is
    said share a line, as in `number/f1, bib/f1: a loss of 0.0500 cannot be excluded`."""
    said = [(item.metric, item.note) for item in judgement.metrics if item.note]
    said += [(item.metric, _unseen(item)) for item in judgement.open]
    metrics: dict[str, list[str]] = {}
    for metric, words in said:
        metrics.setdefault(words, []).append(metric)
    return [f"{', '.join(names)}: {words}" for words, names in metrics.items()]


def unseen(judgement: Judgement) -> list[str]:
    """The losses that could have gone unseen, in words, and how many photos it takes to see them."""
    return [f"{item.metric}: {_unseen(item)}" for item in judgement.open]


def _unseen(item: MetricVerdict) -> str:
    rough = f" (rough: {counted(item.groups or 0, 'group')})" if item.rough else ""
    lost = "any loss" if item.blind else f"one below {item.unseen:.4f}"
    still = "nothing moved on these items, but " if item.moved == 0 else ""
    told = f"{still}a loss of {item.margin:.4f} cannot be excluded; {lost} could go unseen{rough}"
    if item.needed is None or item.items is None or item.needed <= item.items:
        return told
    return f"{told}; to see {item.margin:.4f} takes about {counted(item.needed, item.noun)}"


def text_judgement(judgement: Judgement) -> str:
    """For a terminal."""
    lines = [f"Verdict: {judgement.said}", *(f"  {reason}" for reason in reasons(judgement))]
    if judgement.metrics:
        lines += ["", *aligned([NAMES, *(_cells(item) for item in judgement.metrics)])]
    if told := notes(judgement):
        lines += ["", *told]
    return "\n".join(lines)


def markdown_judgement(judgement: Judgement) -> str:
    """For MLflow's description of a run, or a comment on a pull request."""
    lines = [f"**Verdict: {judgement.said}**", *(f"- {reason}" for reason in reasons(judgement))]
    if judgement.metrics:
        rules = ("---", "---:", "---:", "---:", "---", "---:", "---")
        rows = [NAMES, rules, *(_cells(item) for item in judgement.metrics)]
        lines += ["", *(f"| {' | '.join(row)} |" for row in rows)]
    if told := notes(judgement):
        lines += ["", *(f"- {line}" for line in told)]
    return "\n".join(lines)


def reasons(judgement: Judgement) -> tuple[str, ...]:
    """Why there is no better verdict and, on a holdout, which look it is."""
    return (*judgement.reasons, judgement.look) if judgement.look else judgement.reasons


def _cells(item: MetricVerdict) -> tuple[str, ...]:
    known = item.low is not None and item.high is not None
    interval = f"[{item.low:+.4f}, {item.high:+.4f}]" if known else ""
    seen = "" if item.unseen is None else "any" if item.blind else f"{'~' if item.rough else ''}{item.unseen:.4f}"
    verdict = str(item.verdict or "for information")
    values = (f"{item.baseline:.4f}", f"{item.candidate:.4f}", f"{item.gain:+.4f}")
    return (item.metric, *values, interval, seen, verdict)

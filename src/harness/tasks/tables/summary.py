"""An evaluation of tables in words and numbers, for the terminal and for JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from harness.scoring import Interval, ItemCounts, format_scorecard
from harness.tasks.tables.evaluation import Attempt, TableEvaluation
from harness.tasks.tables.rates import Means, best_single, gains, mean_rates, metrics

#: Tables that the terminal lists, worst first.
LISTED = 10

_HEADINGS = {
    "fuzzy_f1": "fuzzy F1",
    "fuzzy_precision": "precision",
    "fuzzy_recall": "recall",
    "coverage": "coverage",
    "structural_coverage": "comparable",
    "cell_accuracy": "of these right",
    "teds": "TEDS",
    "grits_content": "GriTS",
}


def totals(evaluation: TableEvaluation) -> str:
    """How much was evaluated."""
    methods = ", ".join(evaluation.methods)
    failed = f", {len(evaluation.failed)} not evaluated" if evaluation.failed else ""
    return (
        f"{_number(len(evaluation.tables), 'table')}, {_number(len(evaluation.methods), 'method')}: {methods}{failed}"
    )


def percent(value: float) -> str:
    """A rate that is in per cent already. What is not quite 100 does not read 100."""
    return "99.9%" if 99.95 <= value < 100 else f"{value:.1f}%"


def method_lines(evaluation: TableEvaluation, means: Means) -> list[tuple[str, ...]]:
    """A table of methods: a heading, a line a method and, where there are several, what combining them gives."""
    several = len(evaluation.methods) > 1
    lines: list[tuple[str, ...]] = [("method", *_HEADINGS.values(), "wins", "unmatched")]
    for method in evaluation.methods:
        suffix = f"_{method}" if several else ""
        wins = _shown(means, f"table/win_rate_{method}")
        lines.append((method, *_scores(means, suffix), wins, str(evaluation.unmatched[method])))
    if several:
        lines.append(("combined", *_scores(means, ""), "", ""))
        lines.append(("best of each", _shown(means, "table/oracle_f1"), *[""] * (len(_HEADINGS) + 1)))
    return lines


def format_tables(
    evaluation: TableEvaluation, cards: Mapping[str, ItemCounts], spread: Mapping[str, Interval], note: str = ""
) -> str:
    """The scorecard and what is told beyond it, for a terminal."""
    card = format_scorecard(*(card.total() for card in cards.values()), intervals=spread)
    return f"{card}\n\n{method_text(evaluation, mean_rates(cards), note)}"


def method_text(evaluation: TableEvaluation, means: Means, note: str = "") -> str:
    """What is told beyond the scorecard: method by method, what combining gains, and the worst tables."""
    notes = "; ".join(filter(None, (totals(evaluation), note)))
    lines = [f"Methods  ({notes})", *_aligned(method_lines(evaluation, means))]
    if best := best_single(evaluation, means):
        found = gains(evaluation, means)
        gain = f"combined {found['table/combine_gain'] * 100:+.1f} points over {best} alone"
        lines += ["", f"  {gain}; the best of each table would be {found['table/oracle_gain'] * 100:+.1f}"]
    if evaluation.tables:
        lines += ["", *_aligned(_worst(evaluation))]
    lines += [f"  {line}" for line in failure_lines(evaluation)]
    lines += [f"  not evaluated: {item.table.id}: {item.reason}" for item in evaluation.failed]
    return "\n".join(lines)


def failure_lines(evaluation: TableEvaluation) -> list[str]:
    """Which methods failed where others did not: they score 0 there."""
    failures = [attempt for method in evaluation.methods for attempt in evaluation.failures(method)]
    tables = Counter(attempt.failure for attempt in failures)
    return [f"scored as 0 on {_number(count, 'table')}: {reason}" for reason, count in tables.items()]


def attempt_score(attempt: Attempt, missing: str = "none") -> str:
    """The fuzzy F1 of a method on a table, or why there is none."""
    return percent(attempt.quality_score) if attempt.extraction else "failed" if attempt.failure else missing


def to_dict(evaluation: TableEvaluation, cards: Mapping[str, ItemCounts]) -> dict[str, Any]:
    """All of it as plain data: the means, and for each table every method's comparison."""
    means = mean_rates(cards)
    return {
        "methods": list(evaluation.methods),
        "metrics": {**means, "count/tables": len(evaluation.tables), **metrics(evaluation, means)},
        "tables": [
            {
                "table_id": scored.table.id,
                "taken": scored.chosen.method if scored.chosen.extraction else None,
                "methods": {
                    attempt.method: {
                        "extracted": attempt.extraction is not None,
                        "failed": attempt.failure or None,
                        "quality_score": attempt.quality_score,
                        "win_share": share,
                        "similarity": asdict(attempt.similarity) if attempt.similarity else None,
                        "comparison": attempt.comparison.to_dict(),
                    }
                    for attempt, share in zip(scored.attempts, scored.wins, strict=True)
                },
            }
            for scored in evaluation.tables
        ],
        "failed": {item.table.id: item.reason for item in evaluation.failed},
    }


def _worst(evaluation: TableEvaluation) -> list[tuple[str, ...]]:
    ranked = sorted(evaluation.tables, key=lambda table: table.chosen.quality_score)
    lines = [("table", *evaluation.methods, "taken")]
    for scored in ranked[:LISTED]:
        scores = map(attempt_score, scored.attempts)
        lines.append((scored.table.id, *scores, scored.chosen.method if scored.chosen.extraction else "none"))
    if len(ranked) > LISTED:
        lines.append((f"and {len(ranked) - LISTED} better ones", *[""] * (len(evaluation.methods) + 1)))
    return lines


def _scores(means: Means, suffix: str) -> tuple[str, ...]:
    return tuple(_shown(means, f"table/{name}{suffix}") for name in _HEADINGS)


def _shown(means: Means, name: str) -> str:
    return percent(means[name] * 100) if name in means else "n/a"


def _aligned(lines: list[tuple[str, ...]]) -> list[str]:
    """Columns below each other: the first to the left, the others to the right."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    others = [zip(line[1:], widths[1:], strict=True) for line in lines]
    right = ["  ".join(f"{text:>{width}}" for text, width in cells) for cells in others]
    return [f"  {line[0]:<{widths[0]}}  {rest}".rstrip() for line, rest in zip(lines, right, strict=True)]


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"

"""What an evaluation of tables comes to: its scorecards table by table, and the means that are shown and logged.

The rates without a method's name are those of the combined result, which is what a user of the methods would get.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from harness.scoring import Declaration, Interval, ItemCounts, Tally, intervals
from harness.scoring.table_card import TableScorecard, declare_tables
from harness.tasks.tables.evaluation import Attempt, ScoredTable, TableEvaluation

#: Mean rates by metric name.
Means = Mapping[str, float]


def declared(methods: Sequence[str]) -> tuple[Declaration, ...]:
    """The scorecards of these methods: the combined one and, where there are several, one for each."""
    each = [declare_tables(method) for method in methods] if len(methods) > 1 else []
    return (declare_tables(several=len(methods) > 1), *each)


def score_cards(evaluation: TableEvaluation) -> dict[str, ItemCounts]:
    """Every scorecard table by table, by its name."""
    combined, *each = declared(evaluation.methods)
    cards = {combined.name: _tally([_combined(table) for table in evaluation.tables], combined)}
    for position, card in enumerate(each):
        cards[card.name] = _tally([_attempt(table, position) for table in evaluation.tables], card)
    return cards


def mean_rates(cards: Mapping[str, ItemCounts]) -> Means:
    """The mean of each rate; one without a denominator is left out."""
    totals = [card.total() for card in cards.values()]
    return {
        rate.metric: total.value(rate)
        for total in totals
        for rate in total.declared.rates.values()
        if total.denominator(rate)
    }


def table_groups(evaluation: TableEvaluation) -> list[str]:
    """The group of each table: tables of one PDF are alike. One that names no PDF is its own."""
    return [scored.table.pdf or "" for scored in evaluation.tables]


def table_intervals(cards: Mapping[str, ItemCounts], groups: Sequence[str]) -> dict[str, Interval]:
    """A 95 % interval for each rate."""
    return {metric: found for card in cards.values() for metric, found in intervals(card, groups).items()}


def gains(evaluation: TableEvaluation, means: Means) -> dict[str, float]:
    """What combining the methods gains over the best of them, and what always knowing the best one would."""
    best = best_single(evaluation, means)
    if best is None:
        return {}
    single = means[f"table/fuzzy_f1_{best}"]
    combined, oracle = means["table/fuzzy_f1"], means["table/oracle_f1"]
    return {"table/combine_gain": combined - single, "table/oracle_gain": oracle - single}


def metrics(evaluation: TableEvaluation, means: Means) -> dict[str, float]:
    """What is logged beside the scorecards."""
    unmatched = {f"count/tables_unmatched_{method}": float(n) for method, n in evaluation.unmatched.items()}
    failed = {"count/tables_failed": float(len(evaluation.failed))}
    failed |= {
        f"count/tables_failed_{method}": float(len(evaluation.failures(method))) for method in evaluation.methods
    }
    return gains(evaluation, means) | failed | unmatched


def best_single(evaluation: TableEvaluation, means: Means) -> str | None:
    """The method with the best mean F1, the first of equals; None where there is nothing to choose."""
    if len(evaluation.methods) < 2 or not evaluation.tables:
        return None
    return max(evaluation.methods, key=lambda method: means[f"table/fuzzy_f1_{method}"])


def _tally(cards: Sequence[TableScorecard], card: Declaration) -> ItemCounts:
    return Tally.of_cards(TableScorecard, cards).items(card)


def _combined(table: ScoredTable) -> TableScorecard:
    return _card(table.chosen, oracle_f1=table.best_score / 100)


def _attempt(table: ScoredTable, position: int) -> TableScorecard:
    """A table that no method scores on has no winner, and does not count."""
    return _card(table.attempts[position], wins=table.wins[position], winnable=int(table.best_score > 0))


def _card(attempt: Attempt, wins: float = 0.0, winnable: int = 0, oracle_f1: float = 0.0) -> TableScorecard:
    compared = attempt.comparison
    comparable = compared.comparable_cells > 0
    similarity = attempt.similarity
    return TableScorecard(
        tables=1,
        extracted=int(attempt.extraction is not None),
        comparable=int(comparable),
        winnable=winnable,
        sized=int(similarity is not None),
        fuzzy_f1=compared.fuzzy_accuracy_pct / 100,
        fuzzy_precision=compared.fuzzy_precision_pct / 100,
        fuzzy_recall=compared.fuzzy_recall_pct / 100,
        structural_coverage=compared.structural_coverage_pct / 100,
        cell_accuracy=compared.cell_accuracy_pct / 100 if comparable else 0.0,
        wins=wins,
        oracle_f1=oracle_f1,
        **(asdict(similarity) if similarity else {}),
    )

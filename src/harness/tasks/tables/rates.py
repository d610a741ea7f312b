"""What an evaluation of tables comes to: rates table by table, so that runs can be paired, and their means.

Rates are macro means: each table counts the same, however many cells it has. The rates without a method's name are
those of the combined result, which is what a user of the methods would get.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from harness.results import ItemRates
from harness.scoring.uncertainty import Interval, rate_intervals
from harness.tasks.tables.evaluation import Attempt, ScoredTable, TableEvaluation

Sides = tuple[tuple[float, ...], tuple[float, ...]]

#: Rates of an attempt, as a share of 1.
_SCORES: Mapping[str, Callable[[Attempt], float]] = {
    "fuzzy_f1": lambda attempt: attempt.comparison.fuzzy_accuracy_pct / 100,
    "fuzzy_precision": lambda attempt: attempt.comparison.fuzzy_precision_pct / 100,
    "fuzzy_recall": lambda attempt: attempt.comparison.fuzzy_recall_pct / 100,
    "coverage": lambda attempt: float(attempt.extraction is not None),
    "structural_coverage": lambda attempt: attempt.comparison.structural_coverage_pct / 100,
}


def item_rates(evaluation: TableEvaluation) -> ItemRates:
    """All rates, table by table. One without a denominator on any table is left out."""
    tables = evaluation.tables
    rates = _attempt_rates("", [table.chosen for table in tables])
    if len(evaluation.methods) > 1:
        for position, method in enumerate(evaluation.methods):
            rates |= _attempt_rates(f"_{method}", [table.attempts[position] for table in tables])
            rates[f"table/win_rate_{method}"] = _wins(tables, position)
        rates["table/oracle_f1"] = _mean([table.best_score / 100 for table in tables])
    known = {name: sides for name, sides in rates.items() if sum(sides[1])}
    return ItemRates(tuple(table.table.id for table in tables), known)


def metrics(evaluation: TableEvaluation, rates: ItemRates, spread: Mapping[str, Interval]) -> dict[str, float]:
    """Everything that is logged: rates, intervals, what combining gains, and counts."""
    means = {name: rate(rates, name) for name in rates.rates}
    logged = dict(means)
    if best := best_single(evaluation, rates):
        logged["table/combine_gain"] = means["table/fuzzy_f1"] - means[f"table/fuzzy_f1_{best}"]
        logged["table/oracle_gain"] = means["table/oracle_f1"] - means[f"table/fuzzy_f1_{best}"]
    for name in HEADLINES:
        if interval := spread.get(name):
            key = f"interval/{name.replace('/', '_')}"
            logged |= {f"{key}_low": interval.low, f"{key}_high": interval.high}
    logged |= {"count/tables": len(evaluation.tables), "count/tables_failed": len(evaluation.failed)}
    return logged | {f"count/tables_unmatched_{method}": n for method, n in evaluation.unmatched.items()}


#: Rates that carry an interval.
HEADLINES = tuple(f"table/{name}" for name in (*_SCORES, "cell_accuracy"))


def best_single(evaluation: TableEvaluation, rates: ItemRates) -> str | None:
    """The method with the best mean F1, the first of equals; None where there is nothing to choose."""
    if len(evaluation.methods) < 2 or not evaluation.tables:
        return None
    return max(evaluation.methods, key=lambda method: rate(rates, f"table/fuzzy_f1_{method}"))


def rate(rates: ItemRates, name: str) -> float:
    """The mean of one rate."""
    above, below = rates.rates[name]
    return sum(above) / sum(below)


def intervals(rates: ItemRates, seed: int) -> dict[str, Interval]:
    """A 95 % interval for each rate, by bootstrap over tables."""
    return rate_intervals(rates.rates, seed)


def _attempt_rates(suffix: str, attempts: Sequence[Attempt]) -> dict[str, Sides]:
    rates = {f"table/{name}{suffix}": _mean([score(item) for item in attempts]) for name, score in _SCORES.items()}
    compared = [item.comparison for item in attempts]
    rates[f"table/cell_accuracy{suffix}"] = (
        tuple(item.cell_accuracy_pct / 100 for item in compared),
        tuple(float(item.comparable_cells > 0) for item in compared),
    )
    return rates


def _wins(tables: Sequence[ScoredTable], position: int) -> Sides:
    """A table that no method scores on has no winner, and does not count."""
    return tuple(table.wins[position] for table in tables), tuple(float(table.best_score > 0) for table in tables)


def _mean(values: Sequence[float]) -> Sides:
    return tuple(values), (1.0,) * len(values)

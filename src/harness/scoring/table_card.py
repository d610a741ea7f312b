"""The scorecard of extracted tables. Its rates are means over tables: each table counts the same, however large it is.

What is counted of a table are shares between 0 and 1, so that a sum of them over the number of tables is their mean.
One card serves for what combining the methods gives and, where there are several, once more for each method.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.scoring.cards import Declaration, Note, Rate, Scorecard, Section


def declare_tables(method: str = "", several: bool = False) -> Declaration:
    """The declaration for one method, or for the combined result where none is named; `several` methods compete."""
    end = f"_{method}" if method else ""
    combined = not method
    rates = {
        "fuzzy_f1": Rate.of(
            f"table/fuzzy_f1{end}",
            "fuzzy_f1",
            "tables",
            label="fuzzy F1",
            headline="" if method else "tables",
            gate="judged" if combined else "no",
        ),
        "fuzzy_precision": Rate.of(f"table/fuzzy_precision{end}", "fuzzy_precision", "tables", label="precision"),
        "fuzzy_recall": Rate.of(f"table/fuzzy_recall{end}", "fuzzy_recall", "tables", label="recall"),
        "coverage": Rate.of(f"table/coverage{end}", "extracted", "tables"),
        "structural_coverage": Rate.of(f"table/structural_coverage{end}", "structural_coverage", "tables"),
        "cell_accuracy": Rate.of(f"table/cell_accuracy{end}", "cell_accuracy", "comparable"),
        "teds": Rate.of(f"table/teds{end}", "teds", "sized", label="TEDS"),
        "teds_struct": Rate.of(f"table/teds_struct{end}", "teds_struct", "sized"),
        "grits_content": Rate.of(f"table/grits_content{end}", "grits_content", "sized", label="GriTS"),
    }
    if method:
        rates["win_rate"] = Rate.of(f"table/win_rate{end}", "wins", "winnable")
    elif several:
        rates["oracle_f1"] = Rate.of("table/oracle_f1", "oracle_f1", "tables")
    shown = tuple(rate.metric for rate in rates.values() if rate.label)
    return Declaration(
        name=f"table{end}",
        rates=rates,
        counts={"tables": "count/tables"} if combined else {},
        sections=(Section("Tables", shown, (Note("tables", "tables", always=True),)),) if combined else (),
    )


@dataclass(frozen=True)
class TableScorecard(Scorecard):
    """Sums over tables. `comparable` tables have cells that stand in matched rows and columns; a table that no method
    scores on is not `winnable`; `oracle_f1` is what always knowing the best method would give. `sized` tables are not
    too large for TEDS and GriTS."""

    tables: int = 0
    extracted: int = 0
    comparable: int = 0
    winnable: int = 0
    sized: int = 0
    fuzzy_f1: float = 0.0
    fuzzy_precision: float = 0.0
    fuzzy_recall: float = 0.0
    structural_coverage: float = 0.0
    cell_accuracy: float = 0.0
    teds: float = 0.0
    teds_struct: float = 0.0
    grits_content: float = 0.0
    wins: float = 0.0
    oracle_f1: float = 0.0

    DECLARED: ClassVar[Declaration] = declare_tables()

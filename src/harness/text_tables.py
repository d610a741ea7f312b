"""Small tables as text: aligned for a terminal, or as Markdown. Numbers stand to the right, what is missing is n/a."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def markdown_table(names: Sequence[str], rows: Sequence[Sequence[Any]], decimals: int | None = None) -> str:
    """A Markdown table; what would break its lines or cells is escaped."""
    lines = [names, ["---"] * len(names), *([_escaped(cell(value, decimals)) for value in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def text_table(names: Sequence[str], rows: Sequence[Sequence[Any]], decimals: int | None = None) -> str:
    """Columns as wide as they need to be."""
    lines = [list(names), *([cell(value, decimals) for value in row] for row in rows)]
    columns = range(len(names))
    widths = [max(len(line[column]) for line in lines) for column in columns]
    right = [bool(rows) and all(isinstance(row[column], int | float | None) for row in rows) for column in columns]
    return "\n".join(
        "  ".join(line[n].rjust(widths[n]) if right[n] else line[n].ljust(widths[n]) for n in columns).rstrip()
        for line in lines
    )


def cell(value: Any, decimals: int | None = None) -> str:
    """A value as it stands in a table: a number with so many decimals, or with four digits that count."""
    if isinstance(value, float):
        return f"{value:.4g}" if decimals is None else f"{value:.{decimals}f}"
    return "n/a" if value is None else str(value)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")

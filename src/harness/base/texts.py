"""Text for people: counts, lists, and small tables, aligned for a terminal or as Markdown.

In a table numbers stand to the right, and what is missing is n/a.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

#: How the user calls the harness, for the commands that it suggests.
COMMAND = os.environ.get("HARNESS_COMMAND", "harness")

_LONGEST_NAME = 255
_NUMBER = re.compile(r"([-+]?[\d.,]+(e[-+]?\d+)?%?|n/a)?")


def counted(count: int, noun: str) -> str:
    """`1 photo`, `2 photos`, `3 people`."""
    return f"{count:,} {noun if count == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """`photos`, `people`."""
    return {"person": "people", "box": "boxes"}.get(noun, f"{noun}s")


def listing(lines: Iterable[str], limit: int = 20) -> str:
    """Indented lines, and how many more there are."""
    lines = list(lines)
    more = [f"... and {len(lines) - limit:,} more"] if len(lines) > limit else []
    return "\n".join(f"  {line}" for line in [*lines[:limit], *more])


def one_line(text: str) -> str:
    """A name from outside as it can stand in a sentence: it breaks no line, and has the length of a file's at most."""
    start = text[: _LONGEST_NAME + 1]
    shown = start if start.isprintable() else repr(start)
    return shown if len(text) <= _LONGEST_NAME else f"{shown[:_LONGEST_NAME]}..."


def nearest(word: str, known: Collection[str]) -> str:
    """The known word that a misspelled one was probably meant to be; "" where none is near."""
    by_letters = {each.lower(): each for each in known}
    return next((by_letters[near] for near in difflib.get_close_matches(word.lower(), by_letters, n=1)), "")


def meant(word: str, known: Collection[str]) -> str:
    """`; did you mean X?`, where one of the known words is near."""
    near = nearest(word, known)
    return f"; did you mean {near}?" if near else ""


def count_table(title: str, counts: Mapping[str, int], total: int = 0) -> str:
    """Names and counts in columns under a title, with shares of a total where one is given."""
    lines = [title]
    for name, count in counts.items():
        share = f"{count / total:>8.1%}" if total and count else ""
        lines.append(f"  {name.replace('_', ' '):<18} {count:>8,}{share}".rstrip())
    return "\n".join(lines)


def markdown_table(names: Sequence[str], rows: Sequence[Sequence[Any]], decimals: int | None = None) -> str:
    """A Markdown table; what would break its lines or cells is escaped."""
    lines = [names, ["---"] * len(names), *([_escaped(cell(value, decimals)) for value in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def text_table(names: Sequence[str], rows: Sequence[Sequence[Any]], decimals: int | None = None) -> str:
    """Columns as wide as they need to be."""
    return "\n".join(aligned([names, *([cell(value, decimals) for value in row] for row in rows)]))


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines with columns of one width, the first of them the heads; a column of numbers stands to the right."""
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    pads = [str.rjust if all(map(_NUMBER.fullmatch, column[1:])) else str.ljust for column in columns]
    lines = ("  ".join(pad(cell, width) for cell, width, pad in zip(row, widths, pads, strict=True)) for row in rows)
    return [line.rstrip() for line in lines]


def cell(value: Any, decimals: int | None = None) -> str:
    """A value as it stands in a table: a number with so many decimals, or with four digits that count."""
    if isinstance(value, float):
        return f"{value:.4g}" if decimals is None else f"{value:.{decimals}f}"
    return "n/a" if value is None else str(value)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")

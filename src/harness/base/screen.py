"""What a command prints to: how wide the terminal is, and whether it shows colours and signs beyond ASCII.

Where nobody looks, as in a pipe or a file, nothing is cut and nothing is coloured, whatever the environment says:
programs read it. In a terminal `NO_COLOR` is respected (https://no-color.org), and `COLUMNS` sets the width.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO
from unicodedata import east_asian_width

from harness.base.texts import aligned

_CODES = {"good": "32", "bad": "31", "warn": "33", "soft": "2", "strong": "1"}


@dataclass(frozen=True)
class Screen:
    """Where text goes. A width of None is one without an end."""

    width: int | None = None
    colours: bool = False
    ascii: bool = False

    def paint(self, text: str, tone: str) -> str:
        """Text in the colour of a tone: good, bad, warn, soft or strong; any other leaves it as it is."""
        return f"\033[{_CODES[tone]}m{text}\033[0m" if self.colours and tone in _CODES and text else text

    def fits(self, lines: Iterable[str]) -> bool:
        """Whether no line is wider than the screen. Lines must not be coloured yet."""
        return self.width is None or all(wide(line) <= self.width for line in lines)

    def clip(self, text: str) -> str:
        """As much of a line as fits."""
        return text if self.fits([text]) or self.width is None else shortened(text, self.width, self.ascii)

    def wrapped(self, text: str, indent: str = "") -> list[str]:
        """A sentence broken between words where it is too long; what follows its first line is indented."""
        if self.fits([text]) or self.width is None:
            return [text]
        return textwrap.wrap(text, max(self.width, 20), subsequent_indent=indent, break_on_hyphens=False) or [""]

    def wrapped_text(self, text: str) -> str:
        """Several lines, each broken between words where it is too long, and indented where it goes on."""
        indents = (" " * (len(line) - len(line.lstrip()) + 2) for line in text.splitlines())
        return "\n".join(
            part for line, pad in zip(text.splitlines(), indents, strict=True) for part in self.wrapped(line, pad)
        )


#: Where nobody looks: a file, or a pipe.
ENDLESS = Screen()


def wide(text: str) -> int:
    """How many columns a text takes: a letter of Chinese, Japanese or Korean takes two."""
    return len(text) if text.isascii() else sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def shortened(text: str, width: int, plain: bool = False) -> str:
    """The beginning of a text with a mark where it was cut."""
    if wide(text) <= width:
        return text
    mark = "..." if plain else "…"
    while text and wide(text) + len(mark) > width:
        text = text[:-1]
    return text + mark[: max(width, 0)]


def abridged(text: str, width: int, plain: bool = False) -> str:
    """The beginning and the end of a text: names of runs begin alike, and differ at their ends."""
    if wide(text) <= width:
        return text
    end = text[-(width // 2) :]
    while end and wide(end) > width // 2:
        end = end[1:]
    return shortened(text, width - wide(end), plain) + end


@dataclass(frozen=True)
class Fitted:
    """The lines of a table that fit, heads first, and the heads of the columns that had to be left out."""

    lines: list[str]
    left_out: tuple[str, ...] = ()

    def text(self, screen: Screen) -> str:
        """The table, and below it what it does without."""
        missing = f"Not shown, for want of width: {', '.join(self.left_out)}" if self.left_out else ""
        return "\n".join([*self.lines, *(screen.wrapped(missing, "  ") if missing else [])])


def fitted(rows: Sequence[Sequence[str]], screen: Screen, least: Mapping[int, int], drop: Sequence[int]) -> Fitted:
    """A table, heads first, as wide as the screen. Columns of `least`, by their positions, are shortened, to this width
    and no further; where that is not enough, the columns of `drop` are left out, one after the other."""
    kept, lines = list(range(len(rows[0]))), aligned(rows)
    while not screen.fits(lines):
        lines = aligned(_shortened(rows, kept, screen, least, max(map(wide, lines)) - (screen.width or 0)))
        gone = next((column for column in drop if column in kept), None)
        if screen.fits(lines) or gone is None:
            break
        kept.remove(gone)
        lines = aligned([[row[column] for column in kept] for row in rows])
    left_out = tuple(rows[0][column] for column in range(len(rows[0])) if column not in kept)
    return Fitted([screen.clip(line) for line in lines], left_out)


def _shortened(
    rows: Sequence[Sequence[str]], kept: Sequence[int], screen: Screen, least: Mapping[int, int], excess: int
) -> list[list[str]]:
    widths = {column: max(wide(row[column]) for row in rows) for column in least if column in kept}
    for column, width in widths.items():
        widths[column] = max(min(width, least[column]), width - max(excess, 0))
        excess -= width - widths[column]
    return [
        [abridged(row[column], widths.get(column, wide(row[column])), screen.ascii) for column in kept] for row in rows
    ]


def screen(stream: TextIO | None = None) -> Screen:
    """The screen behind a stream, standard output if none is given."""
    stream = stream or sys.stdout
    watched = stream.isatty()
    plain = not (stream.encoding or "").lower().replace("-", "").startswith("utf")
    width = shutil.get_terminal_size().columns if watched else None
    colours = watched and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"
    return Screen(width, colours, plain)

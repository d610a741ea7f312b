"""The page of a study's tries: a tree in which each try stands below the one that it was made from.

Hypotheses, names and differences come from whoever made the candidates, and are shown as text, whatever they hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.disk import write_atomically
from harness.candidates.tries import Answer, Tries, Try
from harness.report.html import render

PAGE = "tries.html"
#: A sign and a colour for each answer.
_MARKS = {Answer.KEEP: ("✓", "good"), Answer.DISCARD: ("✗", "bad"), Answer.CANNOT_TELL: ("?", "warn")}
#: Deeper tries stand no further to the right.
_DEEPEST = 12
#: So many characters of all differences together are on the page.
_MOST_TEXT = 3_000_000


@dataclass(frozen=True)
class Row:
    """A try on the page: how deep it stands, its sign and colour, and its difference from the base."""

    each: Try
    depth: int
    mark: str
    colour: str
    difference: str


def write_page(folder: Path, study: str) -> Path:
    """Write the page anew, from the ledger."""
    tries = Tries(folder).read()
    path = folder / PAGE
    write_atomically(path, tries_page(study, tries, folder).encode(errors="backslashreplace"))
    return path


def tries_page(study: str, tries: Sequence[Try], folder: Path) -> str:
    """The page of some tries; their differences are kept below the folder."""
    counts = {answer: sum(each.answer == answer for each in tries) for answer in Answer}
    return render("tries.html", study=study, rows=list(_rows(tries, folder)), counts=counts, tries=tries)


def _rows(tries: Sequence[Try], folder: Path) -> Iterator[Row]:
    """Depth first. A try whose base is no try stands at the left; so does one that would stand below itself."""
    room, known = _MOST_TEXT, {each.tree: each.number for each in reversed(tries)}
    below: dict[int, list[Try]] = {}
    for each in tries:
        parent = known.get(each.parent, 0)
        below.setdefault(parent if parent < each.number else 0, []).append(each)
    ahead = [(each, 0) for each in reversed(below.get(0, []))]
    while ahead:
        each, depth = ahead.pop()
        text = _difference(folder, each)
        shown = text if len(text) <= room else "The page has no more room for it; change.diff has it."
        room -= len(shown)
        yield Row(each, min(depth, _DEEPEST), *_MARKS[each.answer], shown)
        ahead += [(child, depth + 1) for child in reversed(below.get(each.number, []))]


def _difference(folder: Path, each: Try) -> str:
    path = folder / "judged" / each.key[:16] / "change.diff"
    return path.read_text(errors="replace") if path.is_file() else ""

"""The blocks of code in the documentation: of README.md, CONTRIBUTING.md and all pages that are written by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT

PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name != "reference"),  # that is made
]
#: Run line by line elsewhere.
RUN_ELSEWHERE = ("extending.md", "api.md")
#: Programs that are not ours; their lines are taken as they are, except for what is looked at below.
OTHERS = ("git", "cd", "(cd", "pip", "cp", "createuser", "createdb", "mlflow", "sqlite3", "python")


@dataclass(frozen=True)
class Block:
    """A block of a page: its language where one is given, and its lines."""

    page: str
    line: int
    kind: str
    text: str

    @property
    def first(self) -> str:
        return self.text.splitlines()[0].strip()

    @property
    def commands(self) -> list[str]:
        """Its lines as a shell takes them, if the first one is a command."""
        lines = re.sub(r"\\\n\s*", "", self.text).splitlines()
        told = [re.split(r" {2,}| # ", line.strip().removeprefix("$ "))[0].strip() for line in lines if line.strip()]
        words = [(line, line.split()[0]) for line in told]
        known = [
            line for line, word in words if word in ("harness", *OTHERS) or word.startswith(("scripts/", "MLFLOW_"))
        ]
        return known if self.kind == "" and words[0][0] in known else []

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.first}"


def blocks_of(page: Path) -> Iterator[Block]:
    """The fenced and the indented blocks of a page."""
    kind, begun, held = "", 0, list[str]()
    for number, line in enumerate([*page.read_text().splitlines(), "end"], start=1):
        fence = re.match(r"^```(\S*)", line)
        if not fence and (kind or not line.strip() or line.startswith("    ")):
            begun = begun if held else number
            held += [line if kind else line.removeprefix("    ")] if held or line.strip() else []
            continue
        if held:
            yield Block(page.name, begun, kind, "\n".join(held).rstrip())
        kind, held = (fence[1] or "text" if fence and not kind else ""), []


BLOCKS = [block for page in PAGES if page.name not in RUN_ELSEWHERE for block in blocks_of(page)]


def block(page: str, beginning: str) -> Block:
    """The block of a page that begins like this."""
    (found,) = [each for each in BLOCKS if each.page == page and each.first.startswith(beginning)]
    return found


#: Blocks of Python.
PYTHON = [each for each in BLOCKS if each.kind == "python" or re.match(r"(import |run = )", each.text)]

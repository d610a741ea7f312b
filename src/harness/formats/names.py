"""Names: a start list, as a race has it, of numbers and names.

One person a line, `417,Ada Lovelace`, with commas, semicolons or tabs; further columns are passed over. A first line
whose first cell has no digit is a heading. Who has no number has an empty first cell. Two people of one name are told
apart by their numbers.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from harness.base.documents import checked
from harness.base.errors import ReferenceSetError
from harness.base.texts import one_line
from harness.formats import Format
from harness.references.importing import ImportedSet
from harness.references.start_list import Entrant

#: What a name may be, as the pages have it.
MOST_CHARACTERS = 80


def read_set(path: Path, photos: Path | None) -> ImportedSet:
    """The people of a start list; it brings no photos and no labels."""
    if photos is not None:
        raise ReferenceSetError(f"{photos}: a start list has no photos; --photos is not for this format")
    entrants = list(_entrants(path))
    if not entrants:
        raise ReferenceSetError(f"{path}: nobody in it; expected a number and a name a line, as in 417,Ada Lovelace")
    return ImportedSet((), entrants=tuple(_told_apart(path, entrants)))


def _entrants(path: Path) -> Iterator[tuple[int, Entrant]]:
    """Everybody, with the line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ReferenceSetError(f"{path}: cannot be read: {error}; expected a text file in UTF-8") from error
    delimiter = max(",;\t", key=text.count)
    for line, cells in enumerate(csv.reader(text.splitlines(), delimiter=delimiter), start=1):
        cells = [cell.strip() for cell in cells]
        if not any(cells):
            continue
        if line == 1 and cells[0] and not any(map(str.isdecimal, cells[0])):
            continue
        where = f"{path}: line {line}"
        if len(cells) < 2 or not cells[1]:
            raise ReferenceSetError(f"{where}: {one_line(delimiter.join(cells))!r:.60}: expected a number and a name")
        name = cells[1]
        if len(name) > MOST_CHARACTERS or not name.isprintable() or {"<", ">"} & set(name):
            raise ReferenceSetError(
                f"{where}: {one_line(name)!r:.60}: expected a name of at most {MOST_CHARACTERS} characters, "
                "without control characters, < or >"
            )
        yield line, checked(Entrant, {"number": cells[0] or None, "name": name}, where, ReferenceSetError)


def _told_apart(path: Path, entrants: list[tuple[int, Entrant]]) -> Iterator[Entrant]:
    """Everybody under a name of their own."""
    places: dict[str, int] = {}
    for line, entrant in entrants:
        if entrant.number and (first := places.setdefault(entrant.number, line)) != line:
            raise ReferenceSetError(f"{path}: line {line}: number {entrant.number} stands in line {first}, too")
    alike = Counter(entrant.name for _, entrant in entrants)
    for line, entrant in entrants:
        if alike[entrant.name] == 1:
            yield entrant
        elif entrant.number:
            yield entrant.model_copy(update={"name": f"{entrant.name} ({entrant.number})"})
        else:
            raise ReferenceSetError(
                f"{path}: line {line}: {alike[entrant.name]} people are called {entrant.name}; "
                "expected numbers that tell them apart"
            )


FORMAT = Format(name="names", title="a start list: a number and a name a line", read_set=read_set)

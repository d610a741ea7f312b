"""`start_list.json`: who may be in the photos, known before anybody has labelled one.

A race knows its runners: `harness import --format names FILE` keeps their numbers and names here. Pages offer the
names, and where a number is read on a bib its owner. It is no label: nobody is called anything because of it, it is in
no digest, and a frozen set does not have it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

from pydantic import Field

from harness.references.fields import Identity
from harness.references.files import LabelFile, Record

#: As it is printed on a bib, complete.
Number = Annotated[str, Field(pattern=r"^[0-9A-Za-z-]{1,12}$")]


class Entrant(Record):
    """Somebody who may be in the photos; without a number where the list has none."""

    name: Identity
    number: Number | None = None


class StartList(LabelFile):
    """Everybody who is expected, each name and each number once."""

    FILE_NAME = "start_list.json"
    entrants: list[Entrant] = Field(default_factory=list)

    @property
    def names_by_number(self) -> dict[str, str]:
        """Whose number it is."""
        return {entrant.number: entrant.name for entrant in self.entrants if entrant.number}

    @property
    def numbers_by_name(self) -> dict[str, str | None]:
        """Everybody's number, in the order of the list."""
        return {entrant.name: entrant.number for entrant in self.entrants}


def merged(before: Sequence[Entrant], new: Iterable[Entrant]) -> list[Entrant]:
    """A list with the people of a newer one: who has their name or their number in it makes room."""
    new = list(new)
    names, numbers = {each.name for each in new}, {each.number for each in new if each.number}
    return [*(each for each in before if each.name not in names and each.number not in numbers), *new]


def renamed(entrants: Sequence[Entrant], old: str, new: str) -> list[Entrant]:
    """A list in which somebody has another name. A name that somebody else has already makes the two one person."""
    taken = any(each.name == new for each in entrants)
    kept = [each for each in entrants if not (taken and each.name == old)]
    return [each.model_copy(update={"name": new}) if each.name == old else each for each in kept]

"""Which photos of a run a person wants to see, and in which order. A selection lives in the address of a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar, get_args
from urllib.parse import urlencode

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from harness.base.errors import QueryError
from harness.exploring.rows import Row
from harness.runs.comparison import Change

Sort = Literal["worst", "change", "name"]
SORTS: tuple[Sort, ...] = get_args(Sort)
T = TypeVar("T")


def _none_if_empty(value: Any) -> Any:
    """A form sends an empty text for a choice that was not made."""
    return None if value == "" else value


Chosen = Annotated[T | None, BeforeValidator(_none_if_empty)]
Score = Annotated[float, Field(ge=0, le=1)]


class InAddress(BaseModel):
    """A choice that lives in the address of a page. What is asked for and not known is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def query(self) -> str:
        """The choice as the end of an address, without the page of it; nothing where nothing is chosen."""
        chosen = self.model_dump(exclude_defaults=True, exclude_none=True, exclude={"page"})
        return f"?{urlencode(chosen)}" if chosen else ""

    def but(self, **chosen: Any) -> str:
        """The end of the address of another choice, from its first page on; `?` where nothing is chosen, so that it can
        stand alone."""
        return self.model_copy(update=chosen).query or "?"


class BesideRun(InAddress):
    """A choice about a run that is looked at beside another one: by its id, None for the baseline."""

    against: Chosen[str] = None

    @property
    def beside(self) -> str:
        """The end of the address of another page beside the same run."""
        return BesideRun(against=self.against).query


class Selection(BesideRun):
    """What photos have to have, all of it. `mistake=any` is any mistake, and `change=any` is any change; `least` and
    `most` ask for a predicted box whose score lies between them; `differs` for predictions that are not those of the
    other run."""

    mistake: Chosen[str] = None
    cause: Chosen[str] = None
    tag: Chosen[str] = None
    person: Chosen[str] = None
    number: Chosen[str] = None
    name: Chosen[str] = None
    change: Chosen[Literal["any", "broken", "fixed"]] = None
    differs: bool = False
    least: Chosen[Score] = None
    most: Chosen[Score] = None
    sort: Sort = "worst"

    def among(self, rows: Iterable[Row]) -> list[Row]:
        """The photos that fit, in order."""
        return sorted((row for row in rows if self.fits(row)), key=_ORDERS[self.sort])

    def fits(self, row: Row) -> bool:
        """Whether a photo has all that is asked for."""
        return (
            (self.mistake is None or self.mistake in row.mistakes or (self.mistake == "any" and bool(row.mistakes)))
            and (self.cause is None or self.cause in row.causes)
            and (self.tag is None or self.tag in row.tags)
            and (self.person is None or self.person in row.people)
            and (self.number is None or self.number.strip() in row.numbers)
            and (self.name is None or self.name.lower() in row.name.lower())
            and (self.change is None or (row.change is not None and self.change in ("any", row.change)))
            and (not self.differs or bool(row.differs))
            and self._scored(row)
        )

    def _scored(self, row: Row) -> bool:
        if self.least is None and self.most is None:
            return True
        low, high = (self.least or 0.0), (1.0 if self.most is None else self.most)
        return any(low <= score <= high for score in row.scores)

    def check(self, facets: Facets) -> None:
        """Refuse a choice that no photo of the run has: a mistyped address is no empty answer."""
        for name in ("mistake", "cause", "tag"):
            choices, chosen = getattr(facets, f"{name}s"), getattr(self, name)
            if chosen is not None and chosen not in (*choices, "any"):
                there = ", ".join(choices) or "none"
                raise QueryError(f"{name}={chosen}: no photo of this run has it; there: {there}")


_ORDERS: Mapping[str, Callable[[Row], tuple[Any, ...]]] = {
    "worst": lambda row: (-row.errors, row.name, row.sha256),
    "change": lambda row: (row.change is None, -row.worse, -row.differs, row.name, row.sha256),
    "name": lambda row: (row.name, row.sha256),
}


class Facets:
    """What the photos of a run can be chosen by, and how many photos each choice has, the most frequent first."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.mistakes = _count(row.mistakes for row in rows)
        self.causes = _count(row.causes for row in rows)
        self.tags = _count(row.tags for row in rows)
        self.people = _count(row.people for row in rows)
        found = Counter(row.change for row in rows)
        self.changes = {change: found[change] for change in Change if found[change]}
        self.differing = sum(bool(row.differs) for row in rows)
        self.wrong = sum(bool(row.mistakes) for row in rows)
        self.photos = len(rows)


def _count(choices: Iterable[Iterable[str]]) -> dict[str, int]:
    counts = Counter(choice for own in choices for choice in own)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

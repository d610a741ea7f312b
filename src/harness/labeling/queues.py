"""The queue that a person works through: which photos, in which order, and where to go from here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar, get_args
from urllib.parse import urlencode

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from harness.labeling.summary import Dimension, PhotoRow, Summary
from harness.references.files import BibPhotoTag, FaceBoxTag, FacePhotoTag

Show = Literal["all", "unlabelled", "incomplete", "begun", "ghosts", "suspects"]
Sort = Literal["name", "-name", "date", "-date", "faces", "suggestions"]
Tag = Literal[BibPhotoTag, FacePhotoTag, FaceBoxTag]

SHOW: tuple[Show, ...] = get_args(Show)
TAGS: tuple[Tag, ...] = get_args(Tag)
#: So many photos each way are told, and so many that are to do: a page has them at hand while the server is away.
AT_HAND = 4


def _none_if_empty(value: Any) -> Any:
    return None if value == "" else value


T = TypeVar("T")
#: A form sends an empty text for a choice that was not made.
Chosen = Annotated[T | None, BeforeValidator(_none_if_empty)]

#: What photos are ordered by; names and hashes decide between equal ones. `-` is the other way round.
_ORDERS: dict[Sort, Callable[[PhotoRow], tuple[Any, ...]]] = {
    "name": lambda row: row.sort_key,
    "-name": lambda row: row.sort_key,
    "date": lambda row: (row.taken_at, *row.sort_key),
    "-date": lambda row: (row.taken_at, *row.sort_key),
    "faces": lambda row: (-row.faces, *row.sort_key),
    "suggestions": lambda row: (-row.bib_ghosts_left - row.face_ghosts_left, *row.sort_key),
}
#: What a word of a search may be said to be, as in `number:417`.
_FIELDS: dict[str, Callable[[PhotoRow, str], bool]] = {
    "number": lambda row, word: any(number.startswith(word) for number in row.numbers),
    "person": lambda row, word: any(word in name for name in row.identities),
    "file": lambda row, word: any(word in name for name in row.names),
    "date": lambda row, word: row.taken_at.startswith(word.upper()),
}


class Filters(BaseModel):
    """Which photos of a dimension are in the queue. `q` are words that all have to be found: the beginning of a number
    or of a date, a part of a person's name or of a file name; `number:417` looks at one of them alone."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    show: Show = "all"
    split: Chosen[Literal["iteration", "holdout"]] = None
    tag: Chosen[Tag] = None
    q: Chosen[Annotated[str, Field(max_length=200)]] = None
    sort: Sort = "name"

    @property
    def query(self) -> str:
        """The filters as the end of an address; nothing where nothing is filtered."""
        chosen = {name: getattr(self, name) for name in Filters.model_fields}
        plain = {name: value for name, value in chosen.items() if value != Filters.model_fields[name].default}
        return f"?{urlencode(plain)}" if plain else ""

    def among(self, rows: Sequence[PhotoRow], dimension: Dimension, suspects: Collection[str]) -> Sequence[PhotoRow]:
        """The photos that fit all of it, in their order."""
        rows = self.within(rows)
        match self.show:
            case "all":
                return rows
            case "unlabelled":
                return [row for row in rows if not row.done(dimension)]
            case "incomplete":
                return [row for row in rows if not row.completeness.complete]
            case "begun":
                return [row for row in rows if row.left_open]
            case "ghosts":
                return [row for row in rows if row.ghosts_left(dimension)]
            case "suspects":
                return [row for row in rows if row.sha256 in suspects]

    def within(self, rows: Sequence[PhotoRow]) -> Sequence[PhotoRow]:
        """The photos that fit split, tag and search, in their order."""
        if self.split is not None:
            rows = [row for row in rows if row.split == self.split]
        if self.tag is not None:
            rows = [row for row in rows if self.tag in row.tags]
        for word in (self.q or "").casefold().split():
            rows = [row for row in rows if _found(row, word)]
        return rows if self.sort == "name" else sorted(rows, key=_ORDERS[self.sort], reverse=self.sort[0] == "-")

    def before(self, row: PhotoRow, other: PhotoRow) -> bool:
        """Whether a photo stands before another one."""
        key = _ORDERS[self.sort]
        return key(row) > key(other) if self.sort[0] == "-" else key(row) < key(other)


def _found(row: PhotoRow, word: str) -> bool:
    """Whether a photo has a word of a search."""
    field, colon, rest = word.partition(":")
    if colon and field in _FIELDS:
        return not rest or _FIELDS[field](row, rest)
    return any(fits(row, word) for fits in _FIELDS.values())


@dataclass(frozen=True)
class Queue:
    """A queue as seen from one photo, or from before its start. `before` and `after` are its neighbours, the nearest
    first; `todo` are the next ones that are not done and that nobody else has open, going round to the start."""

    dimension: Dimension
    total: int
    done: int
    position: int | None
    first: str | None
    previous: str | None
    next: str | None
    next_incomplete: str | None
    before: tuple[str, ...]
    after: tuple[str, ...]
    todo: tuple[str, ...]
    #: Who else has this photo open: a name, "" for somebody without one, or null for nobody.
    held_by: str | None = None


def candidates(summary: Summary, dimension: Dimension) -> Sequence[PhotoRow]:
    """The photos that a dimension is about: links need both bibs and faces."""
    return summary.linkable if dimension == "links" else summary.rows


def filtered(summary: Summary, dimension: Dimension, filters: Filters, suspects: Collection[str]) -> Sequence[PhotoRow]:
    """The photos of a queue, in order."""
    return filters.among(candidates(summary, dimension), dimension, suspects)


def look(
    summary: Summary,
    dimension: Dimension,
    filters: Filters,
    suspects: Collection[str],
    at: PhotoRow | None = None,
    taken: Collection[str] = (),
) -> Queue:
    """The queue as seen from a photo, whether or not it fits the filters (any more). `taken` are the photos that others
    have open."""
    rows = filtered(summary, dimension, filters, suspects)
    here = sum(filters.before(row, at) for row in rows) if at else 0
    inside = at is not None and here < len(rows) and rows[here].sha256 == at.sha256
    after = here + inside
    before = tuple(row.sha256 for row in reversed(rows[max(0, here - AT_HAND) : here]))
    ahead = tuple(row.sha256 for row in rows[after : after + AT_HAND])
    todo = _next_round(filters, filters.within(candidates(summary, dimension)), dimension, at, taken)
    return Queue(
        dimension=dimension,
        total=len(rows),
        done=sum(row.done(dimension) for row in rows),
        position=after if inside else None,
        first=rows[0].sha256 if rows else None,
        previous=before[0] if before else None,
        next=ahead[0] if ahead else None,
        next_incomplete=todo[0] if todo else None,
        before=before,
        after=ahead,
        todo=todo,
    )


def _next_round(
    filters: Filters, rows: Sequence[PhotoRow], dimension: Dimension, at: PhotoRow | None, taken: Collection[str]
) -> tuple[str, ...]:
    """The first photos after one that are not done, going round to the start; the photo itself does not count."""
    here = at.sha256 if at else None
    others = [row for row in rows if not row.done(dimension) and row.sha256 != here and row.sha256 not in taken]
    start = sum(filters.before(row, at) for row in others) if at else 0
    return tuple(row.sha256 for row in (others[start:] + others[:start])[:AT_HAND])

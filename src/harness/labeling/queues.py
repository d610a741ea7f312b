"""The queue that a person works through: which photos, in which order, and where to go from here."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Annotated, Any, Literal, TypeVar, get_args
from urllib.parse import urlencode

from pydantic import BaseModel, BeforeValidator, ConfigDict

from harness.labeling.summary import Dimension, PhotoRow, Summary
from harness.references.files import BibPhotoTag, FaceBoxTag, FacePhotoTag

Show = Literal["all", "unlabelled", "incomplete", "ghosts", "suspects"]
Tag = Literal[BibPhotoTag, FacePhotoTag, FaceBoxTag]

SHOW: tuple[Show, ...] = get_args(Show)
TAGS: tuple[Tag, ...] = get_args(Tag)


def _none_if_empty(value: Any) -> Any:
    return None if value == "" else value


T = TypeVar("T")
#: A form sends an empty text for a choice that was not made.
Chosen = Annotated[T | None, BeforeValidator(_none_if_empty)]


class Filters(BaseModel):
    """Which photos of a dimension are in the queue."""

    model_config = ConfigDict(frozen=True)

    show: Show = "all"
    split: Chosen[Literal["iteration", "holdout"]] = None
    tag: Chosen[Tag] = None

    @property
    def query(self) -> str:
        """The filters as the end of an address; nothing where nothing is filtered."""
        chosen = {name: value for name, value in self.model_dump().items() if value not in (None, "all")}
        return f"?{urlencode(chosen)}" if chosen else ""

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
            case "ghosts":
                return [row for row in rows if row.ghosts_left(dimension)]
            case "suspects":
                return [row for row in rows if row.sha256 in suspects]

    def within(self, rows: Sequence[PhotoRow]) -> Sequence[PhotoRow]:
        """The photos that fit split and tag."""
        if self.split is not None:
            rows = [row for row in rows if row.split == self.split]
        if self.tag is not None:
            rows = [row for row in rows if self.tag in row.tags]
        return rows


@dataclass(frozen=True)
class Queue:
    """A queue as seen from one photo, or from before its start."""

    dimension: Dimension
    total: int
    done: int
    position: int | None
    first: str | None
    previous: str | None
    next: str | None
    next_incomplete: str | None


def candidates(summary: Summary, dimension: Dimension) -> Sequence[PhotoRow]:
    """The photos that a dimension is about: links need both bibs and faces."""
    return summary.linkable if dimension == "links" else summary.rows


def filtered(summary: Summary, dimension: Dimension, filters: Filters, suspects: Collection[str]) -> Sequence[PhotoRow]:
    """The photos of a queue, in order."""
    return filters.among(candidates(summary, dimension), dimension, suspects)


def look(
    summary: Summary, dimension: Dimension, filters: Filters, suspects: Collection[str], at: PhotoRow | None = None
) -> Queue:
    """The queue as seen from a photo, whether or not it fits the filters (any more)."""
    rows = filtered(summary, dimension, filters, suspects)
    key = at.sort_key if at else ("", "")
    before = bisect_left(rows, key, key=attrgetter("sort_key"))
    after = bisect_right(rows, key, key=attrgetter("sort_key"))
    open_rows = [row for row in filters.within(candidates(summary, dimension)) if not row.done(dimension)]
    return Queue(
        dimension=dimension,
        total=len(rows),
        done=sum(row.done(dimension) for row in rows),
        position=after if after > before else None,
        first=rows[0].sha256 if rows else None,
        previous=rows[before - 1].sha256 if before else None,
        next=rows[after].sha256 if after < len(rows) else None,
        next_incomplete=_next_round(open_rows, key),
    )


def _next_round(rows: Sequence[PhotoRow], key: tuple[str, str]) -> str | None:
    """The first photo after a key, going round to the start; the photo at the key itself does not count."""
    others = [row for row in rows if row.sort_key != key]
    if not others:
        return None
    after = bisect_right(others, key, key=attrgetter("sort_key"))
    return others[after % len(others)].sha256

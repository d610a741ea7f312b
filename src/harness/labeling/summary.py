"""One row a photo: all that queues, progress and staging need, kept in memory and renewed where a photo has changed.

The store hands out the same record objects for as long as a photo does not change, so a row is renewed when one of the
records that it was made from is another object. With 20,000 photos a look at all rows takes milliseconds.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from harness.labeling.ghosts import count_left
from harness.labeling.source import LabelSource
from harness.references.completeness import Completeness, State, completeness
from harness.references.contents import NO_BIBS, NO_FACES, Contents
from harness.references.files import no_collection
from harness.references.suggestions import PhotoSuggestions, Suggestions
from harness.types import Split

Dimension = Literal["bibs", "faces", "links"]
DIMENSIONS: tuple[Dimension, ...] = ("bibs", "faces", "links")


@dataclass(frozen=True, slots=True)
class PhotoRow:
    """What a list says about one photo. `links` is None where nobody labelled them."""

    sha256: str
    name: str
    width: int
    height: int
    split: str
    bibs: int
    faces: int
    links: int | None
    bib_ghosts_left: int
    face_ghosts_left: int
    completeness: Completeness
    tags: frozenset[str]

    @property
    def sort_key(self) -> tuple[str, str]:
        """Photos stand in the order of their names."""
        return (self.name, self.sha256)

    def done(self, dimension: Dimension) -> bool:
        """Whether a dimension is labelled, or has nothing to label."""
        return bool(getattr(self.completeness, dimension))

    def ghosts_left(self, dimension: Dimension) -> int:
        """Suggestions without an answer: of one dimension, or for links of the boxes that could be linked."""
        if dimension == "links":
            return self.bib_ghosts_left + self.face_ghosts_left
        return self.bib_ghosts_left if dimension == "bibs" else self.face_ghosts_left


@dataclass(frozen=True)
class Summary:
    """All rows, in order, and what they add up to."""

    rows: Sequence[PhotoRow]

    @cached_property
    def by_hash(self) -> Mapping[str, PhotoRow]:
        """Rows by the hash of their photo."""
        return {row.sha256: row for row in self.rows}

    @cached_property
    def states(self) -> dict[State, int]:
        """Photos by how far they are labelled."""
        counts = Counter(row.completeness.state for row in self.rows)
        return {state: counts[state] for state in State}

    @cached_property
    def done(self) -> dict[Dimension, int]:
        """Photos whose dimension is done."""
        return {dimension: sum(row.done(dimension) for row in self.rows) for dimension in DIMENSIONS}

    @cached_property
    def splits(self) -> dict[str, int]:
        """Photos by split."""
        counts = Counter(row.split for row in self.rows)
        return {split.value: counts[split.value] for split in (Split.ITERATION, Split.HOLDOUT)}

    @cached_property
    def ghosts_left(self) -> dict[str, int]:
        """Photos with suggestions that wait for an answer."""
        return {
            "bibs": sum(row.bib_ghosts_left > 0 for row in self.rows),
            "faces": sum(row.face_ghosts_left > 0 for row in self.rows),
        }

    @cached_property
    def linkable(self) -> Sequence[PhotoRow]:
        """Photos that have both bibs and faces."""
        return [row for row in self.rows if row.bibs and row.faces]


class Summaries:
    """The summary of a source, as of now."""

    def __init__(self, source: LabelSource) -> None:
        self._source = source
        self._lock = threading.Lock()
        self._files: tuple[Any, ...] = ()
        self._made: dict[str, tuple[tuple[Any, ...], PhotoRow]] = {}
        self._summary = Summary(())

    def current(self) -> Summary:
        """All rows as of now; those of photos that have not changed are the ones from before."""
        contents, suggestions = self._source.contents(), self._source.suggestions()
        files = (contents.index, contents.bibs, contents.faces, contents.links, suggestions)
        with self._lock, no_collection():
            if not _same(files, self._files):
                self._made = {sha256: self._entry(contents, suggestions, sha256) for sha256 in contents.index.photos}
                rows = sorted((row for _, row in self._made.values()), key=lambda row: row.sort_key)
                self._summary, self._files = Summary(rows), files
            return self._summary

    def _entry(self, contents: Contents, suggestions: Suggestions, sha256: str) -> tuple[tuple[Any, ...], PhotoRow]:
        records = (
            contents.index.photos[sha256],
            contents.bibs.photos.get(sha256),
            contents.faces.photos.get(sha256),
            contents.links.photos.get(sha256),
            suggestions.photos.get(sha256),
        )
        before = self._made.get(sha256)
        return before if before and _same(before[0], records) else (records, _row(contents, sha256, records[-1]))


def _same(some: tuple[Any, ...], others: tuple[Any, ...]) -> bool:
    return len(some) == len(others) and all(one is other for one, other in zip(some, others, strict=True))


def _row(contents: Contents, sha256: str, ghosts: PhotoSuggestions | None) -> PhotoRow:
    record = contents.index.photos[sha256]
    bibs, faces = contents.bibs.photos.get(sha256, NO_BIBS), contents.faces.photos.get(sha256, NO_FACES)
    links, done = contents.links.photos.get(sha256), completeness(contents, sha256)
    return PhotoRow(
        sha256=sha256,
        name=record.names[0],
        width=record.width,
        height=record.height,
        split=record.split,
        bibs=len(bibs.boxes),
        faces=len(faces.boxes),
        links=None if links is None else len(links),
        bib_ghosts_left=count_left(ghosts.bibs, bibs.boxes, bibs.labeled) if ghosts else 0,
        face_ghosts_left=count_left(ghosts.faces, faces.boxes, faces.labeled) if ghosts else 0,
        completeness=done,
        tags=frozenset([*bibs.tags, *faces.tags, *(tag for box in faces.boxes for tag in box.tags)]),
    )

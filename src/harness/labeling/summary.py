"""One row a photo: all that queues, progress and staging need, kept in memory and renewed where a photo has changed.

Each label file says at which of its revisions a photo changed last, so that after a save one row is made anew, and not
20,000. A file that differs without a higher revision was changed by other means than the store: then all rows are.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from harness.base.garbage import no_collection
from harness.labeling.ghosts import count_left
from harness.labeling.source import LabelSource
from harness.references.completeness import Completeness, State, completeness
from harness.references.contents import NO_BIBS, NO_FACES, Contents
from harness.references.cross_checks import Finding, cross_check
from harness.references.files import BibLabels, BibRecord, BoxRecord, FaceLabels, FaceRecord, PhotoFile
from harness.references.suggestions import Suggestions
from harness.types import FaceScope, Split

Dimension = Literal["bibs", "faces", "links", "persons"]
#: Those that are labelled one by one; `persons` is all of them in one pass.
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
    #: Photos stand in the order of their names.
    sort_key: tuple[str, str]
    #: What a search looks at: all file names, and numbers and names of people, in small letters.
    names: tuple[str, ...]
    numbers: tuple[str, ...]
    identities: tuple[str, ...]
    #: When the photo was taken, in ISO form; "" where nobody knows.
    taken_at: str
    #: The part of the photo that all heads are in, as x, y, w, h; None where nobody sees one.
    heads: tuple[float, float, float, float] | None
    #: The number and the name of each runner whose bib and face are linked.
    runners: tuple[tuple[str, str], ...]
    #: What is begun and not done, each in words.
    left_open: tuple[str, ...]

    def done(self, dimension: Dimension) -> bool:
        """Whether a dimension is labelled, or has nothing to label."""
        return self.completeness.complete if dimension == "persons" else bool(getattr(self.completeness, dimension))

    def ghosts_left(self, dimension: Dimension) -> int:
        """Suggestions without an answer: of one dimension, or for links of the boxes that could be linked."""
        if dimension in ("links", "persons"):
            return self.bib_ghosts_left + self.face_ghosts_left
        return self.bib_ghosts_left if dimension == "bibs" else self.face_ghosts_left


@dataclass(frozen=True)
class Summary:
    """All rows, in order, and what they add up to."""

    rows: Sequence[PhotoRow]

    def renewed(self, rows: Iterable[PhotoRow]) -> Summary:
        """The summary with some rows made anew, each in the place of the old one unless its name has changed."""
        all_rows = list(self.rows)
        for row in rows:
            all_rows[bisect_left(all_rows, self.by_hash[row.sha256].sort_key, key=_place)] = row
        all_rows.sort(key=_place)  # one pass where it is in order, as it nearly always is
        return Summary(all_rows)

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
        done = [row.completeness for row in self.rows]
        return {
            "bibs": sum(each.bibs for each in done),
            "faces": sum(each.faces for each in done),
            "links": sum(each.links for each in done),
        }

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
    def names_by_number(self) -> Mapping[str, str]:
        """Whose number it is: the name that most linked faces with this number have."""
        counts: dict[str, Counter[str]] = {}
        for row in self.rows:
            for number, name in row.runners:
                counts.setdefault(number, Counter())[name] += 1
        return {number: min(found, key=lambda name: (-found[name], name)) for number, found in counts.items()}

    @cached_property
    def linkable(self) -> Sequence[PhotoRow]:
        """Photos that have both bibs and faces."""
        return [row for row in self.rows if row.bibs and row.faces]


class Summaries:
    """The summary of a source, as of now."""

    def __init__(self, source: LabelSource) -> None:
        self._source = source
        self._lock = threading.Lock()
        self._files: tuple[PhotoFile, ...] = ()
        self._summary = Summary(())

    def current(self) -> Summary:
        """All rows as of now; those of photos that have not changed are the ones from before."""
        contents, suggestions = self._source.contents(), self._source.suggestions()
        files = (contents.index, contents.bibs, contents.faces, contents.links, suggestions)
        with self._lock, no_collection():
            changed = changed_photos(self._files, files)
            if changed is None or any(photo not in self._summary.by_hash for photo in changed):
                rows = [_row(contents, suggestions, photo) for photo in contents.index.photos]
                self._summary = Summary(sorted(rows, key=_place))
            elif changed:
                self._summary = self._summary.renewed(_row(contents, suggestions, photo) for photo in changed)
            self._files = files
            return self._summary


class CrossChecks:
    """What the cross-checks of a source find, as of now; looked for again when a label has changed."""

    def __init__(self, source: LabelSource) -> None:
        self._source = source
        self._lock = threading.Lock()
        self._files: tuple[PhotoFile, ...] = ()
        self._findings: tuple[Finding, ...] = ()

    def current(self) -> tuple[Finding, ...]:
        """All findings as of now."""
        contents = self._source.contents()
        files = (contents.index, contents.bibs, contents.faces, contents.links)
        with self._lock:
            if changed_photos(self._files, files) != set():
                self._findings = cross_check(contents)
            self._files = files
            return self._findings


def _place(row: PhotoRow) -> tuple[str, str]:
    return row.sort_key


def changed_photos(before: Sequence[PhotoFile], now: Sequence[PhotoFile]) -> set[str] | None:
    """The photos that changed between two states of the files; None where that cannot be told."""
    if not before:
        return None
    photos: set[str] = set()
    for old, new in zip(before, now, strict=True):
        if new is old:
            continue
        if new.revision <= old.revision:
            return None
        photos.update(photo for photo, revision in new.changed.items() if revision > old.revision)
    return photos


def _row(contents: Contents, suggestions: Suggestions, sha256: str) -> PhotoRow:
    record, ghosts = contents.index.photos[sha256], suggestions.photos.get(sha256)
    bibs, faces = contents.bibs.photos.get(sha256, NO_BIBS), contents.faces.photos.get(sha256, NO_FACES)
    links, done = contents.links.photos.get(sha256), completeness(contents, sha256)
    bibs_left = count_left(ghosts.bibs, bibs.boxes, bibs.labeled) if ghosts else 0
    faces_left = count_left(ghosts.faces, faces.boxes, faces.labeled) if ghosts else 0
    seen = ghosts if ghosts and not bibs.labeled else None
    numbers = [box.number for box in (*bibs.boxes, *(seen.bibs if seen else ())) if box.number]
    return PhotoRow(
        sha256=sha256,
        name=record.names[0],
        width=record.width,
        height=record.height,
        split=record.split,
        bibs=len(bibs.boxes),
        faces=len(faces.boxes),
        links=None if links is None else len(links),
        bib_ghosts_left=bibs_left,
        face_ghosts_left=faces_left,
        completeness=done,
        tags=frozenset([*bibs.tags, *faces.tags, *(tag for box in faces.boxes for tag in box.tags)]),
        sort_key=(record.names[0], sha256),
        names=_searched(record.names),
        numbers=_searched(numbers),
        identities=_searched([*(box.identity for box in faces.boxes if box.identity), *(faces.people or ())]),
        taken_at=record.taken_at or "",
        heads=_around(
            [box for box in faces.boxes if box.scope != FaceScope.EXCLUDE] or (ghosts.faces if ghosts else ())
        ),
        runners=tuple(_runners(bibs.boxes, faces.boxes, links or ())),
        left_open=left_open(done, bibs, faces, links is not None, bibs_left, faces_left),
    )


def _searched(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.casefold() for text in texts))


def _around(boxes: Iterable[BoxRecord]) -> tuple[float, float, float, float] | None:
    """The smallest part of a photo that holds all boxes that were drawn."""
    drawn = [box for box in boxes if box.w and box.h]
    if not drawn:
        return None
    left, top = min(box.x for box in drawn), min(box.y for box in drawn)
    right, bottom = max(box.x + box.w for box in drawn), max(box.y + box.h for box in drawn)
    return left, top, right - left, bottom - top


def _runners(
    bibs: Sequence[BibRecord], faces: Sequence[FaceRecord], links: Iterable[tuple[int, int]]
) -> Iterator[tuple[str, str]]:
    for bib, face in links:
        number, name = bibs[bib].number, faces[face].identity
        if number and name:
            yield number, name


def left_open(
    done: Completeness, bibs: BibLabels, faces: FaceLabels, links_begun: bool, bibs_left: int, faces_left: int
) -> tuple[str, ...]:
    """What is open in a photo that somebody has begun, each in words; nothing for one that nobody has touched."""
    if done.state is not State.PARTIAL:
        return ()
    told = []
    for name, is_done, begun, left in (
        ("bibs", done.bibs, bibs.begun, bibs_left),
        ("faces", done.faces, faces.begun, faces_left),
        ("links", done.links, links_begun, 0),
    ):
        if is_done:
            continue
        unanswered = f", {left} suggestion{'' if left == 1 else 's'} without an answer" if left else ""
        told.append(f"{name} {'begun' if begun else 'not begun'}{unanswered}")
    return tuple(told)

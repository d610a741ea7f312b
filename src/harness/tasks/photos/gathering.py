"""Predictions, line by line, against a reference set: whose line is it, and do all lines speak about the same?

Nothing is scored unless the whole file is right. What is wrong with it is told together: the first bad lines, and the
photos that the set does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.base.errors import PhotoError, PredictionsError
from harness.base.texts import counted, listing, one_line
from harness.references.sets import ReferenceSet
from harness.tasks.photos.prediction_lines import (
    BOX_KEYS,
    DROPPED,
    KEYS,
    LineError,
    PredictionLine,
    Size,
    parse_line,
    prediction_of,
)
from harness.tasks.photos.scores import BIBS, FACES, LINKS, NUMBERS
from harness.tasks.photos.set_photos import SetPhotos
from harness.types import PhotoPrediction

#: How many bad lines, and how many unknown photos, an error shows.
MOST_PROBLEMS, MOST_UNKNOWN = 5, 10
#: What the built-in set is called: the one that is scored on where nobody chooses another.
_SAMPLE = "sample"

Embedding = NDArray[np.float32]


@dataclass(frozen=True)
class Predictions:
    """What a file says about the photos of a run, by their hashes.

    `absent` is what no line speaks about, `unreadable` are photos whose size is needed and cannot be had, `elsewhere`
    counts the lines about photos of other splits; `traced` says that the lines tell which texts were dropped.
    `embeddings` has those of each photo's faces, None for a face without one; `selfies` those of selfies. They are
    personal data: they stay here. `too_small` are selfies whose face was found and cannot be compared.
    """

    found: Mapping[str, PhotoPrediction]
    seconds: Mapping[str, Mapping[str, float]]
    embeddings: Mapping[str, tuple[Embedding | None, ...]]
    absent: frozenset[str]
    unreadable: Mapping[str, str]
    elsewhere: Mapping[str, int]
    traced: bool = False
    selfies: Mapping[str, Embedding | None] = field(default_factory=dict)
    too_small: frozenset[str] = frozenset()

    @property
    def length(self) -> int:
        """How many numbers an embedding has; 0 where the file has none."""
        given = (each for own in (*self.embeddings.values(), self.selfies.values()) for each in own)
        return next((len(each) for each in given if each is not None), 0)


@dataclass(frozen=True)
class Naming:
    """How errors name what was read: `place` is where it stands, `line` what another error calls it, `noun` what such
    things are, `by_hash` how one says which photo is meant where two have the same name, and `pixels` when boxes are in
    pixels."""

    place: Callable[[int], str]
    line: Callable[[int], str]
    noun: str
    by_hash: str
    pixels: str


class Gatherer:
    """Takes lines one by one, and notes what is wrong with them."""

    def __init__(self, file: Path, references: ReferenceSet) -> None:
        self.file, self.references = file, references
        self.naming = Naming(
            place=lambda number: f"{file}:{number}",
            line=lambda number: f"line {number}",
            noun="line",
            by_hash="sha256 as well",
            pixels='pixels, as "unit": "px" says',
        )
        self.photos = SetPhotos(references)
        self._problems: list[tuple[int, str]] = []
        self._unknown: list[str] = []
        self._lines: dict[str, int] = {}
        self._with: dict[tuple[str, ...], int] = {}
        self._without: dict[tuple[str, ...], int] = {}
        self._found: dict[str, PhotoPrediction] = {}
        self._seconds: dict[str, dict[str, float]] = {}
        self._embeddings: dict[str, tuple[Embedding | None, ...]] = {}
        self._selfies: dict[str, Embedding | None] = {}
        self._too_small: set[str] = set()
        self._known_selfies = {selfie.sha256 for selfie in references.selfies}
        self._length: tuple[int, int] | None = None
        #: How many boxes are in pixels, and how many of them lie within the first pixel of their photo.
        self._pixel_boxes, self._tiny_boxes = 0, 0
        self._unreadable: dict[str, str] = {}
        self._elsewhere: dict[str, int] = {}

    def add_text(self, number: int, text: bytes) -> None:
        """A line as it stands in the file; a blank one says nothing."""
        if not text.strip():
            return
        try:
            self.add(number, parse_line(text.rstrip()))
        except LineError as error:
            self.problem(number, str(error))

    def problem(self, number: int, text: str) -> None:
        """Note that something is wrong there."""
        self._problems.append((number, text))

    def _add_selfie(self, number: int, sha256: str, embedding: list[float] | None, found: bool) -> None:
        if sha256 not in self._known_selfies:
            self._note_unknown(number, f"selfie {sha256}", "")
        elif sha256 in self._selfies:
            raise LineError("this selfie is there already; expected each once")
        if embedding is not None:
            self._check_length(number, embedding, "embedding")
        elif found:
            self._too_small.add(sha256)
        self._selfies[sha256] = None if embedding is None else np.asarray(embedding, np.float32)

    def add(self, number: int, line: PredictionLine, size: Size | None = None) -> None:
        """A line; `size` is what its program takes the upright photo to be."""
        if line.selfie is not None:
            self._add_selfie(number, line.selfie, line.embedding, bool(line.found))
            return
        self._note_keys(number, line)
        self._note_pixels(line)
        sha256 = self._photo_of(number, line)
        if sha256 is None:
            return
        if sha256 in self._lines:
            told = f"{self.photos.known[sha256].names[0]} is there already, as {self.naming.line(self._lines[sha256])}"
            raise LineError(f"{told}; expected each photo once")
        self._lines[sha256] = number
        embeddings = self._checked_embeddings(number, line)
        used = sha256 in self.photos.used
        try:
            prediction = prediction_of(line, self.photos.size(sha256, size) if line.unit == "px" else None)
        except PhotoError as error:
            if used:
                self._unreadable[sha256] = str(error)
                return
        if not used:  # checked like any other line, as far as its photo can be read
            split = self.photos.known[sha256].split
            self._elsewhere[split] = self._elsewhere.get(split, 0) + 1
            return
        self._found[sha256] = prediction
        if line.seconds:
            self._seconds[sha256] = line.seconds
        if any(item is not None for item in embeddings):
            self._embeddings[sha256] = embeddings

    def gathered(self) -> Predictions:
        """All lines together; raises where something is wrong with them."""
        for key in sorted(self._with.keys() & self._without.keys()):
            self.problem(self._without[key], self._lost(key))
        told = [*self._told_problems(), *self._told_unknown()]
        if told:
            raise PredictionsError("\n".join(told))
        if not self._lines:
            raise PredictionsError(f"{self.file}: no predictions; expected one JSON object a line")
        if self._pixel_boxes and self._tiny_boxes == self._pixel_boxes:
            tiny = "every box lies within the first pixel of its photo, as shares would"
            raise PredictionsError(f"{self.file}: {tiny}; expected {self.naming.pixels}")
        absent = {key for key in (BIBS, FACES, LINKS) if (key,) not in self._with}
        if {BIBS, FACES} <= absent:
            raise PredictionsError(f"{self.file}: no line has bibs or faces; expected at least one of them")
        if (BIBS, "number") in self._without:
            absent.add(NUMBERS)
        if absent & {BIBS, FACES}:
            absent.add(LINKS)
        return Predictions(
            self._found,
            self._seconds,
            self._embeddings,
            frozenset(absent),
            self._unreadable,
            self._elsewhere,
            traced=(DROPPED,) in self._with,
            selfies=self._selfies,
            too_small=frozenset(self._too_small),
        )

    def _note_keys(self, number: int, line: PredictionLine) -> None:
        """Which keys the line has, and which it lacks."""
        for key in KEYS:
            (self._with if key in line.model_fields_set else self._without).setdefault((key,), number)
        for kind, key in BOX_KEYS:
            for box in line.bibs if kind == BIBS else line.faces:
                (self._with if key in box.model_fields_set else self._without).setdefault((kind, key), number)

    def _note_pixels(self, line: PredictionLine) -> None:
        """How many boxes of a line in pixels look like shares."""
        if line.unit == "px":
            boxes = [*line.bibs, *line.faces]
            self._pixel_boxes += len(boxes)
            self._tiny_boxes += sum(max(box.x + box.w, box.y + box.h) <= 1 for box in boxes)

    def _photo_of(self, number: int, line: PredictionLine) -> str | None:
        """The hash of the photo that a line is about; None where the set does not have it."""
        if line.sha256 is not None:
            if line.sha256 not in self.photos.known:
                known = line.photo is not None and self.photos.find(line.photo)
                hint = " (the set has a photo of this name, with another sha256)" if known else ""
                self._note_unknown(number, line.photo or line.sha256, hint)
                return None
            names = self.photos.known[line.sha256].names
            if line.photo is not None and line.photo not in names:
                told = f"photo {one_line(line.photo)} and sha256 are two photos"
                raise LineError(f"{told}; the one of this sha256 is {names[0]}")
            return line.sha256
        name = str(line.photo)
        found = self.photos.find(name)
        if len(found) > 1:
            raise LineError(f"{len(found)} photos of the set are called {name}; expected {self.naming.by_hash}")
        if not found:
            self._note_unknown(number, name, self.photos.near(name))
            return None
        return found[0]

    def _note_unknown(self, number: int, name: str, hint: str) -> None:
        self._unknown.append(f"{self.naming.place(number)}: {one_line(name)}{hint}")

    def _checked_embeddings(self, number: int, line: PredictionLine) -> tuple[Embedding | None, ...]:
        """The embeddings of the faces; all of a file have one length."""
        for place, face in enumerate(line.faces):
            if face.embedding is not None:
                self._check_length(number, face.embedding, f"faces.{place}.embedding")
        return tuple(None if f.embedding is None else np.asarray(f.embedding, np.float32) for f in line.faces)

    def _check_length(self, number: int, embedding: list[float], where: str) -> None:
        length, first = self._length or (len(embedding), number)
        self._length = length, first
        if len(embedding) != length:
            raise LineError(f"{where}: {len(embedding)} numbers; expected {length}, as on line {first}")

    def _told_problems(self) -> Iterator[str]:
        problems = sorted(self._problems)
        yield from (f"{self.naming.place(number)}: {text}" for number, text in problems[:MOST_PROBLEMS])
        if len(problems) > MOST_PROBLEMS:
            yield f"... and {counted(len(problems) - MOST_PROBLEMS, f'bad {self.naming.noun}')} more"

    def _told_unknown(self) -> Iterator[str]:
        if self._unknown:
            lines = counted(len(self._unknown), self.naming.noun)
            are = "is about a photo" if len(self._unknown) == 1 else "are about photos"
            hint = " (references=staging chooses photos of your own)" if self.references.name == _SAMPLE else ""
            yield f"{self.file}: {lines} {are} that {self.references.name} does not have{hint}:"
            yield listing(self._unknown, MOST_UNKNOWN)

    def _lost(self, key: tuple[str, ...]) -> str:
        """What is wrong with a key that only some lines have: of a line, or of the boxes in one of its lists."""
        other = self.naming.line(self._with[key])
        if len(key) == 1:
            expected = "expected it on every line or on none; where none were found, an empty list"
            return f"no {key[0]}, which {other} has; {expected}"
        kind, name = key
        box = kind.removesuffix("s")
        expected = f"expected it for every {box} or for none; where there is none, null"
        return f"a {box} without {name}, which one of {other} has; {expected}"

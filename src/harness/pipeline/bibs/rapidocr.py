"""Bibs by reading: text is found in the photo, and what looks like a number and may hang on somebody is a bib.

Text is looked for in the photo scaled to `long_side` (0: not at all), in `tiles` by `tiles` overlapping parts of it,
and in the torso below each face, once for each of `torso_faces`, scaled so that the face would be so many pixels high;
with `closer` unsure, only below faces that no look so far found a sure number for. With `near_faces`, the first look
is at the strip of it where torsos are. Pieces of text are read from the photo's own pixels, however small the picture
was that they were found in, once for each of the `margins` that they are cut out with; the readings of one place vote.
Where that tells no number, `last_torsos` are looks at the torsos below the highest faces, and `last_looks` at the whole
photo, scaled to these shares of `long_side`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from harness.base.checks import Pixels, Positive, Share
from harness.pipeline.bibs.covered import covered_side
from harness.pipeline.bibs.ends import ends_before
from harness.pipeline.bibs.engine import SeenCharacter, check_engine, find_texts, open_engine, read_line
from harness.pipeline.bibs.formats import BibFormat
from harness.pipeline.bibs.numbers import UNREAD, Found, NumberRule, covered_number
from harness.pipeline.bibs.plates import WIDEST, Edges, ink_on, within
from harness.pipeline.bibs.readings import Plate, Reading
from harness.pipeline.bibs.texts import WHOLE, Corners, bounds, crop, cut_by, in_blocks, join, tiles, turned, widen
from harness.pipeline.bibs.torsos import Torso
from harness.pipeline.bibs.voting import Sighting
from harness.pipeline.images import framed, scale_to, straighten
from harness.pipeline.looks import Image, Look
from harness.pipeline.weights import Weights
from harness.types import BibBox, Box, FaceBox

#: A closer look shows less beside a torso than the first one has shown, in heights of the face.
_ROOM = 0.25
#: ... but more than the first one where a text reaches the edge of it that no other look has shown as a whole.
_WIDE_ROOM = 1.5
#: Torsos smaller than this many pixels of a face's height have no number that could be read.
_SMALLEST_FACE = 8
#: The last looks have so much room around the photo, as a share of its long side: text that fills a picture up to its
#: frame is not seen as text.
_BORDER = 0.25
#: Enlarging a torso, or the whole photo, beyond this costs time and shows nothing more.
_LARGEST_FACTOR, _LARGEST_WHOLE = 4, 2
#: Whoever's face is at least this share of the highest one's is near.
_NEAR = 0.5
#: Text lower than this many pixels is enlarged as it is cut out, which keeps more of it than enlarging it afterwards.
_READ_HEIGHT = 64

#: A part of the photo, and how many pixels its long side is scaled to.
Asked = tuple[Box, int]
PixelsOrNone = Annotated[int, Field(ge=0, le=16384)]
Strength = Annotated[float, Field(ge=0, le=40)]


@dataclass(frozen=True)
class Preprocessing:
    """What may be done to a picture before it is read. Zero switches a step off.

    `clahe` is the clip limit of an adaptive histogram equalisation, `denoise` the strength of a non-local mean.
    """

    clahe: Strength
    denoise: Strength

    def __call__(self, image: Image) -> Image:
        """The picture after the steps that are switched on."""
        import cv2

        if self.denoise:
            image = np.asarray(
                cv2.fastNlMeansDenoisingColored(image, None, self.denoise, self.denoise, 7, 21), np.uint8
            )
        if self.clahe:
            lightness, a, b = cv2.split(cv2.cvtColor(image, cv2.COLOR_BGR2LAB))
            flat = cv2.createCLAHE(self.clahe, (8, 8)).apply(lightness)
            image = np.asarray(cv2.cvtColor(cv2.merge((flat, a, b)), cv2.COLOR_LAB2BGR), np.uint8)
        return image


@dataclass(frozen=True)
class RapidOcr:
    """PP-OCR text detection and recognition through RapidOCR."""

    CHEAP: ClassVar = frozenset(
        {"guided", "near_faces", "torso", "rule", "plate", "long_side", "tiles", "torso_faces", "closer", "margins"}
        | {"read_width", "format", "lone_plates", "last_torsos", "last_looks", "covered"}
    )

    long_side: PixelsOrNone
    tiles: Annotated[int, Field(ge=1, le=4)]
    torso_faces: tuple[Pixels, ...]
    closer: Literal["always", "unsure"]
    margins: Annotated[tuple[Share, ...], Field(min_length=1)]
    read_width: Annotated[int, Field(ge=48, le=3200)]
    guided: Share
    near_faces: bool
    preprocessing: Preprocessing
    torso: Torso
    rule: NumberRule
    plate: Plate
    format: BibFormat
    detector: Weights
    recognizer: Weights
    lone_plates: bool = True
    last_torsos: tuple[Pixels, ...] = ()
    last_looks: tuple[Positive, ...] = ()
    covered: bool = False

    def __post_init__(self) -> None:
        if not self.long_side and not self.torso_faces:
            raise ValueError("long_side=0, torso_faces=[]: nothing would be read; set one of them")

    @property
    def models(self) -> tuple[Weights, ...]:
        """The weights in use."""
        return (self.detector, self.recognizer)

    @property
    def _engine(self) -> Any:
        return open_engine(self.detector, self.recognizer, self.read_width)

    def find_models(self) -> None:
        """Find both models."""
        check_engine(self.detector, self.recognizer)

    def load(self) -> None:
        """Open both models."""
        assert self._engine

    def read(self, look: Look, faces: Sequence[FaceBox]) -> tuple[BibBox, ...]:
        """Find text, read what may be a bib number, and put a bib around it; `look` is told what became no number."""
        found = Found(self.rule, self.format, self.torso, self.guided, faces)
        for part, long_side in self.scenes(look.size, faces):
            if self.near_faces:
                look.step("bib.near_faces", int(part != WHOLE))
            self._look_at(part, long_side, look, found)
        self._look_closer(look, found)
        self._look_once_more(look, found)
        numbers = tuple(self._as_far_as_seen(look, number) for number in found.numbers())
        if self.torso_faces and self.closer == "always":  # where the first look was sure, it is a safety net
            look.step("bib.torso_faces", sum(reading.closer for reading in numbers))
        for rule, count in found.made_a_difference().items():
            look.step(f"bib.{rule}", count)
        look.drop(*found.dropped(numbers))
        # A number that was read beyond the border is on no bib of the photo.
        aspect = look.size[0] / look.size[1]
        return tuple(bib for number in numbers if (bib := self.plate.around(number, aspect)).has_coords)

    def _look_closer(self, look: Look, found: Found) -> None:
        """Look at torsos, closer each time, as long as nothing sure is known of them: another look at what is certain
        can only add mistakes. Then at more of a torso, where a number is wider than it."""
        looked: set[Asked] = set()
        for height in sorted(self.torso_faces):
            unsure = range(len(found.faces)) if self.closer == "always" else found.unsure()
            for asked in self.closer_looks(look.size, [found.faces[wearer] for wearer in unsure], height):
                if asked not in looked:
                    looked.add(asked)
                    self._look_at(*asked, look, found, closer=True)
        for height in self.torso_faces[:1]:
            cut_off = [found.faces[wearer] for wearer in found.cut_off()]
            for asked in self.closer_looks(look.size, cut_off, height, _WIDE_ROOM):
                self._look_at(*asked, look, found, closer=True)

    def _look_once_more(self, look: Look, found: Found) -> None:
        """Look until there is a number: at the torsos of those whom the photo is of, then at all of it, since a bib may
        be too small or too large to be seen as text, or hang on somebody far from all faces that were found."""
        highest = max((face.h for face in found.faces), default=0.0)
        near = [face for face in found.faces if face.h >= _NEAR * highest]
        looks = [(asked, 0.0) for height in self.last_torsos for asked in self.closer_looks(look.size, near, height)]
        largest = max(1.0, _LARGEST_WHOLE * max(look.size) / max(self.long_side, 1))
        for share in self.last_looks if self.long_side else ():
            asked = (WHOLE, max(32, round(self.long_side * min(share, largest))))
            if share <= 1 or largest > 1:  # else it has been looked at like that
                looks.append((asked, _BORDER if share <= 1 else 0.0))
        for asked, border in looks:
            if not found.nothing():
                break
            found.missed = asked[0] == WHOLE
            self._look_at(*asked, look, found, closer=not found.missed, border=border)
            if not found.nothing():  # they are for rare photos: where none helps, that says nothing against them
                look.step("bib.last_looks" if found.missed else "bib.last_torsos", 1)

    def _as_far_as_seen(self, look: Look, number: Reading) -> Reading:
        """A number with a `?` at the side where something before the bib hides the rest of it."""
        along = number.along
        if not self.covered or UNREAD in number.text or len(along) < 2:
            return number
        side = look.see("covered", self, [number.corners, along], partial(covered_side, number.corners, along))
        look.step("bib.covered", int(bool(side)))
        return covered_number(number, side, self.rule.sure) if side else number

    def scenes(self, size: tuple[int, int], faces: Sequence[FaceBox]) -> Iterator[Asked]:
        """The parts of the photo to look at first, and the pixels that the long side of each is scaled to."""
        width, height = size
        if self.long_side:
            factor = self.long_side / max(size)
            scene = self.torso.scene(faces, width / height) if self.near_faces else None
            for tile in tiles(in_blocks(scene or WHOLE, (width * factor, height * factor)), self.tiles):
                yield tile, max(1, round(factor * max(tile.w * width, tile.h * height)))

    def closer_looks(
        self, size: tuple[int, int], faces: Sequence[FaceBox], target: int, room: float = _ROOM
    ) -> Iterator[Asked]:
        """The torsos below faces, with so much room beside them, and the pixels that the long side of each is scaled to
        so that the face would be `target` pixels high."""
        width, height = size
        for face in faces:
            region, pixels = self.torso.region(face, width / height, room), face.h * height
            long_side = max(region.w * width, region.h * height)
            if region.has_coords and min(pixels, long_side) >= _SMALLEST_FACE:
                yield region, max(32, round(long_side * min(target / pixels, _LARGEST_FACTOR)))

    def _look_at(
        self, part: Box, long_side: int, look: Look, found: Found, closer: bool = False, border: float = 0.0
    ) -> None:
        """Find the text in a part of the photo, and read it once for each margin."""
        aspect = look.size[0] / look.size[1]
        pieces: list[tuple[Corners, Sighting]] = []
        asked = [*part.xywh, long_side, *([border] if border else [])]
        for seen in look.see("text", self, asked, partial(self._find, part, long_side, border)):
            hangs = found.may_hang(turned(seen, look.size), aspect)
            corners = self._on_plate(look, seen) if self.lone_plates and hangs else seen
            box, line = bounds(corners), turned(corners, look.size)
            cut = self._cut(look, corners, cut_by(box, part, self.rule.clearance * line.h, aspect))
            if found.may_be_read(box, line, cut, aspect):
                pieces.append((corners, self._sighting(look, corners, cut, closer)))
        for corners in join([(corners, sighting.readings[0].text) for corners, sighting in pieces], look.size):
            pieces.append((corners, self._sighting(look, corners, "", closer)))
        for corners, sighting in pieces:
            found.add(sighting, turned(corners, look.size), aspect)

    def _on_plate(self, look: Look, corners: Corners) -> Corners:
        """A piece of text, or the digit on it where a whole plate was taken for one character."""
        look.step("bib.lone_plates", 0)
        width, height = look.size
        line = turned(corners, look.size)
        narrow = line.w * width <= WIDEST * line.h * height
        edges = look.see("ink", self, corners, partial(self._ink_on, corners)) if narrow else None
        # Reading costs more than looking for ink, and is seldom needed after it.
        if not edges or len(self._reading(look, corners, self.margins[0], closer=False).text) > 1:
            return corners
        look.step("bib.lone_plates", 1)
        return within(corners, edges)

    def _cut(self, look: Look, corners: Corners, near: str) -> str:
        """What has cut off a text that comes near to something: not the frame, where paper shows in between."""
        if near not in ("left", "right"):
            return near
        return "" if look.see("end", self, [corners, near], partial(self._ends_before, corners, near)) else near

    def _sighting(self, look: Look, corners: Corners, cut: str, closer: bool) -> Sighting:
        return Sighting(bounds(corners), tuple(self._readings(look, corners, closer)), cut)

    def _readings(self, look: Look, corners: Corners, closer: bool) -> Iterator[Reading]:
        """What a piece of text says with each margin; one without any digit is not read again."""
        first = self._reading(look, corners, self.margins[0], closer)
        yield first
        if any(character.isdecimal() for character in first.text):
            for margin in self.margins[1:]:
                yield self._reading(look, corners, margin, closer)

    def _reading(self, look: Look, corners: Corners, margin: float, closer: bool) -> Reading:
        wider = widen(corners, margin, look.size)
        seen = look.see("read", self, [wider, self.read_width], partial(self._read, wider))
        return Reading.of(seen, wider, closer)

    def _find(self, part: Box, long_side: int, border: float, image: Image) -> list[Corners]:
        cropped, left, top = crop(image, part)
        scaled, factor = scale_to(self.preprocessing(cropped), long_side)
        room = round(border * long_side)
        texts = find_texts(self._engine, framed(scaled, room)) - room
        corners = (texts / factor + (left, top)) / (image.shape[1], image.shape[0])
        return [[[round(x, 6), round(y, 6)] for x, y in text] for text in corners.tolist()]

    def _read(self, corners: Corners, image: Image) -> list[SeenCharacter]:
        return read_line(self._engine, self.preprocessing(_straight(corners, image)))

    def _ink_on(self, corners: Corners, image: Image) -> Edges | None:
        return ink_on(_straight(corners, image))

    def _ends_before(self, corners: Corners, side: str, image: Image) -> bool:
        return ends_before(_straight(corners, image), side)


def _straight(corners: Corners, image: Image) -> Image:
    return straighten(image, np.array(corners) * (image.shape[1], image.shape[0]), _READ_HEIGHT)

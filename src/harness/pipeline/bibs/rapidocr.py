"""Bibs by reading: text is found in the photo, and what hangs on somebody's torso and looks like a number is read.

Text is looked for in the whole photo scaled to `long_side` (0: not at all), in `tiles` by `tiles` overlapping parts of
it, and in the torso below each face, scaled so that the face would be `torso_face` pixels high (0: not at all). Pieces
of text are read from the photo's own pixels, however small the picture was that they were found in. With `guided`,
only text on a torso is read: clocks, banners, sponsors and camera credits hang on nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from harness.pipeline.bibs.readings import NumberRule, Plate, Reading, merge, without_rivals
from harness.pipeline.images import scale_to, straighten
from harness.pipeline.looks import Image, Look
from harness.pipeline.preprocessing import Preprocessing
from harness.pipeline.torsos import Torso
from harness.pipeline.weights import Weights
from harness.types import BibBox, Box, FaceBox

#: RapidOCR scales pictures by rules of its own; the scale is ours to choose, so its limits are set out of reach.
_NO_LIMIT = 1 << 16
#: A tile reaches this share of its size over its neighbours, so that a number on the seam is whole in one of them.
_TILE_OVERLAP = 0.2
#: Torsos smaller than this many pixels of a face's height have no number that could be read.
_SMALLEST_FACE = 8
#: Text lower than this many pixels is enlarged as it is cut out, which keeps more of it than enlarging it afterwards.
_READ_HEIGHT = 64
_WHOLE = Box(x=0.0, y=0.0, w=1.0, h=1.0)

PixelsOrNone = Annotated[int, Field(ge=0, le=16384)]
#: Four corners, clockwise from the top left, in normalised coordinates.
Corners = list[list[float]]


@dataclass(frozen=True)
class RapidOcr:
    """PP-OCR text detection and recognition through RapidOCR."""

    CHEAP: ClassVar = frozenset({"guided", "torso", "rule", "plate", "long_side", "tiles", "torso_face"})

    long_side: PixelsOrNone
    tiles: Annotated[int, Field(ge=1, le=4)]
    torso_face: PixelsOrNone
    guided: bool
    preprocessing: Preprocessing
    torso: Torso
    rule: NumberRule
    plate: Plate
    detector: Weights
    recognizer: Weights

    def __post_init__(self) -> None:
        if not self.long_side and not self.torso_face:
            raise ValueError("long_side=0, torso_face=0: nothing would be read; set one of them")

    @property
    def models(self) -> tuple[Weights, ...]:
        """The weights in use."""
        return (self.detector, self.recognizer)

    def load(self) -> None:
        """Open both models; RapidOCR does so on first use, which must not count as work on the first photo."""
        engine, blank = _engine(self.detector, self.recognizer), np.full((64, 64, 3), 255, dtype=np.uint8)
        engine(blank, use_det=True, use_rec=False)
        engine(blank, use_det=False, use_rec=True, return_word_box=True)

    def read(self, look: Look, faces: Sequence[FaceBox]) -> tuple[BibBox, ...]:
        """Find text, read what may be a bib number, and put a bib around it."""
        width, height = look.size
        readings, elsewhere = [], 0
        for corners, closer in self._texts(look, faces, width, height):
            box = bounds(corners)
            wearer = self.torso.wearer(faces, box, width / height) if self.guided else None
            if self.guided and wearer is None:
                elsewhere += 1
                continue
            text, score, char_scores = look.see("read", self, corners, partial(self._read, corners))
            reading = Reading(box, text, score, tuple(char_scores), wearer, closer)
            if self.rule.accepts(reading):
                readings.append(reading)
        places = merge(readings)
        numbers = without_rivals(places, self.torso.rival_share)
        if self.guided:
            look.step("bib.guided", elsewhere)
            look.step("bib.torso.rival_share", len(places) - len(numbers))
        if self.torso_face:
            look.step("bib.torso_face", sum(reading.closer for reading in numbers))
        return tuple(self.plate.around(reading) for reading in numbers)

    def _texts(self, look: Look, faces: Sequence[FaceBox], width: int, height: int) -> Iterator[tuple[Corners, bool]]:
        """The corners of every piece of text in every part that is looked at, and whether that was a closer look."""
        for part, size, closer in self._parts(faces, width, height):
            question = [*part.xywh, size]
            for corners in look.see("text", self, question, partial(self._find, part, size)):
                yield corners, closer

    def _parts(self, faces: Sequence[FaceBox], width: int, height: int) -> Iterator[tuple[Box, int, bool]]:
        """The parts to look at, the pixels that the long side of each is scaled to, and whether it is a torso."""
        if self.long_side:
            for tile in _tiles(self.tiles):
                yield tile, round(self.long_side * max(tile.w, tile.h)), False
        if self.torso_face:
            for face in faces:
                region = self.torso.region(face, width / height)
                pixels = max(region.w * width, region.h * height)
                if face.h * height >= _SMALLEST_FACE and region.has_coords and pixels >= _SMALLEST_FACE:
                    yield region, max(32, round(pixels * self.torso_face / (face.h * height))), True

    def _find(self, part: Box, long_side: int, image: Image) -> list[Corners]:
        cropped, left, top = _crop(image, part)
        scaled, factor = scale_to(self.preprocessing(cropped), long_side)
        found = _engine(self.detector, self.recognizer)(scaled, use_det=True, use_rec=False).boxes
        if found is None:
            return []
        corners = (found / factor + (left, top)) / (image.shape[1], image.shape[0])
        return [[[round(x, 6), round(y, 6)] for x, y in text] for text in corners.tolist()]

    def _read(self, corners: Corners, image: Image) -> tuple[str, float, list[float]]:
        straight = straighten(image, np.array(corners) * (image.shape[1], image.shape[0]), _READ_HEIGHT)
        engine = _engine(self.detector, self.recognizer)
        seen = engine(self.preprocessing(straight), use_det=False, use_rec=True, return_word_box=True)
        words = seen.word_results[0]
        return seen.txts[0].replace(" ", ""), float(seen.scores[0]), [float(value) for value in words.confs]


def _tiles(count: int) -> Iterator[Box]:
    """The photo, or `count` by `count` overlapping parts of it."""
    if count == 1:
        yield _WHOLE
        return
    size = 1 / (count - (count - 1) * _TILE_OVERLAP)
    for row in range(count):
        for column in range(count):
            step = size * (1 - _TILE_OVERLAP)
            yield Box(x=column * step, y=row * step, w=size, h=size)


def _crop(image: Image, part: Box) -> tuple[Image, int, int]:
    height, width = image.shape[:2]
    left, top = int(part.x * width), int(part.y * height)
    right, bottom = min(width, round((part.x + part.w) * width)), min(height, round((part.y + part.h) * height))
    return image[top : max(bottom, top + 1), left : max(right, left + 1)], left, top


def bounds(corners: Corners) -> Box:
    """The upright bounds of a piece of text."""
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    left, top = max(min(xs), 0.0), max(min(ys), 0.0)
    return Box(x=left, y=top, w=max(min(max(xs), 1.0) - left, 0.0), h=max(min(max(ys), 1.0) - top, 0.0))


@lru_cache(maxsize=1)
def _engine(detector: Weights, recognizer: Weights) -> Any:
    from rapidocr import RapidOCR

    return RapidOCR(
        params={
            "Global.log_level": "error",
            "Global.use_cls": False,
            "Global.text_score": 0.0,
            "Global.max_side_len": _NO_LIMIT,
            "Det.limit_type": "max",
            "Det.limit_side_len": _NO_LIMIT,
            "Det.model_path": str(detector.locate()),
            "Rec.model_path": str(recognizer.locate()),
        }
    )

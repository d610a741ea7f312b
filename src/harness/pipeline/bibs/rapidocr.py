"""Bibs by reading: text is found in the photo, and what hangs on somebody's torso and looks like a number is read.

Text is looked for in the photo scaled to `long_side` (0: not at all), in `tiles` by `tiles` overlapping parts of it,
and in the torso below each face, once for each of `torso_faces`, scaled so that the face would be so many pixels high.
Pieces of text are read from the photo's own pixels, however small the picture was that they were found in, once for
each of the `margins` that they are cut out with; the readings of one place vote. With `guided`, only text on a torso is
read: clocks, banners, sponsors and camera credits hang on nobody. With `near_faces`, text is looked for only in the
rectangle around all torsos.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from harness.base.checks import Pixels, Share
from harness.base.extras import need
from harness.pipeline.bibs.readings import NumberRule, Plate, Reading
from harness.pipeline.bibs.texts import WHOLE, Corners, bounds, crop, in_blocks, is_cut, tiles, widen
from harness.pipeline.bibs.torsos import Torso
from harness.pipeline.bibs.voting import Sighting, elect, merge, without_rivals
from harness.pipeline.images import scale_to, straighten
from harness.pipeline.looks import Image, Look
from harness.pipeline.weights import Weights
from harness.types import BibBox, Box, FaceBox

#: RapidOCR scales pictures by rules of its own; the scale is ours to choose, so its limits are set out of reach.
_NO_LIMIT = 1 << 16
#: Torsos smaller than this many pixels of a face's height have no number that could be read.
_SMALLEST_FACE = 8
#: Enlarging a torso beyond this costs time and shows nothing more.
_LARGEST_FACTOR = 4
#: Text lower than this many pixels is enlarged as it is cut out, which keeps more of it than enlarging it afterwards.
_READ_HEIGHT = 64
#: What the recognizer scales the height of a text to.
_READ_INPUT_HEIGHT = 48

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
        {"guided", "near_faces", "torso", "rule", "plate", "long_side", "tiles", "torso_faces", "margins", "read_width"}
    )

    long_side: PixelsOrNone
    tiles: Annotated[int, Field(ge=1, le=4)]
    torso_faces: tuple[Pixels, ...]
    margins: Annotated[tuple[Share, ...], Field(min_length=1)]
    read_width: Annotated[int, Field(ge=48, le=3200)]
    guided: bool
    near_faces: bool
    preprocessing: Preprocessing
    torso: Torso
    rule: NumberRule
    plate: Plate
    detector: Weights
    recognizer: Weights

    def __post_init__(self) -> None:
        if not self.long_side and not self.torso_faces:
            raise ValueError("long_side=0, torso_faces=[]: nothing would be read; set one of them")

    @property
    def models(self) -> tuple[Weights, ...]:
        """The weights in use."""
        return (self.detector, self.recognizer)

    @property
    def _engine(self) -> Any:
        return _engine(self.detector, self.recognizer, self.read_width)

    def load(self) -> None:
        """Open both models; RapidOCR does so on first use, which must not count as work on the first photo."""
        blank = np.full((64, 64, 3), 255, dtype=np.uint8)
        self._engine(blank, use_det=True, use_rec=False)
        self._engine(blank, use_det=False, use_rec=True, return_word_box=True)

    def read(self, look: Look, faces: Sequence[FaceBox]) -> tuple[BibBox, ...]:
        """Find text, read what may be a bib number, and put a bib around it."""
        places = merge(elect(self._sightings(look, faces)))
        accepted = [number for number in map(self.rule.number, places) if number]
        numbers = without_rivals(accepted, self.torso.rival_share)
        if self.guided:
            look.step("bib.torso.rival_share", len(accepted) - len(numbers))
        if self.torso_faces:
            look.step("bib.torso_faces", sum(reading.closer for reading in numbers))
        # A number that was read beyond the border is on no bib of the photo.
        return tuple(bib for bib in map(self.plate.around, numbers) if bib.has_coords)

    def _sightings(self, look: Look, faces: Sequence[FaceBox]) -> Iterator[Sighting]:
        """Every piece of text that may be a whole number on a torso, read once for each margin."""
        aspect = look.size[0] / look.size[1]
        for part, long_side, closer in self.parts(look.size, faces):
            if self.near_faces:
                look.step("bib.near_faces", int(not closer and part != WHOLE))
            for corners in look.see("text", self, [*part.xywh, long_side], partial(self._find, part, long_side)):
                box = bounds(corners)
                if is_cut(box, part, self.rule.clearance, aspect):
                    continue
                wearer = self.torso.wearer(faces, box, aspect) if self.guided else None
                if self.guided:
                    look.step("bib.guided", int(wearer is None))
                if wearer is not None or not self.guided:
                    yield Sighting(box, tuple(self._readings(look, corners, wearer, closer)))

    def parts(self, size: tuple[int, int], faces: Sequence[FaceBox]) -> Iterator[tuple[Box, int, bool]]:
        """The parts to look at, the pixels that the long side of each is scaled to, and whether it is a torso."""
        width, height = size
        if self.long_side:
            factor = self.long_side / max(size)
            scene = self.torso.scene(faces, width / height) if self.near_faces else WHOLE
            if scene is not None:
                for tile in tiles(in_blocks(scene, (width * factor, height * factor)), self.tiles):
                    yield tile, max(1, round(factor * max(tile.w * width, tile.h * height))), False
        for face in faces:
            region, pixels = self.torso.region(face, width / height), face.h * height
            long_side = max(region.w * width, region.h * height)
            if region.has_coords and min(pixels, long_side) >= _SMALLEST_FACE:
                factors = {min(target / pixels, _LARGEST_FACTOR) for target in self.torso_faces}
                yield from ((region, max(32, round(long_side * factor)), True) for factor in sorted(factors))

    def _readings(self, look: Look, corners: Corners, wearer: int | None, closer: bool) -> Iterator[Reading]:
        """What a piece of text says with each margin; one without any digit is not read again."""
        first = self._reading(look, corners, self.margins[0], wearer, closer)
        yield first
        if any(character.isdecimal() for character in first.text):
            for margin in self.margins[1:]:
                again = self._reading(look, corners, margin, wearer, closer)
                look.step("bib.margins", int(again.text != first.text))
                yield again

    def _reading(self, look: Look, corners: Corners, margin: float, wearer: int | None, closer: bool) -> Reading:
        wider = widen(corners, margin, look.size)
        text, char_scores = look.see("read", self, [wider, self.read_width], partial(self._read, wider))
        return Reading(bounds(wider), text, tuple(char_scores), wearer, closer)

    def _find(self, part: Box, long_side: int, image: Image) -> list[Corners]:
        cropped, left, top = crop(image, part)
        scaled, factor = scale_to(self.preprocessing(cropped), long_side)
        found = self._engine(scaled, use_det=True, use_rec=False).boxes
        if found is None:
            return []
        corners = (found / factor + (left, top)) / (image.shape[1], image.shape[0])
        return [[[round(x, 6), round(y, 6)] for x, y in text] for text in corners.tolist()]

    def _read(self, corners: Corners, image: Image) -> tuple[str, list[float]]:
        straight = straighten(image, np.array(corners) * (image.shape[1], image.shape[0]), _READ_HEIGHT)
        seen = self._engine(self.preprocessing(straight), use_det=False, use_rec=True, return_word_box=True)
        text, scores = seen.txts[0], seen.word_results[0].confs
        visible = [(c, float(score)) for c, score in zip(text, scores, strict=False) if not c.isspace()]
        return "".join(c for c, _ in visible), [score for _, score in visible]


@lru_cache(maxsize=2)
def _engine(detector: Weights, recognizer: Weights, read_width: int) -> Any:
    need("bib=rapidocr", "rapidocr", "onnxruntime", "cv2")
    for weights in (detector, recognizer):
        weights.locate()
    from rapidocr import RapidOCR

    engine = RapidOCR(
        params={
            "Global.log_level": "error",
            "Global.use_cls": False,
            "Global.text_score": 0.0,
            "Global.max_side_len": _NO_LIMIT,
            "Det.limit_type": "max",
            "Det.limit_side_len": _NO_LIMIT,
            "Rec.rec_img_shape": [3, _READ_INPUT_HEIGHT, read_width],
        }
    )
    engine.cfg._set_flag("allow_objects", True)  # it takes sessions, but has no public way to hand them in
    engine.cfg.Det.session, engine.cfg.Rec.session = _session(detector), _session(recognizer)
    return engine


@lru_cache(maxsize=2)
def _session(weights: Weights) -> Any:
    """A model whose threads rest when it has answered: RapidOCR's own go on spinning, in the way of the next model."""
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.log_severity_level = 4
    options.enable_cpu_mem_arena = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return InferenceSession(str(weights.locate()), options, providers=["CPUExecutionProvider"])

"""What is shown of photos: the whole of one, scaled and drawn on, and parts of it in their full sharpness.

A picture depends on the bytes of its photo, on what is drawn, and on the code that decodes and draws. By these it is
kept in the stage cache, so that a run whose report shows what an earlier one has shown decodes no photo for it.
Pictures of people stay on this machine: they are not written to a shared cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from harness.base.code import code_of
from harness.base.errors import PhotoError
from harness.pipeline.cache import PICTURE, Entry, StageCache, key_of
from harness.references import photos as reading
from harness.references.sets import ReferencePhoto
from harness.tasks.photos import pictures
from harness.tasks.photos.pictures import LONG_SIDE, Image, jpeg, outline, scaled
from harness.types import Box

CROP_SIDE = 256
#: How much of its surroundings a crop shows, in longer sides of the box.
SURROUNDINGS = 0.6
#: No box is looked at more closely than one of so many pixels.
SMALLEST = 24

ReadPhoto = Callable[[Path, str], Image]


@dataclass(frozen=True)
class Shots:
    """What is shown of one photo: the whole of it, scaled, and parts of it in their full sharpness."""

    whole: Image
    parts: Mapping[Box, Image]


class PhotoPictures:
    """The pictures of some photos. Each photo is read once, when the first picture of it is asked for that the cache
    does not have; what is kept of it meanwhile is what `boxes` has by its hash, and the whole of it scaled."""

    def __init__(
        self,
        photos: Iterable[ReferencePhoto],
        boxes: Mapping[str, Iterable[Box]],
        read: ReadPhoto,
        kept: StageCache | None = None,
    ) -> None:
        self._photos = {photo.sha256: photo for photo in photos}
        self._boxes, self._read, self._kept = boxes, read, kept
        self._shots: dict[str, Shots | None] = {}

    def __contains__(self, sha256: str) -> bool:
        """Whether a photo can be shown. Those of a pipeline with a cache were read when they were evaluated; scoring
        predictions from a file reads no photo, so that one may prove unreadable only here."""
        return sha256 in self._photos and (self._kept is not None or self._taken(sha256) is not None)

    def picture(self, sha256: str, what: Any, draw: Callable[[Shots], bytes]) -> bytes | None:
        """The picture of a photo that `draw` makes, as the bytes of a file; `what` says all that it shows. None where
        the photo cannot be read."""
        key = key_of(sha256, PICTURE, _drawing_code(), repr(what)) if self._kept else ""
        if self._kept and (entry := self._kept.get(key, PICTURE, sha256)):
            return bytes(entry.value.tobytes())
        if (shots := self._taken(sha256)) is None:
            return None
        content = draw(shots)
        if self._kept:
            self._kept.put(key, PICTURE, Entry(np.frombuffer(content, dtype=np.uint8), 0.0), sha256)
        return content

    def part(self, sha256: str, box: Box) -> bytes | None:
        """A part of a photo as JPEG."""
        return self.picture(sha256, ("part", box), lambda shots: jpeg(shots.parts[box]))

    def _taken(self, sha256: str) -> Shots | None:
        if sha256 not in self._shots:
            photo = self._photos[sha256]
            try:
                pixels = self._read(photo.path, sha256)
            except PhotoError:
                self._shots[sha256] = None
            else:
                parts = {box: cut_out(pixels, box) for box in self._boxes.get(sha256, ())}
                self._shots[sha256] = Shots(scaled(pixels, LONG_SIDE), parts)
        return self._shots[sha256]


@cache
def _drawing_code() -> str:
    """A digest of the code that makes pictures out of the bytes of photos."""
    return code_of(__name__, reading.__name__, pictures.__name__).digest


def cut_out(pixels: Image, box: Box) -> Image:
    """The square around a box, with some of its surroundings, and the box drawn in it."""
    height, width = pixels.shape[:2]
    half = max(box.w * width, box.h * height, SMALLEST) * (0.5 + SURROUNDINGS)
    side = max(1, int(2 * min(half, width / 2, height / 2)))
    x = _start((box.x + box.w / 2) * width, side, width)
    y = _start((box.y + box.h / 2) * height, side, height)
    part = scaled(pixels[y : y + side, x : x + side], CROP_SIDE)
    corners = [((box.x * width - x) / side, (box.y * height - y) / side)]
    corners += [(((box.x + box.w) * width - x) / side, ((box.y + box.h) * height - y) / side)]
    start, end = ((round(CROP_SIDE * x), round(CROP_SIDE * y)) for x, y in corners)
    return outline(part, start, end)


def _start(centre: float, side: int, length: int) -> int:
    return round(min(max(centre - side / 2, 0), length - side))

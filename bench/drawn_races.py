"""Bibs as other races print and photograph them, drawn over the labelled bibs of real photos.

Each kind is a class of failure that was seen on races which nobody here has: a bib without its wearer's face, a bib cut
out of its photo, a prefix in a box of its own, small print beside the number, light digits on a dark bib, an agency's
template over the picture, little light, and very small or large bibs.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from bench.drawn_bibs import FONTS, pasted, pipeline, read
from harness.pipeline.looks import Image
from harness.references.importing import ImportedPhoto
from harness.references.sample import lettering

Plate = NDArray[np.float32]
KINDS = ("plain", "print", "prefix", "zeros", "dark", "coloured", "faceless", "cut", "template", "night", "small")
_WORDS = ("ANNA", "TOM", "MARATHON", "CITY RUN", "M45", "10K", "21.0975km", "W35", "START")
#: Paper and ink, BGR.
_COLOURS = {
    "dark": (((40, 30, 30), (240, 240, 240)), ((110, 40, 20), (250, 250, 250)), ((30, 30, 150), (235, 245, 245))),
    "coloured": (((60, 150, 240), (20, 20, 20)), ((90, 210, 240), (120, 30, 20)), ((190, 140, 200), (30, 20, 60))),
}
_WHITE = ((245, 245, 245), (30, 25, 25))


def show(
    photos: Sequence[ImportedPhoto], presets: Sequence[str], overrides: Sequence[str], seed: int, count: int
) -> int:
    """Print, for each preset and kind, how many of its numbers were read, and how many others."""
    for preset in presets:
        using = pipeline(f"preset={preset}", *overrides)
        right, others = Counter[str](), Counter[str]()
        for kind, image, number in draw(photos, seed, count):
            found = read(using, image)
            right[kind] += number in found
            others[kind] += len(found - {number})
        told = ", ".join(f"{kind} {right[kind]} +{others[kind]}" for kind in KINDS)
        print(
            f"{preset:<9} {right.total()} of {count * len(KINDS)} right, {others.total()} others ({told})", flush=True
        )
    return 0


def draw(photos: Sequence[ImportedPhoto], seed: int, count: int) -> Iterator[tuple[str, Image, str]]:
    """`count` bibs of each kind: the kind, the picture, and the number."""
    chance = random.Random(seed)
    single = [photo for photo in photos if photo.bibs is not None and len(photo.bibs.boxes) == 1]
    for kind in KINDS:
        for _ in range(count):
            photo = chance.choice(single)
            image = cv2.imread(str(photo.path))
            assert image is not None
            assert photo.bibs is not None
            number = _number(kind, chance)
            box = photo.bibs.boxes[0].box()
            drawn = pasted(np.asarray(image, np.uint8), box, _plate(kind, number, chance), chance)
            yield kind, _AFTER.get(kind, _as_it_is)(drawn, photo, chance), number


def _number(kind: str, chance: random.Random) -> str:
    digits = "".join(chance.choices("0123456789", k=chance.choice((2, 3, 3, 4, 4, 5, 5))))
    digits = chance.choice("123456789") + digits[1:]
    if kind == "zeros":
        return f"0{digits[:3]}"
    return f"{chance.choice('ABCEFGHKMPRSTW')}{digits}" if kind == "prefix" else digits


def _plate(kind: str, number: str, chance: random.Random) -> Plate:
    """A bib with its number, 96 pixels high, and what else is printed on it."""
    paper, ink = chance.choice(_COLOURS.get(kind, (_WHITE,)))
    font = chance.choice(FONTS)
    mask = lettering.stencil(number, font, 96)
    if kind == "prefix":  # smaller, or in a colour of its own, and apart
        letter, rest = (
            lettering.stencil(number[0], font, chance.choice((72, 96))),
            lettering.stencil(number[1:], font, 96),
        )
        gap = np.zeros((96, chance.randint(14, 44)), np.float32)
        mask = np.hstack([np.pad(letter, ((96 - letter.shape[0], 0), (0, 0))), gap, rest])
    width = mask.shape[1] + chance.randint(60, 160)
    height = 190 if kind != "print" else 290
    plate = np.full((height, width, 3), paper, np.float32)
    top, left = (height - 96) // 2, (width - mask.shape[1]) // 2
    lettering.paint(plate, mask, left, top, ink)
    if kind == "print":
        _print(plate, top, ink, chance)
    return plate


def _print(plate: Plate, top: int, ink: tuple[int, int, int], chance: random.Random) -> None:
    """A stripe with the race, a name and a distance, a start zone, a chip's serial and a square code."""
    height, width = plate.shape[:2]
    plate[:26] = [chance.randrange(60, 200) for _ in range(3)]
    words = chance.sample(_WORDS, 2)
    texts = (
        (words[0], 24, 10, top - 44),
        (words[1], 20, 10, top + 110),
        (str(chance.randint(1, 9)), 34, width - 40, top - 50),
    )
    serial = "".join(chance.choices("0123456789", k=7))
    for text, size, left, at in (*texts, (serial, 10, width // 2, height - 16)):
        mask = lettering.stencil(text, lettering.SANS, size)[:, : max(width - left, 1)]
        lettering.paint(plate, mask, left, at, ink)
    code = np.random.default_rng(chance.randrange(1 << 30)).integers(0, 2, (11, 11)).astype(np.float32) * 245
    plate[height - 62 : height - 18, width - 58 : width - 14] = cv2.resize(code, (44, 44), interpolation=0)[..., None]


def _as_it_is(image: Image, _photo: ImportedPhoto, _chance: random.Random) -> Image:
    return image


def _faceless(image: Image, photo: ImportedPhoto, chance: random.Random) -> Image:
    """The face behind a helmet, or turned away: a smooth oval of one colour."""
    height, width = image.shape[:2]
    covered = image.copy()
    for record in photo.faces.boxes if photo.faces is not None else ():
        face = record.box()
        middle = (round((face.x + face.w / 2) * width), round((face.y + face.h / 2) * height))
        size = (round(face.w * width * 0.8), round(face.h * height * 0.8))
        cv2.ellipse(covered, middle, size, 0, 0, 360, [chance.randrange(30, 220) for _ in range(3)], -1, cv2.LINE_AA)
    return covered


def _cut(image: Image, photo: ImportedPhoto, chance: random.Random) -> Image:
    """The bib cut out of the photo, with more or less around it."""
    assert photo.bibs is not None
    height, width = image.shape[:2]
    box = photo.bibs.boxes[0].box()
    room = chance.uniform(0.8, 3.0) * box.h * height
    left, right = (box.x - 0.15 * box.w) * width - room, (box.x + 1.15 * box.w) * width + room
    top, bottom = box.y * height - room, (box.y + box.h) * height + room
    return np.ascontiguousarray(image[max(int(top), 0) : int(bottom), max(int(left), 0) : int(right)])


def _template(image: Image, _photo: ImportedPhoto, _chance: random.Random) -> Image:
    """What an agency lays over its previews: a name again and again, a number of the picture, the race's date."""
    canvas = image.astype(np.float32)
    height, width = canvas.shape[:2]
    size = max(height // 28, 10)
    mask = lettering.stencil("SAMPLE PHOTO", lettering.SANS, size)
    for top in range(size, height - 2 * size, 5 * size):
        for left in range((top * 7) % (2 * size), width - mask.shape[1], mask.shape[1] + 2 * size):
            lettering.paint(canvas, mask * 0.3, left, top, (250, 250, 250))
    for text, left, top in (("No. A0001", size, height - 2 * size), ("12.05.2024", width - 8 * size, size)):
        line = lettering.stencil(text, lettering.SANS, size)
        lettering.paint(canvas, line[:, : width - left], left, top, (240, 240, 240))
    return np.asarray(np.clip(canvas, 0, 255), np.uint8)


def _night(image: Image, _photo: ImportedPhoto, chance: random.Random) -> Image:
    noise = np.random.default_rng(chance.randrange(1 << 30)).normal(0, 5, image.shape)
    return np.asarray(np.clip(image * chance.uniform(0.15, 0.35) + noise, 0, 255), np.uint8)


def _small(image: Image, _photo: ImportedPhoto, chance: random.Random) -> Image:
    """A runner in a photo of 12 megapixels, who takes up a quarter of its width."""
    height, width = image.shape[:2]
    large = cv2.resize(image, (4000, 3000), interpolation=cv2.INTER_LINEAR)
    large = cv2.GaussianBlur(large[::-1], (0, 0), 15)
    left, top = chance.randint(200, 3800 - width), chance.randint(200, 2800 - height)
    large[top : top + height, left : left + width] = image
    return np.asarray(large, np.uint8)


_AFTER: dict[str, Callable[[Image, ImportedPhoto, random.Random], Image]] = {
    "faceless": _faceless,
    "cut": _cut,
    "template": _template,
    "night": _night,
    "small": _small,
}

"""Drawn bibs with letters or a single digit, pasted over the labelled bibs of real race photos.

Fonts, tilts, sizes and blur are drawn by chance from a seed. What a preset reads is compared with the OCR's own text:
one call on the same photo, the text of each piece as it stands.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from harness.config import build, compose
from harness.pipeline import Pipeline
from harness.pipeline.looks import Image, Look
from harness.references.importing import ImportedPhoto
from harness.references.sample import lettering
from harness.testing import Picture
from harness.types import Box

COUNT, SEED = 200, 7
FONTS = (lettering.SANS, lettering.SERIF, lettering.MONO, lettering.TIMES, lettering.MODERN, lettering.ROMAN)
#: One call of the OCR: whatever has a digit, as it stands.
RAW = ("preset=plain", "bib_format.pattern='.+'", "bib_format.refuse=''", "bib_format.case=keep")


def show(photos: Sequence[ImportedPhoto], presets: Sequence[str], overrides: Sequence[str], seed: int = SEED) -> int:
    """Print, for each preset, how many numbers it reads of those that the OCR's own text has right."""
    drawn = list(draw(photos, seed))
    raw = [number in read(pipeline(*RAW), image) for image, number in drawn]
    print(f"{len(drawn)} bibs, of which the OCR's own text has {sum(raw)} right")
    for preset in presets:
        using = pipeline(f"preset={preset}", *overrides)
        found_on = [read(using, image) for image, _ in drawn]
        right = [number in found for found, (_, number) in zip(found_on, drawn, strict=True)]
        both = sum(mine and theirs for mine, theirs in zip(right, raw, strict=True))
        extra = sum(len(found - {number}) for found, (_, number) in zip(found_on, drawn, strict=True))
        print(
            f"{preset:<9} {sum(right)} right, {both} of those {sum(raw)} ({both / sum(raw):.3f}); {extra} other numbers"
        )
        lost = [(n, sorted(f)) for f, (_, n), m, t in zip(found_on, drawn, right, raw, strict=True) if t and not m]
        print("          lost:", *(f"{number} ({', '.join(found) or 'nothing'})" for number, found in lost[:40]))
    return 0


def draw(photos: Sequence[ImportedPhoto], seed: int = SEED) -> Iterator[tuple[Image, str]]:
    """Photos of one runner with another bib, and its number."""
    chance = random.Random(seed)
    single = [photo for photo in photos if photo.bibs is not None and len(photo.bibs.boxes) == 1]
    for place in range(COUNT):
        photo = single[place % len(single)]
        assert photo.bibs is not None
        image = cv2.imread(str(photo.path))
        assert image is not None
        number = _number(chance)
        yield _paste(np.asarray(image, np.uint8), photo.bibs.boxes[0].box(), number, chance), number


def _number(chance: random.Random) -> str:
    kind = chance.randrange(4)
    digits = "".join(chance.choices("0123456789", k=chance.randint(3, 5)))
    if kind == 0:
        return chance.choice("123456789")
    letters = "".join(chance.choices("ABCDEFGHKMNPRSTUVWXYZ", k=2 if kind == 1 else 1))
    return f"{digits}{letters}" if kind == 2 and letters != "K" else f"{letters}{digits}"


def _paste(image: Image, box: Box, number: str, chance: random.Random) -> Image:
    """The photo with a white plate over the bib, tilted, with the number on it."""
    mask = lettering.stencil(number, chance.choice(FONTS), 96)
    plate = np.full((170, mask.shape[1] + 90, 3), 245, np.float32)
    ink = [chance.randrange(90) for _ in range(3)]
    plate[37:133, 45 : 45 + mask.shape[1]] = 245 * (1 - mask[..., None]) + np.array(ink) * mask[..., None]
    return pasted(image, box, plate, chance)


def pasted(image: Image, box: Box, plate: NDArray[np.float32], chance: random.Random) -> Image:
    """The photo with a plate, whose number is 96 pixels high, laid over a bib, tilted and as blurred as the photo."""
    height, width = image.shape[:2]
    scale = max(box.h * height * 1.1, 22) / 96
    tilt = chance.uniform(-18, 18)
    middle = (plate.shape[1] / 2, plate.shape[0] / 2)
    move = cv2.getRotationMatrix2D(middle, tilt, scale)
    move[0, 2] += (box.x + box.w / 2) * width - middle[0]
    move[1, 2] += (box.y + box.h / 2) * height - middle[1]
    size = (width, height)
    laid = cv2.warpAffine(plate, move, size, flags=cv2.INTER_AREA)
    weight = cv2.warpAffine(np.ones(plate.shape[:2], np.float32), move, size)[..., None]
    mixed = image * (1 - weight) + np.asarray(laid) * weight
    blurred = cv2.GaussianBlur(mixed, (0, 0), chance.uniform(0.3, 0.9))
    noise = np.random.default_rng(chance.randrange(1 << 30)).normal(0, 3, image.shape)
    return np.asarray(np.clip(mixed * (1 - weight) + blurred * weight + noise * weight, 0, 255), np.uint8)


def pipeline(*overrides: str) -> Pipeline:
    """The pipeline of a preset."""
    return build(compose(["references=staging", *overrides])).photos.pipeline


def read(using: Pipeline, image: Image) -> set[str]:
    """The whole numbers that it reads in a picture."""
    found = using.predict(Look(Picture(image)))
    return {bib.number for bib in found.bibs if bib.number and "?" not in bib.number}

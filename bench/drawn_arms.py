"""Arms drawn over the bibs of real photos: what is read of a number that is hidden in part, and of one that is whole.

An arm is a limb with the shading of a cylinder and a soft edge, in the colour of skin or of a sleeve. It comes from the
left, the right, the top or across. It either hides some of the digits, or ends beside the bib's number and hides none.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from bench.drawn_bibs import pipeline
from harness.pipeline.looks import Image, Look
from harness.references.importing import ImportedPhoto
from harness.scoring.numbers import agree
from harness.testing import Picture
from harness.types import Box

SIDES = ("left", "right", "top", "across")
#: Skin from pale to dark, then sleeves: BGR.
COLOURS = (
    (178, 196, 232),
    (140, 170, 222),
    (100, 135, 190),
    (62, 92, 150),
    (40, 58, 98),
    (40, 40, 44),
    (228, 226, 222),
    (40, 40, 190),
    (170, 90, 30),
    (80, 150, 60),
)
#: A digit of which so much is covered cannot be told; one of which less is covered may or may not.
HIDDEN, TOUCHED = 0.5, 0.02


@dataclass(frozen=True)
class Covered:
    """A photo with an arm, the number behind it, and how much of each of its digits is covered."""

    image: Image
    number: str
    shares: tuple[float, ...]
    side: str

    @property
    def hidden(self) -> bool:
        """Whether nobody can tell the number."""
        return max(self.shares) >= HIDDEN

    @property
    def whole(self) -> bool:
        """Whether the arm hides nothing."""
        return max(self.shares) < TOUCHED


def show(
    photos: Sequence[ImportedPhoto], presets: Sequence[str], overrides: Sequence[str], seed: int, each: int
) -> int:
    """Print, for each preset, what became of the numbers: read whole, in part, as another number beside it, or not."""
    for preset in presets:
        using = pipeline(f"preset={preset}", *overrides)
        counts = {state: Counter[str]() for state in ("hidden", "touched", "whole")}
        for covered in draw(photos, seed, each):
            found = {bib.number or "" for bib in using.predict(Look(Picture(covered.image))).bibs}
            counts["hidden" if covered.hidden else "whole" if covered.whole else "touched"][
                _outcome(covered, found)
            ] += 1
        for state, count in counts.items():
            told = ", ".join(f"{outcome} {number}" for outcome, number in sorted(count.items()))
            print(f"{preset:<9} {state:<8} {count.total()}: {told}", flush=True)
    return 0


def _outcome(covered: Covered, found: set[str]) -> str:
    """Other numbers of the photo, which have nothing in common with this one, say nothing about it."""
    number = covered.number
    if number in found:
        return "right"
    if any("?" in text and agree(text, number) for text in found):
        return "part"
    wrong = (t for t in found if "?" not in t and len(t) > 1)
    near = any(t in number or number.endswith(t[1:]) or number.startswith(t[:-1]) for t in wrong)
    return "wrong" if near else "nothing"


def draw(photos: Sequence[ImportedPhoto], seed: int, each: int = 3) -> Iterator[Covered]:
    """Every labelled number of at least three digits with `each` arms, one of which is beside it."""
    chance = random.Random(seed)
    for photo in photos:
        for bib in photo.bibs.boxes if photo.bibs is not None else ():
            number = bib.number or ""
            if len(number) < 3 or not number.isalnum():
                continue
            image = cv2.imread(str(photo.path))
            assert image is not None
            for place in range(each):
                yield _covered(np.asarray(image, np.uint8), bib.box(), number, place > 0, chance)


def _covered(image: Image, box: Box, number: str, over: bool, chance: random.Random) -> Covered:
    height, width = image.shape[:2]
    x, y, w, h = box.x * width, box.y * height, box.w * width, box.h * height
    side = chance.choice(SIDES)
    digit, thick = w / len(number), max(h * chance.uniform(1.1, 2.2), 12.0)
    tilt = np.radians({"top": 90, "across": chance.choice((35, -35))}.get(side, chance.choice((65, 90, 115))))
    tilt += np.radians(chance.uniform(-12, 12))
    hidden = digit * chance.uniform(0.6, 1.9) if over else -chance.uniform(0.5, 1.2) * h
    along = np.array([np.cos(tilt), np.sin(tilt)])
    # The edge of the arm crosses the middle of the line of digits at `edge`.
    from_left = side == "left" or (side in ("top", "across") and chance.random() < 0.5)
    edge = x + hidden if from_left else x + w - hidden
    across = thick / 2 / abs(np.sin(tilt))
    # Leaning, it reaches further at the top or the bottom of the digits.
    lean = h / 2 / abs(np.tan(tilt)) if not over else 0.0
    middle = np.array([edge - across - lean if from_left else edge + across + lean, y + h / 2])
    mask = _limb(image.shape[:2], middle, along, thick, 9 * h, chance)
    edges = [int(x + place * digit) for place in range(len(number) + 1)]
    line = mask[max(int(y), 0) : int(y + h) + 1]
    shares = tuple(float(line[:, a : max(b, a + 1)].mean()) for a, b in pairwise(edges))
    return Covered(_painted(image, mask, middle, along, thick, chance), number, shares, side)


def _limb(
    size: tuple[int, int],
    middle: NDArray[np.float64],
    along: NDArray[np.float64],
    thick: float,
    long: float,
    chance: random.Random,
) -> NDArray[np.float32]:
    """A limb that gets thinner towards one end, as a mask."""
    normal = np.array([-along[1], along[0]])
    thin = chance.uniform(0.75, 1.0)
    ends = [(-long / 2, thick / 2), (long / 2, thick / 2 * thin)]
    points = [middle + a * along + s * r * normal for s in (1, -1) for a, r in (ends if s == 1 else ends[::-1])]
    mask = np.zeros(size, np.float32)
    cv2.fillPoly(mask, [np.round(np.array(points) * 16).astype(np.int32)], 1.0, cv2.LINE_AA, 4)
    return np.asarray(cv2.GaussianBlur(mask, (0, 0), 0.8), np.float32)


def _painted(
    image: Image,
    mask: NDArray[np.float32],
    middle: NDArray[np.float64],
    along: NDArray[np.float64],
    thick: float,
    chance: random.Random,
) -> Image:
    height, width = image.shape[:2]
    ys, xs = np.mgrid[0:height, 0:width].astype(np.float32)
    aside = ((xs - middle[0]) * -along[1] + (ys - middle[1]) * along[0]) / (thick / 2)
    light = chance.uniform(-0.4, 0.4)
    shade = np.clip(1.05 - 0.35 * (aside - light) ** 2, 0.3, 1.1)[..., None]
    noise = np.random.default_rng(chance.randrange(1 << 30)).normal(0, 3, image.shape)
    arm = np.array(chance.choice(COLOURS), np.float32) * shade + noise
    # The arm throws a little shadow.
    shadow = 1 - 0.25 * cv2.GaussianBlur(mask, (0, 0), max(thick / 12, 1.0))[..., None]
    mixed = image * shadow * (1 - mask[..., None]) + arm * mask[..., None]
    return np.asarray(np.clip(mixed, 0, 255), np.uint8)

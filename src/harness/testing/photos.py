"""Photos for tests, drawn from a seed, with the labels that are true of them. Nothing is read from a file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from harness.pipeline.images import UnitBox
from harness.pipeline.looks import Image
from harness.types import BibBox, BibFaceLink, FaceBox, FaceScope, PhotoLabels, PhotoPrediction

#: Blue, green, red.
SKIN, INK, PAPER = (120, 160, 215), (25, 25, 25), (245, 245, 245)
#: Digits and capital letters of 3 x 5 squares, row by row.
_CHARACTERS = {
    "0": "111101101101111",
    "1": "010110010010111",
    "2": "111001111100111",
    "3": "111001111001111",
    "4": "101101111001001",
    "5": "111100111001111",
    "6": "111100111101111",
    "7": "111001001001001",
    "8": "111101111101111",
    "9": "111101111001111",
    "A": "010101111101101",
    "B": "110101110101110",
    "C": "011100100100011",
    "D": "110101101101110",
    "E": "111100110100111",
    "F": "111100110100100",
    "G": "011100101101011",
    "H": "101101111101101",
    "I": "111010010010111",
    "J": "001001001101010",
    "K": "101101110101101",
    "L": "100100100100111",
    "M": "101111111101101",
    "N": "110101101101101",
    "O": "010101101101010",
    "P": "110101110100100",
    "Q": "010101101110011",
    "R": "110101110101101",
    "S": "011100010001110",
    "T": "111010010010010",
    "U": "101101101101111",
    "V": "101101101101010",
    "W": "101101111111101",
    "X": "101101010101101",
    "Y": "101101010010010",
    "Z": "111001010100111",
}


@dataclass(frozen=True)
class Picture:
    """Pixels as a photo that the pipeline can look at: `Look(Picture(image))`."""

    image: Image

    @cached_property
    def sha256(self) -> str:
        """The hash of its pixels, as a photo's is of its bytes."""
        return hashlib.sha256(repr(self.image.shape).encode() + self.image.tobytes()).hexdigest()


@dataclass(frozen=True)
class Scene:
    """A drawn photo, BGR, and what is to be seen in it."""

    image: Image
    labels: PhotoLabels


def draw_runners(numbers: Sequence[str | None] = ("417",), seed: int = 0, size: tuple[int, int] = (320, 480)) -> Scene:
    """Runners side by side on a noisy background: a face each, and a bib where the number is not None.

    A number has digits and capital letters. `size` is width and height. For example:

        >>> scene = draw_runners(["417", None])
        >>> scene.image.shape, scene.labels.bibs[0].number, len(scene.labels.faces)
        ((480, 320, 3), '417', 2)
    """
    width, height = size
    random = np.random.default_rng(seed)
    image = random.integers(60, 110, (height, width, 3)).astype(np.uint8)
    bibs: list[BibBox] = []
    faces: list[FaceBox] = []
    links: list[BibFaceLink] = []
    step = width / max(len(numbers), 1)
    for place, number in enumerate(numbers):
        middle, head = (place + 0.5) * step, min(step * 0.3, height * 0.16)
        top = height * 0.15
        shirt = tuple(random.permutation([40, 90, 190]).tolist())
        _fill(image, (middle - head, top + head * 1.3, head * 2, head * 3.2), shirt)
        faces.append(FaceBox(**_unit(_oval(image, (middle - head * 0.4, top, head * 0.8, head * 1.1)), size)))
        if number is not None:
            plate = _fill(image, (middle - head * 0.75, top + head * 2, head * 1.5, head * 1.1), PAPER)
            _write(image, number, plate)
            links.append(BibFaceLink(len(bibs), place))
            bibs.append(BibBox(**_unit(plate, size), number=number))
    return Scene(image, PhotoLabels(tuple(bibs), tuple(faces), tuple(links)))


def labelled_photos(count: int = 8, seed: int = 0) -> list[PhotoLabels]:
    """Labels of several photos, without pixels: runners with and without a bib, and faces that are not scored."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        numbers = [str(number) if number % 4 else None for number in random.integers(10, 9999, random.integers(1, 5))]
        labels = draw_runners(numbers, size=(64, 48)).labels
        blurred = FaceBox(x=0.0, y=0.9, w=0.05, h=0.08, scope=FaceScope.UNCERTAIN)
        found.append(PhotoLabels(labels.bibs, (*(labels.faces or ()), blurred), labels.links))
    return found


def as_predicted(labels: PhotoLabels) -> PhotoPrediction:
    """A prediction that finds everything that is scored, where it is, and nothing else."""
    bibs = tuple(BibBox(x=box.x, y=box.y, w=box.w, h=box.h, number=box.number, score=1.0) for box in labels.bibs or ())
    faces = tuple(
        FaceBox(x=box.x, y=box.y, w=box.w, h=box.h, score=1.0)
        for box in labels.faces or ()
        if box.scope == FaceScope.KEEP
    )
    links = tuple(BibFaceLink(link.bib_index, link.face_index, 1.0) for link in labels.links or ())
    return PhotoPrediction(bibs, faces, links)


def _flat(width: int, height: int) -> Image:
    return np.full((height, width, 3), 127, dtype=np.uint8)


#: Pictures that cameras and tools do produce, and that break code which was tried on photos alone.
ODD_PICTURES: Mapping[str, Callable[[], Image]] = {
    "one colour": lambda: _flat(320, 240),
    "one pixel": lambda: _flat(1, 1),
    "very wide": lambda: draw_runners(["417"] * 8, size=(1200, 40)).image,
    "very tall": lambda: draw_runners(["417"], size=(40, 1200)).image,
    "large": lambda: draw_runners(["417", "58"], size=(2400, 1600)).image,
}


def write_photo(path: Path, scene: Scene | None = None) -> Path:
    """Write a drawn photo as a file, in the format that the suffix of its name says."""
    import cv2

    image = (scene or draw_runners()).image
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(cv2.imencode(path.suffix, image)[1].tobytes())
    return path


#: Left, top, width and height in pixels.
Rectangle = tuple[float, float, float, float]


def _fill(image: Image, box: Rectangle, colour: tuple[int, ...]) -> Rectangle:
    """Paint a rectangle; returns what was painted, cut at the border of the image."""
    left, top, right, bottom = _edges(image, box)
    image[top:bottom, left:right] = colour
    return (left, top, right - left, bottom - top)


def _oval(image: Image, box: Rectangle) -> Rectangle:
    left, top, right, bottom = _edges(image, box)
    down, across = np.mgrid[top:bottom, left:right]
    inside = ((across + 0.5 - (left + right) / 2) / ((right - left) / 2)) ** 2
    inside = inside + ((down + 0.5 - (top + bottom) / 2) / ((bottom - top) / 2)) ** 2
    image[top:bottom, left:right][inside <= 1] = SKIN
    return (left, top, right - left, bottom - top)


def _write(image: Image, number: str, plate: Rectangle) -> None:
    """Characters across the middle of a plate, as large as fits; none where the plate is too small for them."""
    left, top, width, height = plate
    side = int(min(width * 0.9 / (4 * len(number)), height * 0.8 / 5))
    x = left + (width - side * (4 * len(number) - 1)) / 2
    y = top + (height - side * 5) / 2
    for place, character in enumerate(number):
        for square, on in enumerate(_CHARACTERS[character]):
            if on == "1" and side:
                _fill(image, (x + side * (place * 4 + square % 3), y + side * (square // 3), side, side), INK)


def _edges(image: Image, box: Rectangle) -> tuple[int, int, int, int]:
    """Whole pixels, at least one each way."""
    height, width = image.shape[:2]
    left, top = min(max(round(box[0]), 0), width - 1), min(max(round(box[1]), 0), height - 1)
    right, bottom = min(max(round(box[0] + box[2]), left + 1), width), min(max(round(box[1] + box[3]), top + 1), height)
    return left, top, right, bottom


def _unit(box: Rectangle, size: tuple[int, int]) -> UnitBox:
    left, top, width, height = box
    return {"x": left / size[0], "y": top / size[1], "w": width / size[0], "h": height / size[1]}

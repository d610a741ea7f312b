"""Bib plates: a number with its surroundings, drawn flat and seen from the front, then bent a little.

Each plate carries one mask a digit, so that after warping and covering the labels know what can be read.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from harness.references.photos import Image
from harness.references.sample.arrays import Canvas, Colour, Mask
from harness.references.sample.lettering import SANS, fit, paint, stencil

PIXELS_A_METRE = 2600.0
_MARGIN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class PlateDesign:
    """What a plate looks like. Sizes are in metres; `digits` is the digits' share of the height."""

    font: str
    ink: Colour
    paper: Colour
    width: float = 0.24
    height: float = 0.20
    digits: float = 0.46
    strip: str = ""
    strip_ink: Colour = (255, 255, 255)
    strip_paper: Colour = (120, 50, 20)
    strip_below: bool = False
    footer: str = ""
    pins: bool = True
    curl: float = 0.05


@dataclass(frozen=True, slots=True)
class Plate:
    """A drawn plate; `alpha` and `digits` share its pixels."""

    bgr: Image
    alpha: Mask
    digits: tuple[Mask, ...]
    digit_height: float


def draw_plate(number: str, design: PlateDesign) -> Plate:
    """Draw a number on its plate. The digit masks cover each digit's ink."""
    width = round(design.width * PIXELS_A_METRE)
    height = round(design.height * PIXELS_A_METRE)
    image = np.full((height, width, 3), design.paper, np.float32)
    top, bottom = _draw_strip(image, design)
    if design.footer:
        words = fit(stencil(design.footer, SANS, round(height * 0.09)), round(width * 0.8), height)
        bottom -= words.shape[0] + _MARGIN
        paint(image, words, (width - words.shape[1]) // 2, bottom, design.ink)
        bottom -= _MARGIN // 2
    digits = _draw_digits(image, number, design, top, bottom)
    tall = max(float(np.ptp(np.flatnonzero(digit.max(axis=1) > 0.5))) for digit in digits)
    if design.pins:
        for x in (22, width - 23):
            for y in (20, height - 21):
                cv2.circle(image, (x, y), 9, (60, 60, 60), -1, cv2.LINE_AA)
                cv2.line(image, (x - 26, y + 3), (x + 26, y - 3), (170, 170, 170), 4, cv2.LINE_AA)
    cv2.rectangle(image, (0, 0), (width - 1, height - 1), tuple(value * 0.8 for value in design.paper), 3)
    return _bend(image, digits, design.curl, tall)


def _draw_strip(image: Canvas, design: PlateDesign) -> tuple[int, int]:
    """Draw the sponsor's strip and return the rows that are left for the number."""
    height, width = image.shape[:2]
    if not design.strip:
        return _MARGIN, height - _MARGIN
    tall = round(height * 0.2)
    y = height - tall if design.strip_below else 0
    image[y : y + tall] = design.strip_paper
    words = fit(stencil(design.strip, SANS, round(tall * 0.5)), round(width * 0.8), tall)
    paint(image, words, (width - words.shape[1]) // 2, y + (tall - words.shape[0]) // 2, design.strip_ink)
    return (_MARGIN, y - _MARGIN) if design.strip_below else (tall + _MARGIN, height - _MARGIN)


def _draw_digits(image: Canvas, number: str, design: PlateDesign, top: int, bottom: int) -> tuple[Mask, ...]:
    height, width = image.shape[:2]
    shapes = [stencil(digit, design.font, round(height * design.digits)) for digit in number]
    gap = round(height * design.digits * 0.12)
    total = sum(shape.shape[1] for shape in shapes) + gap * (len(shapes) - 1)
    factor = min(1.0, width * 0.88 / total, (bottom - top) / shapes[0].shape[0])
    shapes = [fit(shape, round(shape.shape[1] * factor), height) for shape in shapes]
    gap = round(gap * factor)
    x = (width - sum(shape.shape[1] for shape in shapes) - gap * (len(shapes) - 1)) // 2
    y = (top + bottom - shapes[0].shape[0]) // 2
    masks = []
    for shape in shapes:
        paint(image, shape, x, y, design.ink)
        mask = np.zeros((height, width), np.float32)
        mask[y : y + shape.shape[0], x : x + shape.shape[1]] = shape
        masks.append(mask)
        x += shape.shape[1] + gap
    return tuple(masks)


def _bend(image: Canvas, digits: tuple[Mask, ...], curl: float, tall: float) -> Plate:
    """Let the plate sag in its middle, with the shading that goes with it."""
    height, width = image.shape[:2]
    pad = int(abs(curl) * height) + 2
    rows, columns = np.mgrid[0 : height + 2 * pad, 0:width].astype(np.float32)
    across = columns / width * 2 - 1
    source_y = (rows - pad - curl * height * (1 - across**2)).astype(np.float32)

    def bent(values: Canvas) -> Canvas:
        return np.asarray(cv2.remap(values, columns, source_y, cv2.INTER_LINEAR), np.float32)

    shade = 1 - 0.16 * across**2 + 0.05 * np.sin(across * 7 + rows / height * 2)
    colour = np.clip(bent(image) * shade[..., None], 0, 255).astype(np.uint8)
    alpha = bent(np.ones((height, width), np.float32))
    return Plate(colour, alpha, tuple(bent(digit) for digit in digits), tall)

"""A figure ready for a photo: resized, mirrored if asked, wearing its plate, with masks for the labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import cv2
import numpy as np

from harness.references.photos import Image
from harness.references.sample.arrays import A, Canvas, Mask, blur, resize
from harness.references.sample.cutouts import Cutout, Outfit, cutout
from harness.references.sample.people import STUDIO
from harness.references.sample.plates import PIXELS_A_METRE, Plate, draw_plate
from harness.references.sample.runners import RUNNERS
from harness.references.sample.scenes import Figure


@dataclass(frozen=True, slots=True)
class Sprite:
    """A person in photo pixels; `whole_*` are the areas of plate and digits before anything hides them.

    The face is `x, y, w, h` in the sprite's pixels, its mask an ellipse. Without a bib there is no plate.
    """

    bgr: Image
    alpha: Mask
    foot: tuple[float, float]
    face_box: tuple[float, float, float, float]
    face: Mask
    plate: Mask | None
    whole_plate: float
    digits: tuple[Mask, ...]
    whole_digits: tuple[float, ...]
    digit_height: float


def make_sprite(figure: Figure, pixels_a_metre: float) -> Sprite:
    """Cut out, dress, mirror, resize, and only then pin the plate on, so that no number is mirrored."""
    runner = RUNNERS.get(figure.person)
    dressed = runner is not None and (figure.bib or figure.picture == STUDIO)
    cut = cutout(figure.person, figure.picture, runner.outfit if runner and dressed else Outfit())
    factor = pixels_a_metre / cut.labels.pixels_a_metre
    x, y, w, h = cut.labels.body
    size = max(8, round(w * factor)), max(8, round(h * factor))
    bgr = _resize(cut.bgr, size, figure.mirror)
    alpha, over = (_resize(layer, size, figure.mirror) for layer in (cut.alpha, cut.over))
    face = _place(cut.labels.face, (x, y, w), factor, figure.mirror)
    shape = np.zeros(alpha.shape, np.float32)
    centre = (round(face[0] + face[2] / 2), round(face[1] + face[3] / 2))
    cv2.ellipse(shape, centre, (round(face[2] / 2), round(face[3] / 2)), 0, 0, 360, (1.0,), -1)
    foot = (alpha.shape[1] / 2, _lowest(alpha))
    if runner is None or not figure.bib:
        return Sprite(bgr, alpha, foot, face, shape, None, 0.0, (), (), 0.0)
    plate = draw_plate(runner.number, runner.plate)
    corners = _corners(figure, cut, plate, factor, pixels_a_metre)
    covered, digits, whole = _warp(plate, corners, alpha.shape)
    shown = alpha * (1 - over)
    bgr = _pin(bgr, plate, corners, covered * shown)
    return Sprite(
        bgr,
        alpha,
        foot,
        face,
        shape,
        covered * shown,
        float(covered.sum()),
        tuple(digit * shown for digit in digits),
        whole,
        plate.digit_height * pixels_a_metre / PIXELS_A_METRE,
    )


def _corners(figure: Figure, cut: Cutout, plate: Plate, factor: float, metre: float) -> Mask:
    """Where the plate's corners come to lie on the shirt."""
    shirt = _place(cut.labels.shirt, cut.labels.body[:3], factor, figure.mirror)
    size = metre / PIXELS_A_METRE
    height, width = plate.alpha.shape
    w, h = width * size / 2, height * size / 2
    turn, tilt = np.deg2rad(figure.turn), np.deg2rad(figure.tilt)
    near, far = 1 + 0.35 * np.sin(turn), 1 - 0.35 * np.sin(turn)
    quad = np.array([(-w, -h * near), (w, -h * far), (w, h * far), (-w, h * near)])
    quad[:, 0] *= np.cos(turn)
    spin = np.array([(np.cos(tilt), -np.sin(tilt)), (np.sin(tilt), np.cos(tilt))])
    centre = shirt[0] + shirt[2] / 2, shirt[1] + shirt[3] * (0.40 + figure.drop)
    return np.asarray(quad @ spin.T + np.array(centre), np.float32)


def _warp(plate: Plate, corners: Mask, shape: tuple[int, ...]) -> tuple[Mask, list[Mask], tuple[float, ...]]:
    covered = _onto(plate.alpha, corners, shape)
    digits = [_onto(digit, corners, shape) for digit in plate.digits]
    return covered, digits, tuple(float(digit.sum()) for digit in digits)


def _onto(layer: Mask | Image, corners: Mask, shape: tuple[int, ...]) -> Canvas:
    """Warp a plate's layer to its four corners; shrunk by area first, so that small digits do not alias."""
    height, width = layer.shape[:2]
    wide = max(4.0, float(np.linalg.norm(corners[1] - corners[0])))
    factor = min(1.0, wide / width)
    if factor < 1:
        width, height = max(2, round(width * factor)), max(2, round(height * factor))
        layer = resize(layer, width, height)
    source = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float32) - 0.5
    matrix = cv2.getPerspectiveTransform(source, corners)
    warped = cv2.warpPerspective(layer, matrix, (shape[1], shape[0]), flags=cv2.INTER_LINEAR)
    return np.asarray(warped, np.float32)


def _pin(bgr: Image, plate: Plate, corners: Mask, covered: Mask) -> Image:
    """Lay the plate on the shirt, shaded by the shirt's own folds, with a thin shadow around it."""
    colour = _onto(plate.bgr, corners, bgr.shape)
    edge = np.maximum(_onto(plate.alpha, corners, bgr.shape), 1e-3)[..., None]
    reach = max(2.0, float(np.linalg.norm(corners[1] - corners[0])) / 14)
    light = blur(np.asarray(cv2.cvtColor(bgr, cv2.COLOR_BGR2GRAY), np.float32), reach)
    middle = float(np.median(light[covered > 0.5])) if (covered > 0.5).any() else 1.0
    shade = np.clip(light / max(middle, 1.0), 0.75, 1.15) ** 0.7
    shadow = 1 - 0.35 * blur(covered, reach / 3)[..., None]
    weight = covered[..., None]
    result = bgr * shadow * (1 - weight) + colour / edge * shade[..., None] * 0.96 * weight
    return np.asarray(np.clip(result, 0, 255), np.uint8)


def _resize(layer: A, size: tuple[int, int], mirror: bool) -> A:
    resized = resize(layer, *size)
    return cast(A, np.ascontiguousarray(resized[:, ::-1])) if mirror else resized


def _place(
    rect: tuple[int, int, int, int], body: tuple[int, int, int], factor: float, mirror: bool
) -> tuple[float, float, float, float]:
    """A labelled rectangle in the sprite's pixels."""
    x, y, w, h = rect
    left = body[0] + body[2] - x - w if mirror else x - body[0]
    return left * factor, (y - body[1]) * factor, w * factor, h * factor


def _lowest(alpha: Mask) -> float:
    rows = np.flatnonzero(alpha.max(axis=1) > 0.5)
    return float(rows[-1]) if len(rows) else float(alpha.shape[0])

"""One scene to one photo, and to what can be seen of each person in it.

Layers go on from far to near. Each layer that goes on takes away from the masks of those below it, so what
the labels say is what the layer order left visible.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import cv2
import numpy as np

from harness.references.photos import Image
from harness.references.sample.arrays import Canvas, Mask, blur, blurred_layer, resize
from harness.references.sample.backdrops import draw_backdrop
from harness.references.sample.cutouts import pixels
from harness.references.sample.people import AMATEUR, picture
from harness.references.sample.scenes import Figure, Scene
from harness.references.sample.signs import Pixels, draw_prop, draw_sign
from harness.references.sample.sprites import Sprite, make_sprite

TALL = 1.75
_SIGN_BLUR = 1.6


@dataclass(slots=True)
class Part:
    """What is still visible of a mask, in a window of the photo; `whole` is its area before covering."""

    x: int
    y: int
    mask: Mask
    whole: float

    @property
    def share(self) -> float:
        """How much of the whole can be seen."""
        return float(self.mask.sum()) / self.whole if self.whole > 0 else 0.0

    def bounds(self) -> tuple[float, float, float, float] | None:
        """The axis-aligned bounds of what can be seen, in photo pixels."""
        rows, columns = (np.flatnonzero(self.mask.max(axis=axis, initial=0) > 0.5) for axis in (1, 0))
        if not len(rows) or not len(columns):
            return None
        x, y = self.x + int(columns[0]), self.y + int(rows[0])
        return x, y, int(columns[-1] - columns[0]) + 1, int(rows[-1] - rows[0]) + 1

    def cover(self, x: int, y: int, alpha: Mask) -> None:
        """Take away what a layer at `x, y` hides."""
        here, there = _overlap((self.x, self.y), self.mask.shape, (x, y), alpha.shape)
        self.mask[here] *= 1 - alpha[there]


@dataclass(slots=True)
class Person:
    """A placed figure and what is visible of it. `softness` is the blur in pixels of standard deviation."""

    figure: Figure
    face_box: tuple[float, float, float, float]
    face: Part
    plate: Part | None
    digits: tuple[Part, ...]
    digit_height: float
    softness: float

    def parts(self) -> tuple[Part, ...]:
        """All that can be covered."""
        return (self.face, *((self.plate,) if self.plate else ()), *self.digits)


@dataclass(slots=True)
class Composed:
    """A photo before it is written."""

    image: Image
    people: list[Person] = field(default_factory=list)
    rejected: list[Pixels] = field(default_factory=list)


def compose(scene: Scene, seed: int) -> Composed:
    """Draw a scene. The same scene and seed give the same pixels."""
    rng = np.random.default_rng(seed)
    canvas = _own_picture(scene) if scene.in_place else draw_backdrop(scene, rng)
    result = Composed(np.empty((0, 0, 3), np.uint8))
    for sign in scene.signs:
        face = draw_sign(canvas, scene, sign, _SIGN_BLUR)
        if sign.rejected:
            result.rejected.append(face)
    for figure in scene.figures:
        sprite, left, top = _stand(scene, figure)
        _put(canvas, sprite, left, top, figure, shadow=not _at_home(scene, figure))
        for person in result.people:
            for part in person.parts():
                part.cover(left, top, sprite.alpha)
        result.people.append(_person(scene, figure, sprite, left, top))
    for prop in scene.props:
        image, alpha = draw_prop(scene, prop, rng)
        canvas = np.asarray(canvas * (1 - alpha[..., None]) + image * alpha[..., None], np.float32)
        for person in result.people:
            for part in person.parts():
                part.cover(0, 0, alpha)
    result.image = _expose(canvas, scene, rng)
    return result


def _own_picture(scene: Scene) -> Canvas:
    """The amateur picture of a person, scaled to cover the photo."""
    image = pixels(scene.backdrop, AMATEUR)
    factor, top = _crop(scene)
    shrunk = resize(image, round(image.shape[1] * factor), round(image.shape[0] * factor))
    if _host(scene).mirror:
        shrunk = shrunk[:, ::-1]
    width, height = scene.size
    return np.ascontiguousarray(shrunk[top : top + height, :width]).astype(np.float32)


def _crop(scene: Scene) -> tuple[float, int]:
    height, width = pixels(scene.backdrop, AMATEUR).shape[:2]
    factor = max(scene.size[0] / width, scene.size[1] / height) * 1.001
    return factor, round(min(scene.top * height * factor, height * factor - scene.size[1]))


def _host(scene: Scene) -> Figure:
    return next(figure for figure in scene.figures if _at_home(scene, figure))


def _at_home(scene: Scene, figure: Figure) -> bool:
    return scene.in_place and figure.person == scene.backdrop and figure.picture == AMATEUR


def _stand(scene: Scene, figure: Figure) -> tuple[Sprite, int, int]:
    """Make a figure's sprite and find its left top corner: at home, or with its feet on the ground."""
    width, height = scene.size
    camera = scene.camera
    if scene.in_place:
        factor, top = _crop(scene)
        labels = picture(scene.backdrop, AMATEUR)
        x, y, w, h = (value * factor for value in labels.body)
        if _at_home(scene, figure):
            sprite = make_sprite(figure, labels.pixels_a_metre * factor)
            total = pixels(scene.backdrop, AMATEUR).shape[1] * factor
            return sprite, round(total - x - w if figure.mirror else x), round(y) - top
        camera = (y + h - top - scene.horizon * height) / (labels.pixels_a_metre * factor)
    tall = figure.height * height
    sprite = make_sprite(figure, tall / TALL)
    foot = scene.horizon * height + camera * tall / TALL
    return sprite, round(figure.x * width - sprite.foot[0]), round(foot - sprite.foot[1])


def _put(canvas: Canvas, sprite: Sprite, left: int, top: int, figure: Figure, *, shadow: bool) -> None:
    bgr, alpha = sprite.bgr.astype(np.float32), sprite.alpha
    if figure.blur > 0:
        bgr, alpha = blurred_layer(bgr, alpha, figure.blur)
    if shadow:
        _shade(canvas, sprite, left, top)
    here, there = _overlap((0, 0), canvas.shape, (left, top), alpha.shape)
    weight = alpha[there][..., None]
    canvas[here] = canvas[here] * (1 - weight) + bgr[there] * weight


def _shade(canvas: Canvas, sprite: Sprite, left: int, top: int) -> None:
    """A soft shadow on the ground under the feet."""
    wide = round(sprite.alpha.shape[1] * 0.62)
    tall = max(3, wide // 7)
    pad = 2 * tall
    blob = np.zeros((2 * (tall + pad), 2 * (wide + pad)), np.float32)
    cv2.ellipse(blob, (wide + pad, tall + pad), (wide, tall), 0, 0, 360, (0.6,), -1)
    cv2.ellipse(blob, (wide + pad, tall + pad), (wide * 5 // 8, tall * 5 // 8), 0, 0, 360, (0.9,), -1)
    blob = blur(blob, max(1.0, tall * 0.5))
    x = round(left + sprite.foot[0] + wide * 0.12) - blob.shape[1] // 2
    y = round(top + sprite.foot[1] - tall * 0.5) - blob.shape[0] // 2
    here, there = _overlap((0, 0), canvas.shape, (x, y), blob.shape)
    canvas[here] *= 1 - 0.7 * blob[there][..., None]


def _person(scene: Scene, figure: Figure, sprite: Sprite, left: int, top: int) -> Person:
    def part(mask: Mask, whole: float) -> Part:
        here, there = _overlap((0, 0), (scene.size[1], scene.size[0]), (left, top), mask.shape)
        return Part(here[1].start, here[0].start, mask[there].copy(), whole)

    x, y, w, h = sprite.face_box
    return Person(
        figure=figure,
        face_box=(left + x, top + y, w, h),
        face=part(sprite.face, float(sprite.face.sum())),
        plate=None if sprite.plate is None else part(sprite.plate, sprite.whole_plate),
        digits=tuple(part(mask, area) for mask, area in zip(sprite.digits, sprite.whole_digits, strict=True)),
        digit_height=sprite.digit_height,
        softness=float(np.sqrt(figure.blur**2 + scene.defocus**2 + scene.motion**2 / 12)),
    )


def _overlap(
    first: tuple[int, int],
    first_shape: tuple[int, ...],
    second: tuple[int, int],
    second_shape: tuple[int, ...],
) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
    """The common rectangle of two windows given by `x, y` and shape, as slices into each."""
    left, top = max(first[0], second[0]), max(first[1], second[1])
    right = max(left, min(first[0] + first_shape[1], second[0] + second_shape[1]))
    bottom = max(top, min(first[1] + first_shape[0], second[1] + second_shape[0]))

    def inside(origin: tuple[int, int]) -> tuple[slice, slice]:
        return slice(top - origin[1], bottom - origin[1]), slice(left - origin[0], right - origin[0])

    return inside(first), inside(second)


def _expose(canvas: Canvas, scene: Scene, rng: np.random.Generator) -> Image:
    """What lens and sensor do: blur, light, vignette, noise."""
    if scene.motion > 1:
        length = round(scene.motion)
        kernel = np.full((1, length), 1 / length, np.float32)
        canvas = np.asarray(cv2.filter2D(canvas, -1, kernel), np.float32)
    if scene.defocus > 0:
        canvas = blur(canvas, scene.defocus)
    height, width = canvas.shape[:2]
    rows, columns = np.linspace(-1, 1, height)[:, None], np.linspace(-1, 1, width)[None]
    vignette = (1 - 0.09 * (rows**2 + columns**2)).astype(np.float32)[..., None]
    lit = canvas * vignette * np.array(scene.light, np.float32) * scene.exposure
    lit = lit + rng.normal(0, scene.noise, lit.shape).astype(np.float32)
    return np.asarray(np.clip(lit, 0, 255), np.uint8)

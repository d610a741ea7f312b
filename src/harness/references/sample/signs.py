"""Banners, gantries, clocks, boards, and the props in front of runners. They carry writing, but no bib."""

from __future__ import annotations

import cv2
import numpy as np

from harness.references.sample.arrays import Canvas, Mask, blur, blurred_layer
from harness.references.sample.lettering import MONO, SANS, fit, paint, stencil
from harness.references.sample.scenes import Prop, Scene, Sign

Pixels = tuple[int, int, int, int]
_STYLES = {
    "banner": ((150, 60, 30), (250, 250, 250)),
    "gantry": ((40, 40, 170), (250, 250, 250)),
    "clock": ((20, 20, 20), (40, 60, 250)),
    "board": ((245, 245, 245), (40, 40, 40)),
}

_POSTS = {"gantry": (0.015, 0.985), "board": (0.5,), "clock": (0.2, 0.8), "banner": (0.02, 0.98)}


def draw_sign(canvas: Canvas, scene: Scene, sign: Sign, softness: float) -> Pixels:
    """Draw one sign in place and return the rectangle of its face."""
    height, width = canvas.shape[:2]
    paper, ink = _STYLES[sign.kind]
    words = stencil(sign.text, MONO if sign.kind == "clock" else SANS, 160)
    wide = round(sign.width * width)
    inner = round(wide * 0.86)
    words = fit(words, inner, round(wide * (0.4 if sign.kind == "board" else 0.18)))
    tall = round(words.shape[0] * 1.9)
    x, y = round(sign.x * width), round(sign.y * height)
    face = np.full((tall, wide, 3), paper, np.float32)
    face *= np.linspace(1.06, 0.9, tall, dtype=np.float32)[:, None, None]
    paint(face, words, (wide - words.shape[1]) // 2, (tall - words.shape[0]) // 2, ink)
    cv2.rectangle(face, (0, 0), (wide - 1, tall - 1), tuple(value * 0.7 for value in paper), 3)
    foot = round(height * scene.horizon) + round(wide * 0.12)
    layer = np.zeros((height, width, 4), np.float32)
    for share in _POSTS[sign.kind]:
        post = x + round(wide * share)
        thick = max(4, round(wide * 0.012))
        cv2.rectangle(layer, (post - thick, y), (post + thick, max(foot, y + tall)), (70, 70, 72, 1), -1)
    layer[y : y + tall, x : x + wide, :3] = face[: height - y, : width - x]
    layer[y : y + tall, x : x + wide, 3] = 1
    top, bottom = max(0, y - 20), min(height, max(foot, y + tall) + 20)
    part = layer[top:bottom]
    part[..., :3] *= part[..., 3:]
    part = blur(part, softness)
    canvas[top:bottom] = canvas[top:bottom] * (1 - part[..., 3:]) + part[..., :3]
    return x, y, min(wide, width - x), min(tall, height - y)


def draw_prop(scene: Scene, prop: Prop, rng: np.random.Generator) -> tuple[Canvas, Mask]:
    """One prop as a layer of the photo's size: colours and alpha."""
    width, height = scene.size
    x, y, wide = round(prop.x * width), round(prop.y * height), round(prop.width * width)
    image = np.zeros((height, width, 3), np.float32)
    alpha = np.zeros((height, width), np.float32)
    if prop.kind == "pole":
        image[y:, x : x + wide] = np.linspace(60, 150, wide, dtype=np.float32)[None, : width - x, None]
        alpha[y:, x : x + wide] = 1
    elif prop.kind == "tape":
        columns = np.arange(x, min(width, x + wide))
        sag = np.sin((columns - x) / wide * np.pi) * height * 0.02
        for column, low in zip(columns, sag, strict=True):
            top = y + int(low)
            stripe = (column // 60) % 2
            image[top : top + 26, column] = (50, 50, 210) if stripe else (240, 240, 240)
            alpha[top : top + 26, column] = 1
    else:
        tall = round(wide * 0.3)
        bars = np.zeros_like(alpha)
        cv2.rectangle(bars, (x, y), (x + wide, y + tall), (1,), max(4, wide // 60))
        for post in range(x, x + wide, max(8, wide // 18)):
            cv2.line(bars, (post, y), (post, y + tall), (1,), max(2, wide // 160))
        for foot in (x + wide // 8, x + wide - wide // 8):
            cv2.line(bars, (foot, y + tall), (foot, y + tall + tall // 5), (1,), max(4, wide // 60))
        alpha = bars
        image[:] = 165 + rng.uniform(-15, 15)
    if prop.blur > 0:
        return blurred_layer(image, alpha, prop.blur)
    return image, alpha

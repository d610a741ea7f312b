"""What lies behind the runners: a far band above the horizon, and a ground in perspective below it."""

from __future__ import annotations

import cv2
import numpy as np

from harness.references.sample.arrays import Canvas, blur, resize
from harness.references.sample.cutouts import pixels
from harness.references.sample.people import AMATEUR
from harness.references.sample.scenes import Scene

# Columns of the amateur pictures that show no person, and the row where their trees meet the ground.
_STRIPS: tuple[tuple[str, int, int, int], ...] = (
    ("P007", 0, 470, 1080),
    ("P008", 1270, 1696, 760),
    ("P004", 0, 480, 1120),
    ("P003", 1200, 1696, 1080),
    ("P010", 0, 500, 680),
    ("P002", 1220, 1696, 800),
    ("P007", 1210, 1696, 1080),
    ("P004", 1390, 1696, 1120),
    ("P003", 0, 520, 1080),
    ("P008", 0, 420, 760),
)
_GRASS, _ASPHALT, _TRACK, _GRAVEL = (58, 118, 98), (112, 112, 110), (62, 72, 158), (120, 146, 166)


def draw_backdrop(scene: Scene, rng: np.random.Generator) -> Canvas:
    """The scene without anybody, in float BGR."""
    width, height = scene.size
    horizon = round(scene.horizon * height)
    if scene.backdrop == "city":
        far = _city(width, horizon, rng)
    elif scene.backdrop == "fence":
        far = _fence(width, horizon, rng)
    else:
        far = _park(width, horizon, rng)
    canvas = np.empty((height, width, 3), np.float32)
    canvas[:horizon] = far
    canvas[horizon:] = _ground(scene, horizon, rng)
    seam = blur(canvas, 4)
    band = slice(max(0, horizon - 8), horizon + 8)
    canvas[band] = seam[band]
    return canvas


def _park(width: int, horizon: int, rng: np.random.Generator) -> Canvas:
    """Trees from the sides of the amateur pictures, faded into each other and out of focus."""
    far = np.zeros((horizon, width, 3), np.float32)
    weight = np.zeros((1, width, 1), np.float32)
    x, number = -40, int(rng.integers(len(_STRIPS)))
    while x < width:
        person, left, right, foot = _STRIPS[number % len(_STRIPS)]
        strip = pixels(person, AMATEUR)[max(0, foot - 900) : foot, left:right]
        wide = round(strip.shape[1] * horizon / strip.shape[0] * 1.15)
        strip = resize(strip, wide, horizon)
        if number % 2:
            strip = strip[:, ::-1]
        fade = np.minimum(np.arange(wide) + 1, wide - np.arange(wide)) / 70
        fade = np.clip(fade, 0, 1).astype(np.float32)[None, :, None]
        start, end = max(0, x), min(width, x + wide)
        part = slice(start - x, end - x)
        far[:, start:end] += strip[:, part] * fade[:, part]
        weight[:, start:end] += fade[:, part]
        x, number = x + wide - 70, number + 1
    return blur(np.asarray(far / np.maximum(weight, 1e-3), np.float32), 5.0)


def _city(width: int, horizon: int, rng: np.random.Generator) -> Canvas:
    """Sky and house fronts with windows, out of focus."""
    down = np.linspace(0, 1, horizon, dtype=np.float32)[:, None, None]
    sky = np.array((225, 190, 150), np.float32) * (1 - down) + np.array((238, 230, 220), np.float32) * down
    far = np.repeat(sky, width, axis=1)
    x = 0
    while x < width:
        wide = int(rng.integers(150, 340))
        top = int(horizon * rng.uniform(0.05, 0.5))
        tone = rng.uniform(110, 200)
        far[top:, x : x + wide] = np.array((0.86, 0.94, 1.0)) * tone * rng.uniform(0.94, 1.06, 3)
        step = int(rng.integers(44, 64))
        for row in range(top + 22, horizon - 60, step):
            for column in range(x + 18, min(x + wide, width) - 30, step - 8):
                glass = rng.uniform(0.35, 0.75) * tone
                far[row : row + step // 2, column : column + step // 3] = np.array((1.12, 1.02, 0.95)) * glass
        far[horizon - 46 :, x : x + wide] *= 0.6
        x += wide
    return blur(far, 4.0)


def _fence(width: int, horizon: int, rng: np.random.Generator) -> Canvas:
    """Trees above a wooden fence."""
    far = _park(width, horizon, rng)
    top = round(horizon * 0.5)
    x = 0
    while x < width:
        wide = int(rng.integers(26, 34))
        board = np.array((96, 118, 136), np.float32) * rng.uniform(0.8, 1.1)
        grain = rng.normal(0, 5, (horizon - top, 1, 1)).astype(np.float32)
        far[top:, x : x + wide] = board + cv2.GaussianBlur(grain, (1, 41), 0)[..., None] * 6
        far[top:, x : x + 3] *= 0.55
        x += wide
    return blur(far, 2.5)


def _ground(scene: Scene, horizon: int, rng: np.random.Generator) -> Canvas:
    """A flat ground seen from the camera's height; colours follow the distance from the road's middle."""
    width, height = scene.size
    focal = 1.2 * max(width, height)
    rows = np.arange(horizon, height, dtype=np.float32)[:, None] + 0.5 - horizon
    far = np.broadcast_to(scene.camera * focal / rows, (height - horizon, width))
    across = (np.arange(width, dtype=np.float32)[None] - width / 2) * far / focal
    noise = rng.normal(0, 1, (512, 512)).astype(np.float32)
    rough = blur(noise, 12) * 20
    texture = (noise + rough) * 5

    def sample(scale: float) -> Canvas:
        u, v = (np.abs(axis * scale % 1022 - 511).astype(np.float32) for axis in (across, far))
        return np.asarray(cv2.remap(texture, u, v, cv2.INTER_LINEAR), np.float32)

    calm = np.clip(rows / 260, 0.15, 1)
    grain = (sample(110) * 0.7 + sample(14) * 0.8) * calm
    road = {"road": _ASPHALT, "track": _TRACK, "gravel": _GRAVEL, "grass": _GRASS}[scene.ground]
    half = 4.2
    inside = np.abs(across) < half
    image = np.where(inside[..., None], np.array(road, np.float32), np.array(_GRASS, np.float32))
    if scene.ground in ("road", "track"):
        edge = np.abs(np.abs(across) - half + 0.15) < 0.06
        dashes = (np.abs(across) < 0.06) & (far % 6 < 3) & (scene.ground == "road")
        lanes = (np.abs(across % 1.22 - 0.61) < 0.03) & (scene.ground == "track") & inside
        image[edge | dashes | lanes] = (205, 208, 208)
    image = image.astype(np.float32) + grain[..., None]
    return blur(np.asarray(image * (0.9 + 0.1 * calm[..., None]), np.float32), 1.2)

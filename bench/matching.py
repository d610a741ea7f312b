"""The batch matchers beside a loop over photos: 50,000 photos of 10 predictions and 7 targets each.

The boxes are drawn at two sizes, so that a photo's boxes hardly meet or nearly all do. Of each photo's predictions,
six are targets that were moved and stretched a little.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from bench.measure import best_of, row, show
from harness.scoring.boxes import Boxes, Floats
from harness.scoring.matching import match_greedy, match_optimal

PHOTOS, PREDICTIONS, TARGETS, FOUND = 50_000, 10, 7, 6
THRESHOLD = 0.5
SIZES = {"sparse": 0.1, "crowded": 0.6}

PlainBoxes = list[list[list[float]]]


def make_batch(photos: int, size: float, seed: int = 0) -> tuple[Boxes, Boxes]:
    """Predictions and targets of a batch; a box's sides measure up to 1.25 times `size`."""
    rng = np.random.default_rng(seed)

    def scatter(boxes: int) -> Floats:
        corners = rng.random((photos, boxes, 2)) * (1 - size)
        return np.concatenate([corners, (rng.random((photos, boxes, 2)) + 0.25) * size], axis=-1)

    targets, predictions = scatter(TARGETS), scatter(PREDICTIONS)
    nudge = 1 + 0.1 * rng.normal(size=(photos, FOUND, 2))
    predictions[:, :FOUND, :2] = targets[:, :FOUND, :2] + 0.1 * rng.normal(size=nudge.shape) * size
    predictions[:, :FOUND, 2:] = targets[:, :FOUND, 2:] * np.abs(nudge)
    return (
        Boxes(predictions.reshape(-1, 4), np.arange(photos + 1) * PREDICTIONS),
        Boxes(targets.reshape(-1, 4), np.arange(photos + 1) * TARGETS),
    )


def plain_greedy(predictions: PlainBoxes, targets: PlainBoxes, threshold: float) -> list[dict[int, int]]:
    """Greedy matching photo by photo in plain Python."""
    result = []
    for predicted, expected in zip(predictions, targets, strict=True):
        pairs = []
        for i, (ax, ay, aw, ah) in enumerate(predicted):
            for j, (bx, by, bw, bh) in enumerate(expected):
                width = min(ax + aw, bx + bw) - max(ax, bx)
                height = min(ay + ah, by + bh) - max(ay, by)
                if width > 0 and height > 0:
                    overlap = width * height / (aw * ah + bw * bh - width * height)
                    if overlap >= threshold:
                        pairs.append((-overlap, i, j))
        chosen: dict[int, int] = {}
        taken = set()
        for _, i, j in sorted(pairs):
            if i not in chosen and j not in taken:
                chosen[i] = j
                taken.add(j)
        result.append(chosen)
    return result


def scipy_loop(predictions: Floats, targets: Floats) -> list[tuple[Any, Any]]:
    """Optimal matching photo by photo: numpy's IoU matrix, scipy's assignment."""
    result = []
    for a, b in zip(predictions, targets, strict=True):
        low = np.maximum(a[:, None, :2], b[None, :, :2])
        high = np.minimum(a[:, None, :2] + a[:, None, 2:], b[None, :, :2] + b[None, :, 2:])
        size = np.maximum(high - low, 0)
        common = size[..., 0] * size[..., 1]
        overlap = common / ((a[:, 2] * a[:, 3])[:, None] + b[:, 2] * b[:, 3] - common)
        rows, columns = linear_sum_assignment(1 - overlap)
        formed = overlap[rows, columns] > 0
        result.append((rows[formed], columns[formed]))
    return result


def measure() -> list[dict[str, Any]]:
    """Time both matchers on sparse and on crowded photos."""
    return [entry for density, size in SIZES.items() for entry in _measure(density, *make_batch(PHOTOS, size))]


def _measure(density: str, predictions: Boxes, targets: Boxes) -> list[dict[str, Any]]:
    stacked = predictions.xywh.reshape(PHOTOS, -1, 4), targets.xywh.reshape(PHOTOS, -1, 4)
    plain: tuple[PlainBoxes, PlainBoxes] = stacked[0].tolist(), stacked[1].tolist()
    return [
        row(
            f"greedy matching, {density}",
            best_of(lambda: match_greedy(predictions, targets, THRESHOLD)),
            "plain Python loop",
            best_of(lambda: plain_greedy(*plain, THRESHOLD), 2),
            8,
        ),
        row(
            f"optimal matching, {density}",
            best_of(lambda: match_optimal(predictions, targets)),
            "loop over photos with numpy and scipy",
            best_of(lambda: scipy_loop(*stacked), 3),
            2,
        ),
    ]


if __name__ == "__main__":
    show(measure())

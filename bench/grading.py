"""Grading beside the same rules in plain Python: 1,000 images of 30 annotations a side.

The plain implementation (IoU, Levenshtein and the Hungarian method, all in Python) is too slow for that many images: it
is timed on the first of them and its time scaled up, which is fair because it grades image by image.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from bench.measure import best_of, row, show
from harness.scoring.grading import Annotation, GradingRules, grade

IMAGES, ANNOTATIONS, PEER_IMAGES = 1000, 30, 20
RULES = GradingRules(match_key="no", attributes={"car": ("color", "side"), "bus": ("line",)})
LABELS = ("car", "bus", "bicycle", "pedestrian")

Submission = dict[str, list[Annotation]]


def make_submissions(seed: int = 0) -> tuple[Submission, Submission]:
    """A ground truth on a crowded canvas, and a student who moves boxes, mistypes, misses and adds some."""
    rng = random.Random(seed)
    truth: Submission = {}
    student: Submission = {}
    for n in range(IMAGES):
        expected, given = [], []
        for i in range(ANNOTATIONS):
            x, y, w, h = (rng.uniform(0, 900), rng.uniform(0, 900), rng.uniform(50, 250), rng.uniform(50, 250))
            values = {"color": rng.choice(["red", "green", "blue"]), "side": "left", "line": str(rng.randint(1, 40))}
            keyed = {"no": str(i)} if i < ANNOTATIONS // 5 else {}
            label = rng.choice(LABELS)
            expected.append(Annotation(f"g{i}", label, (x, y, w, h), values | keyed))
            if rng.random() < 0.1:
                x, y = rng.uniform(0, 900), rng.uniform(0, 900)
            box = (x + rng.gauss(0, 8), y + rng.gauss(0, 8), w * rng.uniform(0.9, 1.1), h * rng.uniform(0.9, 1.1))
            typed = label if rng.random() < 0.9 else label[1:] + label[0]
            given.append(Annotation(f"s{i}", typed, box, values | keyed | {"color": rng.choice(["red", "green"])}))
        rng.shuffle(given)
        truth[f"{n}.jpg"], student[f"{n}.jpg"] = expected, given
    return truth, student


def plain_iou(a: Annotation, b: Annotation) -> float:
    """IoU of two boxes."""
    ax, ay, aw, ah = a.box
    bx, by, bw, bh = b.box
    width = min(ax + aw, bx + bw) - max(ax, bx)
    height = min(ay + ah, by + bh) - max(ay, by)
    if width <= 0 or height <= 0:
        return 0.0
    return width * height / (aw * ah + bw * bh - width * height)


def plain_similarity(a: str, b: str) -> float:
    """1 - Levenshtein distance / length of the longer string."""
    if a == b:
        return 1.0
    line = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, line[0] = line[0], i
        for j, y in enumerate(b, 1):
            last, line[j] = line[j], min(line[j] + 1, line[j - 1] + 1, last + (x != y))
    return 1 - line[-1] / max(len(a), len(b))


def plain_hungarian(cost: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Least total cost, by shortest augmenting paths with potentials; there are no more rows than columns."""
    rows, columns = len(cost), len(cost[0]) if cost else 0
    u, v = [0.0] * (rows + 1), [0.0] * (columns + 1)
    owner = [0] * (columns + 1)
    for i in range(1, rows + 1):
        owner[0], column = i, 0
        least = [float("inf")] * (columns + 1)
        used = [False] * (columns + 1)
        way = [0] * (columns + 1)
        while owner[column]:
            used[column] = True
            current, delta, following = owner[column], float("inf"), 0
            line, potential = cost[current - 1], u[current]
            for j in range(1, columns + 1):
                if not used[j]:
                    reduced = line[j - 1] - potential - v[j]
                    if reduced < least[j]:
                        least[j], way[j] = reduced, column
                    if least[j] < delta:
                        delta, following = least[j], j
            for j in range(columns + 1):
                if used[j]:
                    u[owner[j]] += delta
                    v[j] -= delta
                else:
                    least[j] -= delta
            column = following
        while column:
            owner[column] = owner[way[column]]
            column = way[column]
    return [(owner[j] - 1, j - 1) for j in range(1, columns + 1) if owner[j]]


def plain_grade(truth: Submission, student: Submission, images: int) -> float:
    """The overall grade of the first images, by the same rules (no key stands twice here)."""
    scores, missed, extra = [], 0, 0
    for image in list(truth)[:images]:
        expected, given = truth[image], student[image]
        by_key = {b.attributes["no"]: b for b in given if "no" in b.attributes}
        pairs = [(a, by_key[a.attributes["no"]]) for a in expected if a.attributes.get("no") in by_key]
        done = {id(annotation) for pair in pairs for annotation in pair}
        rest_a = [a for a in expected if id(a) not in done]
        rest_b = [b for b in given if id(b) not in done]
        cost = [[1 - plain_iou(a, b) for b in rest_b] for a in rest_a]
        pairs += [(rest_a[i], rest_b[j]) for i, j in plain_hungarian(cost) if cost[i][j] < 1]
        for a, b in pairs:
            names = RULES.attributes.get(a.label, ())
            alike = [plain_similarity(a.attributes.get(n, ""), b.attributes.get(n, "")) for n in names]
            attribute = sum(alike) / len(alike) if alike else 1.0
            scores.append(70 * plain_iou(a, b) + 15 * plain_similarity(a.label, b.label) + 15 * attribute)
        missed += len(expected) - len(pairs)
        extra += len(given) - len(pairs)
    f_beta = 1.25 * len(scores) / (1.25 * len(scores) + 0.25 * missed + extra)
    return 0.5 * sum(scores) / len(scores) + 0.5 * 100 * f_beta


def measure() -> list[dict[str, Any]]:
    """Time both, after a check that they agree."""
    truth, student = make_submissions()
    first = {image: truth[image] for image in list(truth)[:PEER_IMAGES]}
    same = {image: student[image] for image in first}
    if abs(grade(first, same, RULES).overall - plain_grade(truth, student, PEER_IMAGES)) > 1e-9:
        raise RuntimeError("the plain implementation grades differently: the comparison would be worthless")
    peer = best_of(lambda: plain_grade(truth, student, PEER_IMAGES), 3) * IMAGES / PEER_IMAGES
    ours = best_of(lambda: grade(truth, student, RULES).overall)
    name = f"plain Python (timed on {PEER_IMAGES} of {IMAGES} images, scaled)"
    return [row("annotation grading", ours, name, peer, 20)]


if __name__ == "__main__":
    show(measure())

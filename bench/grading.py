"""Grading beside the same rules in plain Python: 1,000 images of 30 annotations a side.

The plain implementation does what one would write without a library: IoU, Levenshtein and the Hungarian method, pair by
pair. Every label has the two attributes of the rules' own example, colour and occlusion.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from bench.measure import best_of, row, show
from harness.scoring.grading import Annotation, GradingRules, grade

IMAGES, ANNOTATIONS = 1000, 30
LABELS = ("car", "truck", "bicycle", "pedestrian")
COLORS = ("red", "green", "dark blue", "silver")
OCCLUSIONS = ("no", "partially", "mostly")
ATTRIBUTES = dict.fromkeys(LABELS, ("color", "occluded"))
RULES, KEYED = GradingRules(attributes=ATTRIBUTES), GradingRules(attributes=ATTRIBUTES, match_key="no")

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
            values = {"color": rng.choice(COLORS), "occluded": rng.choice(OCCLUSIONS)}
            keyed = {"no": str(i)} if i < ANNOTATIONS // 5 else {}
            label = rng.choice(LABELS)
            expected.append(Annotation(f"g{i}", label, (x, y, w, h), values | keyed))
            if rng.random() < 0.1:
                x, y = rng.uniform(0, 900), rng.uniform(0, 900)
            box = (x + rng.gauss(0, 8), y + rng.gauss(0, 8), w * rng.uniform(0.9, 1.1), h * rng.uniform(0.9, 1.1))
            typed = label if rng.random() < 0.9 else label[1:] + label[0]
            slip = {} if rng.random() < 0.8 else {"color": rng.choice(COLORS)}
            given.append(Annotation(f"s{i}", typed, box, values | keyed | slip))
        rng.shuffle(given)
        truth[f"{n}.jpg"], student[f"{n}.jpg"] = expected, given
    return truth, student


def plain_iou(a: Annotation, b: Annotation) -> float:
    """IoU of two boxes."""
    ax, ay, aw, ah = a.box
    bx, by, bw, bh = b.box
    width = max(0.0, min(ax + aw, bx + bw) - max(ax, bx))
    height = max(0.0, min(ay + ah, by + bh) - max(ay, by))
    common = width * height
    union = aw * ah + bw * bh - common
    return common / union if union > 0 else 0.0


def plain_similarity(a: str, b: str) -> float:
    """1 - Levenshtein distance / length of the longer string."""
    longer = max(len(a), len(b))
    if not longer:
        return 1.0
    previous = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        current = [i]
        for j, y in enumerate(b, 1):
            current.append(min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (x != y)))
        previous = current
    return 1 - previous[-1] / longer


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


def plain_grade(truth: Submission, student: Submission, rules: GradingRules) -> tuple[float, dict[str, Any]]:
    """The overall grade and each image's matches, missed and extra annotations (no key stands twice here)."""
    images: dict[str, Any] = {}
    for image in [*truth, *(image for image in student if image not in truth)]:
        expected, given = truth.get(image, []), student.get(image, [])
        pairs = []
        if rules.match_key is not None:
            by_key = {b.attributes[rules.match_key]: b for b in given if rules.match_key in b.attributes}
            pairs = [
                (a, by_key[a.attributes[rules.match_key]])
                for a in expected
                if a.attributes.get(rules.match_key) in by_key
            ]
        done = {a.id for a, _ in pairs}, {b.id for _, b in pairs}
        rest_a = [a for a in expected if a.id not in done[0]]
        rest_b = [b for b in given if b.id not in done[1]]
        cost = [[1 - plain_iou(a, b) for b in rest_b] for a in rest_a]
        pairs += [(rest_a[i], rest_b[j]) for i, j in plain_hungarian(cost) if cost[i][j] < 1]
        done = {a.id for a, _ in pairs}, {b.id for _, b in pairs}
        images[image] = {
            "matched": [plain_match(a, b, rules) for a, b in pairs],
            "missed": [a.id for a in expected if a.id not in done[0]],
            "extra": [b.id for b in given if b.id not in done[1]],
        }
    scores = [match["score"] for image in images.values() for match in image["matched"]]
    missed = sum(len(image["missed"]) for image in images.values())
    extra = sum(len(image["extra"]) for image in images.values())
    f_beta = 1.25 * len(scores) / (1.25 * len(scores) + 0.25 * missed + extra)
    return 0.5 * sum(scores) / len(scores) + 0.5 * 100 * f_beta, images


def plain_match(a: Annotation, b: Annotation, rules: GradingRules) -> dict[str, Any]:
    """The score of one pair and what it is made of."""
    overlap, label = plain_iou(a, b), plain_similarity(a.label, b.label)
    names = rules.attributes.get(a.label, ())
    alike = [plain_similarity(a.attributes.get(n, ""), b.attributes.get(n, "")) for n in names]
    attribute = sum(alike) / len(alike) if alike else 1.0
    return {
        "ground_truth": a.id,
        "student": b.id,
        "iou": overlap,
        "label": label,
        "attribute": attribute,
        "score": 70 * overlap + 15 * label + 15 * attribute,
    }


def measure() -> list[dict[str, Any]]:
    """Time both, with and without a pass by key, after a check that they agree."""
    truth, student = make_submissions()
    rows = []
    for name, rules, required in (("by overlap", RULES, 20), ("by key, then by overlap", KEYED, 15)):
        ours, (peer, _) = grade(truth, student, rules).overall, plain_grade(truth, student, rules)
        if abs(ours - peer) > 1e-9:
            raise RuntimeError(f"the plain implementation grades {peer}, ours {ours}: there is nothing to compare")
        rows.append(_measure(name, truth, student, rules, required))
    return rows


def _measure(name: str, truth: Submission, student: Submission, rules: GradingRules, required: float) -> dict[str, Any]:
    ours = best_of(lambda: grade(truth, student, rules).overall, 15)
    peer = best_of(lambda: plain_grade(truth, student, rules), 3)
    return row(f"grading {name}", ours, "plain Python", peer, required)


if __name__ == "__main__":
    show(measure())

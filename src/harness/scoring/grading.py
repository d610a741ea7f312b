"""Grading of annotations against a ground truth, for a whole submission at once.

Two passes pair each image's annotations: by key, where the rules name one, then optimally (least total of 1 - IoU)
over the rest, where a pair needs an IoU above the floor. A pair scores 70 IoU + 15 label similarity + 15 attribute
similarity, with the weights of the rules. Everything unpaired is missed (ground truth) or extra (student); an image
that only one side has is all missed or all extra.

- An annotation's key is its `key`, else its attribute that the rules call `match_key`. Keys are compared as they are;
  a blank one is none.
- Attribute similarity is the mean over the attributes that the rules list for the ground truth's label, 1 if they list
  none. An attribute that is missing counts as empty: on one side it scores 0, on both sides 1.
- A trainer's override replaces the score of one match, named by image and ground-truth annotation. One that is out of
  range, given twice or for something that is no match is refused: a grade never rests on a word that found no place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any

import numpy as np

from harness.scoring.boxes import Bools, Boxes, Floats, Ints, iou, offsets_of
from harness.scoring.grade_report import FULL, GradeReport, GradingRules, ImageGrade, MatchGrade, Override
from harness.scoring.matching import DuplicateKey, match_by_key, match_optimal
from harness.scoring.text import similarities

__all__ = ["Annotation", "GradeReport", "GradingRules", "ImageGrade", "MatchGrade", "Override", "grade"]


@dataclass(frozen=True, slots=True)
class Annotation:
    """A labelled box `x, y, w, h`, in any unit that both sides share. Its id is unique within its image and side."""

    id: str
    label: str
    box: tuple[float, float, float, float]
    attributes: Mapping[str, str] = field(default_factory=dict)
    key: str | None = None


Annotations = Mapping[str, Sequence[Annotation]]


def grade(
    ground_truth: Annotations,
    student: Annotations,
    rules: GradingRules | None = None,
    overrides: Iterable[Override] = (),
) -> GradeReport:
    """Grade a student's annotations, image by image, against the ground truth."""
    rules = rules or GradingRules()
    images = tuple(dict.fromkeys([*ground_truth, *student]))
    truth = _Side.of("ground-truth", images, ground_truth)
    work = _Side.of("student", images, student)
    pairing = _Pairing.of(truth, work, rules)
    words = _placed(overrides, truth, pairing)
    matches = _score(truth, work, pairing, rules, words)
    return GradeReport(rules, tuple(_by_image(truth, work, pairing, matches)))


@dataclass(frozen=True, slots=True)
class _Side:
    """All annotations of one side, flat; `boxes` knows which image each belongs to."""

    name: str
    images: tuple[str, ...]
    annotations: list[Annotation]
    boxes: Boxes

    @classmethod
    def of(cls, name: str, images: tuple[str, ...], given: Annotations) -> _Side:
        by_image = [given.get(image, ()) for image in images]
        annotations = list(chain.from_iterable(by_image))
        offsets = offsets_of(by_image)
        for image, group in zip(images, by_image, strict=True):
            _check(name, image, group)
        xywh = np.array([annotation.box for annotation in annotations], dtype=np.float64).reshape(-1, 4)
        side = cls(name, images, annotations, Boxes(xywh, offsets))
        wrong = ~np.isfinite(xywh).all(axis=1) | (xywh[:, 2] < 0) | (xywh[:, 3] < 0)
        if wrong.any():
            row = int(np.argmax(wrong))
            x, y, w, h = xywh[row].tolist()
            raise ValueError(
                f"{side.where(row)}: x={x} y={y} w={w} h={h}; expected finite numbers, with w and h not negative"
            )
        return side

    def where(self, row: int) -> str:
        """Name an annotation in an error message."""
        image = self.images[int(self.boxes.photo_index[row])]
        return f"image {image!r}, {self.name} annotation {self.annotations[row].id!r}"

    def keys(self, rules: GradingRules) -> list[str | None]:
        """What the first pass pairs by."""
        if rules.match_key is None:
            return [None] * len(self.annotations)
        name = rules.match_key
        keys = (a.attributes.get(name) if a.key is None else a.key for a in self.annotations)
        return [key if key and key.strip() else None for key in keys]

    def ids(self, chosen: Bools) -> list[tuple[str, ...]]:
        """Ids of the chosen annotations, image by image."""
        flags = chosen.tolist()
        bounds = self.boxes.offsets.tolist()
        return [
            tuple(self.annotations[row].id for row in range(start, stop) if flags[row])
            for start, stop in pairwise(bounds)
        ]


@dataclass(frozen=True, slots=True)
class _Pairing:
    """Rows of the pairs in the order of the ground truth, which of them a key made, and who is left."""

    truth: Ints
    work: Ints
    by_key: Bools
    missed: Bools
    extra: Bools
    duplicates: tuple[DuplicateKey, ...]

    @classmethod
    def of(cls, truth: _Side, work: _Side, rules: GradingRules) -> _Pairing:
        keyed, duplicates = match_by_key(work.boxes, truth.boxes, work.keys(rules), truth.keys(rules))
        rest = match_optimal(work.boxes.only(~keyed.matched), truth.boxes.only(~keyed.found), rules.min_iou)
        open_truth, open_work = np.flatnonzero(~keyed.found), np.flatnonzero(~keyed.matched)
        partner = keyed.prediction_of.copy()
        partner[open_truth[rest.found]] = open_work[rest.prediction_of[rest.found]]
        paired = np.flatnonzero(partner >= 0)
        extra = np.ones(len(work.boxes), dtype=bool)
        extra[partner[paired]] = False
        return cls(paired, partner[paired], keyed.found[paired], partner < 0, extra, duplicates)


def _score(
    truth: _Side, work: _Side, pairing: _Pairing, rules: GradingRules, overrides: Mapping[int, Override]
) -> list[MatchGrade]:
    expected = [truth.annotations[row] for row in pairing.truth.tolist()]
    given = [work.annotations[row] for row in pairing.work.tolist()]
    overlap = iou(truth.boxes.xywh[pairing.truth], work.boxes.xywh[pairing.work])
    label = similarities([a.label for a in expected], [a.label for a in given], rules.ignore_case)
    attribute = _attribute_similarity(expected, given, rules)
    score = rules.iou_weight * overlap + rules.label_weight * label + rules.attribute_weight * attribute
    columns = (a.tolist() for a in (pairing.by_key, overlap, label, attribute, score))
    words = (overrides.get(row) for row in pairing.truth.tolist())
    return list(map(MatchGrade, (a.id for a in expected), (a.id for a in given), *columns, words))


def _attribute_similarity(expected: Sequence[Annotation], given: Sequence[Annotation], rules: GradingRules) -> Floats:
    """Mean similarity of the attributes that each pair is compared by; 1 where there is none."""
    listed = {_fold(label, rules): tuple(names) for label, names in rules.attributes.items()}
    names = [listed.get(_fold(annotation.label, rules), ()) for annotation in expected]
    values_a = [a.attributes.get(name, "") for a, compared in zip(expected, names, strict=True) for name in compared]
    values_b = [b.attributes.get(name, "") for b, compared in zip(given, names, strict=True) for name in compared]
    count = np.array([len(compared) for compared in names], dtype=np.int64)
    pair = np.repeat(np.arange(len(names)), count)
    total = np.bincount(pair, weights=similarities(values_a, values_b, rules.ignore_case), minlength=len(names))
    return np.divide(total, count, out=np.ones(len(names)), where=count > 0)


def _fold(label: str, rules: GradingRules) -> str:
    return label.casefold() if rules.ignore_case else label


def _by_image(truth: _Side, work: _Side, pairing: _Pairing, matches: Sequence[MatchGrade]) -> Iterable[ImageGrade]:
    bounds = np.searchsorted(pairing.truth, truth.boxes.offsets).tolist()
    missed, extra = truth.ids(pairing.missed), work.ids(pairing.extra)
    keys: dict[int, list[str]] = {}
    for duplicate in pairing.duplicates:
        keys.setdefault(duplicate.photo, []).append(duplicate.key)
    for n, image in enumerate(truth.images):
        found = tuple(matches[bounds[n] : bounds[n + 1]])
        yield ImageGrade(image, found, missed[n], extra[n], tuple(keys.get(n, ())))


def _placed(overrides: Iterable[Override], truth: _Side, pairing: _Pairing) -> dict[int, Override]:
    """Each override by the row of its ground-truth annotation."""
    rows = {
        (truth.images[photo], annotation.id): row
        for row, (photo, annotation) in enumerate(zip(truth.boxes.photo_index.tolist(), truth.annotations, strict=True))
    }
    placed: dict[int, Override] = {}
    for override in overrides:
        name = f"override by {override.who!r} for image {override.image!r}, annotation {override.annotation!r}"
        if not 0 <= override.score <= FULL:
            raise ValueError(f"{name}: score {override.score}; expected a number from 0 to 100")
        row = rows.get((override.image, override.annotation))
        if row is None:
            raise ValueError(f"{name}: there is no such ground-truth annotation")
        if pairing.missed[row]:
            raise ValueError(f"{name}: the annotation is missed, so there is no score to replace")
        if row in placed:
            raise ValueError(f"{name}: there is another one for it, by {placed[row].who!r}")
        placed[row] = override
    return placed


def _check(side: str, image: str, annotations: Sequence[Annotation]) -> None:
    seen: set[str] = set()
    for annotation in annotations:
        wrong = "the id stands twice" if annotation.id in seen else _fault(annotation)
        if wrong:
            raise ValueError(f"image {image!r}, {side} annotation {annotation.id!r}: {wrong}")
        seen.add(annotation.id)


def _fault(annotation: Any) -> str | None:
    """What is wrong with the shape of an annotation; its types are a promise that nobody has checked yet."""
    if len(annotation.box) != 4:
        return f"box {annotation.box!r}; expected x, y, w, h"
    if not isinstance(annotation.label, str):
        return f"label {annotation.label!r}; expected a string"
    for name, value in annotation.attributes.items():
        if not isinstance(value, str):
            return f"attribute {name!r} is {value!r}; expected a string"
    return None

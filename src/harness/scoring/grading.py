"""Grading of annotations against a ground truth, for a whole submission at once.

Two passes pair each image's annotations: by key, where the rules name one, then optimally (least total of 1 - IoU)
over the rest, where a pair needs an IoU above the floor. A pair scores 70 IoU + 15 label similarity + 15 attribute
similarity, with the weights of the rules. Everything unpaired is missed (ground truth) or extra (student); an image
that only one side has is all missed or all extra.

- An annotation's key is its `key`, else its attribute that the rules call `match_key`. Keys are compared as they are;
  a blank one is none.
- Attribute similarity is the mean over the attributes that the rules list for the ground truth's label, 1 if they list
  none. An attribute that is missing counts as empty: on one side it scores 0, on both sides 1.
- IoU is that of the boxes where both annotations are upright boxes, else that of their shapes (`shapes.py`).
- A trainer's override replaces the score of one match, named by image and ground-truth annotation. One that is out of
  range, given twice or for something that is no match is refused: a grade never rests on a word that found no place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, pairwise
from operator import ne

import numpy as np

from harness.base.garbage import no_collection
from harness.scoring.annotations import Annotation, AnnotationBatch, Annotations, take
from harness.scoring.boxes import Bools, Floats, Ints
from harness.scoring.grade_report import GradeReport, ImageGrade, MatchColumns, Matches, MatchGrade
from harness.scoring.grading_rules import FULL, GradingRules, Override
from harness.scoring.matching import DuplicateKey, match_by_key, match_optimal
from harness.scoring.overlaps import pair_iou
from harness.scoring.text import similarities

__all__ = ["Annotation", "GradeReport", "GradingRules", "ImageGrade", "MatchGrade", "Override", "grade"]


#: Annotations that are graded together: few enough to stay in a processor's cache.
BLOCK = 1 << 13


def grade(
    ground_truth: Annotations,
    student: Annotations,
    rules: GradingRules | None = None,
    overrides: Iterable[Override] = (),
) -> GradeReport:
    """Grade a student's annotations, image by image, against the ground truth."""
    rules = rules or GradingRules()
    images = tuple(dict.fromkeys([*ground_truth, *student]))
    words = _by_place(overrides, ground_truth)
    graded: list[ImageGrade] = []
    with no_collection():
        for first, stop in _blocks(images, ground_truth, student):
            truth = AnnotationBatch.of("ground-truth", images[first:stop], ground_truth, rules.point_radius)
            work = AnnotationBatch.of("student", images[first:stop], student, rules.point_radius)
            graded += _grade(truth, work, rules, words)
    return GradeReport(rules, tuple(graded))


def _blocks(images: Sequence[str], ground_truth: Annotations, student: Annotations) -> list[tuple[int, int]]:
    """Cut the images into runs (first, stop) of about a block of annotations each."""
    sizes = np.cumsum([len(ground_truth.get(image, ())) + len(student.get(image, ())) for image in images])
    cuts = [0, *(np.flatnonzero(np.diff(sizes // BLOCK)) + 1).tolist(), len(images)]
    return [(first, stop) for first, stop in pairwise(cuts) if stop > first]


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
    def of(cls, truth: AnnotationBatch, work: AnnotationBatch, rules: GradingRules) -> _Pairing:
        partner, by_key, duplicates = _partners(truth, work, rules)
        paired = np.flatnonzero(partner >= 0)
        extra = np.ones(len(work.boxes), dtype=bool)
        extra[partner[paired]] = False
        return cls(paired, partner[paired], by_key[paired], partner < 0, extra, duplicates)


def _partners(
    truth: AnnotationBatch, work: AnnotationBatch, rules: GradingRules
) -> tuple[Ints, Bools, tuple[DuplicateKey, ...]]:
    """For each ground-truth row the student's or -1, whether a key paired them, and the keys that stand twice."""
    if rules.match_key is None:
        partner = match_optimal(work.boxes, truth.boxes, rules.min_iou).prediction_of
        return partner, np.zeros(len(partner), dtype=bool), ()
    keys, true_keys = work.keys(rules.match_key), truth.keys(rules.match_key)
    keyed, duplicates = match_by_key(work.boxes, truth.boxes, keys, true_keys)
    rest = match_optimal(work.boxes.only(~keyed.matched), truth.boxes.only(~keyed.found), rules.min_iou)
    open_truth, open_work = np.flatnonzero(~keyed.found), np.flatnonzero(~keyed.matched)
    partner = keyed.prediction_of.copy()
    partner[open_truth[rest.found]] = open_work[rest.prediction_of[rest.found]]
    return partner, keyed.found, duplicates


def _grade(
    truth: AnnotationBatch, work: AnnotationBatch, rules: GradingRules, overrides: Mapping[tuple[str, str], Override]
) -> Iterator[ImageGrade]:
    pairing = _Pairing.of(truth, work, rules)
    overlap, label, attribute, score = _score(truth, work, pairing, rules).tolist()
    columns = MatchColumns(
        take(truth.ids, pairing.truth.tolist()),
        take(work.ids, pairing.work.tolist()),
        pairing.by_key.tolist(),
        overlap,
        label,
        attribute,
        score,
        _words(truth, pairing, overrides),
    )
    bounds = np.searchsorted(pairing.truth, truth.boxes.offsets).tolist()
    missed, extra = truth.ids_by_image(pairing.missed), work.ids_by_image(pairing.extra)
    double: dict[int, list[str]] = {}
    for duplicate in pairing.duplicates:
        double.setdefault(duplicate.photo, []).append(duplicate.key)
    for n, image in enumerate(truth.images):
        matched = Matches(columns, bounds[n], bounds[n + 1])
        yield ImageGrade(image, matched, *(tuple(side.get(n, ())) for side in (missed, extra, double)))


def _words(
    truth: AnnotationBatch, pairing: _Pairing, overrides: Mapping[tuple[str, str], Override]
) -> list[Override | None]:
    """The override of each match. Raises ValueError for one of a missed annotation."""
    if not overrides:
        return [None] * len(pairing.truth)
    image = take(truth.images, truth.boxes.photo_index.tolist())
    words = [overrides.get(place) for place in zip(image, truth.ids, strict=True)]
    for word in compress(words, pairing.missed.tolist()):
        if word:
            raise ValueError(f"{_name(word)}: the annotation is missed, so there is no score to replace")
    return take(words, pairing.truth.tolist())


def _score(truth: AnnotationBatch, work: AnnotationBatch, pairing: _Pairing, rules: GradingRules) -> Floats:
    """IoU, label similarity, attribute similarity and score of the pairs: a row each."""
    labels = take(truth.labels, pairing.truth.tolist())
    overlap = pair_iou(truth.boxes, pairing.truth, work.boxes, pairing.work)
    label = _alike(labels, take(work.labels, pairing.work.tolist()), rules.ignore_case)
    attribute = _attribute_similarity(truth, work, pairing, labels, rules)
    score = rules.iou_weight * overlap + rules.label_weight * label + rules.attribute_weight * attribute
    return np.stack([overlap, label, attribute, score])


def _attribute_similarity(
    truth: AnnotationBatch, work: AnnotationBatch, pairing: _Pairing, labels: list[str], rules: GradingRules
) -> Floats:
    """Mean similarity of the attributes that each pair is compared by; 1 where there is none."""
    names_of = {label: tuple(rules.compared(label)) for label in set(labels)}
    groups = list(dict.fromkeys(names_of.values()))
    group_of = {label: groups.index(names) for label, names in names_of.items()}
    group = np.fromiter(map(group_of.__getitem__, labels), np.int64, count=len(labels))
    both = take(truth.attributes, pairing.truth.tolist()), take(work.attributes, pairing.work.tolist())
    differ = np.fromiter(map(ne, *both), np.bool_, count=len(labels))
    result = np.ones(len(labels))
    for number, names in enumerate(groups):
        if names:
            pairs = np.flatnonzero((group == number) & differ)
            expected = truth.values(pairing.truth[pairs].tolist(), names)
            given = work.values(pairing.work[pairs].tolist(), names)
            result[pairs] = _alike(expected, given, rules.ignore_case).reshape(len(names), -1).mean(axis=0)
    return result


def _alike(expected: list[str], given: list[str], ignore_case: bool) -> Floats:
    """Similarity of each pair of strings; most pairs are equal, and only the others are looked into."""
    result = np.ones(len(expected))
    differ = list(map(ne, expected, given))
    result[differ] = similarities(list(compress(expected, differ)), list(compress(given, differ)), ignore_case)
    return result


def _by_place(overrides: Iterable[Override], ground_truth: Annotations) -> dict[tuple[str, str], Override]:
    """Each override by its image and ground-truth annotation."""
    placed: dict[tuple[str, str], Override] = {}
    for override in overrides:
        place = (override.image, override.annotation)
        if not 0 <= override.score <= FULL:
            raise ValueError(f"{_name(override)}: score {override.score}; expected a number from 0 to 100")
        if override.annotation not in (annotation.id for annotation in ground_truth.get(override.image, ())):
            raise ValueError(f"{_name(override)}: there is no such ground-truth annotation")
        if place in placed:
            raise ValueError(f"{_name(override)}: there is another one for it, by {placed[place].who!r}")
        placed[place] = override
    return placed


def _name(override: Override) -> str:
    return f"override by {override.who!r} for image {override.image!r}, annotation {override.annotation!r}"

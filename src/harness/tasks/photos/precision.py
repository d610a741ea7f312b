"""Average precision of the boxes of photos by COCO's rules, and how sure it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType

import numpy as np

from harness.scoring import ApPhoto, average_precision
from harness.scoring import bibs as bib_rules
from harness.scoring import faces as face_rules
from harness.scoring.average_precision import jackknife_precision
from harness.scoring.uncertainty import Jackknifed
from harness.tasks.photos.predicting import EvaluatedPhoto
from harness.types import BibBox, FaceBox

#: The labels of a photo, None where nobody labelled them, and what was predicted.
_Sides = tuple[Sequence[BibBox | FaceBox] | None, Sequence[BibBox | FaceBox]]
_KINDS: dict[str, tuple[Callable[[EvaluatedPhoto], _Sides], ModuleType]] = {
    "bib/ap": (lambda item: (item.photo.bibs if item.photo.bib_labeled else None, item.prediction.bibs), bib_rules),
    "face/ap": (
        lambda item: (item.photo.faces if item.photo.face_labeled else None, item.prediction.faces),
        face_rules,
    ),
}


def precisions(photos: Sequence[EvaluatedPhoto]) -> tuple[dict[str, float], dict[str, Jackknifed]]:
    """Average precision of bibs and of faces, and how sure it is; none where a prediction has no score."""
    values, sureness = {}, {}
    for metric, (sides, rules) in _KINDS.items():  # one after the other: the boxes of a large set take memory
        labelled, items, groups = list[ApPhoto | None](), list[str](), list[str]()
        for photo in photos:
            labels, found = sides(photo)
            if labels is not None:
                labelled.append(_boxes(labels, found, rules))
                items.append(photo.sha256)
                groups.append(photo.photo.group)
        known = [photo for photo in labelled if photo is not None]
        card = average_precision(known)
        if len(known) == len(items) and card.ap is not None:
            values[metric], sureness[metric] = card.ap, jackknife_precision(known, card, items, groups)["ap"]
        del labelled, known
    return values, sureness


def _boxes(labels: Sequence[BibBox | FaceBox], found: Sequence[BibBox | FaceBox], rules: ModuleType) -> ApPhoto | None:
    """Labels that are not scored are no targets; ignore regions are what COCO calls a crowd. None where a box has no
    score."""
    targets = [box for box in labels if box.scope in rules.SCORED | rules.IGNORE and box.has_coords]
    seen = [box for box in found if box.has_coords]
    if any(box.score is None for box in seen):
        return None
    return ApPhoto(
        targets=np.array([box.xywh for box in targets]).reshape(-1, 4),
        predictions=np.array([box.xywh for box in seen]).reshape(-1, 4),
        scores=np.array([box.score for box in seen], dtype=np.float64),
        crowd=np.array([box.scope in rules.IGNORE for box in targets], dtype=bool),
    )

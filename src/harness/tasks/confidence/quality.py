"""How good are the scored predictions, and what does ranking them by their score gain?

Average precision by COCO's rules on `gt_vs_pred_scored.jsonl`, against the ground truth that each record carries in the
same pixel space; once in the order of the scores and once with one constant score, which leaves the model's own order.
Calibration: how far scores are from the share of boxes that are right, where right means matched to a target of the
same class at an IoU of 0.5 or more.

The class of a box is its `desc`, white space at its ends aside; or all boxes are of one class. Each record is an image
of its own. What is no `bbox_2d` of four finite corners, in order, is left out and counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from harness.scoring.average_precision import (
    ApPhoto,
    ApScorecard,
    average_precision,
    jackknife_precision,
)
from harness.scoring.boxes import Bools, Boxes
from harness.scoring.calibration import CalibrationScorecard, calibration
from harness.scoring.coord_tokens import BOX
from harness.scoring.matching import match_greedy
from harness.scoring.uncertainty import Jackknifed
from harness.tasks.confidence.lines import parse, read_lines, wrong

RIGHT_IOU = 0.5

Corners = tuple[float, float, float, float]


@dataclass(frozen=True)
class Quality:
    """Average precision in the order of the scores, with how sure it is, and without that order, and calibration."""

    ranked: ApScorecard
    constant: ApScorecard
    calibration: CalibrationScorecard
    targets_left_out: int
    predictions_left_out: int
    sureness: Mapping[str, Jackknifed] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as the file `confidence_quality.json` has them."""
        return {
            "ranked": self.ranked.to_dict(),
            "intervals": {name: [each.interval.low, each.interval.high] for name, each in self.sureness.items()},
            "constant": self.constant.to_dict(),
            "calibration": self.calibration.to_dict(),
            "targets_left_out": self.targets_left_out,
            "predictions_left_out": self.predictions_left_out,
        }

    def metrics(self) -> dict[str, float]:
        """What is logged; a statistic without targets is left out."""
        metrics = {"ap_targets": float(self.ranked.targets), "ap_predictions": float(self.ranked.predictions)}
        metrics |= {"ap_targets_left_out": float(self.targets_left_out)}
        for name in ("ap", "ap_50", "ap_75"):
            ranked, constant = getattr(self.ranked, name), getattr(self.constant, name)
            if ranked is not None and constant is not None:
                metrics |= {name: ranked, f"{name}_constant": constant, f"{name}_gain": ranked - constant}
        return {f"confidence/{name}": value for name, value in metrics.items()} | self.calibration.metrics("confidence")


def judge(scored: Path, *, class_agnostic: bool = False) -> Quality:
    """Read a scored artifact and judge its boxes. Memory grows with the number of boxes."""
    photos, left_out = _read(scored, class_agnostic)
    ranked = average_precision(photos)
    constant = average_precision([replace(photo, scores=np.ones(len(photo.scores))) for photo in photos])  # type: ignore[arg-type]
    records = [str(number) for number in range(len(photos))]
    sureness = jackknife_precision(photos, ranked, records, [""] * len(photos))
    return Quality(ranked, constant, _calibration(photos), *left_out, sureness)


def read_photos(scored: Path, *, class_agnostic: bool = False) -> list[ApPhoto]:
    """The targets, predictions and scores of a scored artifact, one photo a record."""
    return _read(scored, class_agnostic)[0]


def _read(scored: Path, class_agnostic: bool) -> tuple[list[ApPhoto], tuple[int, int]]:
    classes: dict[str, int] = {}
    photos, targets_left_out, predictions_left_out = [], 0, 0
    for number, line in read_lines(scored):
        fields = parse(scored, number, line)
        targets = objects(scored, number, "gt", fields)
        predictions = objects(scored, number, "pred", fields)
        usable = [item for item in targets if is_box(item)]
        known = [item for item in predictions if is_box(item)]
        targets_left_out += len(targets) - len(usable)
        predictions_left_out += len(predictions) - len(known)
        photos.append(as_photo(usable, known, classes, class_agnostic))
    return photos, (targets_left_out, predictions_left_out)


def as_photo(
    targets: Sequence[dict[str, Any]],
    predictions: Sequence[dict[str, Any]],
    known: dict[str, int],
    class_agnostic: bool,
) -> ApPhoto:
    """The boxes of one record; `known` are the classes so far, to which those of the record are added."""
    return ApPhoto(
        targets=np.array([xywh(item) for item in targets]).reshape(-1, 4),
        predictions=np.array([xywh(item) for item in predictions]).reshape(-1, 4),
        scores=np.array([item["score"] for item in predictions]),
        target_classes=_classes(targets, known, class_agnostic),
        prediction_classes=_classes(predictions, known, class_agnostic),
    )


def objects(path: Path, number: int, key: str, fields: dict[str, Any]) -> list[dict[str, Any]]:
    """The ground truth or the predictions of a record."""
    found = fields.get(key)
    if not isinstance(found, list):
        raise wrong(path, number, f"{key}: expected a list of objects; average precision needs it")
    for index, item in enumerate(found):
        if not isinstance(item, dict) or not isinstance(item.get("desc"), str) or not isinstance(item.get("type"), str):
            raise wrong(path, number, f"{key}.{index}: expected an object with strings as type and desc")
    return found


def is_box(item: dict[str, Any]) -> bool:
    """Whether an object is a box with an area."""
    points = item.get("points")
    if item["type"] != BOX or not isinstance(points, list) or len(points) != 4:
        return False
    if not all(type(point) in (int, float) and math.isfinite(point) for point in points):
        return False
    x1, y1, x2, y2 = points
    return bool(x1 < x2 and y1 < y2)


def xywh(item: dict[str, Any]) -> Corners:
    """Two corners as a corner and a size."""
    x1, y1, x2, y2 = item["points"]
    return x1, y1, x2 - x1, y2 - y1


def _classes(items: Sequence[dict[str, Any]], known: dict[str, int], class_agnostic: bool) -> list[int]:
    return [0 if class_agnostic else known.setdefault(item["desc"].strip(), len(known)) for item in items]


def _calibration(photos: Sequence[ApPhoto]) -> CalibrationScorecard:
    scores = [np.asarray(photo.scores, dtype=np.float64) for photo in photos]
    right = [photo.right for photo in match_boxes(photos)]
    return calibration(np.concatenate([np.empty(0), *scores]), np.concatenate([np.empty(0, dtype=bool), *right]))


@dataclass(frozen=True, slots=True)
class MatchedBoxes:
    """Which predictions of a photo are right, and which of its targets were found."""

    right: Bools
    found: Bools


def match_boxes(photos: Sequence[ApPhoto]) -> list[MatchedBoxes]:
    """Boxes of one photo and class are matched among themselves: each such group is a photo to the matcher."""
    found = [
        MatchedBoxes(*(np.zeros(len(np.array(boxes)), dtype=np.bool_) for boxes in (photo.predictions, photo.targets)))
        for photo in photos
    ]
    groups = list(_by_class(photos))
    predictions = _boxes([np.asarray(photos[n].predictions)[mine] for n, mine, _ in groups])
    targets = _boxes([np.asarray(photos[n].targets)[theirs] for n, _, theirs in groups])
    matches = match_greedy(predictions, targets, RIGHT_IOU)
    for place, (n, mine, theirs) in enumerate(groups):
        found[n].right[mine] = matches.matched[predictions.offsets[place] : predictions.offsets[place + 1]]
        found[n].found[theirs] = matches.found[targets.offsets[place] : targets.offsets[place + 1]]
    return found


def _by_class(photos: Sequence[ApPhoto]) -> Iterator[tuple[int, Bools, Bools]]:
    """Photo by photo, which predictions and which targets are of one class."""
    for number, photo in enumerate(photos):
        predicted, true = np.array(photo.prediction_classes), np.array(photo.target_classes)
        for kind in np.unique(predicted):
            yield number, predicted == kind, true == kind


def _boxes(groups: Sequence[Any]) -> Boxes:
    offsets = np.cumsum([0, *map(len, groups)], dtype=np.int64)
    return Boxes(np.concatenate([np.empty((0, 4)), *groups]), offsets)

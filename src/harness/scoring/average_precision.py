"""Average precision of scored boxes, by the rules of COCO.

Predictions go best score first, ties in the order given; IoU thresholds .50:.05:.95; 101 recall points; sizes by area
in pixels (small below 32 x 32, large from 96 x 96); at most 1, 10 or 100 predictions a photo and class. A crowd target
is a region: whatever lies in it is neither right nor wrong. `hotcoco` does the counting; this module hands it arrays.

Boxes are `x, y, w, h` in pixels, since sizes are. A box without coordinates (w or h is 0) takes no part, as in every
IoU metric. A statistic that COCO gives as -1, for lack of targets, is None here and is never logged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import hotcoco
import numpy as np
from numpy.typing import ArrayLike

from harness.scoring.boxes import Bools, Floats, Ints
from harness.scoring.cards import SCORER_VERSION
from harness.scoring.uncertainty import Jackknifed, jackknifed, parts_of

#: How many parts are left out in one call, each with a list of all other photos: a hundred lists of them take as much
#: memory as all else of a run.
_AT_ONCE = 10


@dataclass(frozen=True, slots=True)
class ApPhoto:
    """One photo: target boxes, predicted boxes and their scores.

    Without classes all boxes are of one class. `crowd` marks the targets that are regions; `area` gives the targets'
    areas where they are not w x h (a mask's, for example).
    """

    targets: ArrayLike
    predictions: ArrayLike
    scores: ArrayLike
    target_classes: ArrayLike | None = None
    prediction_classes: ArrayLike | None = None
    crowd: ArrayLike | None = None
    area: ArrayLike | None = None


@dataclass(frozen=True)
class ApScorecard:
    """The twelve COCO statistics, and what they rest on; None where there are no targets to speak of."""

    ap: float | None
    ap_50: float | None
    ap_75: float | None
    ap_small: float | None
    ap_medium: float | None
    ap_large: float | None
    ar_1: float | None
    ar_10: float | None
    ar_100: float | None
    ar_small: float | None
    ar_medium: float | None
    ar_large: float | None
    photos: int = 0
    targets: int = 0
    crowds: int = 0
    predictions: int = 0

    @property
    def statistics(self) -> tuple[float | None, ...]:
        """The twelve in COCO's order."""
        return tuple(getattr(self, name) for name in STATISTICS)

    def metrics(self, prefix: str) -> dict[str, float]:
        """What is logged, as `<prefix>/ap` and so on: every statistic that has targets, and the counts."""
        rates = {f"{prefix}/{name}": getattr(self, name) for name in STATISTICS if getattr(self, name) is not None}
        return rates | {f"{prefix}/ap_{name}": float(getattr(self, name)) for name in COUNTS}

    def to_dict(self) -> dict[str, Any]:
        """All fields."""
        return asdict(self) | {"scorer_version": SCORER_VERSION}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ApScorecard:
        """Read what `to_dict` wrote."""
        return cls(**{field.name: data[field.name] for field in fields(cls)})


STATISTICS = tuple(field.name for field in fields(ApScorecard))[:12]
COUNTS = tuple(field.name for field in fields(ApScorecard))[12:]


def average_precision(photos: Sequence[ApPhoto], class_agnostic: bool = False) -> ApScorecard:
    """Score the boxes of many photos; `class_agnostic` takes all boxes to be of one class."""
    evaluation, counts = _evaluation(photos, class_agnostic)
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summary_lines()  # works out the statistics, as `summarize` does, but prints nothing
    statistics = [float(value) if value >= 0 else None for value in evaluation.stats]
    values: dict[str, Any] = dict(zip(STATISTICS + COUNTS, [*statistics, *counts], strict=True))
    return ApScorecard(**values)


def jackknife_precision(
    photos: Sequence[ApPhoto], card: ApScorecard, items: Sequence[str], groups: Sequence[str]
) -> dict[str, Jackknifed]:
    """How sure `ap`, `ap_50` and `ap_75` of a scorecard are, those that it has. Photos of one group belong together;
    one without a group is told apart by its name in `items`."""
    names, parts = parts_of(items, groups)
    targets = np.array([_targets(photo) for photo in photos], dtype=np.float64)
    without = left_out_precision(photos, parts)
    known = {name: getattr(card, name) for name in without if getattr(card, name) is not None}
    return {name: jackknifed(value, without[name], names, targets, groups) for name, value in known.items()}


def _targets(photo: ApPhoto) -> int:
    boxes = np.asarray(photo.targets, dtype=np.float64).reshape(-1, 4)
    drawn = (boxes[:, 2:] > 0).all(axis=1)
    return int(np.count_nonzero(drawn if photo.crowd is None else drawn & ~np.asarray(photo.crowd, dtype=bool)))


def left_out_precision(photos: Sequence[ApPhoto], parts: Ints) -> dict[str, Floats]:
    """`ap`, `ap_50` and `ap_75` without the photos of each part in turn; `parts` has the number of each photo's part.
    Boxes are matched once, within their photo. Without targets a statistic is NaN."""
    evaluation, _ = _evaluation(photos, class_agnostic=False)
    limits = evaluation.params  # what is asked for is over all sizes
    limits.area_rng, limits.area_rng_lbl, limits.max_dets = [[0.0, 1e10]], ["all"], [100]
    evaluation.evaluate()
    numbers, names = np.arange(1, len(photos) + 1), range(int(parts.max()) + 1 if len(parts) else 0)
    found: dict[str, dict[str, float]] = {}
    for start in names[::_AT_ONCE]:
        some = names[start : start + _AT_ONCE]
        found |= evaluation.slice_by({str(part): numbers[parts != part].tolist() for part in some})
    columns = {"ap": "AP", "ap_50": "AP50", "ap_75": "AP75"}
    values = {name: np.array([found[str(part)][theirs] for part in names]) for name, theirs in columns.items()}
    return {name: np.where(column < 0, np.nan, column) for name, column in values.items()}


def _evaluation(photos: Sequence[ApPhoto], class_agnostic: bool) -> tuple[hotcoco.COCOeval, tuple[int, ...]]:
    """What COCO's rules evaluate, and how many photos, targets, crowds and predictions there are."""
    truth = _Side.of("target", [photo.targets for photo in photos])
    found = _Side.of("prediction", [photo.predictions for photo in photos])
    scores = found.column("score", [photo.scores for photo in photos])
    crowd = truth.column("crowd", [photo.crowd for photo in photos], np.zeros(len(truth.xywh))) != 0
    area = truth.column("area", [photo.area for photo in photos], truth.xywh[:, 2] * truth.xywh[:, 3])
    truth.refuse(area < 0, "its area is negative")
    classes = truth.classes([photo.target_classes for photo in photos])
    predicted_classes = found.classes([photo.prediction_classes for photo in photos])
    if class_agnostic:
        classes, predicted_classes = np.zeros_like(classes), np.zeros_like(predicted_classes)
    drawn, known = truth.drawn, found.drawn

    targets = hotcoco.COCO.from_arrays(
        [{"id": n + 1} for n in range(len(photos))],
        [{"id": n + 1, "name": str(n)} for n in np.union1d(classes, predicted_classes).tolist()],
        truth.photo[drawn] + 1,
        classes[drawn] + 1,
        truth.xywh[drawn],
        area=area[drawn],
        iscrowd=crowd[drawn],
    )
    results = np.column_stack([found.photo + 1, found.xywh, scores, predicted_classes + 1])[known]
    evaluation = hotcoco.COCOeval(targets, targets.load_res(results), "bbox")
    return evaluation, (len(photos), *(int(np.count_nonzero(each)) for each in (drawn & ~crowd, drawn & crowd, known)))


@dataclass(frozen=True, slots=True)
class _Side:
    """All targets or all predictions, flat."""

    name: str
    xywh: Floats
    photo: Ints
    offsets: Ints

    @classmethod
    def of(cls, name: str, boxes: Sequence[ArrayLike]) -> _Side:
        arrays = [np.asarray(given, dtype=np.float64) for given in boxes]
        for n, array in enumerate(arrays):
            if array.size and (array.ndim != 2 or array.shape[1] != 4):
                raise ValueError(f"photo {n}: {name}s of shape {array.shape}; expected a row x, y, w, h a box")
        arrays = [array.reshape(-1, 4) for array in arrays]
        offsets = np.cumsum([0, *map(len, arrays)], dtype=np.int64)
        photo = np.repeat(np.arange(len(arrays)), np.diff(offsets))
        side = cls(name, np.concatenate([np.empty((0, 4)), *arrays]), photo, offsets)
        side.refuse(~np.logical_and.reduce(np.isfinite(side.xywh), axis=1), "its box is not finite")
        side.refuse(np.logical_or.reduce(side.xywh[:, 2:] < 0, axis=1), "its width or height is negative")
        return side

    @property
    def drawn(self) -> Bools:
        """Which boxes have coordinates."""
        return np.logical_and(self.xywh[:, 2] > 0, self.xywh[:, 3] > 0)

    def column(self, what: str, given: Sequence[ArrayLike | None], default: Floats | None = None) -> Floats:
        """One number a box; the default in the photos that give none."""
        result = np.empty(len(self.xywh)) if default is None else default.copy()
        for n, values in enumerate(given):
            if values is None and default is not None:
                continue
            numbers = np.asarray(values, dtype=np.float64).ravel()
            start, stop = int(self.offsets[n]), int(self.offsets[n + 1])
            if len(numbers) != stop - start:
                raise ValueError(f"photo {n}: {what} has {len(numbers)} values for {stop - start} {self.name}s")
            result[start:stop] = numbers
        self.refuse(~np.isfinite(result), f"its {what} is no finite number")
        return result

    def classes(self, given: Sequence[ArrayLike | None]) -> Ints:
        """The class of each box; 0 in the photos that give none."""
        classes = self.column("class", given, np.zeros(len(self.xywh)))
        self.refuse((classes < 0) | (classes % 1 != 0), "its class is no whole number from 0")
        return classes.astype(np.int64)

    def refuse(self, wrong: Bools, why: str) -> None:
        """Raise ValueError that names the first wrong box, if there is one."""
        if wrong.any():
            row = int(np.argmax(wrong))
            photo = int(self.photo[row])
            raise ValueError(f"photo {photo}, {self.name} {row - int(self.offsets[photo])}: {why}")

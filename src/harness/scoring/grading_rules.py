"""What a grader decides: the rules of a submission, and a trainer's word on a single match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose, isfinite

#: The best score.
FULL = 100.0


@dataclass(frozen=True, slots=True)
class GradingRules:
    """How a submission is graded.

    `match_key` names the attribute that pairs annotations in the first pass; without one there is no such pass.
    `attributes` lists, for a ground-truth label, the attributes that are compared. The three weights add up to 100.
    `blend` is the share of quality in the overall grade; completeness has the rest. `point_radius` is the radius of the
    discs and bands that points and polylines are compared by, as a share of the longer side of the image.
    """

    match_key: str | None = None
    attributes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    iou_weight: float = 70.0
    label_weight: float = 15.0
    attribute_weight: float = 15.0
    beta: float = 0.5
    blend: float = 0.5
    min_iou: float = 0.0
    ignore_case: bool = False
    point_radius: float = 0.02

    def __post_init__(self) -> None:
        weights = (self.iou_weight, self.label_weight, self.attribute_weight)
        if min(weights) < 0 or not isclose(sum(weights), FULL):
            raise ValueError(f"weights {weights}: expected three numbers that are not negative and add up to 100")
        if not (isfinite(self.beta) and self.beta > 0):
            raise ValueError(f"beta {self.beta}: expected a number above 0")
        if not 0 <= self.blend <= 1:
            raise ValueError(f"blend {self.blend}: expected a number from 0 to 1")
        if not 0 <= self.min_iou < 1:
            raise ValueError(f"min_iou {self.min_iou}: expected a number from 0 and below 1")
        if not 0 < self.point_radius <= 1:
            raise ValueError(f"point_radius {self.point_radius}: expected a number above 0 and at most 1")

    def compared(self, label: str) -> Sequence[str]:
        """The attributes that annotations with this ground-truth label are compared by."""
        if not self.ignore_case:
            return self.attributes.get(label, ())
        alike = (names for known, names in self.attributes.items() if known.casefold() == label.casefold())
        return next(alike, ())


@dataclass(frozen=True, slots=True)
class Override:
    """A trainer's word on one match, which is named by its image and its ground-truth annotation."""

    image: str
    annotation: str
    score: float
    reason: str
    who: str

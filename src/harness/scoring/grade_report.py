"""What a graded submission comes to: its matches with their scores, what was missed, what was extra, and the grade.

Quality is the mean of the final scores of all matches (0 without any); completeness is F-beta over the counts of
matched, missed and extra annotations, which with the default beta of 0.5 weighs extra ones more than missed ones. The
overall grade blends the two, each out of 100. Rates that nothing stands behind are left out of `metrics()`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from math import isclose, isfinite
from typing import Any

import numpy as np

from harness.scoring.boxes import Floats
from harness.scoring.uncertainty import RESAMPLES, Interval, resampled_sums

FULL = 100.0


@dataclass(frozen=True, slots=True)
class GradingRules:
    """How a submission is graded.

    `match_key` names the attribute that pairs annotations in the first pass; without one there is no such pass.
    `attributes` lists, for a ground-truth label, the attributes that are compared. The three weights add up to 100.
    `blend` is the share of quality in the overall grade; completeness has the rest.
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


@dataclass(frozen=True, slots=True)
class Override:
    """A trainer's word on one match, which is named by its image and its ground-truth annotation."""

    image: str
    annotation: str
    score: float
    reason: str
    who: str


@dataclass(frozen=True, slots=True)
class MatchGrade:
    """A ground-truth annotation and the student's; `original_score` is what the rules give, out of 100."""

    ground_truth: str
    student: str
    by_key: bool
    iou: float
    label_similarity: float
    attribute_similarity: float
    original_score: float
    override: Override | None = None

    @property
    def final_score(self) -> float:
        """The trainer's score where there is one, else the original."""
        return self.original_score if self.override is None else self.override.score


@dataclass(frozen=True, slots=True)
class ImageGrade:
    """One image: matches in the order of its ground truth, ids of what was missed and of what was extra."""

    image: str
    matched: tuple[MatchGrade, ...] = ()
    missed: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    #: Keys that stand more than once on a side; their pairs were made best IoU first.
    duplicate_keys: tuple[str, ...] = ()


@dataclass(frozen=True)
class GradeReport:
    """A graded submission."""

    rules: GradingRules
    images: tuple[ImageGrade, ...]

    @property
    def matched(self) -> int:
        """Ground-truth annotations that the student has too."""
        return sum(len(image.matched) for image in self.images)

    @property
    def missed(self) -> int:
        """Ground-truth annotations that the student lacks."""
        return sum(len(image.missed) for image in self.images)

    @property
    def extra(self) -> int:
        """Annotations of the student that the ground truth lacks."""
        return sum(len(image.extra) for image in self.images)

    @property
    def overridden(self) -> int:
        """Matches whose score a trainer replaced."""
        return sum(match.override is not None for image in self.images for match in image.matched)

    @property
    def quality(self) -> float:
        """Mean final score of the matches, out of 100; 0 without any."""
        return float(_quality(self._sums())[0])

    @property
    def precision(self) -> float:
        """Share of the student's annotations that are matched."""
        return self.matched / (self.matched + self.extra) if self.matched else 0.0

    @property
    def recall(self) -> float:
        """Share of the ground truth that is matched."""
        return self.matched / (self.matched + self.missed) if self.matched else 0.0

    @property
    def f_beta(self) -> float:
        """Completeness, from 0 to 1."""
        return float(_f_beta(self._sums(), self.rules.beta)[0])

    @property
    def overall(self) -> float:
        """The grade, out of 100."""
        return float(_overall(self._sums(), self.rules)[0])

    def metrics(self) -> dict[str, float]:
        """What is logged: the counts, and each rate that something stands behind."""
        behind = {
            "overall": self.matched + self.missed + self.extra,
            "f_beta": self.matched + self.missed + self.extra,
            "quality": self.matched,
            "precision": self.matched + self.extra,
            "recall": self.matched + self.missed,
        }
        rates = {f"grading/{name}": float(getattr(self, name)) for name, n in behind.items() if n}
        counts = {
            f"grading/{name}": float(getattr(self, name)) for name in ("matched", "missed", "extra", "overridden")
        }
        return rates | counts | {"grading/images": float(len(self.images))}

    def intervals(self, seed: int = 0, resamples: int = RESAMPLES) -> dict[str, Interval]:
        """95 % bootstrap intervals over images for the overall grade, quality and completeness."""
        if not self.matched + self.missed + self.extra:
            return {}
        sums = resampled_sums(self._columns(), seed, resamples)
        sums = sums[sums[:, 1:].any(axis=1)]
        result = {
            "grading/overall": Interval.of(_overall(sums, self.rules)),
            "grading/f_beta": Interval.of(_f_beta(sums, self.rules.beta)),
        }
        if self.matched:
            result["grading/quality"] = Interval.of(_quality(sums[sums[:, 1] > 0]))
        return result

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values; the totals are there to be read, `from_dict` makes them anew."""
        totals = ("matched", "missed", "extra", "overridden", "quality", "precision", "recall", "f_beta", "overall")
        return {
            "rules": asdict(self.rules) | {"attributes": {k: list(v) for k, v in self.rules.attributes.items()}},
            **{name: getattr(self, name) for name in totals},
            "images": [_image_to_dict(image) for image in self.images],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> GradeReport:
        """Read what `to_dict` wrote."""
        return cls(GradingRules(**data["rules"]), tuple(_image_from_dict(image) for image in data["images"]))

    def _columns(self) -> Floats:
        """Sum of final scores, matched, missed and extra, image by image."""
        rows = [
            (sum(match.final_score for match in image.matched), len(image.matched), len(image.missed), len(image.extra))
            for image in self.images
        ]
        return np.array(rows, dtype=np.float64).reshape(-1, 4)

    def _sums(self) -> Floats:
        return np.add.reduce(self._columns(), axis=0, keepdims=True)


def _quality(sums: Floats) -> Floats:
    return np.divide(sums[:, 0], sums[:, 1], out=np.zeros(len(sums)), where=sums[:, 1] > 0)


def _f_beta(sums: Floats, beta: float) -> Floats:
    right = (1 + beta**2) * sums[:, 1]
    below = right + beta**2 * sums[:, 2] + sums[:, 3]
    return np.divide(right, below, out=np.zeros(len(sums)), where=below > 0)


def _overall(sums: Floats, rules: GradingRules) -> Floats:
    return rules.blend * _quality(sums) + (1 - rules.blend) * FULL * _f_beta(sums, rules.beta)


def _image_to_dict(image: ImageGrade) -> dict[str, Any]:
    return asdict(image) | {"matched": [asdict(match) | {"final_score": match.final_score} for match in image.matched]}


def _image_from_dict(data: Mapping[str, Any]) -> ImageGrade:
    return ImageGrade(
        image=data["image"],
        matched=tuple(_match_from_dict(match) for match in data["matched"]),
        missed=tuple(data["missed"]),
        extra=tuple(data["extra"]),
        duplicate_keys=tuple(data["duplicate_keys"]),
    )


def _match_from_dict(data: Mapping[str, Any]) -> MatchGrade:
    values = {field.name: data[field.name] for field in fields(MatchGrade)}
    return MatchGrade(**values | {"override": Override(**data["override"]) if data["override"] else None})

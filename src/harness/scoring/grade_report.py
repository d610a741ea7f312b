"""What a graded submission comes to: its matches with their scores, what was missed, what was extra, and the grade.

Quality is the mean of the final scores of all matches (0 without any); completeness is F-beta over the counts of
matched, missed and extra annotations, which with the default beta of 0.5 weighs extra ones more than missed ones. The
overall grade blends the two, each out of 100. Rates that nothing stands behind are left out of `metrics()`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, overload

import numpy as np

from harness.scoring.boxes import Floats
from harness.scoring.cards import SCORER_VERSION
from harness.scoring.grading_rules import FULL, GradingRules, Override
from harness.scoring.uncertainty import AVERAGE, F1, Interval, rate_intervals, statistic_interval


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


class MatchColumns(NamedTuple):
    """Many matches, field by field: a submission has tens of thousands, and few are looked at one by one."""

    ground_truth: Sequence[str]
    student: Sequence[str]
    by_key: Sequence[bool]
    iou: Sequence[float]
    label_similarity: Sequence[float]
    attribute_similarity: Sequence[float]
    original_score: Sequence[float]
    override: Sequence[Override | None]


class Matches(Sequence[MatchGrade]):
    """The matches of an image: those from `first` up to, not including, `stop` of the columns."""

    __slots__ = ("_columns", "_rows")

    def __init__(self, columns: MatchColumns, first: int = 0, stop: int | None = None) -> None:
        self._columns = columns
        self._rows = range(first, len(columns.iou) if stop is None else stop)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> MatchGrade: ...
    @overload
    def __getitem__(self, place: slice) -> list[MatchGrade]: ...
    def __getitem__(self, place: int | slice) -> MatchGrade | list[MatchGrade]:
        rows = self._rows[place]
        return [self._match(row) for row in rows] if isinstance(rows, range) else self._match(rows)

    def _match(self, row: int) -> MatchGrade:
        fields: Any = (column[row] for column in self._columns)
        return MatchGrade(*fields)

    def __eq__(self, other: object) -> bool:
        return self[:] == other[:] if isinstance(other, Matches) else NotImplemented

    def __repr__(self) -> str:
        return repr(self[:])

    @property
    def final_scores(self) -> list[float]:
        """The trainer's score of each match where there is one, else the original."""
        part = slice(self._rows.start, self._rows.stop)
        scores, overrides = self._columns.original_score[part], self._columns.override[part]
        if not any(overrides):
            return list(scores)
        return [score if word is None else word.score for score, word in zip(scores, overrides, strict=True)]


@dataclass(frozen=True, slots=True)
class ImageGrade:
    """One image: its matches in the order of its ground truth, ids of what was missed and of what was extra."""

    image: str
    matched: Matches
    missed: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    #: Keys that stand more than once on a side; their pairs were made best IoU first.
    duplicate_keys: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, match by match."""
        matched = [asdict(match) | {"final_score": match.final_score} for match in self.matched]
        rest = {name: list(getattr(self, name)) for name in ("missed", "extra", "duplicate_keys")}
        return {"image": self.image, "matched": matched, **rest}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ImageGrade:
        """Read what `to_dict` wrote."""
        columns = {name: tuple(match[name] for match in data["matched"]) for name in MatchColumns._fields}
        columns["override"] = tuple(Override(**word) if word else None for word in columns["override"])
        rest = (tuple(data[name]) for name in ("missed", "extra", "duplicate_keys"))
        return cls(data["image"], Matches(MatchColumns(**columns)), *rest)


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

    def overall_with(self, missed: int, extra: int) -> float:
        """What the grade would be with so many more missed and extra annotations."""
        return float(_overall(self._sums() + np.array([0, 0, missed, extra]), self.rules)[0])

    def metrics(self) -> dict[str, float]:
        """What is logged: the counts, and each rate that something stands behind."""
        behind = {
            "overall": self.matched + self.missed + self.extra,
            "f_beta": self.matched + self.missed + self.extra,
            "quality": self.matched,
            "precision": self.matched + self.extra,
            "recall": self.matched + self.missed,
        }
        rates = {f"grade/{name}": float(getattr(self, name)) for name, n in behind.items() if n}
        counts = {f"grade/{name}": float(getattr(self, name)) for name in ("matched", "missed", "extra", "overridden")}
        return rates | counts | {"grade/images": float(len(self.images))}

    def intervals(self) -> dict[str, Interval]:
        """95 % intervals for the overall grade, quality and completeness. The annotations of an image are a group.

        Completeness is counted like an F1, quality as an average, and the overall grade, which is a ratio of neither,
        by leaving out one image at a time; its n is that of completeness.
        """
        if not self.matched + self.missed + self.extra:
            return {}
        columns = self._columns()
        matched, below = _completeness(columns, self.rules.beta)
        rates = {"grade/f_beta": (matched, below), "grade/quality": (columns[:, 0] / FULL, matched)}
        result = rate_intervals(rates, floors={"grade/f_beta": F1, "grade/quality": AVERAGE})
        without = _overall(self._sums() - columns, self.rules) / FULL
        overall = statistic_interval(self.overall / FULL, without, below, np.arange(len(below)))
        if quality := result.get("grade/quality"):
            result["grade/quality"] = quality.scaled(FULL)
        return {"grade/overall": overall.scaled(FULL), **result}

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values; the totals are there to be read, `from_dict` makes them anew."""
        totals = ("matched", "missed", "extra", "overridden", "quality", "precision", "recall", "f_beta", "overall")
        return {
            "rules": asdict(self.rules) | {"attributes": {k: list(v) for k, v in self.rules.attributes.items()}},
            **{name: getattr(self, name) for name in totals},
            "images": [image.to_dict() for image in self.images],
            "scorer_version": SCORER_VERSION,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> GradeReport:
        """Read what `to_dict` wrote."""
        return cls(GradingRules(**data["rules"]), tuple(ImageGrade.from_dict(image) for image in data["images"]))

    def _columns(self) -> Floats:
        """Sum of final scores, matched, missed and extra, image by image."""
        rows = [
            (sum(image.matched.final_scores), len(image.matched), len(image.missed), len(image.extra))
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


def _completeness(sums: Floats, beta: float) -> tuple[Floats, Floats]:
    """F-beta as a share: what is matched, of that and the weighted mean of what is missed and extra."""
    return sums[:, 1], sums[:, 1] + (beta**2 * sums[:, 2] + sums[:, 3]) / (1 + beta**2)


def _overall(sums: Floats, rules: GradingRules) -> Floats:
    return rules.blend * _quality(sums) + (1 - rules.blend) * FULL * _f_beta(sums, rules.beta)

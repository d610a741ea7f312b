"""The values that every part of the harness speaks in.

Boxes are `x, y, w, h` with the origin at the top left, normalised to [0, 1] of the image. One class serves labels and
predictions: a prediction carries a `score`, a label does not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class BibScope(StrEnum):
    """What a bib label says about its box; only `bib` and `bib_clipped` are scored."""

    BIB = "bib"
    BIB_CLIPPED = "bib_clipped"
    BIB_OBSCURED = "bib_obscured"
    NOT_BIB = "not_bib"


class FaceScope(StrEnum):
    """What a face label says about its box; only `keep` is scored."""

    KEEP = "keep"
    UNCERTAIN = "uncertain"
    EXCLUDE = "exclude"


class Split(StrEnum):
    """Which photos a run looks at. A photo is in `iteration` or in `holdout`; `full` selects both."""

    ITERATION = "iteration"
    HOLDOUT = "holdout"
    FULL = "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle in normalised image coordinates."""

    x: float
    y: float
    w: float
    h: float

    @property
    def has_coords(self) -> bool:
        """False for a migrated label whose box was never drawn."""
        return self.w > 0 and self.h > 0

    @property
    def xywh(self) -> tuple[float, float, float, float]:
        """The four coordinates in the order that arrays use."""
        return (self.x, self.y, self.w, self.h)


@dataclass(frozen=True, slots=True, kw_only=True)
class BibBox(Box):
    """A bib: where it is, the number on it (`62?` when only part can be read) and what the label says of it.

    A prediction has a score, and one for each character.
    """

    number: str | None = None
    scope: str = BibScope.BIB
    tags: tuple[str, ...] = ()
    score: float | None = None
    char_scores: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FaceBox(Box):
    """A face: where it is, whose it is if known, and its five landmarks (normalised) if a detector gave them."""

    scope: str = FaceScope.KEEP
    identity: str | None = None
    tags: tuple[str, ...] = ()
    score: float | None = None
    landmarks: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class BibFaceLink:
    """A bib and the face of its wearer, as positions in the photo's bib and face lists.

    A prediction has a score; two links of the same pair are the same link, whatever their scores.
    """

    bib_index: int
    face_index: int
    score: float | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedText(Box):
    """A piece of text that a bib reader saw and gave no whole number for: what it read, and the rule that dropped it.

    `value` and `limit` say by how much, where the rule compares numbers; text that was found and never read has none.
    """

    text: str = ""
    rule: str = ""
    value: float | None = None
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class PhotoPrediction:
    """All that the pipeline says about one photo. Links point into `bibs` and `faces`."""

    bibs: tuple[BibBox, ...] = ()
    faces: tuple[FaceBox, ...] = ()
    links: tuple[BibFaceLink, ...] = ()
    #: The texts that became no number, and why.
    dropped: tuple[DroppedText, ...] = ()


@dataclass(frozen=True, slots=True)
class PhotoLabels:
    """What people said about one photo. None where a dimension was never labelled; an empty tuple says «none there».
    `people` are those who are in the photo, where that is said without saying where."""

    bibs: tuple[BibBox, ...] | None = None
    faces: tuple[FaceBox, ...] | None = None
    links: tuple[BibFaceLink, ...] | None = None
    bib_tags: tuple[str, ...] = ()
    face_tags: tuple[str, ...] = ()
    people: tuple[str, ...] | None = None

"""From pieces of text in a photo to bibs: what is a number, which of several readings to keep, where the bib is.

Two readings of the same place are one number: of those whose boxes cover each other by half, the longer text is kept
where it contains the other one (a cut-off reading), and else the one with the better score.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.checks import Positive, Share
from harness.types import BibBox, Box

HALF = 0.5


@dataclass(frozen=True)
class Reading:
    """A piece of text: where it is (the upright bounds of it), what it says, how sure that is, and on whose torso.

    `closer` says that it was found in a closer look at a torso, not in the whole photo.
    """

    box: Box
    text: str
    score: float
    char_scores: tuple[float, ...]
    wearer: int | None = None
    closer: bool = False


@dataclass(frozen=True)
class NumberRule:
    """What counts as a bib number: only digits, so many of them, read with at least such certainty.

    Few races print numbers with a leading zero; elsewhere one is the rest of a longer number, or a misread letter.
    """

    min_digits: int
    max_digits: int
    leading_zero: bool
    min_score: Share
    min_char_score: Share

    def __post_init__(self) -> None:
        if not 1 <= self.min_digits <= self.max_digits:
            raise ValueError(f"min_digits={self.min_digits} is not from 1 to max_digits={self.max_digits}")

    def accepts(self, reading: Reading) -> bool:
        """Whether a reading may be a bib number."""
        return (
            re.fullmatch(rf"[0-9]{{{self.min_digits},{self.max_digits}}}", reading.text) is not None
            and (self.leading_zero or not reading.text.startswith("0"))
            and reading.score >= self.min_score
            and min(reading.char_scores, default=0.0) >= self.min_char_score
        )


@dataclass(frozen=True)
class Plate:
    """How much wider and higher a bib is than the box of the number on it."""

    widen: Positive
    heighten: Positive

    def around(self, reading: Reading) -> BibBox:
        """The bib that a number is printed on, cut at the border of the photo."""
        box = reading.box
        grow_x, grow_y = box.w * (self.widen - 1) / 2, box.h * (self.heighten - 1) / 2
        left, right = max(box.x - grow_x, 0.0), min(box.x + box.w + grow_x, 1.0)
        top, bottom = max(box.y - grow_y, 0.0), min(box.y + box.h + grow_y, 1.0)
        return BibBox(
            x=left,
            y=top,
            w=right - left,
            h=bottom - top,
            number=reading.text,
            score=reading.score,
            char_scores=reading.char_scores,
        )


def merge(readings: Iterable[Reading]) -> tuple[Reading, ...]:
    """One reading a place, in the order in which the places were first seen."""
    kept: list[Reading] = []
    for reading in readings:
        rivals = [number for number, other in enumerate(kept) if _same_place(reading.box, other.box)]
        if not rivals:
            kept.append(reading)
            continue
        best = max([reading, *(kept[number] for number in rivals)], key=lambda r: _rank(r, reading, kept, rivals))
        kept[rivals[0]] = best
        for number in reversed(rivals[1:]):
            del kept[number]
    return tuple(kept)


def without_rivals(readings: Sequence[Reading], share: float) -> tuple[Reading, ...]:
    """Leave out what is lower than a share of the highest number on the same torso."""
    highest: dict[int | None, float] = {}
    for reading in readings:
        highest[reading.wearer] = max(highest.get(reading.wearer, 0.0), reading.box.h)
    return tuple(r for r in readings if r.wearer is None or r.box.h >= share * highest[r.wearer])


def _rank(candidate: Reading, reading: Reading, kept: Sequence[Reading], rivals: Sequence[int]) -> tuple[int, float]:
    others = [reading, *(kept[number] for number in rivals)]
    contains = sum(other.text != candidate.text and other.text in candidate.text for other in others)
    return contains, candidate.score


def _same_place(a: Box, b: Box) -> bool:
    width = min(a.x + a.w, b.x + b.w) - max(a.x, b.x)
    height = min(a.y + a.h, b.y + b.h) - max(a.y, b.y)
    return width > 0 and height > 0 and width * height >= HALF * min(a.w * a.h, b.w * b.h)

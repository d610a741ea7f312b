"""What is a bib number, and where the bib is that it is printed on."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal

from harness.base.checks import Positive, Share
from harness.types import BibBox, Box


@dataclass(frozen=True)
class Reading:
    """A piece of text: where it is (the upright bounds of it), what it says, how sure each character is, whose it is.

    `closer` says that it was found in a closer look at a torso, not in the whole photo.
    """

    box: Box
    text: str
    char_scores: tuple[float, ...]
    wearer: int | None = None
    closer: bool = False

    @property
    def score(self) -> float:
        """How sure the text is as a whole."""
        return fmean(self.char_scores) if self.char_scores else 0.0


@dataclass(frozen=True)
class NumberRule:
    """What counts as a bib number: only digits, so many of them, each read with at least such certainty.

    Zeros that a number starts with are kept, dropped (a search for 42 finds 0042), or a reason to refuse it. Text that
    comes nearer than `clearance`, in heights of it, to the edge of the picture it was found in may be cut off.
    """

    min_digits: int
    max_digits: int
    leading_zeros: Literal["keep", "drop", "refuse"]
    min_char_score: Share
    clearance: Share

    def __post_init__(self) -> None:
        if not 1 <= self.min_digits <= self.max_digits:
            raise ValueError(f"min_digits={self.min_digits} is not from 1 to max_digits={self.max_digits}")

    def number(self, reading: Reading) -> Reading | None:
        """The reading as a bib number, or None if it is none."""
        zeros = len(reading.text) - len(reading.text.lstrip("0"))
        if zeros and self.leading_zeros == "refuse":
            return None
        if self.leading_zeros == "drop":
            reading = replace(reading, text=reading.text[zeros:], char_scores=reading.char_scores[zeros:])
        digits = re.fullmatch(rf"[0-9]{{{self.min_digits},{self.max_digits}}}", reading.text)
        return reading if digits and min(reading.char_scores, default=0.0) >= self.min_char_score else None


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

"""A piece of text as it was read, and the bib that its number is printed on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

from harness.base.checks import NotNegative, Positive
from harness.pipeline.bibs.engine import SeenCharacter
from harness.pipeline.bibs.texts import Corners, bounds
from harness.types import BibBox, Box

#: Half of a character, in steps from one to the next.
_ROOM = 0.45
#: What else a character may be, with the recognizer's probabilities.
Others = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Reading:
    """A piece of text: where it is (the upright bounds of it), what it says, how sure each character is, whose it is.

    `places` are the characters' middles across the photo, `others` what else the recognizer thought that each might be.
    `closer` says that it was found in a closer look at a torso, not in the whole photo; `height` is that of its
    letters, which of a tilted text is less than that of its bounds.
    """

    box: Box
    text: str
    char_scores: tuple[float, ...]
    places: tuple[float, ...] = ()
    others: tuple[Others, ...] = ()
    wearer: int | None = None
    closer: bool = False
    height: float = 0.0
    corners: Corners = field(default_factory=list)

    @classmethod
    def of(cls, seen: Sequence[SeenCharacter], corners: Corners, closer: bool = False) -> Reading:
        """What the recognizer has seen in a piece of text."""
        (left, _), (right, _), (low_right, _), (low_left, _) = corners
        start, end = (left + low_left) / 2, (right + low_right) / 2
        return cls(
            bounds(corners),
            "".join(likely[0][0] for _, likely in seen),
            tuple(likely[0][1] for _, likely in seen),
            tuple(start + place * (end - start) for place, _ in seen),
            tuple(tuple((character, chance) for character, chance in likely[1:]) for _, likely in seen),
            closer=closer,
            corners=corners,
        )

    @property
    def score(self) -> float:
        """How sure the text is as a whole."""
        return fmean(self.char_scores) if self.char_scores else 0.0

    @property
    def weakest(self) -> float:
        """How sure its least sure character is."""
        return min(self.char_scores, default=0.0)

    @property
    def along(self) -> tuple[float, ...]:
        """The middles of its characters from 0 to 1 along the piece of text; none where that stands upright."""
        if not self.corners:
            return ()
        (left, _), (right, _), (low_right, _), (low_left, _) = self.corners
        start, end = (left + low_left) / 2, (right + low_right) / 2
        return tuple(round((place - start) / (end - start), 4) for place in self.places) if end > start else ()

    def whole_at(self, side: str) -> bool:
        """Whether the character nearest to the frame of the photo at this side has as much room there as it needs."""
        if len(self.places) < 2 or side not in ("left", "right"):
            return False
        room = self.places[0] if side == "left" else 1 - self.places[-1]
        return room >= _ROOM * (self.places[-1] - self.places[0]) / (len(self.places) - 1)

    def chance(self, place: int, character: str) -> float:
        """How likely the character at a place is another one, or itself."""
        if self.text[place] == character:
            return self.char_scores[place]
        return dict(self.others[place]).get(character, 0.0)

    def as_text(self, text: str) -> Reading:
        """The same with look-alikes in the place of characters: both were seen there."""
        changed = zip(self.text, text, self.char_scores, self.others, strict=True)
        scores = (score + (dict(others).get(now, 0.0) if now != was else 0.0) for was, now, score, others in changed)
        return replace(self, text=text, char_scores=tuple(min(score, 1.0) for score in scores))

    def without(self, first: int) -> Reading:
        """The same without so many characters at its start, or at its end where it is negative."""
        kept = slice(first, None) if first >= 0 else slice(None, first)
        return replace(
            self,
            text=self.text[kept],
            char_scores=self.char_scores[kept],
            places=self.places[kept],
            others=self.others[kept],
        )


@dataclass(frozen=True)
class Plate:
    """How much wider and higher a bib is than the box of the number on it.

    It is at least `least_width` times as wide as it is high: bibs lie on their long side, however short their number.
    """

    widen: Positive
    heighten: Positive
    least_width: NotNegative = 0.0

    def around(self, reading: Reading, aspect: float) -> BibBox:
        """The bib that a number is printed on, cut at the border of the photo, whose width over its height is
        `aspect`."""
        box = reading.box
        width = max(box.w * self.widen, self.least_width * box.h * self.heighten / aspect)
        grow_x, grow_y = (width - box.w) / 2, box.h * (self.heighten - 1) / 2
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

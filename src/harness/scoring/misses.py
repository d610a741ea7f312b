"""Why numbers were missed: each number that counts as missed has exactly one cause, and the causes add up.

The causes, in the order in which they are looked for:

1. *partial* or *misread*: a bib that was predicted there has a part of the number, or something else;
2. *dropped by rule*: the reader saw the number there, and a rule dropped what it read (`DroppedText`); a text that was
   dropped for being partial counts as partial;
3. *unread*: a bib was predicted there without a number;
4. *not seen*: the reader saw nothing there. A reader that does not tell what it dropped may have seen it all the same;
   then the cause is *no trace*.

*There* is on a labelled bib with the missed number: at least half of the smaller of both boxes lies in the other one.
Other words are printed on bibs too, so that a dropped text counts where it is like the number, or at least a third as
high as the bib. The number itself counts wherever it was read. Without coordinates, likeness alone decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar

from harness.scoring.bibs import HIDDEN, SCORED
from harness.scoring.boxes import same_photos
from harness.scoring.cards import CountRow, Declaration, Scorecard, Section, Tally
from harness.scoring.numbers import agree, expected_numbers, read_numbers
from harness.scoring.text import similarity
from harness.types import BibBox, Box, DroppedText, PhotoLabels, PhotoPrediction

#: What two boxes share of the smaller one where they are in the same place.
SAME_PLACE = 0.5
#: From this similarity on a text is taken for a reading of the number.
ALIKE = 0.5
#: And from this share of the bib's height on, whatever it says.
AS_HIGH = 1 / 3
#: The rule by which a reader drops what it could read in part only.
PARTIAL_RULE = "partial"


class Cause(StrEnum):
    """Why a number was missed."""

    NOT_SEEN = "not_seen"
    MISREAD = "misread"
    PARTIAL = "partial"
    DROPPED = "dropped_by_rule"
    UNREAD = "unread"
    NO_TRACE = "no_trace"


@dataclass(frozen=True, slots=True)
class MissedNumber:
    """A number that was missed, and why: what was predicted or read instead, and the rule that dropped it."""

    number: str
    cause: Cause
    text: str = ""
    rule: str = ""
    value: float | None = None
    limit: float | None = None

    def words(self) -> str:
        """The cause for people, as in `dropped by min_char_score 0.46 < 0.5, read "11B4"`."""
        if self.cause is Cause.DROPPED:
            read = f'read "{self.text}"' if self.text else "not read"
            return f"{self._dropped()}, {read}"
        if self.cause is Cause.MISREAD:
            return f'seen as "{self.text}"' + (f"; the number itself was {self._dropped()}" if self.rule else "")
        told = {
            Cause.PARTIAL: f'read in part as "{self.text}"',
            Cause.UNREAD: "the bib was found and nothing read on it",
            Cause.NOT_SEEN: "not seen",
            Cause.NO_TRACE: "no trace: the reader does not tell what it saw",
        }
        return told[self.cause]

    def _dropped(self) -> str:
        by = f" by {self.rule}" if self.rule else ""
        if self.value is None or self.limit is None:
            return f"dropped{by}"
        sign = "<" if self.value < self.limit else ">" if self.value > self.limit else "="
        return f"dropped{by} {self.value:.3g} {sign} {self.limit:.3g}"


@dataclass(frozen=True)
class MissScorecard(Scorecard):
    """How many numbers were missed by each cause."""

    not_seen: int = 0
    misread: int = 0
    partial: int = 0
    dropped_by_rule: int = 0
    unread: int = 0
    no_trace: int = 0

    DECLARED: ClassVar = Declaration(
        name="reading",
        counts={str(cause): f"reading/{cause}" for cause in Cause},
        sections=(
            Section(
                "Missed numbers",
                rows=(
                    CountRow(
                        "causes",
                        tuple(map(str, Cause)),
                        "{not_seen} not seen, {misread} misread, {partial} read in part, {dropped_by_rule} dropped by "
                        "a rule, {unread} on a found bib and unread, {no_trace} without a trace",
                        always=False,
                    ),
                ),
            ),
        ),
    )


def missed_numbers(labels: PhotoLabels, prediction: PhotoPrediction, traced: bool = False) -> tuple[MissedNumber, ...]:
    """The numbers of a photo that were missed, each with its cause, in order. `traced` says that the reader tells what
    it dropped, so that what it does not tell it has not seen."""
    if labels.bibs is None:
        return ()
    missed = sorted(expected_numbers(labels) - read_numbers(prediction))
    return tuple(_cause(number, labels, prediction, traced) for number in missed)


def tally_misses(
    labels: Sequence[PhotoLabels], predictions: Sequence[PhotoPrediction], traced: bool = False
) -> Tally[MissScorecard]:
    """Count the causes of many photos. They add up to the numbers that the number scorecard counts as missed."""
    same_photos(labels, predictions)
    rows = []
    for photo, prediction in zip(labels, predictions, strict=True):
        causes = [str(item.cause) for item in missed_numbers(photo, prediction, traced)]
        rows.append(MissScorecard(**{cause: causes.count(cause) for cause in causes}))
    return Tally.of_cards(MissScorecard, rows)


def _cause(number: str, labels: PhotoLabels, prediction: PhotoPrediction, traced: bool) -> MissedNumber:
    bibs = [box for box in labels.bibs or () if box.scope in SCORED and (box.number or "").strip() == number]
    there = [box for box in prediction.bibs if _is_there(box, bibs) and not _is_right(box, labels)]
    dropped = max(_sightings(number, bibs, prediction), key=lambda seen: _likeness(seen.text, number), default=None)
    read = [(box.number or "").strip() for box in prediction.bibs if _reads(box, number, bibs, labels)]
    if read:
        text = max(read, key=lambda text: _likeness(text, number))
        if HIDDEN in text and _likeness(text, number) >= ALIKE:
            return MissedNumber(number, Cause.PARTIAL, text)
        found = MissedNumber(number, Cause.MISREAD, text)
        return _with_rule(found, dropped) if dropped and dropped.text.strip() == number else found
    if dropped:
        cause = Cause.PARTIAL if dropped.rule == PARTIAL_RULE else Cause.DROPPED
        return _with_rule(MissedNumber(number, cause, dropped.text.strip()), dropped)
    unread = any(not (box.number or "").strip() for box in there)
    return MissedNumber(number, Cause.UNREAD if unread else Cause.NOT_SEEN if traced else Cause.NO_TRACE)


def _with_rule(missed: MissedNumber, dropped: DroppedText) -> MissedNumber:
    return replace(missed, rule=dropped.rule, value=dropped.value, limit=dropped.limit)


def _reads(box: BibBox, number: str, bibs: Sequence[BibBox], labels: PhotoLabels) -> bool:
    """Whether a predicted number is a reading of the missed one: it is there, or nobody knows where and it is alike."""
    text = (box.number or "").strip()
    if not text or _is_right(box, labels):
        return False
    return _is_there(box, bibs) or (_placeless(box, bibs) and _likeness(text, number) >= ALIKE)


def _sightings(number: str, bibs: Sequence[BibBox], prediction: PhotoPrediction) -> Iterator[DroppedText]:
    """The dropped texts that are readings of a missed number, or may be."""
    for seen in prediction.dropped:
        likeness = _likeness(seen.text, number)
        high = any(seen.h >= AS_HIGH * bib.h for bib in bibs if _same_place(seen, bib))
        there = _is_there(seen, bibs) and (likeness >= ALIKE or high)
        if there or likeness == 1 or (_placeless(seen, bibs) and likeness >= ALIKE):
            yield seen


def _is_right(box: BibBox, labels: PhotoLabels) -> bool:
    """Whether a predicted bib has the number of a label that it is on, or may be on."""
    number = (box.number or "").strip()
    same = [bib for bib in labels.bibs or () if number and (bib.number or "").strip() == number]
    return _is_there(box, same) or any(_placeless(box, [bib]) for bib in same)


def _is_there(box: Box, bibs: Sequence[BibBox]) -> bool:
    return any(_same_place(box, bib) for bib in bibs)


def _placeless(box: Box, bibs: Sequence[BibBox]) -> bool:
    """Whether nobody can say if a box is there."""
    return not box.has_coords or not all(bib.has_coords for bib in bibs)


def _same_place(one: Box, other: Box) -> bool:
    width = min(one.x + one.w, other.x + other.w) - max(one.x, other.x)
    height = min(one.y + one.h, other.y + other.h) - max(one.y, other.y)
    smaller = min(one.w * one.h, other.w * other.h)
    return smaller > 0 and width > 0 and height > 0 and width * height >= SAME_PLACE * smaller


def _likeness(text: str, number: str) -> float:
    """How alike a text and a number are; a part of the number is alike, and never the same."""
    text = text.strip()
    if HIDDEN not in text:
        return similarity(text, number)
    nearly = 1 - 1 / (len(text) + 1)
    return nearly if agree(text, number) else min(nearly, similarity(text.replace(HIDDEN, ""), number))

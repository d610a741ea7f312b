"""From many readings of the same places to one number each.

A number that is really there reads the same in the whole photo and in a closer look, cut out closely and cut out with
a margin; a mistake seldom does. So every reading of a place votes on each character of every number that was read
there. Readings are aligned by character and by place in the photo: one that lost a digit still votes for the others.
One that agrees counts as a whole vote, and gives its certainty; one that disagrees counts as much as it is sure. A
reading without a character at the end of a number counts half: a tight cut loses the last digit more often than a
print invents one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from harness.pipeline.bibs.readings import Reading
from harness.types import Box

HALF = 0.5
#: What it costs to leave a character without a partner, and to pair two that differ, in steps between characters.
_GAP, _DIFFERENT = 0.75, 0.5

#: How much a reading without a character at the end of a number weighs against it.
_AT_END = 0.25
_STROKES = "1IilLJ"

Pairs = list[tuple[int | None, int | None]]


@dataclass(frozen=True)
class Sighting:
    """A piece of text as a look found it, and what it says each time that it is cut out and read."""

    box: Box
    readings: tuple[Reading, ...]
    #: What may have cut it off: nothing, or the frame of the photo at its left or right.
    cut: str = ""


def elect(candidates: Iterable[Reading], sightings: Sequence[Sighting]) -> tuple[Reading, ...]:
    """Each number that was read somewhere, once, with the scores that all readings of its place give its characters.

    `candidates` are numbers; the readings of `sightings` are the voters, whether they are numbers or not.
    """
    found: list[list[Reading]] = []
    for reading in candidates:
        same = (group for group in found if group[0].text == reading.text and covers(group[0].box, reading.box))
        near = next(same, None)
        if near is None:
            found.append([reading])
        else:
            near.append(reading)
    return tuple(_supported(group, sightings) for group in found)


def _supported(agreeing: Sequence[Reading], sightings: Sequence[Sighting]) -> Reading:
    """The tightest of the readings that agree on a text, with the scores that all readings of the place give it."""
    tightest = min(agreeing, key=lambda reading: reading.box.w * reading.box.h)
    return replace(
        tightest,
        char_scores=support(tightest, voters_on(tightest.box, sightings)),
        closer=all(reading.closer for reading in agreeing),
    )


def voters_on(box: Box, sightings: Sequence[Sighting]) -> list[Reading]:
    """The readings of the line of text at a place, or of a part of it."""
    return [reading for sighting in sightings if same_line(sighting.box, box) for reading in sighting.readings]


def support(number: Reading, voters: Sequence[Reading]) -> tuple[float, ...]:
    """How likely each character of a number is, by all readings of its place: the mean of what they say, in which each
    weighs as much as it is sure."""
    agreed, weight = [0.0] * len(number.text), [0.0] * len(number.text)
    for voter in voters:
        pairs = align(number, voter)
        inner = _inner(pairs)
        for place, (mine, other) in enumerate(pairs):
            if mine is not None and other is not None:
                agreed[mine] += voter.char_scores[other] * voter.chance(other, number.text[mine])
                weight[mine] += voter.char_scores[other]
            elif mine is not None:
                weight[mine] += voter.weakest * (1.0 if place in inner else _absence(voter, number, mine))
            elif other is not None and place in inner:
                # A character that the number does not have counts against its neighbour.
                weight[inner[place]] += voter.char_scores[other]
    return tuple(a / w if w else 0.0 for a, w in zip(agreed, weight, strict=True))


def _absence(voter: Reading, number: Reading, place: int) -> float:
    """How much a reading weighs against a character at the end of a number by not having it: nothing where it was cut
    out too close. A lost digit is likelier than an invented one, but a mere stroke may be the edge of the bib."""
    if not voter.box.x <= number.places[place] <= voter.box.x + voter.box.w:
        return 0.0
    return 2 * _AT_END if number.text[place] in _STROKES else _AT_END


def beyond(number: Reading, voters: Sequence[Reading], fits: Callable[[str], bool]) -> tuple[float, float]:
    """How likely it is that one more character stands before and after a number, whatever it says. One with which it
    would be no number, by `fits`, is none; a mere stroke, which may be the edge of the bib, counts half."""
    seen, weight = [0.0, 0.0], [0.0, 0.0]
    for voter in voters:
        pairs = align(number, voter)
        same = [p for p, (m, o) in enumerate(pairs) if None not in (m, o) and number.text[m or 0] == voter.text[o or 0]]
        if len(same) < HALF * len(number.text):
            continue
        for side, extras in enumerate((pairs[: same[0]], pairs[same[-1] + 1 :])):
            others = [other for mine, other in extras if mine is None and other is not None]
            longer = [f"{voter.text[o]}{number.text}" if side == 0 else f"{number.text}{voter.text[o]}" for o in others]
            more = max((_presence(voter, o) for o, text in zip(others, longer, strict=True) if fits(text)), default=0.0)
            seen[side] += more
            weight[side] += more or _AT_END * voter.weakest
    before, after = (s / w if w else 0.0 for s, w in zip(seen, weight, strict=True))
    return before, after


def _presence(voter: Reading, place: int) -> float:
    """How sure it is that there is a character at all."""
    return voter.char_scores[place] * (HALF if voter.text[place] in _STROKES else 1.0)


def align(a: Reading, b: Reading) -> Pairs:
    """Which character of one reading is which of the other, or none: the cheapest way to pair them in their order."""
    if a.text == b.text:
        return [(place, place) for place in range(len(a.text))]
    step = _step(a)
    rows, columns = len(a.text), len(b.text)
    cost = [[(row + column) * _GAP for column in range(columns + 1)] for row in range(rows + 1)]
    for row in range(1, rows + 1):
        for column in range(1, columns + 1):
            pair = cost[row - 1][column - 1] + _strain(a, row - 1, b, column - 1, step)
            cost[row][column] = min(pair, cost[row - 1][column] + _GAP, cost[row][column - 1] + _GAP)
    pairs: Pairs = []
    while rows or columns:
        if (
            rows
            and columns
            and _is(cost[rows][columns], cost[rows - 1][columns - 1] + _strain(a, rows - 1, b, columns - 1, step))
        ):
            rows, columns = rows - 1, columns - 1
            pairs.append((rows, columns))
        elif rows and _is(cost[rows][columns], cost[rows - 1][columns] + _GAP):
            rows -= 1
            pairs.append((rows, None))
        else:
            columns -= 1
            pairs.append((None, columns))
    return pairs[::-1]


def _strain(a: Reading, mine: int, b: Reading, other: int, step: float) -> float:
    apart = abs(a.places[mine] - b.places[other]) / step
    return apart + (_DIFFERENT if a.text[mine] != b.text[other] else 0.0)


def _is(value: float, other: float) -> bool:
    return abs(value - other) < 1e-9


def _step(reading: Reading) -> float:
    """How far it is from one character to the next."""
    return max(reading.box.w / max(len(reading.text), 1), 1e-6)


def _inner(pairs: Pairs) -> dict[int, int]:
    """The places of an alignment between the first and the last pair, each with the number's character before it."""
    both = [place for place, (mine, other) in enumerate(pairs) if mine is not None and other is not None]
    before, found = 0, {}
    for place in range(both[0], both[-1]) if both else ():
        mine = pairs[place][0]
        before = before if mine is None else mine
        found[place] = before
    return found


def merge(readings: Iterable[Reading]) -> tuple[Reading, ...]:
    """One reading where several cover each other by half: the longer text if it contains the others, else the surer."""
    kept: list[Reading] = []
    for reading in readings:
        rivals = [number for number, other in enumerate(kept) if covers(reading.box, other.box)]
        if not rivals:
            kept.append(reading)
            continue
        best = max([reading, *(kept[number] for number in rivals)], key=lambda r: _rank(r, reading, kept, rivals))
        kept[rivals[0]] = best
        for number in reversed(rivals[1:]):
            del kept[number]
    return tuple(kept)


def without_rivals(readings: Sequence[Reading], share: float, sure: float) -> tuple[Reading, ...]:
    """Leave out what is not the number of a torso: a lone digit beside a longer number; then what is lower than a
    share of the highest number; then what is less sure than `sure` beside one that is."""
    longer = {reading.wearer for reading in readings if len(reading.text) > 1} - {None}
    left = [reading for reading in readings if len(reading.text) > 1 or reading.wearer not in longer]
    highest: dict[int | None, float] = {}
    for reading in left:
        highest[reading.wearer] = max(highest.get(reading.wearer, 0.0), reading.height)
    high = [r for r in left if r.height >= share * _highest(r, left, highest)]
    known = {reading.wearer for reading in high if reading.weakest >= sure} - {None}
    return tuple(reading for reading in high if reading.weakest >= sure or reading.wearer not in known)


def _highest(reading: Reading, others: Sequence[Reading], by_wearer: dict[int | None, float]) -> float:
    """How high the highest number is that is on the same torso; of one on nobody, that is on the same bib."""
    if reading.wearer is not None:
        return by_wearer[reading.wearer]
    unworn = (other for other in others if other.wearer is None)
    return max(other.height for other in unworn if other is reading or _beside(reading.box, other.box))


def _beside(box: Box, number: Box) -> bool:
    """Whether the middle of a text may be on the bib of a number, which is about twice as wide and four times as
    high."""
    across, down = box.x + box.w / 2 - number.x - number.w / 2, box.y + box.h / 2 - number.y - number.h / 2
    return abs(across) <= number.w and abs(down) <= 2 * number.h


def _rank(candidate: Reading, reading: Reading, kept: Sequence[Reading], rivals: Sequence[int]) -> tuple[int, float]:
    others = [reading, *(kept[number] for number in rivals)]
    contains = sum(other.text != candidate.text and other.text in candidate.text for other in others)
    return contains, candidate.score


def covers(a: Box, b: Box) -> bool:
    """Whether one box lies in the other by half."""
    shared = _shared(a, b)
    return shared > 0 and shared >= HALF * min(a.w * a.h, b.w * b.h)


def same_line(a: Box, b: Box) -> bool:
    """Whether two boxes show the same line of text or a part of it: one covers the other, and both are about as
    high."""
    return covers(a, b) and HALF * max(a.h, b.h) <= min(a.h, b.h)


def _shared(a: Box, b: Box) -> float:
    width = min(a.x + a.w, b.x + b.w) - max(a.x, b.x)
    height = min(a.y + a.h, b.y + b.h) - max(a.y, b.y)
    return max(width, 0.0) * max(height, 0.0)

"""From many readings of the same places to one number each.

A number that is really there reads the same in the whole photo and in a closer look, cut out closely and cut out with
a margin; a mistake seldom does. So all readings of a place vote, and a character's score is the sum of its scores in
the readings that agree on the text, over the number of all readings of that place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from harness.pipeline.bibs.readings import Reading
from harness.types import Box

HALF = 0.5


@dataclass(frozen=True)
class Sighting:
    """A piece of text as a look found it, and what it says each time that it is cut out and read."""

    box: Box
    readings: tuple[Reading, ...]


def elect(sightings: Iterable[Sighting]) -> tuple[Reading, ...]:
    """The best-supported number of each place where any reading is one, in the order in which places were first seen.

    Sightings are of one place when they overlap by half of what they cover together.
    """
    places: list[list[Sighting]] = []
    for sighting in sightings:
        near = next((place for place in places if _overlap(sighting.box, place[0].box) >= HALF), None)
        if near is None:
            places.append([sighting])
        else:
            near.append(sighting)
    elected = (_winner([r for sighting in place for r in sighting.readings]) for place in places)
    return tuple(reading for reading in elected if reading is not None)


def _winner(readings: Sequence[Reading]) -> Reading | None:
    by_text: dict[str, list[Reading]] = {}
    for reading in readings:
        if reading.text.isdecimal():
            by_text.setdefault(reading.text, []).append(reading)
    supported = (_supported(agreeing, len(readings)) for agreeing in by_text.values())
    return max(supported, key=lambda reading: reading.score, default=None)


def _supported(agreeing: Sequence[Reading], votes: int) -> Reading:
    """The tightest of the agreeing readings, with the scores that all of them give it together."""
    scores = zip(*(reading.char_scores for reading in agreeing), strict=True)
    return replace(
        min(agreeing, key=lambda reading: reading.box.w * reading.box.h),
        char_scores=tuple(sum(of_one) / votes for of_one in scores),
        closer=all(reading.closer for reading in agreeing),
    )


def merge(readings: Iterable[Reading]) -> tuple[Reading, ...]:
    """One reading where several cover each other by half: the longer text if it contains the others, else the surer."""
    kept: list[Reading] = []
    for reading in readings:
        rivals = [number for number, other in enumerate(kept) if _covers(reading.box, other.box)]
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


def _covers(a: Box, b: Box) -> bool:
    shared = _shared(a, b)
    return shared > 0 and shared >= HALF * min(a.w * a.h, b.w * b.h)


def _overlap(a: Box, b: Box) -> float:
    shared = _shared(a, b)
    together = a.w * a.h + b.w * b.h - shared
    return shared / together if together > 0 else 0.0


def _shared(a: Box, b: Box) -> float:
    width = min(a.x + a.w, b.x + b.w) - max(a.x, b.x)
    height = min(a.y + a.h, b.y + b.h) - max(a.y, b.y)
    return max(width, 0.0) * max(height, 0.0)

"""Two runs side by side: the judgement, the photos that came out otherwise, and what differs in the configs.

Photos are compared scorecard by scorecard, by what was found, invented and missed on them. Runs that are INCOMPARABLE
have no ledger: their counts do not mean the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from harness.runs.archive import BenchmarkRun, PhotoResult
from harness.runs.gate import Gate, Judgement, Verdict, judge

#: Scorecard -> what it looks for, and its counts of what was found, invented and missed.
LEDGER: Mapping[str, tuple[str, tuple[str, str, str]]] = {
    "number": ("number", ("number_tp", "number_fp", "number_fn")),
    "bib": ("bib", ("detection_tp", "detection_fp", "detection_fn")),
    "face": ("face", ("detection_tp", "detection_fp", "detection_fn")),
    "link": ("link", ("link_tp", "link_fp", "link_fn")),
}


class Change(StrEnum):
    """What became of a photo: fewer errors, more of them, or fewer of one kind and more of the other."""

    FIXED = "fixed"
    BROKEN = "broken"
    MIXED = "mixed"


@dataclass(frozen=True)
class Outcome:
    """What one scorecard counted on one photo."""

    found: int
    invented: int
    missed: int


@dataclass(frozen=True)
class PhotoChange:
    """One photo that one scorecard counts otherwise than before. `gone` and `come` are the numbers that are no longer
    read and those that are read now; only the number scorecard has them."""

    name: str
    sha256: str
    scorecard: str
    before: Outcome
    after: Outcome
    gone: tuple[str, ...] = ()
    come: tuple[str, ...] = ()

    @property
    def lost(self) -> int:
        """How many more are missed than before; below zero where fewer are."""
        return self.after.missed - self.before.missed

    @property
    def invented(self) -> int:
        """How many more are invented than before; below zero where fewer are."""
        return self.after.invented - self.before.invented

    @property
    def change(self) -> Change:
        """Better, worse or both."""
        better, worse = min(self.lost, self.invented) < 0, max(self.lost, self.invented) > 0
        return Change.MIXED if better and worse else Change.BROKEN if worse else Change.FIXED

    def words(self) -> str:
        """What happened, as in `2 faces lost, 1 face invented`."""
        noun = LEDGER[self.scorecard][0]
        parts = [(abs(self.lost), "lost" if self.lost > 0 else "found")]
        parts.append((abs(self.invented), "invented" if self.invented > 0 else "no longer invented"))
        told = ", ".join(f"{n} {noun if n == 1 else f'{noun}s'} {verb}" for n, verb in parts if n)
        numbers = [f"-{number}" for number in self.gone] + [f"+{number}" for number in self.come]
        return f"{told} ({' '.join(numbers)})" if numbers else told


@dataclass(frozen=True)
class ConfigChange:
    """A key that has another value in the run than in the base; None where one of them lacks it."""

    key: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class Comparison:
    """A run beside a base."""

    run: BenchmarkRun
    base: BenchmarkRun
    judgement: Judgement
    photos: tuple[PhotoChange, ...]
    config: tuple[ConfigChange, ...]

    ORDER: ClassVar = (Change.BROKEN, Change.MIXED, Change.FIXED)

    def ledger(self) -> dict[Change, tuple[PhotoChange, ...]]:
        """The photos by what became of them, the worst kind first; kinds without photos are left out."""
        kinds = {kind: tuple(photo for photo in self.photos if photo.change is kind) for kind in self.ORDER}
        return {kind: photos for kind, photos in kinds.items() if photos}

    def by_photo(self) -> dict[Change, tuple[tuple[PhotoChange, ...], ...]]:
        """The same, the changes of one photo together and the photos with most new errors first."""
        grouped: dict[str, list[PhotoChange]] = {}
        for photo in self.photos:
            grouped.setdefault(photo.sha256, []).append(photo)
        ranked = sorted(grouped.values(), key=lambda changes: -sum(each.lost + each.invented for each in changes))
        kinds = {kind: tuple(tuple(each) for each in ranked if _together(each) is kind) for kind in self.ORDER}
        return {kind: photos for kind, photos in kinds.items() if photos}

    def totals(self) -> dict[str, tuple[int, int]]:
        """Scorecard -> how many of what it looks for were lost and how many found, over all photos."""
        return {
            name: (
                sum(max(photo.lost, 0) for photo in self.photos if photo.scorecard == name),
                sum(max(-photo.lost, 0) for photo in self.photos if photo.scorecard == name),
            )
            for name in LEDGER
        }


def compare(gate: Gate, run: BenchmarkRun, base: BenchmarkRun, seed: int = 0) -> Comparison:
    """Judge a run against a base and list what differs between them."""
    judgement = judge(gate, run, base, seed)
    photos = () if judgement.verdict is Verdict.INCOMPARABLE else tuple(photo_changes(run, base))
    return Comparison(run, base, judgement, photos, config_diff(run.metadata.config, base.metadata.config))


def photo_changes(run: BenchmarkRun, base: BenchmarkRun) -> Iterator[PhotoChange]:
    """The photos of both runs that a scorecard of both counts otherwise, by scorecard and then by name."""
    before = {photo.sha256: photo for photo in base.photo_results}
    shared = sorted((photo for photo in run.photo_results if photo.sha256 in before), key=lambda photo: photo.name)
    for scorecard in LEDGER:
        for photo in shared:
            was, now = _outcome(before[photo.sha256], scorecard), _outcome(photo, scorecard)
            if was is None or now is None or (was.missed, was.invented) == (now.missed, now.invented):
                continue
            gone, come = _read(before[photo.sha256], photo) if scorecard == "number" else ((), ())
            yield PhotoChange(photo.name, photo.sha256, scorecard, was, now, gone, come)


def config_diff(run: Mapping[str, Any], base: Mapping[str, Any]) -> tuple[ConfigChange, ...]:
    """Only what differs, by key."""
    keys = sorted(run.keys() | base.keys())
    return tuple(ConfigChange(key, base.get(key), run.get(key)) for key in keys if base.get(key) != run.get(key))


def _together(changes: Iterable[PhotoChange]) -> Change:
    kinds = {change.change for change in changes}
    return kinds.pop() if len(kinds) == 1 else Change.MIXED


def _outcome(photo: PhotoResult, scorecard: str) -> Outcome | None:
    counts = photo.counts.get(scorecard)
    return None if counts is None else Outcome(*(counts.get(name, 0) for name in LEDGER[scorecard][1]))


def _read(before: PhotoResult, after: PhotoResult) -> tuple[tuple[str, ...], tuple[str, ...]]:
    was, now = set(before.read), set(after.read)
    return tuple(sorted(was - now)), tuple(sorted(now - was))

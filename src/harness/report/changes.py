"""The photos that came out otherwise than in the baseline, one entry a photo, worst first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.comparison import Change, PhotoChange


@dataclass(frozen=True)
class ChangedPhoto:
    """What all scorecards say of one photo. It is broken where one of them is worse, and fixed else."""

    name: str
    sha256: str
    changes: tuple[PhotoChange, ...]

    @property
    def broken(self) -> bool:
        """Whether something on it is worse than before."""
        return any(change.change is not Change.FIXED for change in self.changes)

    @property
    def size(self) -> int:
        """By how many errors it differs."""
        return sum(abs(change.lost) + abs(change.invented) for change in self.changes)

    @property
    def words(self) -> str:
        """What happened to it."""
        return "; ".join(change.words() for change in self.changes)


def changed_photos(changes: Sequence[PhotoChange]) -> tuple[tuple[ChangedPhoto, ...], tuple[ChangedPhoto, ...]]:
    """The broken photos and the fixed ones, those that differ most first."""
    by_photo: dict[str, list[PhotoChange]] = {}
    for change in changes:
        by_photo.setdefault(change.sha256, []).append(change)
    photos = [ChangedPhoto(found[0].name, sha256, tuple(found)) for sha256, found in by_photo.items()]
    photos.sort(key=lambda photo: (-photo.size, photo.name))
    return tuple(p for p in photos if p.broken), tuple(p for p in photos if not p.broken)

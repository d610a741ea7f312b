"""Which photos of a run are shown, and their pixels: each is read once, whatever it is shown for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.runs.archive import PHOTOS
from harness.runs.comparison import Change, Comparison, ItemChange
from harness.runs.suspects import Suspect
from harness.scoring import ItemCounts, MissedNumber
from harness.scoring.detection import Thresholds
from harness.tasks.photos.grid import pick_mistakes
from harness.tasks.photos.mistakes import Mistake, ReadPhoto, Shots, mistakes, take_shots
from harness.tasks.photos.predicting import EvaluatedPhoto
from harness.types import Box

#: What all scorecards say of one photo.
ChangedPhoto = tuple[ItemChange, ...]

#: Photos that are drawn as the worst; cut-outs of mistakes come from more of them.
WORST_PHOTOS, LOOKED_AT = 6, 12
#: How many changed photos of each kind are shown; the others are named.
MOST_CHANGED = 6
#: And how many suspects; the others are counted.
MOST_SUSPECTS = 12


@dataclass(frozen=True)
class Gallery:
    """The photos with most errors, those that changed, and the mistakes that are cut out; `shots` by SHA-256."""

    worst: tuple[EvaluatedPhoto, ...]
    broken: tuple[ChangedPhoto, ...]
    fixed: tuple[ChangedPhoto, ...]
    mistakes: tuple[Mistake, ...]
    suspects: tuple[Suspect, ...]
    shots: Mapping[str, Shots]


def make_gallery(
    photos: Sequence[EvaluatedPhoto],
    cards: Mapping[str, ItemCounts],
    comparison: Comparison | None,
    suspects: Sequence[Suspect],
    thresholds: Thresholds,
    read_photo: ReadPhoto,
    causes: Mapping[str, Iterable[MissedNumber]] | None = None,
) -> Gallery:
    """Choose what is shown of a run, and read it. `causes` has why numbers were missed, by photo."""
    suspects = suspects[:MOST_SUSPECTS]
    broken, fixed = changed_photos(comparison)
    worst = [photos[position] for position in worst_photos(cards)[:LOOKED_AT]]
    changed = {photo[0].id for photo in (*broken[:MOST_CHANGED], *fixed[:MOST_CHANGED])}
    wanted = changed | {item.sha256 for item in suspects} | {photo.sha256 for photo in worst}
    others = [photo for photo in photos if photo.sha256 in wanted and photo not in worst]
    kinds = [kind for card in cards.values() for kind in card.declared.mistakes]
    picked = pick_mistakes(list(mistakes([*worst, *others], thresholds, causes)), kinds)
    boxes: dict[str, list[Box]] = {}
    for sha256, box in [(item.photo.sha256, item.box) for item in picked] + [(s.sha256, s.box) for s in suspects]:
        boxes.setdefault(sha256, []).append(box)
    shots = take_shots([item.photo for item in (*worst, *others)], boxes, read_photo)
    # Scoring predictions from a file reads no photo, so that one may prove unreadable only here.
    picked = [item for item in picked if item.photo.sha256 in shots]
    suspects = [item for item in suspects if item.sha256 in shots]
    return Gallery(tuple(worst[:WORST_PHOTOS]), broken, fixed, tuple(picked), tuple(suspects), shots)


def changed_photos(comparison: Comparison | None) -> tuple[tuple[ChangedPhoto, ...], tuple[ChangedPhoto, ...]]:
    """The photos on which something is newly broken, and those on which things are only fixed; most changed first."""
    kinds = comparison.by_item(PHOTOS) if comparison else {}
    broken = kinds.get(Change.BROKEN, ()) + kinds.get(Change.MIXED, ())
    return broken, tuple(reversed(kinds.get(Change.FIXED, ())))


def worst_photos(cards: Mapping[str, ItemCounts]) -> list[int]:
    """Positions of the photos with errors, those with most of them first."""
    kept = [(card, card.declared.ledger) for card in cards.values() if card.declared.ledger is not None]
    wrong = [(card.columns, name) for card, ledger in kept for name in (ledger.invented, ledger.missed)]
    columns = [known[name].tolist() for known, name in wrong if name in known]
    errors = [sum(row) for row in zip(*columns, strict=True)]
    ranked = sorted(range(len(errors)), key=lambda position: (-errors[position], position))
    return [position for position in ranked if errors[position]]

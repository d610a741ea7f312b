"""Which photos of a run are shown, and their pixels: each is read once, whatever it is shown for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.runs.archive import PHOTOS
from harness.runs.comparison import Changed, Comparison
from harness.runs.suspects import Suspect
from harness.scoring import ItemCounts, MissedNumber
from harness.scoring.detection import Thresholds
from harness.tasks.photos.grid import pick_mistakes
from harness.tasks.photos.mistakes import Mistake, ReadPhoto, Shots, mistakes, take_shots
from harness.tasks.photos.predicting import EvaluatedPhoto
from harness.types import Box

#: How many of the worst photos cut-outs of mistakes come from, at least.
LOOKED_AT = 12
#: And how many suspects; the others are counted.
MOST_SUSPECTS = 12


@dataclass(frozen=True)
class Gallery:
    """The photos with most errors, those that changed, and the mistakes that are cut out; `shots` by SHA-256."""

    worst: tuple[EvaluatedPhoto, ...]
    broken: tuple[Changed, ...]
    fixed: tuple[Changed, ...]
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
    pictures: int = 6,
) -> Gallery:
    """Choose what is shown of a run, and read it: so many `pictures` of each kind. `causes` has why numbers were
    missed, by photo."""
    suspects = suspects[:MOST_SUSPECTS]
    broken = comparison.newly_broken(PHOTOS) if comparison else ()
    fixed = comparison.newly_fixed(PHOTOS) if comparison else ()
    worst = [photos[position] for position in worst_photos(cards)[: max(LOOKED_AT, pictures)]]
    changed = {photo[0].id for photo in (*broken[:pictures], *fixed[:pictures])}
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
    return Gallery(tuple(worst[:pictures]), broken, fixed, tuple(picked), tuple(suspects), shots)


def worst_photos(cards: Mapping[str, ItemCounts]) -> list[int]:
    """Positions of the photos with errors, those with most of them first."""
    kept = [(card, card.declared.ledger) for card in cards.values() if card.declared.ledger is not None]
    wrong = [(card.columns, name) for card, ledger in kept for name in (ledger.invented, ledger.missed)]
    columns = [known[name].tolist() for known, name in wrong if name in known]
    errors = [sum(row) for row in zip(*columns, strict=True)]
    ranked = sorted(range(len(errors)), key=lambda position: (-errors[position], position))
    return [position for position in ranked if errors[position]]

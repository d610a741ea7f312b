"""Which photos of a run are shown, and what of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from harness.pipeline.cache import StageCache
from harness.runs.archive import PHOTOS
from harness.runs.comparison import Changed, Comparison
from harness.runs.suspects import Suspect
from harness.scoring import ItemCounts, MissedNumber
from harness.scoring.detection import Thresholds
from harness.tasks.photos.grid import pick_mistakes
from harness.tasks.photos.mistakes import Mistake, mistakes
from harness.tasks.photos.predicting import EvaluatedPhoto
from harness.tasks.photos.shots import PhotoPictures, ReadPhoto
from harness.types import Box

#: How many of the worst photos cut-outs of mistakes come from, at least.
LOOKED_AT = 12
#: How many photos without labels are shown, at least, where any pictures are.
MOST_FOUND = 12
#: And how many suspects; the others are counted.
MOST_SUSPECTS = 12


@dataclass(frozen=True)
class Gallery:
    """The photos with most errors, those that changed, the mistakes that are cut out, and the pictures of all of
    them; `shown` has every photo that is named, by its hash. Where nothing is labelled there is none of these, and
    `found` has photos with what was found on them."""

    unlabelled: bool
    shown: Mapping[str, EvaluatedPhoto]
    found: tuple[EvaluatedPhoto, ...]
    worst: tuple[EvaluatedPhoto, ...]
    broken: tuple[Changed, ...]
    fixed: tuple[Changed, ...]
    mistakes: tuple[Mistake, ...]
    suspects: tuple[Suspect, ...]
    pictures: PhotoPictures


def make_gallery(
    photos: Sequence[EvaluatedPhoto],
    cards: Mapping[str, ItemCounts],
    comparison: Comparison | None,
    suspects: Sequence[Suspect],
    thresholds: Thresholds,
    read_photo: ReadPhoto,
    causes: Mapping[str, Iterable[MissedNumber]] | None = None,
    pictures: int = 6,
    kept: StageCache | None = None,
) -> Gallery:
    """Choose what is shown of a run: so many `pictures` of each kind. `causes` has why numbers were missed, by photo;
    `kept` is where pictures that were made before are found."""
    suspects = suspects[:MOST_SUSPECTS]
    bare = unlabelled(photos)
    found = found_photos(photos, max(MOST_FOUND, pictures) if pictures else 0) if bare else ()
    broken = comparison.newly_broken(PHOTOS) if comparison else ()
    fixed = comparison.newly_fixed(PHOTOS) if comparison else ()
    worst = [photos[position] for position in worst_photos(cards)[: max(LOOKED_AT, pictures)]]
    changed = {photo[0].id for photo in (*broken[:pictures], *fixed[:pictures])}
    wanted = changed | {item.sha256 for item in suspects} | {photo.sha256 for photo in (*worst, *found)}
    named = wanted | {photo[0].id for photo in (*broken, *fixed)}
    shown = {photo.sha256: photo for photo in photos if photo.sha256 in named}
    others = [photo for sha256, photo in shown.items() if sha256 in wanted and photo not in worst]
    kinds = [kind for card in cards.values() for kind in card.declared.mistakes]
    picked = pick_mistakes(list(mistakes([*worst, *others], thresholds, causes)), kinds)
    boxes: dict[str, list[Box]] = {}
    for sha256, box in [(item.photo.sha256, item.box) for item in picked] + [(s.sha256, s.box) for s in suspects]:
        boxes.setdefault(sha256, []).append(box)
    drawn = PhotoPictures([item.photo for item in (*worst, *others)], boxes, read_photo, kept)
    return Gallery(
        unlabelled=bare,
        shown=shown,
        found=tuple(found),
        worst=tuple(worst[:pictures]),
        broken=broken,
        fixed=fixed,
        mistakes=tuple(item for item in picked if item.photo.sha256 in drawn),
        suspects=tuple(item for item in suspects if item.sha256 in drawn),
        pictures=drawn,
    )


def unlabelled(photos: Sequence[EvaluatedPhoto]) -> bool:
    """Whether there are photos, and nobody has said of any where its bibs, faces and links are, or that it has none."""
    labels = (said for photo in photos for said in (photo.labels.bibs, photo.labels.faces, photo.labels.links))
    return bool(photos) and all(said is None for said in labels)


def found_photos(photos: Sequence[EvaluatedPhoto], most: int) -> Sequence[EvaluatedPhoto]:
    """The first photos on which anything was found; where nothing was found on any, the first ones."""
    seen = (photo for photo in photos if photo.prediction.bibs or photo.prediction.faces)
    return list(islice(seen, most)) or photos[:most]


def worst_photos(cards: Mapping[str, ItemCounts]) -> list[int]:
    """Positions of the photos with errors, those with most of them first."""
    kept = [(card, card.declared.ledger) for card in cards.values() if card.declared.ledger is not None]
    wrong = [(card.columns, name) for card, ledger in kept for name in (ledger.invented, ledger.missed)]
    columns = [known[name].tolist() for known, name in wrong if name in known]
    errors = [sum(row) for row in zip(*columns, strict=True)]
    ranked = sorted(range(len(errors)), key=lambda position: (-errors[position], position))
    return [position for position in ranked if errors[position]]

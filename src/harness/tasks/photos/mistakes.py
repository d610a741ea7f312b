"""The mistakes of a run, one by one, and the part of the photo that each is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from harness.base.errors import PhotoError
from harness.references.sets import ReferencePhoto
from harness.scoring.bibs import detect_bibs, is_complete
from harness.scoring.detection import Detection, Thresholds
from harness.scoring.faces import detect_faces
from harness.scoring.misses import MissedNumber
from harness.tasks.photos.pictures import LONG_SIDE, Image, outline, scaled
from harness.tasks.photos.predicting import EvaluatedPhoto
from harness.types import BibBox, Box, FaceBox

CROP_SIDE = 256
#: How much of its surroundings a crop shows, in longer sides of the box.
SURROUNDINGS = 0.6
#: No box is looked at more closely than one of so many pixels.
SMALLEST = 24

ReadPhoto = Callable[[Path, str], Image]


@dataclass(frozen=True)
class Mistake:
    """One thing that is wrong, where it is, what a person should know about it and, of a missed number, its cause."""

    kind: str
    photo: EvaluatedPhoto
    box: BibBox | FaceBox
    words: str
    why: str = ""

    @property
    def told(self) -> str:
        """All of it in a line."""
        return f"{self.words} ({self.why})" if self.why else self.words


@dataclass(frozen=True)
class Shots:
    """What is shown of one photo: the whole of it, scaled, and parts of it in their full sharpness."""

    whole: Image
    parts: Mapping[Box, Image]


def mistakes(
    photos: Iterable[EvaluatedPhoto], thresholds: Thresholds, causes: Mapping[str, Iterable[MissedNumber]] | None = None
) -> Iterator[Mistake]:
    """Everything that is missed, false or misread on the photos. `causes` has why numbers were missed, by the hashes of
    their photos; a missed bib is told with that of its number."""
    for photo in photos:
        labels, found = photo.labels, photo.prediction
        bibs = detect_bibs([labels], [found], thresholds.bib_iou)
        why = {missed.number: missed.words() for missed in (causes or {}).get(photo.sha256, ())}
        for mistake in _detection_mistakes(photo, "bibs", bibs, labels.bibs or (), found.bibs):
            yield _explained(mistake, why)
        yield from _misreadings(photo, bibs, labels.bibs or (), found.bibs)
        faces = detect_faces([labels], [found], thresholds.face_iou)
        yield from _detection_mistakes(photo, "faces", faces, labels.faces or (), found.faces)


def _explained(mistake: Mistake, why: Mapping[str, str]) -> Mistake:
    """A missed bib with the cause of its number. A number that stands on two bibs may be found on the other one."""
    number = mistake.box.number if mistake.kind == "missed_bibs" and isinstance(mistake.box, BibBox) else None
    return replace(mistake, why=why.get((number or "").strip(), ""))


def _detection_mistakes(
    photo: EvaluatedPhoto,
    what: str,
    outcome: Detection,
    labels: Sequence[BibBox | FaceBox],
    found: Sequence[BibBox | FaceBox],
) -> Iterator[Mistake]:
    for row in np.flatnonzero(outcome.is_target & ~outcome.matches.found).tolist():
        yield Mistake(f"missed_{what}", photo, labels[row], f"missed {_name(labels[row])}")
    for row in np.flatnonzero(outcome.false_predictions).tolist():
        score = found[row].score
        sure = "" if score is None else f" {score:.2f}"
        yield Mistake(f"false_{what}", photo, found[row], f"false {_name(found[row])}{sure}")


def _misreadings(
    photo: EvaluatedPhoto, outcome: Detection, labels: Sequence[BibBox], found: Sequence[BibBox]
) -> Iterator[Mistake]:
    for row in np.flatnonzero(outcome.matches.matched).tolist():
        label = labels[outcome.matches.target_of[row]]
        read, expected = (found[row].number or "").strip(), (label.number or "").strip()
        if is_complete(expected) and read != expected:
            yield Mistake("misread_bibs", photo, label, f"is {expected}, read {read or 'nothing'}")


def _name(box: BibBox | FaceBox) -> str:
    return f"bib {box.number or ''}".strip() if isinstance(box, BibBox) else "face"


def take_shots(
    photos: Iterable[ReferencePhoto], boxes: Mapping[str, Iterable[Box]], read: ReadPhoto
) -> dict[str, Shots]:
    """Read each photo once, and keep of it what is shown: by SHA-256, with the parts that are asked for. A photo that
    cannot be read is not shown."""
    shots: dict[str, Shots] = {}
    for photo in photos:
        if photo.sha256 not in shots:
            try:
                pixels = read(photo.path, photo.sha256)
            except PhotoError:
                continue
            parts = {box: cut_out(pixels, box) for box in boxes.get(photo.sha256, ())}
            shots[photo.sha256] = Shots(scaled(pixels, LONG_SIDE), parts)
    return shots


def cut_out(pixels: Image, box: Box) -> Image:
    """The square around a box, with some of its surroundings, and the box drawn in it."""
    height, width = pixels.shape[:2]
    half = max(box.w * width, box.h * height, SMALLEST) * (0.5 + SURROUNDINGS)
    side = max(1, int(2 * min(half, width / 2, height / 2)))
    x = _start((box.x + box.w / 2) * width, side, width)
    y = _start((box.y + box.h / 2) * height, side, height)
    part = scaled(pixels[y : y + side, x : x + side], CROP_SIDE)
    corners = [((box.x * width - x) / side, (box.y * height - y) / side)]
    corners += [(((box.x + box.w) * width - x) / side, ((box.y + box.h) * height - y) / side)]
    start, end = ((round(CROP_SIDE * x), round(CROP_SIDE * y)) for x, y in corners)
    return outline(part, start, end)


def _start(centre: float, side: int, length: int) -> int:
    return round(min(max(centre - side / 2, 0), length - side))

"""The mistakes of a run, one by one, each with the part of the photo that it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness.scoring.bibs import detect_bibs, is_complete
from harness.scoring.detection import Detection, Thresholds
from harness.scoring.faces import detect_faces
from harness.scoring.misses import MissedNumber
from harness.tasks.photos.predicting import EvaluatedPhoto
from harness.types import BibBox, FaceBox


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

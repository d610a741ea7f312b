"""From predictions to scorecards. A new scorecard of photos is one file in `scoring/` and one line in `SCORECARDS`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.scoring import (
    ApPhoto,
    Behaviour,
    Counted,
    Declaration,
    Interval,
    ItemCounts,
    Slice,
    average_precision,
    bib_behaviour,
    face_behaviour,
    intervals,
    slice_bibs,
    slice_faces,
    tally_bib_errors,
    tally_bibs,
    tally_face_errors,
    tally_faces,
    tally_links,
    tally_numbers,
)
from harness.scoring import bibs as bib_rules
from harness.scoring import faces as face_rules
from harness.scoring.detection import Thresholds
from harness.scoring.speed import PHOTOS_PER_SECOND, SECONDS, SPEED
from harness.tasks.photos.predicting import EvaluatedPhoto
from harness.types import BibBox, FaceBox, PhotoLabels, PhotoPrediction

Labels = Sequence[PhotoLabels]
Predictions = Sequence[PhotoPrediction]
ScorePhotos = Callable[[Labels, Predictions, Thresholds], ItemCounts]

#: The scorecards of photos, in the order in which they are shown.
SCORECARDS: tuple[ScorePhotos, ...] = (
    lambda labels, found, _: tally_numbers(labels, found).items(),
    lambda labels, found, at: tally_bibs(labels, found, at.bib_iou).items(),
    lambda labels, found, at: tally_faces(labels, found, at.face_iou).items(),
    lambda labels, found, at: tally_links(labels, found, at.bib_iou, at.face_iou).items(),
    lambda labels, found, at: tally_bib_errors(labels, found, at.bib_iou).items(),
    lambda labels, found, at: tally_face_errors(labels, found, at.face_iou).items(),
)


@dataclass(frozen=True)
class Scores:
    """The scorecards of photos item by item, recall by tag, and how bibs and faces depend on their scores."""

    cards: Mapping[str, ItemCounts]
    slices: tuple[Slice, ...]
    behaviours: Mapping[str, Behaviour]
    figures: Mapping[str, float]

    def counted(self) -> dict[str, Counted]:
        """The scorecards over all photos, each with those of the figures that it declares."""
        return {name: card.total(_declared_of(card.declared, self.figures)) for name, card in self.cards.items()} | {
            SPEED.name: Counted(SPEED, {}, _declared_of(SPEED, self.figures))
        }

    def intervals(self, seed: int) -> dict[str, Interval]:
        """An interval for each rate, by metric name."""
        return {metric: found for card in self.cards.values() for metric, found in intervals(card, seed).items()}


def declared() -> tuple[Declaration, ...]:
    """What the scorecards of photos declare."""
    nothing = Thresholds(1.0, 1.0)
    return (*(score((), (), nothing).declared for score in SCORECARDS), SPEED)


def score_cards(photos: Sequence[EvaluatedPhoto], thresholds: Thresholds) -> dict[str, ItemCounts]:
    """Every scorecard item by item, by its name."""
    labels, found = [photo.labels for photo in photos], [photo.prediction for photo in photos]
    cards = [score(labels, found, thresholds) for score in SCORECARDS]
    return {card.declared.name: card for card in cards}


def score(photos: Sequence[EvaluatedPhoto], thresholds: Thresholds) -> Scores:
    """All that is scored on photos."""
    labels, found = [photo.labels for photo in photos], [photo.prediction for photo in photos]
    return Scores(
        cards=score_cards(photos, thresholds),
        slices=slice_bibs(labels, found, thresholds.bib_iou) + slice_faces(labels, found, thresholds.face_iou),
        behaviours={
            "bib": bib_behaviour(labels, found, thresholds.bib_iou),
            "face": face_behaviour(labels, found, thresholds.face_iou),
        },
        figures=_precisions(labels, found) | speed(photos),
    )


def _declared_of(card: Declaration, figures: Mapping[str, float]) -> dict[str, float]:
    return {figure.metric: figures[figure.metric] for figure in card.figures if figure.metric in figures}


def speed(photos: Sequence[EvaluatedPhoto]) -> dict[str, float]:
    """How long the pipeline took, and how many photos it does in a second."""
    seconds = sum(sum(photo.seconds.values()) for photo in photos)
    return {SECONDS: seconds} | ({PHOTOS_PER_SECOND: len(photos) / seconds} if seconds else {})


def _precisions(labels: Labels, found: Predictions) -> dict[str, float]:
    """Average precision by COCO's rules, of bibs and of faces; none where a prediction has no score."""
    bibs = [(photo.bibs, seen.bibs) for photo, seen in zip(labels, found, strict=True) if photo.bibs is not None]
    faces = [(photo.faces, seen.faces) for photo, seen in zip(labels, found, strict=True) if photo.faces is not None]
    known = {
        "bib/ap": _average_precision(bibs, bib_rules.SCORED, bib_rules.IGNORE),
        "face/ap": _average_precision(faces, face_rules.SCORED, face_rules.IGNORE),
    }
    return {metric: value for metric, value in known.items() if value is not None}


def _average_precision(
    photos: Iterable[tuple[Sequence[BibBox | FaceBox], Sequence[BibBox | FaceBox]]],
    scored: frozenset[str],
    ignore: frozenset[str],
) -> float | None:
    """Labels that are not scored are no targets; ignore regions are what COCO calls a crowd."""
    batch = []
    for labels, found in photos:
        targets = [box for box in labels if box.scope in scored | ignore and box.has_coords]
        seen = [box for box in found if box.has_coords]
        if any(box.score is None for box in seen):
            return None
        batch.append(
            ApPhoto(
                targets=np.array([box.xywh for box in targets]).reshape(-1, 4),
                predictions=np.array([box.xywh for box in seen]).reshape(-1, 4),
                scores=np.array([box.score for box in seen], dtype=np.float64),
                crowd=np.array([box.scope in ignore for box in targets], dtype=bool),
            )
        )
    return average_precision(batch).ap if batch else None

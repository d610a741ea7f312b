"""Labels that may be wrong: what most runs see and no label admits, and what is seen in an ignore region.

Runs on the same photos that predict different things are witnesses. A box that most of them call a bib or a face, and
that no label explains, is more likely a missing label than the same mistake made again and again. A box in an ignore
region that the newest run sees may be a target after all. Runs that predict the same are one witness, and one
witness is none: without a second, only ignore regions are looked at. What a person called no bib or no face is
settled, and a run that never saw a photo has no say in it. A number that is read in part in an ignore region is no
doubt about the label: it says the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from harness.runs.archive import BenchmarkRun
from harness.scoring.bibs import HIDDEN, detect_bibs
from harness.scoring.boxes import iou
from harness.scoring.detection import Detection, Thresholds
from harness.scoring.faces import detect_faces
from harness.types import BibBox, BibScope, FaceBox, FaceScope, PhotoLabels, PhotoPrediction

#: Two runs mean the same box from this IoU on.
SAME_BOX_IOU = 0.5
FEWEST_WITNESSES = 2

#: What a person says where there is nothing to find.
_SETTLED = frozenset({BibScope.NOT_BIB, FaceScope.EXCLUDE})

Kind = Literal["bib", "face"]
_KINDS: tuple[Kind, ...] = ("bib", "face")
Predictions = Mapping[str, PhotoPrediction]


@dataclass(frozen=True)
class Suspect:
    """A box that the labels may have wrong, as the newest run that sees it has it; `runs` of `witnesses` see it. One
    that an agent doubts has `doubt`, its words, and no witness: nothing but a person's look follows from it."""

    sha256: str
    kind: Kind
    box: BibBox | FaceBox
    runs: int
    witnesses: int
    ignored: bool
    doubt: str = ""

    @property
    def reason(self) -> str:
        """Why it is suspected, in words."""
        if self.doubt:
            return self.doubt
        what = "in a region that is not scored" if self.ignored else "no label there"
        return f"{what}; seen by {self.runs} of {self.witnesses} runs"


@dataclass
class _Sighting:
    """One box, and the witnesses that see it (0 is the newest)."""

    sha256: str
    box: BibBox | FaceBox
    ignored: bool
    runs: set[int] = field(default_factory=set)

    def is_same(self, box: BibBox | FaceBox, ignored: bool) -> bool:
        return ignored is self.ignored and _same_place(self.box, box)


def find_suspects(
    labels: Mapping[str, PhotoLabels], runs: Sequence[BenchmarkRun], thresholds: Thresholds
) -> tuple[Suspect, ...]:
    """The suspects among the labels of these photos (by SHA-256), those with most witnesses first.

    `runs` stand newest first; photos that only one side has are left alone.
    """
    return suspects_among(labels, witnesses_of(predictions_of(runs)), thresholds)


def predictions_of(runs: Iterable[BenchmarkRun]) -> list[Predictions]:
    """What runs predict, but for those that do not speak about bibs and faces both: they cannot be asked."""
    return [run.predictions() for run in runs if not {"bibs", "faces"} & set(run.absent)]


def suspects_among(
    labels: Mapping[str, PhotoLabels], witnesses: Sequence[Predictions], thresholds: Thresholds
) -> tuple[Suspect, ...]:
    """The same by witnesses, for whoever asks about single photos again and again."""
    found = []
    for kind in _KINDS:
        for sighting in _sightings(kind, labels, witnesses, thresholds):
            saw_photo = [number for number, seen in enumerate(witnesses) if sighting.sha256 in seen]
            if _is_suspect(sighting, saw_photo):
                runs = len(sighting.runs)
                found.append(Suspect(sighting.sha256, kind, sighting.box, runs, len(saw_photo), sighting.ignored))
    return tuple(sorted(found, key=lambda item: (-item.runs, -(item.box.score or 0), item.sha256, item.box.xywh)))


def witnesses_of(runs: Iterable[Predictions]) -> list[Predictions]:
    """Runs by what they predict, newest first. Runs that agree on all photos that both have are one witness."""
    witnesses: list[dict[str, PhotoPrediction]] = []
    for predictions in runs:
        same = next((witness for witness in witnesses if _agree(witness, predictions)), None)
        if same is None:
            witnesses.append(dict(predictions))
        else:
            same.update(predictions)
    return list(witnesses)


def _agree(one: Predictions, other: Predictions) -> bool:
    """Whether two runs predict the same, by whichever texts they dropped on the way."""
    both = one.keys() & other.keys()
    return bool(both) and all(one[photo] == replace(other[photo], dropped=one[photo].dropped) for photo in both)


def _is_suspect(sighting: _Sighting, witnesses: Sequence[int]) -> bool:
    if sighting.ignored:
        return witnesses[0] in sighting.runs
    return len(witnesses) >= FEWEST_WITNESSES and 2 * len(sighting.runs) > len(witnesses)


def _same_place(one: BibBox | FaceBox, other: BibBox | FaceBox) -> bool:
    return bool(iou(np.array([one.xywh]), np.array([other.xywh]))[0] >= SAME_BOX_IOU)


def _sightings(
    kind: Kind, labels: Mapping[str, PhotoLabels], witnesses: Sequence[Predictions], thresholds: Thresholds
) -> list[_Sighting]:
    known: dict[str, list[_Sighting]] = {}
    for number, predictions in enumerate(witnesses):
        for sha256, box, ignored in _unexplained(kind, labels, predictions, thresholds):
            here = known.setdefault(sha256, [])
            sighting = next((item for item in here if item.is_same(box, ignored)), None)
            if sighting is None:
                sighting = _Sighting(sha256, box, ignored)
                here.append(sighting)
            sighting.runs.add(number)
    return [sighting for here in known.values() for sighting in here]


def _unexplained(
    kind: Kind, labels: Mapping[str, PhotoLabels], predictions: Predictions, thresholds: Thresholds
) -> Iterator[tuple[str, BibBox | FaceBox, bool]]:
    """Every predicted box that no label explains: its photo, the box, and whether it covers an ignore region."""
    photos = sorted(labels.keys() & predictions.keys())
    expected, predicted = [labels[photo] for photo in photos], [predictions[photo] for photo in photos]
    detection: Detection
    boxes: list[BibBox | FaceBox] = []
    if kind == "bib":
        detection = detect_bibs(expected, predicted, thresholds.bib_iou)
        for photo, seen in zip(expected, predicted, strict=True):
            boxes += seen.bibs if photo.bibs is not None else ()
    else:
        detection = detect_faces(expected, predicted, thresholds.face_iou)
        for photo, seen in zip(expected, predicted, strict=True):
            boxes += seen.faces if photo.faces is not None else ()
    unexplained = detection.false_predictions | detection.ignored
    for row in np.flatnonzero(unexplained).tolist():
        photo_number, ignored = int(detection.predictions.photo_index[row]), bool(detection.ignored[row])
        if not _is_settled(boxes[row], expected[photo_number]) and not (ignored and _is_partial(boxes[row])):
            yield photos[photo_number], boxes[row], ignored


def _is_partial(box: BibBox | FaceBox) -> bool:
    return isinstance(box, BibBox) and HIDDEN in (box.number or "")


def _is_settled(box: BibBox | FaceBox, labels: PhotoLabels) -> bool:
    labelled: tuple[BibBox | FaceBox, ...] = (labels.bibs if isinstance(box, BibBox) else labels.faces) or ()
    return any(label.scope in _SETTLED and label.has_coords and _same_place(label, box) for label in labelled)

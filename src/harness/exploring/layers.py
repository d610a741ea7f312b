"""One photo of a run for a person to look at: labels, what this run predicted and what another one did, each box with
what became of it, and the texts that the reader dropped.

The labels are those of now, and everything is matched against them anew, by the rules of the scorecards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from harness.exploring.opened import OpenedRun
from harness.runs.archive import BenchmarkRun
from harness.scoring.bibs import detect_bibs, is_complete
from harness.scoring.detection import Detection, Thresholds
from harness.scoring.faces import detect_faces
from harness.scoring.links import judge_links, links_labeled
from harness.scoring.misses import MissedNumber, missed_numbers
from harness.types import BibBox, Box, DroppedText, FaceBox, PhotoLabels, PhotoPrediction


def thresholds_of(run: BenchmarkRun) -> Thresholds:
    """By which overlap boxes match in a run."""
    given = run.metadata.thresholds
    return Thresholds(given.get("bib_iou", 0.5), given.get("face_iou", 0.5))


def photo_layers(opened: OpenedRun, sha256: str) -> dict[str, Any]:
    """All layers of one photo: `run`, and `base` where the other run has the photo."""
    assert opened.run is not None
    photo = opened.photos.photos.get(sha256)
    labels = photo.labels if photo else PhotoLabels()
    runs = {"run": opened.run} | ({"base": opened.comparison.base} if opened.comparison else {})
    return {side: _side(run, labels, sha256) for side, run in runs.items()}


def _side(run: BenchmarkRun, labels: PhotoLabels, sha256: str) -> dict[str, Any] | None:
    """Labels and prediction of a run as boxes with their fate; None where it predicted nothing for the photo."""
    item = next((item for item in run.photos if item.id == sha256), None)
    if item is None or item.photo is None:
        return None
    found, at = item.photo.prediction, thresholds_of(run)
    missed = {each.number: each for each in missed_numbers(labels, found, run.traced)}
    bibs, faces = detect_bibs([labels], [found], at.bib_iou), detect_faces([labels], [found], at.face_iou)
    return {
        "labels": [
            *_labels("bib", bibs, labels.bibs or (), found.bibs, missed),
            *_labels("face", faces, labels.faces or (), found.faces, {}),
        ],
        "predictions": [
            *_predictions("bib", bibs, labels.bibs or (), found.bibs),
            *_predictions("face", faces, labels.faces or (), found.faces),
        ],
        "links": list(_links(labels, found, at)),
        "dropped": [_dropped(text) for text in found.dropped],
    }


def _xywh(box: Box) -> dict[str, Any]:
    return {"box": [round(value, 5) for value in box.xywh] if box.has_coords else None}


def _labels(
    what: str,
    outcome: Detection,
    labels: Sequence[BibBox | FaceBox],
    found: Sequence[BibBox | FaceBox],
    missed: dict[str, MissedNumber],
) -> Iterator[dict[str, Any]]:
    for row, label in enumerate(labels):
        partner = int(outcome.matches.prediction_of[row])
        number = _text(label)
        why = missed[number].words() if number in missed else ""
        state = "ignored" if not outcome.is_target[row] else "missed" if partner < 0 else "found"
        if state == "found" and isinstance(label, BibBox) and is_complete(number) and _text(found[partner]) != number:
            state, why = "misread", f"read as {_text(found[partner]) or 'nothing'}"
        named = {"identity": label.identity} if isinstance(label, FaceBox) and label.identity else {}
        yield (
            _xywh(label)
            | {
                "kind": what,
                "at": row,
                "text": number,
                "state": state,
                "why": label.scope if state == "ignored" else why,
                "tags": list(label.tags),
            }
            | named
        )


def _predictions(
    what: str, outcome: Detection, labels: Sequence[BibBox | FaceBox], found: Sequence[BibBox | FaceBox]
) -> Iterator[dict[str, Any]]:
    """Where nobody labelled a dimension, nothing can be said of its predictions."""
    labeled = bool(outcome.labeled.all())
    for row, box in enumerate(found):
        state = "unknown"
        if labeled and outcome.matches.matched[row]:
            label = labels[int(outcome.matches.target_of[row])]
            wrong = isinstance(box, BibBox) and is_complete(_text(label)) and _text(box) != _text(label)
            state = "misread" if wrong else "right"
        elif labeled:
            state = "ignored" if outcome.ignored[row] else "false"
        yield _xywh(box) | {"kind": what, "at": row, "text": _text(box), "state": state, "score": _short(box.score)}


def _links(labels: PhotoLabels, found: PhotoPrediction, at: Thresholds) -> Iterator[dict[str, Any]]:
    """Proposed links, right, false or unknown, and those labelled ones that were missed, with their cause."""
    judged = judge_links([labels], [found], at.bib_iou, at.face_iou)
    labeled = links_labeled(labels)
    for place, link in enumerate(found.links):
        state = ("right" if judged.right[place] else "false") if labeled else "unknown"
        bib, face = found.bibs[link.bib_index], found.faces[link.face_index]
        yield _line("prediction", place, bib, face) | {"state": state, "score": _short(link.score), "why": ""}
    for place, link in enumerate(sorted(set(labels.links or ())) if labeled else ()):
        cause = next((cause.replace("_", " ") for cause, chosen in judged.causes.items() if chosen[place]), "")
        bib, face = (labels.bibs or ())[link.bib_index], (labels.faces or ())[link.face_index]
        state = "missed" if cause else "found"
        yield _line("label", place, bib, face) | {"state": state, "score": None, "why": cause}


def _line(side: str, at: int, bib: BibBox, face: FaceBox) -> dict[str, Any]:
    """A link from the middle of its bib to that of its face, and what they are called."""
    ends = [[round(box.x + box.w / 2, 5), round(box.y + box.h / 2, 5)] for box in (bib, face)]
    return {"side": side, "at": at, "ends": ends, "text": " to ".join(filter(None, (_text(bib), face.identity)))}


def _dropped(text: DroppedText) -> dict[str, Any]:
    told = f"dropped by {text.rule}" if text.rule else "dropped"
    if text.value is not None and text.limit is not None:
        told += f" {text.value:.3g} {'<' if text.value < text.limit else '>'} {text.limit:.3g}"
    return _xywh(text) | {"kind": "text", "text": text.text, "why": told}


def _text(box: BibBox | FaceBox) -> str:
    return (box.number or "").strip() if isinstance(box, BibBox) else ""


def _short(score: float | None) -> float | None:
    return None if score is None else round(score, 3)


def marks(opened: OpenedRun, photos: Sequence[str]) -> dict[str, list[tuple[str, list[float]]]]:
    """What is wrong on some photos, for small pictures of them: the state and the place of each such box."""
    assert opened.run is not None
    details = {item.id: item.photo for item in opened.run.photos if item.photo is not None and item.id in set(photos)}
    at = thresholds_of(opened.run)
    found: dict[str, list[tuple[str, list[float]]]] = {}
    for sha256, detail in details.items():
        photo = opened.photos.photos.get(sha256)
        if photo is None:
            continue
        labels, prediction = photo.labels, detail.prediction
        bibs = detect_bibs([labels], [prediction], at.bib_iou)
        faces = detect_faces([labels], [prediction], at.face_iou)
        boxes = [
            *_labels("bib", bibs, labels.bibs or (), prediction.bibs, {}),
            *_labels("face", faces, labels.faces or (), prediction.faces, {}),
            *_predictions("bib", bibs, labels.bibs or (), prediction.bibs),
            *_predictions("face", faces, labels.faces or (), prediction.faces),
        ]
        wrong = [(box["state"], box["box"]) for box in boxes if box["state"] in ("missed", "misread", "false")]
        found[sha256] = [(state, place) for state, place in wrong if place is not None]
    return found

"""A photo with what was found, missed and invented drawn on it.

Green: a label that was found. Red, thick: a label that was missed. Orange: a prediction without a label. Grey: a label
that is not scored. A broad green line is a labelled link, a thin orange one a proposed link. Words say the
same, so that colour alone carries nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from harness.references.sets import ReferencePhoto
from harness.scoring.bibs import detect_bibs, is_complete
from harness.scoring.detection import Detection, Thresholds
from harness.scoring.faces import detect_faces
from harness.types import BibBox, FaceBox, PhotoLabels, PhotoPrediction

Image = NDArray[np.uint8]

LONG_SIDE = 1280
LEGEND = "green: found   red: MISSED   orange: FALSE   grey: not scored"
DARK = (32, 32, 32)
GREEN, RED, ORANGE, GREY = (60, 160, 40), (40, 40, 220), (0, 140, 255), (150, 150, 150)


def draw_photo(
    photo: ReferencePhoto,
    found: PhotoPrediction,
    pixels: Image,
    thresholds: Thresholds,
    long_side: int = LONG_SIDE,
) -> bytes:
    """The annotated photo as JPEG, with a legend where it is wide enough to be read."""
    image, labels = scaled(pixels, long_side), photo.labels
    _draw_links(image, labels, found)
    _draw_boxes(image, detect_bibs([labels], [found], thresholds.bib_iou), labels.bibs or (), found.bibs)
    _draw_boxes(image, detect_faces([labels], [found], thresholds.face_iou), labels.faces or (), found.faces)
    if long_side == LONG_SIDE:
        image = with_legend(image, f"{photo.name}   {LEGEND}")
    return jpeg(image)


def scaled(image: Image, long_side: int) -> Image:
    """A copy with the given longer side."""
    import cv2

    height, width = image.shape[:2]
    factor = long_side / max(height, width)
    size = max(1, round(width * factor)), max(1, round(height * factor))
    how = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(image, size, interpolation=how), dtype=np.uint8)


def with_legend(image: Image, text: str) -> Image:
    """The picture with a line of white text on black above it."""
    import cv2

    framed = cv2.copyMakeBorder(image, 34, 0, 0, 0, cv2.BORDER_CONSTANT, value=DARK)
    cv2.putText(framed, text, (10, 23), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (255, 255, 255), 1, cv2.LINE_AA)
    return np.asarray(framed, dtype=np.uint8)


def with_caption(image: Image, *lines: str) -> Image:
    """A copy with lines of text over its upper edge; MLflow's grid cuts off what hangs below a picture."""
    import cv2

    captioned = image.copy()
    captioned[: 20 * len(lines) + 4] = DARK
    for number, line in enumerate(lines, start=1):
        place = (6, 20 * number - 5)
        cv2.putText(captioned, line, place, cv2.FONT_HERSHEY_SIMPLEX, 0.45, (255, 255, 255), 1, cv2.LINE_AA)
    return captioned


def jpeg(image: Image, quality: int = 85) -> bytes:
    """The picture as JPEG."""
    import cv2

    _, encoded = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return encoded.tobytes()


def _draw_boxes(
    image: Image,
    outcome: Detection,
    labels: Sequence[BibBox | FaceBox],
    predictions: Sequence[BibBox | FaceBox],
) -> None:
    for row, label in enumerate(labels):
        found = outcome.matches.prediction_of[row]
        if not outcome.is_target[row]:
            _box(image, label, GREY, 1, label.scope)
        elif found < 0:
            _box(image, label, RED, 3, f"MISSED {_name(label)}")
        else:
            read, expected = _name(predictions[found]), _name(label)
            wrong = isinstance(label, BibBox) and read != expected and is_complete(label.number)
            _box(image, label, RED if wrong else GREEN, 2, f"read {read}, is {expected}" if wrong else expected)
    for row, prediction in enumerate(predictions if outcome.labeled.all() else ()):
        if not outcome.matches.matched[row]:
            word = "ignored" if outcome.ignored[row] else "FALSE"
            _box(image, prediction, GREY if outcome.ignored[row] else ORANGE, 2, f"{word} {_name(prediction)}")


def _name(box: BibBox | FaceBox) -> str:
    return (box.number or "bib") if isinstance(box, BibBox) else "face"


def _draw_links(image: Image, labels: PhotoLabels, found: PhotoPrediction) -> None:
    """Labelled links as broad green lines, proposed ones as thin orange lines on top of them."""
    import cv2

    for side, colour, width in ((labels, GREEN, 6), (found, ORANGE, 2)):
        bibs, faces = side.bibs or (), side.faces or ()
        for link in side.links or ():
            start, end = _centre(image, bibs[link.bib_index]), _centre(image, faces[link.face_index])
            cv2.line(image, start, end, colour, width, cv2.LINE_AA)


def _centre(image: Image, box: BibBox | FaceBox) -> tuple[int, int]:
    height, width = image.shape[:2]
    return round((box.x + box.w / 2) * width), round((box.y + box.h / 2) * height)


def _box(image: Image, box: BibBox | FaceBox, colour: tuple[int, int, int], thickness: int, text: str) -> None:
    import cv2

    height, width = image.shape[:2]
    left, top = round(box.x * width), round(box.y * height)
    right, bottom = round((box.x + box.w) * width), round((box.y + box.h) * height)
    cv2.rectangle(image, (left, top), (right, bottom), colour, thickness)
    (text_width, text_height), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, 0.5, 1)
    left, base = min(left, width - text_width), top - 4 if top - 4 > text_height else bottom + text_height + 4
    cv2.rectangle(image, (left, base - text_height - 2), (left + text_width, base + 4), colour, -1)
    cv2.putText(image, text, (left, base), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (255, 255, 255), 1, cv2.LINE_AA)


def outline(image: Image, start: tuple[int, int], end: tuple[int, int]) -> None:
    """A rectangle that shows on light and on dark."""
    import cv2

    cv2.rectangle(image, start, end, (0, 0, 0), 4)
    cv2.rectangle(image, start, end, (0, 230, 255), 2)

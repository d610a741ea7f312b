"""A photo with what was found, missed and invented drawn on it.

Green: a label that was found. Red, thick: a label that was missed. Orange: a prediction without a label. Grey: a label
that is not scored. A broad green line is a labelled link, a thin orange one a proposed link. Words say the
same, so that colour alone carries nothing.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from harness.references.sets import ReferencePhoto
from harness.scoring.bibs import detect_bibs, is_complete
from harness.scoring.detection import Detection, Thresholds
from harness.scoring.faces import detect_faces
from harness.types import BibBox, FaceBox, PhotoLabels, PhotoPrediction

if TYPE_CHECKING:
    from PIL import Image as Pillow
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

#: Pixels in BGR, as photos are read.
Image = NDArray[np.uint8]

LONG_SIDE = 1280
LEGEND = "green: found   red: MISSED   orange: FALSE   grey: not scored"
Colour = tuple[int, int, int]
DARK, WHITE, YELLOW = (32, 32, 32), (255, 255, 255), (255, 230, 0)
GREEN, RED, ORANGE, GREY = (40, 160, 60), (220, 40, 40), (255, 140, 0), (150, 150, 150)


def draw_photo(
    photo: ReferencePhoto,
    found: PhotoPrediction,
    pixels: Image,
    thresholds: Thresholds,
    long_side: int = LONG_SIDE,
) -> bytes:
    """The annotated photo as JPEG, with a legend where it is wide enough to be read."""
    from PIL.ImageDraw import Draw

    picture, labels = _resized(pixels, long_side), photo.labels
    draw = Draw(picture)
    _draw_links(draw, labels, found)
    _draw_boxes(draw, detect_bibs([labels], [found], thresholds.bib_iou), labels.bibs or (), found.bibs)
    _draw_boxes(draw, detect_faces([labels], [found], thresholds.face_iou), labels.faces or (), found.faces)
    if long_side == LONG_SIDE:
        picture = _with_legend(picture, f"{photo.name}   {LEGEND}")
    return _encoded(picture)


def scaled(image: Image, long_side: int) -> Image:
    """A copy with the given longer side."""
    return _pixels(_resized(image, long_side))


def with_caption(image: Image, *lines: str) -> Pillow.Image:
    """A copy with lines of text over its upper edge; MLflow's grid cuts off what hangs below a picture."""
    from PIL.ImageDraw import Draw

    captioned = _picture(image)
    draw = Draw(captioned)
    draw.rectangle((0, 0, captioned.width, 20 * len(lines) + 3), fill=DARK)
    for number, line in enumerate(lines, start=1):
        draw.text((6, 20 * number - 5), line, WHITE, _font(13), anchor="ls")
    return captioned


def jpeg(image: Image) -> bytes:
    """The picture as JPEG."""
    return _encoded(_picture(image))


def outline(image: Image, start: tuple[int, int], end: tuple[int, int]) -> Image:
    """A copy with a rectangle that shows on light and on dark."""
    from PIL.ImageDraw import Draw

    picture = _picture(image)
    draw = Draw(picture)
    for border, colour, thickness in ((2, (0, 0, 0), 5), (1, YELLOW, 3)):
        draw.rectangle((*(v - border for v in start), *(v + border for v in end)), outline=colour, width=thickness)
    return _pixels(picture)


def _picture(image: Image) -> Pillow.Image:
    from PIL import Image as Pillow

    return Pillow.fromarray(np.ascontiguousarray(image[:, :, ::-1]))


def _pixels(picture: Pillow.Image) -> Image:
    return np.ascontiguousarray(np.asarray(picture)[:, :, ::-1])


def _resized(image: Image, long_side: int) -> Pillow.Image:
    """The picture of another size. Its channels are put in order when it is small: copies of photos are large."""
    from PIL import Image as Pillow
    from PIL.Image import Resampling

    height, width = image.shape[:2]
    factor = long_side / max(height, width)
    size = max(1, round(width * factor)), max(1, round(height * factor))
    method = Resampling.BOX if factor < 1 else Resampling.BICUBIC
    return _picture(np.asarray(Pillow.fromarray(np.ascontiguousarray(image)).resize(size, method)))


def _with_legend(picture: Pillow.Image, text: str) -> Pillow.Image:
    """The picture with a line of white text on black above it."""
    from PIL import Image as Pillow
    from PIL.ImageDraw import Draw

    framed = Pillow.new("RGB", (picture.width, picture.height + 34), DARK)
    framed.paste(picture, (0, 34))
    Draw(framed).text((10, 23), text, WHITE, _font(17), anchor="ls")
    return framed


def _encoded(picture: Pillow.Image) -> bytes:
    content = io.BytesIO()
    picture.save(content, "JPEG", quality=85)
    return content.getvalue()


@lru_cache
def _font(size: int) -> FreeTypeFont:
    """The font that Pillow carries."""
    from PIL import ImageFont

    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont), "every wheel of Pillow has FreeType"
    return font


def _draw_boxes(
    draw: ImageDraw,
    outcome: Detection,
    labels: Sequence[BibBox | FaceBox],
    predictions: Sequence[BibBox | FaceBox],
) -> None:
    for row, label in enumerate(labels):
        found = outcome.matches.prediction_of[row]
        if not outcome.is_target[row]:
            _box(draw, label, GREY, 1, label.scope)
        elif found < 0:
            _box(draw, label, RED, 5, f"MISSED {_name(label)}")
        else:
            read, expected = _name(predictions[found]), _name(label)
            wrong = isinstance(label, BibBox) and read != expected and is_complete(label.number)
            _box(draw, label, RED if wrong else GREEN, 3, f"read {read}, is {expected}" if wrong else expected)
    for row, prediction in enumerate(predictions if outcome.labeled.all() else ()):
        if not outcome.matches.matched[row]:
            word = "ignored" if outcome.ignored[row] else "FALSE"
            _box(draw, prediction, GREY if outcome.ignored[row] else ORANGE, 3, f"{word} {_name(prediction)}")


def _name(box: BibBox | FaceBox) -> str:
    return ((box.number or "").strip() or "bib") if isinstance(box, BibBox) else "face"


def _draw_links(draw: ImageDraw, labels: PhotoLabels, found: PhotoPrediction) -> None:
    """Labelled links as broad green lines, proposed ones as thin orange lines on top of them."""
    for side, colour, width in ((labels, GREEN, 6), (found, ORANGE, 3)):
        bibs, faces = side.bibs or (), side.faces or ()
        for link in side.links or ():
            ends = _centre(draw, bibs[link.bib_index]), _centre(draw, faces[link.face_index])
            draw.line(ends, colour, width)


def _centre(draw: ImageDraw, box: BibBox | FaceBox) -> tuple[float, float]:
    width, height = draw.im.size
    return (box.x + box.w / 2) * width, (box.y + box.h / 2) * height


def _box(draw: ImageDraw, box: BibBox | FaceBox, colour: Colour, thickness: int, text: str) -> None:
    width, height = draw.im.size
    left, top = round(box.x * width), round(box.y * height)
    right, bottom = round((box.x + box.w) * width), round((box.y + box.h) * height)
    border = thickness // 2  # half of the line lies outside of the box
    draw.rectangle((left - border, top - border, right + border, bottom + border), outline=colour, width=thickness)
    font = _font(14)
    text_width, text_height = round(font.getlength(text)), 11
    left, base = min(left, width - text_width), top - 4 if top - 4 > text_height else bottom + text_height + 4
    draw.rectangle((left, base - text_height - 2, left + text_width, base + 4), fill=colour)
    draw.text((left, base), text, WHITE, font, anchor="ls")

"""A photo with what was found, missed and invented drawn on it.

Green: a label that was found. Red, thick: a label that was missed. Orange: a prediction without a label. Grey: a label
that is not scored. Blue: what was found on a photo without labels, right or wrong. A broad green line is a labelled
link, a thin orange one a proposed link. Words say the same, so that colour alone carries nothing. Nothing is drawn
inside of a face, and words stand beside faces.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from harness.references.sets import ReferencePhoto
from harness.scoring.bibs import detect_bibs, is_complete
from harness.scoring.detection import Detection, Thresholds
from harness.scoring.faces import detect_faces
from harness.types import BibBox, Box, FaceBox, PhotoLabels, PhotoPrediction

if TYPE_CHECKING:
    from PIL import Image as Pillow
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

#: Pixels in BGR, as photos are read.
Image = NDArray[np.uint8]
B = TypeVar("B", BibBox, FaceBox)

LONG_SIDE = 1280
#: The long side of a close-up, how much of its surroundings it shows, in longer sides of the box, and the smallest box
#: that is looked at more closely.
CLOSE_UP, AROUND, SMALLEST = 512, 0.7, 24
LEGEND = "green: found   red: MISSED   orange: FALSE   grey: not scored"
Colour = tuple[int, int, int]
Rectangle = tuple[int, int, int, int]
DARK, WHITE, YELLOW = (32, 32, 32), (255, 255, 255), (255, 230, 0)
GREEN, RED, ORANGE, GREY = (40, 160, 60), (220, 40, 40), (255, 140, 0), (150, 150, 150)
BLUE = (30, 100, 220)


def draw_photo(
    photo: ReferencePhoto,
    found: PhotoPrediction,
    pixels: Image,
    thresholds: Thresholds,
    long_side: int = LONG_SIDE,
) -> bytes:
    """The annotated photo as JPEG, with a legend where it is wide enough to be read."""
    labels = photo.labels
    bibs = _marks(detect_bibs([labels], [found], thresholds.bib_iou), labels.bibs or (), found.bibs)
    faces = _marks(detect_faces([labels], [found], thresholds.face_iou), labels.faces or (), found.faces)
    picture = _drawn(_resized(pixels, long_side), labels, found, bibs, faces)
    if long_side == LONG_SIDE:
        picture = _with_legend(picture, f"{photo.name}   {LEGEND}")
    return _encoded(picture)


def draw_found(found: PhotoPrediction, pixels: Image, long_side: int) -> bytes:
    """A photo without labels as JPEG, with all that was found on it; nothing says whether that is right."""
    bibs, faces = ([_Mark(box, BLUE, 3, _name(box)) for box in boxes] for boxes in (found.bibs, found.faces))
    return _encoded(_drawn(_resized(pixels, long_side), PhotoLabels(), found, bibs, faces))


def _drawn(
    picture: Pillow.Image, labels: PhotoLabels, found: PhotoPrediction, bibs: Sequence[_Mark], faces: Sequence[_Mark]
) -> Pillow.Image:
    """The picture with links, boxes and words drawn on it, and every face left free."""
    from PIL.ImageDraw import Draw

    clean, draw = picture.copy(), Draw(picture)
    free = [_frame(draw, face) for face in (*(labels.faces or ()), *found.faces)]
    _draw_links(draw, labels, found)
    _outline(draw, bibs)
    for face in free:
        picture.paste(clean.crop(face), face)
    _outline(draw, faces)
    _write(draw, [*faces, *bibs], free)
    return picture


def draw_close_up(
    photo: ReferencePhoto, found: PhotoPrediction, pixels: Image, thresholds: Thresholds, box: Box, side: int = CLOSE_UP
) -> bytes:
    """The part of a photo around a box as JPEG, large enough to be read, with the labels and predictions that lie
    there."""
    height, width = pixels.shape[:2]
    half = max(box.w * width, box.h * height, SMALLEST) * (0.5 + AROUND)
    left, right = _span((box.x + box.w / 2) * width, half, width)
    top, bottom = _span((box.y + box.h / 2) * height, half, height)
    frame = Box(x=left / width, y=top / height, w=(right - left) / width, h=(bottom - top) / height)
    part = replace(photo, bibs=_within(photo.bibs, frame), faces=_within(photo.faces, frame), links=None)
    seen = PhotoPrediction(_within(found.bibs, frame), _within(found.faces, frame))
    return draw_photo(part, seen, pixels[top:bottom, left:right], thresholds, side)


def _span(centre: float, half: float, length: int) -> tuple[int, int]:
    """A stretch around a place, moved into the picture."""
    size = min(round(2 * half), length)
    start = round(min(max(centre - size / 2, 0), length - size))
    return start, start + size


def _within(boxes: Sequence[B], frame: Box) -> tuple[B, ...]:
    """The boxes whose middle lies in a part of a picture, in its coordinates."""
    return tuple(
        replace(
            box,
            x=(box.x - frame.x) / frame.w,
            y=(box.y - frame.y) / frame.h,
            w=box.w / frame.w,
            h=box.h / frame.h,
        )
        for box in boxes
        if frame.x <= box.x + box.w / 2 <= frame.x + frame.w and frame.y <= box.y + box.h / 2 <= frame.y + frame.h
    )


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


@dataclass(frozen=True)
class _Mark:
    """A box that is drawn, in which colour, how thick, and what is written beside it."""

    box: BibBox | FaceBox
    colour: Colour
    thickness: int
    text: str


def _marks(
    outcome: Detection, labels: Sequence[BibBox | FaceBox], predictions: Sequence[BibBox | FaceBox]
) -> list[_Mark]:
    marks = []
    for row, label in enumerate(labels):
        found = outcome.matches.prediction_of[row]
        if not outcome.is_target[row]:
            marks.append(_Mark(label, GREY, 1, label.scope))
        elif found < 0:
            marks.append(_Mark(label, RED, 5, f"MISSED {_name(label)}"))
        else:
            read, expected = _name(predictions[found]), _name(label)
            wrong = isinstance(label, BibBox) and read != expected and is_complete(label.number)
            marks.append(_Mark(label, RED if wrong else GREEN, 3, f"read {read}, is {expected}" if wrong else expected))
    for row, prediction in enumerate(predictions if outcome.labeled.all() else ()):
        if not outcome.matches.matched[row]:
            word = "ignored" if outcome.ignored[row] else "FALSE"
            colour = GREY if outcome.ignored[row] else ORANGE
            marks.append(_Mark(prediction, colour, 3, f"{word} {_name(prediction)}"))
    return marks


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


def _frame(draw: ImageDraw, box: BibBox | FaceBox) -> Rectangle:
    """A box in pixels: left, top, right and bottom."""
    width, height = draw.im.size
    return (
        round(box.x * width),
        round(box.y * height),
        round((box.x + box.w) * width),
        round((box.y + box.h) * height),
    )


def _outline(draw: ImageDraw, marks: Sequence[_Mark]) -> None:
    """Frames around boxes; all of the line lies outside of the box."""
    for mark in marks:
        left, top, right, bottom = _frame(draw, mark.box)
        out = mark.thickness
        draw.rectangle((left - out, top - out, right + out - 1, bottom + out - 1), outline=mark.colour, width=out)


def _write(draw: ImageDraw, marks: Sequence[_Mark], faces: Sequence[Rectangle]) -> None:
    font, written = _font(14), list[Rectangle]()
    for mark in marks:
        size = round(font.getlength(mark.text)), 17
        left, top = _place(draw.im.size, _frame(draw, mark.box), size, mark.thickness, faces, written)
        written.append((left, top, left + size[0], top + size[1]))
        draw.rectangle((left, top, left + size[0] - 1, top + size[1] - 1), fill=mark.colour)
        draw.text((left, top + 13), mark.text, WHITE, font, anchor="ls")


def _place(
    picture: tuple[int, int],
    box: Rectangle,
    size: tuple[int, int],
    out: int,
    faces: Sequence[Rectangle],
    written: Sequence[Rectangle] = (),
) -> tuple[int, int]:
    """Where words stand beside a box: the first place inside of the picture that hides no face and no other words, or
    the one that hides least: above the box, below it, at its right and left, and further away."""
    (width, height), (left, top, right, bottom) = size, box
    rows = (top - out - height, bottom + out, top, bottom - height)
    columns = (left, right - width, right + out, left - out - width)
    along = ((column, row) for row in rows[:2] for column in columns[:2])
    beside = ((column, row) for column in columns[2:] for row in rows[2:])
    beyond = ((column, row) for row in (rows[0] - height, rows[1] + height) for column in columns)

    def hidden(place: tuple[int, int]) -> tuple[int, int]:
        words = (*place, place[0] + width, place[1] + height)
        return sum(_common(words, face) for face in faces), sum(_common(words, other) for other in written)

    return min((_inside(picture, place, size) for place in (*along, *beside, *beyond)), key=hidden)


def _inside(picture: tuple[int, int], place: tuple[int, int], size: tuple[int, int]) -> tuple[int, int]:
    """A place moved into the picture."""
    x, y = (max(0, min(at, whole - own)) for at, whole, own in zip(place, picture, size, strict=True))
    return x, y


def _common(one: Rectangle, other: Rectangle) -> int:
    """How many pixels two rectangles share."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return width * height if width > 0 and height > 0 else 0

"""Whether something before a bib, such as an arm or another runner, hides the beginning or the end of its number.

A number that ends where an arm begins looks like a whole one: paper, then something else, as at the side of any bib.
But the side of a bib ends with the bib, and the edge of an arm goes on above or below it, over shirt and background. So
a straight edge is looked for that passes close by the first or the last character, with one colour on its outer side
from beside the number to beyond the bib.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness.pipeline.bibs.texts import Corners
from harness.pipeline.looks import Image

Floats = NDArray[np.float64]

#: Pixels for the height of a text, and how much is looked at beside, above and below it, in heights.
_PIXELS, _BESIDE, _ABOVE = 32, 1.5, 3.0
#: How far the edge is followed from the middle of the line, in heights, and where it leaves the number's own rows.
_REACH, _OWN, _OFF = 2.5, 0.5, 0.75
#: It leans at most so far, in degrees, and begins at least and at most so far from the middle of the last character.
_LEANS = np.tan(np.radians(np.arange(-40, 41, 5)))
_NEAREST, _FARTHEST, _FURTHER = 0.15, 0.5, 0.35
#: Colours differ from the paper by this share of its contrast to the ink, and pale skin by so much; two sides of an
#: edge by so much in LAB, and the outer side from itself by no more than so much.
_NOT_PAPER, _PALE, _EDGE, _SAME = 0.35, 30.0, 18.0, 22.0
#: An arm is thicker than so many pixels, and there its shading may differ by so much: the stripe of a shirt is not.
_THICK, _SHADED = 14, 40.0
#: So much of the edge is seen beyond the bib, of at least so many heights; and so much of its outer side is of one
#: colour where the bib is, too.
_SEEN, _LONGEST, _ALONG = 0.99, 1.0, (0.85, 0.7)


def covered_side(corners: Corners, places: tuple[float, ...], image: Image) -> str:
    """The side, `left` or `right`, at which a number is hidden; nothing where none is. `places` are the middles of its
    characters, from 0 to 1 along the line."""
    import cv2

    patch, first, last = _around(corners, places, image)
    step = (last - first) / (len(places) - 1)
    if step < 1:
        return ""
    lab = cv2.cvtColor(cv2.GaussianBlur(patch, (0, 0), 1.2), cv2.COLOR_BGR2LAB).astype(np.float64)
    paper, contrast = _paper(lab, max(int(first - 0.3 * step), 0), int(last + 0.3 * step))
    found = {
        side: _edge_beyond(lab, at, step, way, paper, contrast)
        for side, at, way in (("left", first, -1), ("right", last, 1))
    }
    side = max(found, key=lambda name: found[name])
    return side if found[side] >= _SEEN else ""


def _around(corners: Corners, places: tuple[float, ...], image: Image) -> tuple[Image, float, float]:
    """What is around a number, turned upright, and where in it the first and the last character are."""
    import cv2

    points = np.array(corners) * (image.shape[1], image.shape[0])
    across, down = points[1] - points[0] + points[2] - points[3], points[3] - points[0] + points[2] - points[1]
    width, height = (max(float(np.linalg.norm(side)) / 2, 1.0) for side in (across, down))
    across, down = across / 2 / width, down / 2 / height
    aside, above = across * (width / 2 + _BESIDE * height), down * (height / 2 + _ABOVE * height)
    middle = points.mean(axis=0)
    start = np.array([middle - aside - above, middle + aside - above, middle - aside + above], np.float32)
    size = (round((width / height + 2 * _BESIDE) * _PIXELS), round((1 + 2 * _ABOVE) * _PIXELS))
    move = cv2.getAffineTransform(start, np.array([[0, 0], [size[0], 0], [0, size[1]]], np.float32))
    patch = cv2.warpAffine(image, move, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    first, last = (float((_BESIDE + place * width / height) * _PIXELS) for place in (places[0], places[-1]))
    return np.asarray(patch, np.uint8), first, last


def _paper(lab: Floats, start: int, end: int) -> tuple[Floats, float]:
    """The colour of the paper, which is what shows above and below the characters, and its contrast to the ink."""
    import cv2

    middle = lab.shape[0] // 2
    text = lab[middle - _PIXELS // 2 : middle + _PIXELS // 2, start:end].reshape(-1, 3)
    level, _ = cv2.threshold(text[:, :1].astype(np.uint8), 0, 255, cv2.THRESH_OTSU)
    bright = text[:, 0] > level
    if bright.all() or not bright.any():
        return np.median(text, axis=0), 0.0
    light, dark = np.median(text[bright], axis=0), np.median(text[~bright], axis=0)
    near, far = int(0.6 * _PIXELS), int(0.75 * _PIXELS)
    rows = np.r_[middle - far : middle - near, middle + near : middle + far]
    rim = lab[rows, start:end].reshape(-1, 3)
    nearer_light = np.median(np.linalg.norm(rim - light, axis=1) - np.linalg.norm(rim - dark, axis=1)) < 0
    return light if nearer_light else dark, float(np.linalg.norm(light - dark))


def _edge_beyond(lab: Floats, at: float, step: float, way: int, paper: Floats, contrast: float) -> float:
    """How much of an edge beside a character is seen beyond the bib: 0 where there is none, 1 where it goes on."""
    high, wide = lab.shape[:2]
    rows = np.arange(-_REACH * _PIXELS, _REACH * _PIXELS, 2)
    aside = np.arange(_NEAREST * step, _FARTHEST * step + _FURTHER * _PIXELS, 3)
    lines = (at + way * aside[:, None, None] + _LEANS[:, None] * rows).reshape(-1, len(rows))
    level = np.clip(np.round(rows + high / 2).astype(int), 0, high - 1)

    def beside(*distances: int) -> Floats:
        columns = [np.clip(np.round(lines + way * distance).astype(int), 0, wide - 1) for distance in distances]
        return np.asarray(np.mean([lab[level, column] for column in columns], axis=0))

    inner, outer, further = beside(-3, -5), beside(3, 5), beside(_THICK)
    limit, own = min(_NOT_PAPER * contrast, _PALE), np.abs(rows) < _OWN * _PIXELS
    covers = (np.linalg.norm(outer[:, own] - paper, axis=2) > limit).mean(axis=1) >= _ALONG[0]
    lines, inner, outer, further = lines[covers], inner[covers], outer[covers], further[covers]
    if not len(lines):
        return 0.0
    colour = np.median(outer[:, own], axis=1, keepdims=True)
    same = np.linalg.norm(outer - colour, axis=2) < _SAME
    same &= np.linalg.norm(further - colour, axis=2) < _SHADED
    edge = same & (np.linalg.norm(inner - outer, axis=2) > _EDGE)
    off_paper = (np.linalg.norm(inner - paper, axis=2) > limit) & (lines > 5) & (lines < wide - 5)
    found = 0.0
    for half in (rows < -_OFF * _PIXELS, rows > _OFF * _PIXELS):
        beyond = off_paper & half
        count = beyond.sum(axis=1)
        share = (edge & beyond).sum(axis=1) / np.maximum(count, 1) * np.minimum(count / (_LONGEST * _PIXELS / 2), 1.0)
        share[same[:, half].mean(axis=1) < _ALONG[1]] = 0.0
        found = max(found, float(share.max()))
    return found

"""Photos with what was found drawn on them: whatever is drawn, a face stays to be seen."""

from __future__ import annotations

import io

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

from harness.tasks.photos.pictures import _common, _place, draw_photo
from harness.types import BibBox, BibFaceLink, FaceBox, PhotoLabels, PhotoPrediction
from tests.report.reports import THRESHOLDS, photo_of

GREY = 120
SIDE = 720


def drawn(labels: PhotoLabels, found: PhotoPrediction) -> NDArray[np.uint8]:
    """What is drawn over an even grey picture."""
    pixels = np.full((SIDE, SIDE, 3), GREY, dtype=np.uint8)
    content = draw_photo(photo_of(0, labels), found, pixels, THRESHOLDS, long_side=SIDE)
    return np.asarray(Image.open(io.BytesIO(content)), dtype=np.uint8)


def inside(picture: NDArray[np.uint8], face: FaceBox) -> NDArray[np.uint8]:
    """A face without its edge, which JPEG blurs."""
    left, top = round(face.x * SIDE) + 9, round(face.y * SIDE) + 9
    right, bottom = round((face.x + face.w) * SIDE) - 9, round((face.y + face.h) * SIDE) - 9
    return picture[top:bottom, left:right]


def test_neither_words_nor_frames_nor_links_hide_a_face() -> None:
    """A face right above a bib, where the bib's words would stand, and a link that goes across another face."""
    faces = FaceBox(x=0.4, y=0.3, w=0.12, h=0.15), FaceBox(x=0.4, y=0.08, w=0.12, h=0.15)
    bib = BibBox(x=0.4, y=0.46, w=0.12, h=0.1, number="417")
    labels = PhotoLabels(bibs=(bib,), faces=faces, links=(BibFaceLink(0, 1),))
    for found in (PhotoPrediction(), PhotoPrediction(bibs=(bib,), faces=faces, links=(BibFaceLink(0, 1),))):
        picture = drawn(labels, found)
        for face in faces:
            assert np.abs(inside(picture, face).astype(int) - GREY).max() < 12
        assert (np.abs(picture.astype(int) - GREY).max(axis=2) > 60).sum() > 2000, "and everything is drawn"


def test_a_false_face_is_drawn_beside_as_well() -> None:
    false = FaceBox(x=0.2, y=0.0, w=0.1, h=0.12, score=0.9)
    picture = drawn(PhotoLabels(bibs=(), faces=()), PhotoPrediction(faces=(false,)))
    assert np.abs(inside(picture, false).astype(int) - GREY).max() < 12


_BOX = st.tuples(st.integers(0, 600), st.integers(0, 600), st.integers(10, 120), st.integers(10, 120))


@settings(max_examples=200)
@given(_BOX, st.lists(_BOX, max_size=4), st.integers(10, 150))
def test_words_stand_inside_of_the_picture_and_above_the_box_where_that_hides_no_face(
    box: tuple[int, int, int, int], others: list[tuple[int, int, int, int]], width: int
) -> None:
    frame, *faces = ((x, y, x + w, y + h) for x, y, w, h in (box, *others))
    left, top = _place((SIDE, SIDE), frame, (width, 17), 3, faces)
    assert 0 <= left <= SIDE - width
    assert 0 <= top <= SIDE - 17
    above = (min(frame[0], SIDE - width), max(frame[1] - 20, 0))
    words = (*above, above[0] + width, above[1] + 17)
    if not any(_common(words, face) for face in faces):
        assert (left, top) == above

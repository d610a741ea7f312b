"""What a backend answers is checked before it is used: it fits, is cut by rounding, or fails its photo."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from harness.base.errors import PhotoError
from harness.pipeline.answers import checked_bibs, checked_faces, checked_links
from harness.types import BibBox, BibFaceLink, FaceBox

POINTS = tuple((0.1 * place, 0.5) for place in range(5))


@dataclass(frozen=True)
class Backend:
    """Nothing but its name matters here."""


def face(**given: Any) -> FaceBox:
    return FaceBox(**({"x": 0.1, "y": 0.2, "w": 0.3, "h": 0.4, "score": 0.9} | given))


def bib(**given: Any) -> BibBox:
    return BibBox(**({"x": 0.1, "y": 0.2, "w": 0.3, "h": 0.4, "score": 0.9} | given))


def told(check: Callable[..., Any], *answer: Any) -> str:
    with pytest.raises(PhotoError) as caught:
        check(Backend(), *answer)
    text = str(caught.value)
    assert text.startswith(f"{__name__}.Backend: ")
    assert "\n" not in text
    return text.removeprefix(f"{__name__}.Backend: ")


def test_what_fits_stays_as_it_is() -> None:
    faces = (face(landmarks=POINTS), face(score=None), face(x=0.0, w=1.0), face(x=0.7, w=0.30000000000000004))
    assert checked_faces(Backend(), faces) == faces
    bibs = (bib(number="417", char_scores=(0.9, 0.8, 1.0), tags=("torn",)), bib(number=None))
    assert checked_bibs(Backend(), bibs) == bibs
    links = (BibFaceLink(0, 1, 0.5), BibFaceLink(1, 0))
    checked = checked_links(Backend(), links, 2, 2)
    assert [(link, link.score) for link in checked] == [(link, link.score) for link in links]


def test_a_list_will_do_and_numbers_of_numpy_become_plain_ones() -> None:
    (found,) = checked_faces(Backend(), [face(x=np.float32(0.5), y=0, score=np.float32(1))])
    assert found == face(x=0.5, y=0.0, score=1.0)
    assert {type(value) for value in (*found.xywh, found.score)} == {float}
    (link,) = checked_links(Backend(), [BibFaceLink(np.int64(0), np.int64(0), np.float64(0.5))], 1, 1)  # type: ignore[arg-type]
    assert (type(link.bib_index), type(link.score)) == (int, float)


def test_what_sticks_out_by_rounding_is_cut_at_the_border() -> None:
    (found,) = checked_faces(Backend(), (face(x=-5e-7, y=0.6, h=0.4 + 5e-7, score=1 + 1e-7),))
    assert found.x == 0
    assert found.w == pytest.approx(0.3 - 5e-7, abs=1e-12)
    assert found.y + found.h == 1
    assert found.score == 1


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            [face(x=10, y=10, w=200, h=200)],
            "faces.0: x 10 and w 200 stick out of the photo; expected a box from 0 to 1; boxes are shares of the "
            "photo's width and height, not pixels",
        ),
        ((face(), face(y=0.9, h=0.5)), "faces.1: y 0.9 and h 0.5 stick out of the photo; expected a box from 0 to 1"),
        ((face(x=-0.1),), "faces.0: x -0.1 and w 0.3 stick out of the photo; expected a box from 0 to 1"),
        ((face(x=math.nan),), "faces.0.x: nan; expected a finite number"),
        ((face(h=math.inf),), "faces.0.h: inf; expected a finite number"),
        ((face(y="0.1"),), "faces.0.y: '0.1'; expected a finite number"),
        ((face(w=-0.1),), "faces.0.w: -0.1; expected a number above 0"),
        ((face(h=0),), "faces.0.h: 0; expected a number above 0"),
        ((face(x=1.0, w=1e-7),), "faces.0: nothing of the box is on the photo; expected a box from 0 to 1"),
        ((face(score=3.0),), "faces.0.score: 3; expected a number from 0 to 1"),
        ((face(score=math.nan),), "faces.0.score: nan; expected a finite number"),
        ((face(landmarks=POINTS[:4]),), "faces.0.landmarks: 4 points; expected 5, or none"),
        ((face(landmarks=((math.nan, 0.0), *POINTS[1:])),), "faces.0.landmarks: nan; expected a finite number"),
        (None, "answered with None; expected a tuple of FaceBox"),
        (np.zeros((2, 4)), "answered with a ndarray; expected a tuple of FaceBox"),
        ((face(), bib()), "answered with a BibBox at place 1; expected a FaceBox"),
        ([(0.1, 0.1, 0.2, 0.2)], "answered with a tuple at place 0; expected a FaceBox"),
    ],
)
def test_faces_that_cannot_be_scored_are_told(answer: Any, message: str) -> None:
    assert told(checked_faces, answer) == message


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((bib(number=417),), "bibs.0.number: 417; expected a text, or None where nothing was read"),
        ((bib(number="1", char_scores=(1.5,)),), "bibs.0.char_scores: 1.5; expected a number from 0 to 1"),
        ((bib(x=0.9),), "bibs.0: x 0.9 and w 0.3 stick out of the photo; expected a box from 0 to 1"),
        ((face(),), "answered with a FaceBox at place 0; expected a BibBox"),
    ],
)
def test_bibs_that_cannot_be_scored_are_told(answer: Any, message: str) -> None:
    assert told(checked_bibs, answer) == message


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((BibFaceLink(0, 2),), "links.0: [0, 2]; expected one of 1 bibs and one of 2 faces, from 0 on"),
        ((BibFaceLink(-1, 0),), "links.0: [-1, 0]; expected one of 1 bibs and one of 2 faces, from 0 on"),
        ((BibFaceLink(0.5, 0),), "links.0: [0.5, 0]; expected one of 1 bibs and one of 2 faces, from 0 on"),  # type: ignore[arg-type]
        ((BibFaceLink(0, 0), BibFaceLink(0, 0, 0.3)), "links: one pair stands there twice; expected each once"),
        ((BibFaceLink(0, 0, 2.0),), "links.0.score: 2; expected a number from 0 to 1"),
        (((0, 0),), "answered with a tuple at place 0; expected a BibFaceLink"),
    ],
)
def test_links_that_cannot_be_scored_are_told(answer: Any, message: str) -> None:
    assert told(checked_links, answer, 1, 2) == message

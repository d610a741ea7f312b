"""What a backend says about a photo, checked where the pipeline takes it over.

A backend may be anybody's. Pixels where shares are expected, or something that is no number, would be scored as misses.
So whatever does not fit fails its photo, with the class of the backend, the box and what was expected. The rules are
those of a file of predictions: what a run predicts can be exported and scored again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, TypeVar

from harness.base.checks import TOLERANCE, cut_at_border
from harness.base.errors import PhotoError
from harness.base.objects import dotted_name
from harness.types import BibBox, BibFaceLink, FaceBox

B = TypeVar("B", BibBox, FaceBox)
_LANDMARKS = 5


def checked_faces(backend: object, answer: Any) -> tuple[FaceBox, ...]:
    """What a face detector has found. Raises PhotoError where it cannot be scored."""
    with _answer_of(backend):
        return tuple(_face(box, f"faces.{place}") for place, box in _listed(answer, FaceBox))


def checked_bibs(backend: object, answer: Any) -> tuple[BibBox, ...]:
    """What a bib reader has found. Raises PhotoError where it cannot be scored."""
    with _answer_of(backend):
        return tuple(_bib(box, f"bibs.{place}") for place, box in _listed(answer, BibBox))


def checked_links(backend: object, answer: Any, bibs: int, faces: int) -> tuple[BibFaceLink, ...]:
    """What a linker has linked, of so many bibs and faces. Raises PhotoError where it cannot be scored."""
    with _answer_of(backend):
        links = tuple(_link(link, f"links.{place}", bibs, faces) for place, link in _listed(answer, BibFaceLink))
        if len(set(links)) != len(links):
            raise ValueError("links: one pair stands there twice; expected each once")
        return links


@contextmanager
def _answer_of(backend: object) -> Iterator[None]:
    """Name the backend whose answer does not fit."""
    try:
        yield
    except ValueError as error:
        raise PhotoError(f"{dotted_name(type(backend))}: {error}") from error


def _listed(answer: Any, kind: type[Any]) -> Iterator[tuple[int, Any]]:
    if not isinstance(answer, tuple | list):
        raise ValueError(f"answered with {_told(answer)}; expected a tuple of {kind.__name__}")
    for place, item in enumerate(answer):
        if not isinstance(item, kind):
            raise ValueError(f"answered with {_told(item)} at place {place}; expected a {kind.__name__}")
        yield place, item


def _face(box: FaceBox, where: str) -> FaceBox:
    if len(box.landmarks) not in (0, _LANDMARKS):
        raise ValueError(f"{where}.landmarks: {len(box.landmarks)} points; expected {_LANDMARKS}, or none")
    points = tuple((_finite(x, f"{where}.landmarks"), _finite(y, f"{where}.landmarks")) for x, y in box.landmarks)
    return replace(_placed(box, where), landmarks=points)


def _bib(box: BibBox, where: str) -> BibBox:
    if not isinstance(box.number, str | None):
        raise ValueError(f"{where}.number: {_told(box.number)}; expected a text, or None where nothing was read")
    scores = tuple(_share(score, f"{where}.char_scores") for score in box.char_scores)
    return replace(_placed(box, where), char_scores=scores)


def _placed(box: B, where: str) -> B:
    """A box as plain numbers, cut at the border of the photo where it sticks out by rounding."""
    xywh = [_finite(value, f"{where}.{name}") for name, value in zip("xywh", box.xywh, strict=True)]
    x, y, w, h = xywh
    for name, extent in (("w", w), ("h", h)):
        if extent <= 0:
            raise ValueError(f"{where}.{name}: {extent:g}; expected a number above 0")
    try:
        (x, w), (y, h) = cut_at_border(x, w, "xw"), cut_at_border(y, h, "yh")
    except ValueError as error:
        pixels = "; boxes are shares of the photo's width and height, not pixels" if max(xywh) > 1 else ""
        raise ValueError(f"{where}: {error}{pixels}") from error
    score = None if box.score is None else _share(box.score, f"{where}.score")
    return replace(box, x=x, y=y, w=w, h=h, score=score)


def _link(link: BibFaceLink, where: str, bibs: int, faces: int) -> BibFaceLink:
    ends: Sequence[Any] = (link.bib_index, link.face_index)
    whole = all(isinstance(end, Integral) for end in ends)
    if not whole or not (0 <= ends[0] < bibs and 0 <= ends[1] < faces):
        raise ValueError(
            f"{where}: [{ends[0]}, {ends[1]}]; expected one of {bibs} bibs and one of {faces} faces, from 0 on"
        )
    score = None if link.score is None else _share(link.score, f"{where}.score")
    return BibFaceLink(int(ends[0]), int(ends[1]), score)


def _share(value: Any, where: str) -> float:
    """A score. What is beyond 0 or 1 by rounding, as sums of 32-bit numbers are, is cut."""
    found = _finite(value, where)
    if not -TOLERANCE <= found <= 1 + TOLERANCE:
        raise ValueError(f"{where}: {found:g}; expected a number from 0 to 1")
    return min(max(found, 0.0), 1.0)


def _finite(value: Any, where: str) -> float:
    """A number as Python's own: those of NumPy cannot be kept as JSON."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ValueError(f"{where}: {_told(value)}; expected a finite number")
    return float(value)


def _told(value: Any) -> str:
    return f"{value!r:.80}" if isinstance(value, Real | str | None) else f"a {type(value).__name__}"

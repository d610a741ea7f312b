"""Where a line of text ends, by its pixels."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from harness.pipeline.bibs.ends import ends_before
from harness.pipeline.looks import Image


def line(paper_after: int, ink: int = 30, paper: int = 220) -> Image:
    """1184 as it is printed, with so many pixels of paper on either side of it, on a picture 60 pixels high."""
    picture = np.full((60, 400, 3), paper, np.uint8)
    cv2.putText(picture, "1184", (100, 48), cv2.FONT_HERSHEY_DUPLEX, 1.6, (ink, ink, ink), 3, cv2.LINE_AA)
    inked = np.flatnonzero((picture.mean(axis=2) != paper).any(axis=0))
    return picture[:, inked[0] - paper_after : inked[-1] + 1 + paper_after]


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("colours", [(30, 220), (240, 60)])
def test_a_number_with_paper_up_to_the_frame_ends_there(side: str, colours: tuple[int, int]) -> None:
    assert ends_before(line(30, *colours), side)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("paper", [0, 3])
def test_a_number_that_touches_the_frame_may_go_on_beyond_it(side: str, paper: int) -> None:
    assert not ends_before(line(paper), side)


def test_less_paper_than_between_two_digits_is_no_end() -> None:
    whole = line(0)
    wide = np.full((60, 24, 3), 220, np.uint8)
    spaced = np.hstack([whole[:, :60], wide, whole[:, 60:]])
    after = np.full((60, 20, 3), 220, np.uint8)
    assert ends_before(np.hstack([whole, after]), "right")
    assert not ends_before(np.hstack([spaced, after]), "right")


@pytest.mark.parametrize("value", [0, 255])
def test_a_picture_without_any_text_ends_nowhere(value: int) -> None:
    assert not ends_before(np.full((60, 100, 3), value, np.uint8), "right")


def test_something_else_at_the_frame_is_no_paper() -> None:
    noisy = np.random.default_rng(1).integers(0, 255, (60, 30, 3)).astype(np.uint8)
    assert not ends_before(np.hstack([line(30), noisy]), "right")

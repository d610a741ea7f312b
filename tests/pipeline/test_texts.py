"""The parts of a photo that are looked at, and pieces of text in them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.pipeline.bibs.texts import WHOLE, bounds, cut_by, in_blocks, join, tiles, turned, widen
from harness.types import Box


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("scene", [WHOLE, Box(x=0.2, y=0.4, w=0.5, h=0.3)])
def test_tiles_cover_a_scene_and_overlap(scene: Box, count: int) -> None:
    parts = list(tiles(scene, count))
    assert len(parts) == count**2
    assert min(part.x for part in parts) == scene.x
    assert min(part.y for part in parts) == scene.y
    assert max(part.x + part.w for part in parts) == pytest.approx(scene.x + scene.w)
    assert max(part.y + part.h for part in parts) == pytest.approx(scene.y + scene.h)
    if count > 1:
        assert parts[0].x + parts[0].w > parts[1].x


def test_a_part_is_made_of_whole_blocks_of_32_pixels_or_ends_with_the_picture() -> None:
    # From 40 to 90 of 640 pixels across, from 100 to 470 of 480 down.
    part = in_blocks(Box(x=40 / 640, y=100 / 480, w=50 / 640, h=370 / 480), (640, 480))
    assert (part.x * 640, part.y * 480) == pytest.approx((32, 96))
    assert ((part.x + part.w) * 640, (part.y + part.h) * 480) == pytest.approx((96, 480))
    assert in_blocks(Box(x=0.9, y=0.9, w=0.1, h=0.1), (500, 500)).x * 500 == pytest.approx(448)
    assert in_blocks(WHOLE, (700, 500)) == WHOLE


@given(
    x=st.floats(0, 0.99), y=st.floats(0, 0.99), w=st.floats(0.01, 1), h=st.floats(0.01, 1), pixels=st.floats(64, 4096)
)
def test_a_part_in_blocks_covers_what_was_asked_for(x: float, y: float, w: float, h: float, pixels: float) -> None:
    asked = Box(x=x, y=y, w=min(w, 1 - x), h=min(h, 1 - y))
    part = in_blocks(asked, (pixels, pixels * 0.75))
    assert part.x <= asked.x + 1e-9
    assert part.y <= asked.y + 1e-9
    assert asked.x + asked.w <= part.x + part.w + 1e-9
    assert asked.y + asked.h <= part.y + part.h + 1e-9
    assert part.x + part.w <= 1 + 1e-9
    assert part.y + part.h <= 1 + 1e-9


def test_bounds_stay_in_the_photo() -> None:
    box = bounds([[-0.1, 0.2], [0.3, 0.1], [0.4, 0.5], [0.0, 0.6]])
    assert box.xywh == pytest.approx((0.0, 0.1, 0.4, 0.5))


def test_a_margin_is_a_share_of_the_text_height_in_pixels() -> None:
    # 100 by 40 pixels in a photo of 1000 by 500.
    corners = [[0.1, 0.2], [0.2, 0.2], [0.2, 0.28], [0.1, 0.28]]
    wider = widen(corners, 0.5, (1000, 500))
    assert bounds(wider).xywh == pytest.approx((0.08, 0.2, 0.14, 0.08))
    assert widen(corners, 0.0, (1000, 500)) is corners


def test_tilted_text_grows_along_its_own_line() -> None:
    slanted = np.array([[100, 100], [200, 200], [180, 220], [80, 120]])
    wider = np.array(widen((slanted / 500).tolist(), 1.0, (500, 500))) * 500
    assert wider[1] - wider[0] == pytest.approx([140, 140], abs=0.01)
    assert wider.mean(axis=0) == pytest.approx(slanted.mean(axis=0), abs=0.01)


PART = Box(x=0.2, y=0.2, w=0.4, h=0.4)


@pytest.mark.parametrize(
    ("box", "part", "cut"),
    [
        (Box(x=0.35, y=0.35, w=0.1, h=0.05), PART, ""),
        (Box(x=0.2, y=0.3, w=0.1, h=0.05), PART, "edge"),  # at the left
        (Box(x=0.5, y=0.3, w=0.1, h=0.05), PART, "edge"),  # at the right
        (Box(x=0.3, y=0.2, w=0.1, h=0.05), PART, "edge"),  # at the top of a part
        (Box(x=0.3, y=0.55, w=0.1, h=0.05), PART, "edge"),  # at the bottom of a part
        (Box(x=0.21, y=0.3, w=0.1, h=0.05), PART, "edge"),  # a cut may run between two characters
        (Box(x=0.0, y=0.3, w=0.1, h=0.05), WHOLE, "left"),  # digits are missing at the side of the photo
        (Box(x=0.9, y=0.3, w=0.1, h=0.05), WHOLE, "right"),
        (Box(x=0.01, y=0.3, w=0.1, h=0.05), WHOLE, ""),  # whole, and near the side of the photo
        (Box(x=0.3, y=0.0, w=0.1, h=0.05), WHOLE, ""),  # clipped above, and legible
        (Box(x=0.3, y=0.95, w=0.1, h=0.05), WHOLE, ""),
    ],
)
def test_text_at_the_edge_of_what_was_looked_at_may_be_cut_off(box: Box, part: Box, cut: str) -> None:
    assert cut_by(box, part, 0.005, aspect=1.0) == cut
    assert cut_by(box, part, 0.0, aspect=1.0) == ""


def test_a_tilted_text_is_as_high_as_its_letters() -> None:
    # 100 by 20 pixels, tilted by 45 degrees, in a photo of 1000 by 500.
    long, short = 100 / 2**0.5, 20 / 2**0.5
    corners = np.array(
        [[300, 300], [300 + long, 300 + long], [300 + long - short, 300 + long + short], [300 - short, 300 + short]]
    )
    line = turned((corners / (1000, 500)).tolist(), (1000, 500))
    assert (line.w * 1000, line.h * 500) == pytest.approx((100, 20), abs=0.1)
    assert (line.x + line.w / 2, line.y + line.h / 2) == pytest.approx(tuple(corners.mean(axis=0) / (1000, 500)))


def piece(text: str, x: float, w: float, h: float = 40, y: float = 100) -> tuple[list[list[float]], str]:
    return [[a / 1000, b / 1000] for a, b in ((x, y), (x + w, y), (x + w, y + h), (x, y + h))], text


@pytest.mark.parametrize(
    ("left", "right", "joined"),
    [
        (piece("M", 100, 30), piece("50701", 140, 150), True),
        (piece("AB", 100, 60), piece("123", 170, 90), True),
        (piece("M", 100, 30, h=20), piece("50701", 140, 150), False),  # a start zone in small print
        (piece("M", 100, 30), piece("50701", 180, 150), False),  # too far away
        (piece("M", 100, 30), piece("50701", 140, 150, y=130), False),  # in another line
        (piece("RUN", 100, 30), piece("50701", 140, 150), False),  # a word
        (piece("M", 100, 30), piece("10K", 140, 150), False),
    ],
)
def test_a_letter_in_a_box_of_its_own_is_joined_with_the_digits_after_it(
    left: tuple[list[list[float]], str], right: tuple[list[list[float]], str], joined: bool
) -> None:
    found = list(join([left, right], (1000, 1000)))
    assert [bounds(corners).x for corners in found] == ([0.1] if joined else [])
    if joined:
        end = bounds(right[0])
        assert bounds(found[0]).w == pytest.approx(end.x + end.w - 0.1)

"""The parts of a photo that are looked at, and pieces of text in them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.pipeline.bibs.texts import WHOLE, bounds, in_blocks, is_cut, tiles, widen
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
        (Box(x=0.3, y=0.3, w=0.1, h=0.05), PART, False),
        (Box(x=0.2, y=0.3, w=0.1, h=0.05), PART, True),  # at the left
        (Box(x=0.5, y=0.3, w=0.1, h=0.05), PART, True),  # at the right
        (Box(x=0.3, y=0.2, w=0.1, h=0.05), PART, True),  # at the top of a part
        (Box(x=0.3, y=0.55, w=0.1, h=0.05), PART, True),  # at the bottom of a part
        (Box(x=0.0, y=0.3, w=0.1, h=0.05), WHOLE, True),  # digits are missing at the side of the photo
        (Box(x=0.3, y=0.0, w=0.1, h=0.05), WHOLE, False),  # clipped above, and legible
        (Box(x=0.3, y=0.95, w=0.1, h=0.05), WHOLE, False),
    ],
)
def test_text_at_the_edge_of_what_was_looked_at_may_be_cut_off(box: Box, part: Box, cut: bool) -> None:
    assert is_cut(box, part, clearance=0.1, aspect=1.0) is cut
    assert not is_cut(box, part, clearance=0.0, aspect=1.0)

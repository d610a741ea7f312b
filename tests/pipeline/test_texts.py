"""The parts of a photo that are looked at, and pieces of text in them."""

from __future__ import annotations

import numpy as np
import pytest

from harness.pipeline.bibs.texts import WHOLE, bounds, is_cut, tiles, widen
from harness.types import Box


@pytest.mark.parametrize("count", [1, 2, 3])
def test_tiles_cover_the_photo_and_overlap(count: int) -> None:
    parts = list(tiles(count))
    assert len(parts) == count**2
    assert min(part.x for part in parts) == 0.0
    assert max(part.x + part.w for part in parts) == pytest.approx(1.0)
    if count > 1:
        assert parts[0].x + parts[0].w > parts[1].x


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

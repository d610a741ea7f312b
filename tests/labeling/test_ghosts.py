"""When a label answers a ghost."""

from __future__ import annotations

import pytest

from harness.labeling.ghosts import count_left, is_answered
from harness.references.files import BoxRecord


def box(x: float, y: float, w: float = 0.2, h: float = 0.2) -> BoxRecord:
    return BoxRecord(x=x, y=y, w=w, h=h)


@pytest.mark.parametrize(
    ("label", "answered"),
    [
        (box(0.4, 0.4), True),
        (box(0.45, 0.45), True),
        (box(0.44, 0.44, 0.12, 0.12), True),
        (box(0.48, 0.48, 0.04, 0.04), True),
        (box(0.59, 0.4), False),
        (box(0.7, 0.7), False),
        (box(0.41, 0.41, 0.05, 0.05), False),
        (box(0.5, 0.5, 0.0, 0.0), False),
    ],
    ids=["same", "moved a little", "drawn closer", "much smaller in the middle", "beside", "far", "corner", "undrawn"],
)
def test_a_label_in_the_same_place_is_the_answer(label: BoxRecord, answered: bool) -> None:
    assert is_answered(box(0.4, 0.4), [label]) is answered


def test_nothing_is_left_where_the_dimension_is_done() -> None:
    ghosts = [box(0.1, 0.1), box(0.6, 0.6)]
    assert count_left(ghosts, [box(0.1, 0.1)], done=False) == 1
    assert count_left(ghosts, [], done=True) == 0

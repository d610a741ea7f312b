"""Masks as files write them: runs of CVAT, runs of COCO, packed or not, and pictures of LabelMe."""

from __future__ import annotations

import base64
import doctest
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pycocotools import mask as coco_mask

import harness.formats.drawings
from harness.formats.drawings import bitmap_of_runs, mask_of_png, pairs, runs_of_text


def drawn(seed: int, width: int, height: int) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    return np.random.default_rng(seed).random((height, width)) < 0.4


sizes = st.integers(1, 40)


def test_the_examples_of_the_module_hold() -> None:
    assert doctest.testmod(harness.formats.drawings).failed == 0


@given(st.integers(0, 2**32 - 1), sizes, sizes)
def test_packed_runs_are_read_as_pycocotools_writes_them(seed: int, width: int, height: int) -> None:
    bitmap = drawn(seed, width, height)
    packed = coco_mask.encode(np.asfortranarray(bitmap.astype(np.uint8)))["counts"].decode()
    assert (bitmap_of_runs(runs_of_text(packed), (width, height), by_column=True) == bitmap).all()


def test_long_runs_are_packed_as_differences() -> None:
    bitmap = np.zeros((700, 900), dtype=np.uint8)
    bitmap[100:600, 50:800] = 1
    packed = coco_mask.encode(np.asfortranarray(bitmap))["counts"].decode()
    assert (bitmap_of_runs(runs_of_text(packed), (900, 700), by_column=True) == bitmap.astype(bool)).all()


@pytest.mark.parametrize(
    ("runs", "size", "why"),
    [
        ([1, 1, 1], (2, 2), "runs of 3 pixels in a mask of 2 x 2; expected 4"),
        ([2, 3], (2, 2), "runs of 5 pixels in a mask of 2 x 2; expected 4"),
        ([], (2, 2), "runs of 0 pixels in a mask of 2 x 2; expected 4"),
        ([5, -1], (2, 2), "runs of 4 pixels in a mask of 2 x 2"),
        ([10**30], (2, 2), "runs of 1000000000000000000000000000000 pixels"),
        ([], (0, 2), "a mask of 0 x 2; expected a size above 0"),
        ([4], (-2, -2), "a mask of -2 x -2"),
        ([10**12], (10**6, 10**6), "a mask of 1000000 x 1000000; expected a size above 0 and at most"),
    ],
)
def test_runs_that_do_not_fill_the_mask_are_refused(runs: list[int], size: tuple[int, int], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        bitmap_of_runs(runs, size, by_column=True)


@given(st.integers(0, 2**32 - 1), st.integers(2, 40), sizes, st.booleans())
def test_a_last_run_of_pixels_that_are_off_may_be_left_out(seed: int, width: int, height: int, by_column: bool) -> None:
    bitmap = drawn(seed, width, height)
    bitmap[0, 0] = True
    bitmap[-1, -1] = False
    flat = (bitmap.T if by_column else bitmap).ravel()
    edges = [0, *(np.flatnonzero(np.diff(flat)) + 1).tolist(), flat.size]
    runs = [0, *np.diff(edges).tolist()]
    assert len(runs) % 2 == 1
    assert (bitmap_of_runs(runs[:-1], (width, height), by_column=by_column) == bitmap).all()


@pytest.mark.parametrize(("text", "why"), [("a b", "' ' is no character"), ("é", "is no character"), ("_", "ends in")])
def test_text_that_is_no_packed_mask_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        runs_of_text(text)


def test_numbers_come_in_pairs() -> None:
    assert pairs([1, 2, 3, 4]) == [(1, 2), (3, 4)]
    with pytest.raises(ValueError, match="3 numbers; expected x and y of each point"):
        pairs([1, 2, 3])


@pytest.mark.parametrize("mode", ["1", "L"])
def test_a_picture_of_a_mask_is_placed_by_its_corner(mode: str) -> None:
    content = io.BytesIO()
    Image.fromarray(np.array([[0, 255], [255, 255]], dtype=np.uint8)).convert(mode).save(content, "PNG")
    found = mask_of_png(base64.b64encode(content.getvalue()).decode(), 10, 20)
    assert (found.geometry.area, found.box) == (3, (10, 20, 2, 2))


@pytest.mark.parametrize("text", ["bm90IGEgcG5n", "%%%", ""])
def test_what_is_no_picture_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="mask: expected a PNG in base64"):
        mask_of_png(text, 0, 0)
